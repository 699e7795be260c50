// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <memory>
#include <span>

/// A network with two inputs and one output. The header includes none of devplace's, so that its users compile fast.
class surrogate {
 public:
  explicit surrogate(unsigned seed);
  ~surrogate();
  /// Takes one step with rows of two inputs; returns the loss.
  double train(std::span<const float> inputs, std::span<const float> outputs);
  void predict(std::span<const float> inputs, std::span<float> outputs);

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};
