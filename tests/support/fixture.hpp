// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <string>

#include <devplace/io/npz.hpp>

#include "support/reference.hpp"

namespace devplace::test {

/// Reads an array computed by PyTorch: read_fixture<float, extents<5, 7>>("layers/linear_bias/f32/x") is the array
/// `linear_bias/f32/x` of tests/reference/layers.npz. Each archive is opened once.
template <class T, class Extents> auto read_fixture(const std::string& name) {
  static std::map<std::string, npz_file> archives;
  const std::size_t slash = name.find('/');
  const std::string archive = name.substr(0, slash);
  const auto opened = archives.try_emplace(archive, reference_path(archive + ".npz")).first;
  return opened->second.read<T, Extents>(name.substr(slash + 1));
}

}  // namespace devplace::test
