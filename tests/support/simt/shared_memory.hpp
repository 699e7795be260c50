// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace devplace::test::simt {

/// A fault in a kernel that a GPU would not report, or would show only by a wrong result.
struct violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr unsigned warp_size = 32;

/// The time of a thread's access: the number of block and warp barriers that the thread had passed.
struct moment {
  unsigned thread;
  unsigned block_epoch;
  unsigned warp_epoch;
};

/// Returns whether one thread made both accesses or a barrier lies between them.
inline bool ordered(const moment& a, const moment& b) {
  if (a.thread == b.thread || a.block_epoch != b.block_epoch) return true;
  return a.thread / warp_size == b.thread / warp_size && a.warp_epoch != b.warp_epoch;
}

/// An array in shared memory. Bytes are 0xCD until they are written; records the writer and readers of each element.
class shared_block {
 public:
  shared_block(std::size_t count, std::size_t element_bytes)
      : element_bytes_(element_bytes), bytes_(count * element_bytes, std::byte{0xCD}), elements_(count) {}

  std::size_t bytes() const { return bytes_.size(); }

  void read(std::size_t i, void* to, const moment& now) {
    element& e = at(i, now);
    if (!e.written)
      throw violation("shared-memory element " + std::to_string(i) + " is read by thread " +
                      std::to_string(now.thread) + " and was never written");
    if (!ordered(e.writer, now)) report("read", i, now, "written", e.writer);
    if (!e.readers.empty() && e.readers.back().block_epoch != now.block_epoch) e.readers.clear();
    e.readers.push_back(now);
    std::memcpy(to, bytes_.data() + i * element_bytes_, element_bytes_);
  }

  void write(std::size_t i, const void* from, const moment& now) {
    element& e = at(i, now);
    if (e.written && !ordered(e.writer, now)) report("written", i, now, "written", e.writer);
    for (const moment& reader : e.readers)
      if (!ordered(reader, now)) report("written", i, now, "read", reader);
    e.readers.clear();
    e.written = true;
    e.writer = now;
    std::memcpy(bytes_.data() + i * element_bytes_, from, element_bytes_);
  }

 private:
  struct element {
    bool written = false;
    moment writer{};
    std::vector<moment> readers;
  };

  element& at(std::size_t i, const moment& now) {
    if (i >= elements_.size())
      throw violation("thread " + std::to_string(now.thread) + " reaches element " + std::to_string(i) +
                      " of a shared array of " + std::to_string(elements_.size()));
    return elements_[i];
  }

  [[noreturn]] static void report(const char* done, std::size_t i, const moment& now, const char* before,
                                  const moment& other) {
    throw violation("shared-memory race: element " + std::to_string(i) + " is " + done + " by thread " +
                    std::to_string(now.thread) + " and was " + before + " by thread " + std::to_string(other.thread) +
                    " without a barrier between");
  }

  std::size_t element_bytes_;
  std::vector<std::byte> bytes_;
  std::vector<element> elements_;
};

/// The shared memory of one block: an array for each type, length and tag that the kernel uses.
class shared_memory {
 public:
  /// The static limit, without opting in to more at launch.
  static constexpr std::size_t capacity = std::size_t{48} << 10;

  template <class T, std::size_t N, int Tag> shared_block& get() {
    static constexpr char key = 0;
    const auto [at, is_new] = blocks_.try_emplace(&key, N, sizeof(T));
    if (is_new && (bytes_ += at->second.bytes()) > capacity)
      throw violation("the kernel uses " + std::to_string(bytes_) + " bytes of shared memory, and a block has " +
                      std::to_string(capacity));
    return at->second;
  }

  void clear() {
    blocks_.clear();
    bytes_ = 0;
  }

 private:
  std::map<const void*, shared_block> blocks_;
  std::size_t bytes_ = 0;
};

}  // namespace devplace::test::simt
