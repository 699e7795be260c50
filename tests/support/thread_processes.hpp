// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <devplace/base/function_view.hpp>
#include <devplace/process/process_group.hpp>

namespace devplace::test {

/// A transport between threads of the test, each of which plays a process. Tests that do not depend on real processes
/// are faster with threads and run under ThreadSanitizer. Checks the promises of callers: equal boundaries everywhere,
/// and at most portion() bytes.
class thread_transport final : public parallel::transport {
 public:
  /// The data that a process passes to a call.
  struct message {
    std::size_t buffers = 0;
    std::vector<std::size_t> begins;
    std::vector<std::byte> data;
  };
  struct hub {
    hub(std::size_t processes, std::size_t most) : size(processes), portion(most), members(processes) {}
    struct member {
      std::size_t calls = 0;
      bool gone = false;    ///< the other processes continue without this one
      message messages[2];  ///< of the latest two calls: no process is ahead by more than one
    };
    /// Records that the process left the group, as at an exception.
    void leave(std::size_t rank) {
      const std::lock_guard lock(mutex);
      members[rank].gone = true;
      arrived.notify_all();
    }
    std::size_t size, portion;
    std::mutex mutex;
    std::condition_variable arrived;
    std::vector<member> members;
    std::map<int, std::shared_ptr<hub>> parts;
  };

  thread_transport(int rank, std::shared_ptr<hub> with)
      : transport({rank, static_cast<int>(with->size), rank, static_cast<int>(with->size)}), hub_(std::move(with)) {}
  ~thread_transport() override { hub_->leave(rank()); }

  std::string description() const override { return std::to_string(size()) + " processes, played by threads"; }
  std::size_t portion() const noexcept override { return hub_->portion; }

  void start_collect(std::span<std::byte* const> buffers, std::span<const std::size_t> begins) override {
    message own{buffers.size(), {begins.begin(), begins.end()}, {}};
    for (const std::byte* const buffer : buffers) own.data.insert(own.data.end(), buffer, buffer + begins.back());
    start(std::move(own), [this](const std::vector<const message*>& all) {
      received_.clear();
      pointers_.clear();
      const message& mine = *all[rank()];
      const std::size_t first = mine.begins[rank()], bytes = mine.begins[rank() + 1] - first;
      for (const message* const each : all)
        for (std::size_t b = 0; b != mine.buffers; ++b) {
          received_.emplace_back(bytes);
          if (!each->data.empty())
            std::copy_n(each->data.data() + b * mine.begins.back() + first, bytes, received_.back().data());
        }
      for (const auto& summand : received_) pointers_.push_back(summand.data());
      result_.assign(bytes, std::byte{0xcd});
    });
  }

  void start_distribute(const std::byte* part, std::span<std::byte* const> buffers,
                        std::span<const std::size_t> begins) override {
    const std::size_t bytes = begins[rank() + 1] - begins[rank()];
    message own{buffers.size(), {begins.begin(), begins.end()}, {part, part + bytes}};
    start(std::move(own), [buffers](const std::vector<const message*>& all) {
      for (std::size_t r = 0; r != all.size(); ++r)
        for (std::byte* const buffer : buffers)
          std::copy_n(all[r]->data.data(), all[r]->data.size(), buffer + all[r]->begins[r]);
    });
  }

  void start_messages(std::span<const parallel::transport::message> sends,
                      std::span<const parallel::transport::message> receives) override {
    message own;
    for (const auto& m : sends) {
      const std::array<std::size_t, 2> head{static_cast<std::size_t>(m.process), m.bytes};
      const auto bytes = std::as_bytes(std::span(head));
      own.data.insert(own.data.end(), bytes.begin(), bytes.end());
      own.data.insert(own.data.end(), m.data, m.data + m.bytes);
    }
    start(std::move(own), [this, receives](const std::vector<const message*>& all) {
      std::vector<std::size_t> read(all.size());
      for (const auto& m : receives) {
        const auto from = static_cast<std::size_t>(m.process);
        const std::vector<std::byte>& data = all[from]->data;
        for (bool found = false; !found && read[from] != data.size();) {
          std::array<std::size_t, 2> head{};
          std::copy_n(data.data() + read[from], sizeof head, std::as_writable_bytes(std::span(head)).data());
          found = head[0] == rank();
          if (found && head[1] != m.bytes) std::terminate();
          if (found) std::copy_n(data.data() + read[from] + sizeof head, m.bytes, m.data);
          read[from] += sizeof head + head[1];
        }
      }
    });
  }

  bool poll() override {
    if (end_ == nullptr) return true;
    std::unique_lock lock(hub_->mutex);
    if (!all_arrived()) return false;
    end(lock);
    return true;
  }
  void wait() override {
    if (end_ == nullptr) return;
    std::unique_lock lock(hub_->mutex);
    hub_->arrived.wait(lock, [this] { return all_arrived(); });
    end(lock);
  }
  collected summands() noexcept override { return {pointers_, result_.data()}; }
  void give_up() noexcept override { end_ = nullptr; }

  void barrier() override { exchange({}); }

  std::shared_ptr<transport> split(int color, int key) override {
    const auto all = exchange({color, key});
    std::vector<std::pair<int, std::size_t>> same;
    for (std::size_t r = 0; r != hub_->size; ++r)
      if (all[r][0] == color) same.emplace_back(all[r][1], r);
    std::sort(same.begin(), same.end());
    std::shared_ptr<hub> part;
    {
      const std::lock_guard lock(hub_->mutex);
      auto& shared = hub_->parts[color];
      if (shared == nullptr) shared = std::make_shared<hub>(same.size(), hub_->portion);
      part = shared;
    }
    barrier();
    if (rank() == 0) hub_->parts.clear();
    barrier();
    const auto here = std::find_if(same.begin(), same.end(), [&](const auto& x) { return x.second == rank(); });
    return std::make_shared<thread_transport>(static_cast<int>(here - same.begin()), part);
  }

 private:
  using end_of_call = std::function<void(const std::vector<const message*>&)>;

  std::size_t rank() const { return static_cast<std::size_t>(ranks().rank); }

  void start(message&& own, end_of_call&& at_end) {
    if (end_ != nullptr) std::terminate();  // an exception of one thread would make the others wait forever
    const std::lock_guard lock(hub_->mutex);
    hub::member& here = hub_->members[rank()];
    here.messages[here.calls % 2] = std::move(own);
    number_ = ++here.calls;
    end_ = std::move(at_end);
    hub_->arrived.notify_all();
  }
  bool all_arrived() const {
    return std::all_of(hub_->members.begin(), hub_->members.end(),
                       [&](const hub::member& m) { return m.gone || m.calls >= number_; });
  }
  void end(std::unique_lock<std::mutex>& lock) {
    const auto of_call = [&](const hub::member& m) {
      return m.calls < number_ ? &nothing_ : &m.messages[(number_ - 1) % 2];
    };
    const message& own = *of_call(hub_->members[rank()]);
    std::vector<const message*> all;
    for (const hub::member& m : hub_->members) {
      all.push_back(of_call(m));
      if (m.calls >= number_ && !fits(own, *all.back())) std::terminate();
    }
    nothing_.begins = own.begins;
    lock.unlock();  // messages are not changed before this process's next call
    std::exchange(end_, nullptr)(all);
  }
  bool fits(const message& own, const message& other) const {
    if (own.begins != other.begins || own.buffers != other.buffers) return false;
    return own.begins.empty() ||
           (own.begins.size() == hub_->size + 1 && own.begins[0] == 0 &&
            std::is_sorted(own.begins.begin(), own.begins.end()) && own.buffers * own.begins.back() <= hub_->portion);
  }

  std::vector<std::array<int, 2>> exchange(const std::array<int, 2>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    std::vector<std::array<int, 2>> result;
    start({0, {}, {bytes.begin(), bytes.end()}}, [&](const std::vector<const message*>& all) {
      for (const message* const each : all)
        std::copy(each->data.begin(), each->data.end(),
                  std::as_writable_bytes(std::span(result.emplace_back())).begin());
    });
    wait();
    return result;
  }

  std::shared_ptr<hub> hub_;
  std::size_t number_ = 0;
  end_of_call end_;
  message nothing_;  ///< message of a process that is gone
  std::vector<std::vector<std::byte>> received_;
  std::vector<const std::byte*> pointers_;
  std::vector<std::byte> result_;
};

/// Runs `f(group)` in `processes` threads, one for each process of a group; throws the first exception. Collective
/// calls take at most `portion` bytes.
inline void in_threads(int processes, std::size_t portion, devplace::detail::function_view<const process_group&> f) {
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
        }
      });
  }
  for (const std::exception_ptr& failure : failed)
    if (failure != nullptr) std::rethrow_exception(failure);
}
template <class F> void in_processes(int processes, const F& f, std::size_t portion = std::size_t{1} << 20) {
  in_threads(processes, portion, devplace::detail::function_view<const process_group&>(f));
}

}  // namespace devplace::test
