/* SPDX-FileCopyrightText: 2026 The devplace authors */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* A network as C functions: fluxes of heat and moisture from wind, temperature and humidity. Each function that returns
   int returns 0, or an error code, of which surrogate_error is the text. */
#ifndef SURROGATE_H
#define SURROGATE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct surrogate_network surrogate_network;

/* Makes a network with random parameters, which surrogate_destroy frees. */
int surrogate_create(surrogate_network** made);
void surrogate_destroy(surrogate_network* net);

/* Read and write the parameters: a file in the format safetensors, from devplace or PyTorch. */
int surrogate_load(surrogate_network* net, const char* path);
int surrogate_save(const surrogate_network* net, const char* path);

/* Computes y[n][2] from x[n][3], without copies; in Fortran these are y(2, n) and x(3, n). */
int surrogate_predict(const surrogate_network* net, float* y, const float* x, size_t n);
/* The same for arrays with one field after the other: y[2][n] and x[3][n], in Fortran y(n, 2) and x(n, 3). */
int surrogate_predict_fields(const surrogate_network* net, float* y, const float* x, size_t n);

/* Runs one training step with n samples, and stores its loss, the mean square error. */
int surrogate_train(surrogate_network* net, const float* x, const float* y, size_t n, float* loss);

/* The text of this thread's last error. */
const char* surrogate_error(void);

#ifdef __cplusplus
}
#endif

#endif
