// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <devplace/parallel/process_group.hpp>

namespace devplace::test {

/// A transport between threads of the test, each of which plays a process: what does not depend on real processes is
/// tested faster with these, and under ThreadSanitizer. Checks the promises of callers: equal boundaries everywhere,
/// and not more bytes than portion().
class thread_transport final : public parallel::transport {
 public:
  struct hub {
    hub(std::size_t processes, std::size_t most)
        : size(processes), portion(most), meet(static_cast<std::ptrdiff_t>(processes)), members(processes) {}
    struct member {
      std::vector<std::byte*> buffers;
      std::vector<std::size_t> begins;
      const std::byte* part = nullptr;
      int color = 0, key = 0;
    };
    std::size_t size, portion;
    std::barrier<> meet;
    std::vector<member> members;
    std::mutex mutex;
    std::map<int, std::shared_ptr<hub>> parts;
  };

  thread_transport(int rank, std::shared_ptr<hub> with)
      : transport({rank, static_cast<int>(with->size), rank, static_cast<int>(with->size)}), hub_(std::move(with)) {}

  std::string description() const override { return std::to_string(size()) + " processes, played by threads"; }
  std::size_t portion() const noexcept override { return hub_->portion; }

  collected collect(std::span<std::byte* const> buffers, std::span<const std::size_t> begins) override {
    meet(buffers, begins, nullptr);
    const std::size_t first = begins[rank()], bytes = begins[rank() + 1] - first;
    received_.clear();
    summands_.clear();
    for (const auto& member : hub_->members)
      for (const std::byte* const buffer : member.buffers)
        received_.emplace_back(buffer + first, buffer + first + bytes);
    for (const auto& summand : received_)
      summands_.push_back(summand.data());
    result_.assign(bytes, std::byte{0xcd});
    hub_->meet.arrive_and_wait();  // buffers may be changed from here on
    return {summands_, result_.data()};
  }

  void distribute(const std::byte* part, std::span<std::byte* const> buffers,
                  std::span<const std::size_t> begins) override {
    const std::vector<std::byte> own(part, part + (begins[rank() + 1] - begins[rank()]));
    meet(buffers, begins, own.data());
    for (std::size_t r = 0; r != hub_->size; ++r)
      for (std::byte* const buffer : buffers)
        std::copy_n(hub_->members[r].part, begins[r + 1] - begins[r], buffer + begins[r]);
    hub_->meet.arrive_and_wait();
  }

  void barrier() override { hub_->meet.arrive_and_wait(); }

  std::shared_ptr<transport> split(int color, int key) override {
    hub_->members[rank()].color = color;
    hub_->members[rank()].key = key;
    hub_->meet.arrive_and_wait();
    std::vector<std::pair<int, std::size_t>> same;
    for (std::size_t r = 0; r != hub_->size; ++r)
      if (hub_->members[r].color == color) same.emplace_back(hub_->members[r].key, r);
    std::sort(same.begin(), same.end());
    std::shared_ptr<hub> part;
    {
      const std::lock_guard lock(hub_->mutex);
      auto& shared = hub_->parts[color];
      if (shared == nullptr) shared = std::make_shared<hub>(same.size(), hub_->portion);
      part = shared;
    }
    hub_->meet.arrive_and_wait();
    if (rank() == 0) hub_->parts.clear();
    hub_->meet.arrive_and_wait();
    const auto here = std::find_if(same.begin(), same.end(), [&](const auto& x) { return x.second == rank(); });
    return std::make_shared<thread_transport>(static_cast<int>(here - same.begin()), part);
  }

 private:
  std::size_t rank() const { return static_cast<std::size_t>(ranks().rank); }

  void meet(std::span<std::byte* const> buffers, std::span<const std::size_t> begins, const std::byte* part) {
    auto& own = hub_->members[rank()];
    own.buffers.assign(buffers.begin(), buffers.end());
    own.begins.assign(begins.begin(), begins.end());
    own.part = part;
    hub_->meet.arrive_and_wait();
    const bool ascending =
        begins.size() == hub_->size + 1 && begins[0] == 0 && std::is_sorted(begins.begin(), begins.end());
    bool fits = ascending && buffers.size() * begins.back() <= hub_->portion;
    for (const auto& member : hub_->members)
      fits = fits && member.begins == own.begins && member.buffers.size() == own.buffers.size();
    if (!fits) std::terminate();  // an exception of one thread would let the others wait for ever
  }

  std::shared_ptr<hub> hub_;
  std::vector<std::vector<std::byte>> received_;
  std::vector<const std::byte*> summands_;
  std::vector<std::byte> result_;
};

/// Runs `f(group)` in `processes` threads, each of which is a process of a group; throws the first exception.
/// Collective calls take at most `portion` bytes.
template <class F>
void in_processes(int processes, const F& f, std::size_t portion = std::size_t{1} << 20) {
  const auto hub = std::make_shared<thread_transport::hub>(static_cast<std::size_t>(processes), portion);
  std::vector<std::exception_ptr> failed(static_cast<std::size_t>(processes));
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank != processes; ++rank)
      threads.emplace_back([&, rank] {
        try {
          f(process_group(std::make_shared<thread_transport>(rank, hub)));
        } catch (...) {
          failed[static_cast<std::size_t>(rank)] = std::current_exception();
          hub->meet.arrive_and_drop();  // the others go on without it
        }
      });
  }
  for (const std::exception_ptr& failure : failed)
    if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace devplace::test
