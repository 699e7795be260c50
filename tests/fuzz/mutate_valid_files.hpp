// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// One input in eight starts from seed_file(number), a valid file that each target defines. A fuzzer alone does not find
// magic bytes with a whole header, the checksum of a compressed stream, or offsets that match the shapes.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace {
std::string seed_file(unsigned number);
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t capacity);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t capacity,
                                               unsigned seed) {
  if (seed % 8 == 0) {
    const std::string file = seed_file(seed / 8);
    if (file.size() <= capacity) {
      std::memcpy(data, file.data(), file.size());
      size = file.size();
    }
  }
  return LLVMFuzzerMutate(data, size, capacity);
}
