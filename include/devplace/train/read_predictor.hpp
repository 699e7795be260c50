// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Not part of all.hpp: programs that predict with parameters from files include it.

#include <cstddef>
#include <string>

#include <devplace/io/parameters.hpp>
#include <devplace/nn/predictor.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/batch.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Makes a predictor with parameters and buffers from a file of save_parameters, of PyTorch or of save_checkpoint.
/// Reads the file as load_parameters does: `auto p = read_predictor<net, on<cuda<0>>>("net.safetensors", batch<256>{},
/// {.convert = true})`. Allocates no gradients. Throws file_error with every name that does not fit, and failures of
/// the places.
template <class Net, placement Where, precision P = float, std::size_t Samples>
[[nodiscard]] predictor<Net, Where, P> read_predictor(const std::string& path, batch<Samples> largest,
                                                      const load_options& options = {}) {
  return detail::predictor_access::filled<predictor<Net, Where, P>>(
      largest, [&](model<Net, Where, P>& own) { load_parameters(own, path, options); });
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
