// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Run by mpirun with 1 to 3 processes: compares results of collective::mpi with sums of small integers, which do not
// depend on the order of summation. With an argument, one process leaves out a call.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/parallel/mpi_collectives.hpp>
#include <devplace/tensor/bf16.hpp>

#include "mpi/check.hpp"

namespace dp = devplace;
using dp::parallel::mpi_access;

namespace {

template <class T> T number_of(int participant, std::size_t i) {
  return static_cast<T>(static_cast<int>((static_cast<std::size_t>(participant) * 7 + i * 3) % 5));
}

template <class T> T reduced(int participants, std::size_t i, dp::reduction op) {
  int sum = 0, most = 0, least = 99;
  for (int p = 0; p != participants; ++p) {
    const int x = static_cast<int>(number_of<T>(p, i));
    sum += x;
    most = std::max(most, x);
    least = std::min(least, x);
  }
  if constexpr (std::is_floating_point_v<T>)
    if (op == dp::reduction::mean) return static_cast<T>(sum) / static_cast<T>(participants);
  return static_cast<T>(op == dp::reduction::max ? most : op == dp::reduction::min ? least : sum);
}

/// A buffer on each place of this process, and its values.
template <class Backend, class T> struct buffers_on_places {
  explicit buffers_on_places(std::span<const int> places)
      : ordinals(places), memory(places.size()), at(places.size()) {}

  void fill(int first_participant, std::size_t elements) {
    count = elements;
    for (std::size_t k = 0; k != at.size(); ++k) {
      std::vector<T> values(count);
      for (std::size_t i = 0; i != count; ++i) values[i] = number_of<T>(first_participant + static_cast<int>(k), i);
      memory[k] = dp::detail::allocate<Backend>(ordinals[k], std::max(count, std::size_t{1}) * sizeof(T));
      at[k] = static_cast<T*>(memory[k].data());
      dp::detail::copy_in<Backend>(ordinals[k], at[k], values.data(), count * sizeof(T));
    }
  }
  std::vector<T> values(std::size_t k) const {
    std::vector<T> result(count);
    dp::detail::copy_out<Backend>(ordinals[k], result.data(), at[k], count * sizeof(T));
    return result;
  }
  std::span<T* const> span() const { return at; }

  std::span<const int> ordinals;
  std::vector<dp::detail::memory_block> memory;
  std::vector<T*> at;
  std::size_t count = 0;
};

/// Simulates an MPI that accepts device addresses: this process may access simulated devices' memory, which is
/// otherwise protected from the host.
class mpi_takes_device_memory {
 public:
  explicit mpi_takes_device_memory(mpi_access access) : takes_(access == mpi_access::direct) {
    if (takes_) dp::detail::simulated_guard::of_process().enter();
  }
  mpi_takes_device_memory(const mpi_takes_device_memory&) = delete;
  mpi_takes_device_memory& operator=(const mpi_takes_device_memory&) = delete;
  ~mpi_takes_device_memory() {
    if (takes_) dp::detail::simulated_guard::of_process().leave();
  }

 private:
  bool takes_;
};

/// Boundaries of uneven parts, some empty; the first element is in no part.
std::vector<std::size_t> boundaries(int participants, std::size_t count) {
  std::vector<std::size_t> begins(static_cast<std::size_t>(participants) + 1, count);
  begins[0] = std::min(count, std::size_t{1});
  for (std::size_t p = 1; p + 1 < begins.size(); ++p)
    begins[p] = std::clamp(p / 2 * (count / static_cast<std::size_t>(participants) + 1), begins[0], count);
  return begins;
}

template <class Backend, class T>
void collectives(const dp::process_group& group, std::span<const int> ordinals, mpi_access access, std::size_t most) {
  const mpi_takes_device_memory while_tested(access);
  using communicator = dp::parallel::mpi_collectives<Backend>;
  communicator c(ordinals, group, access, most);
  buffers_on_places<Backend, T> buffers(ordinals);
  const int n = c.size(), first = c.first_rank();
  EXPECT(n == group.size() * static_cast<int>(ordinals.size()));
  c.prepare(37, sizeof(T));
  std::vector<dp::reduction> operations{dp::reduction::sum, dp::reduction::max, dp::reduction::min};
  if (std::is_floating_point_v<T>) operations.push_back(dp::reduction::mean);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{13}, std::size_t{37}}) {
    const std::vector<std::size_t> begins = boundaries(n, count);
    for (const dp::reduction op : operations) {
      for (const bool started : {false, true}) {
        constexpr bool overlaps = dp::parallel::overlapping_communicator<communicator, T>;
        static_assert(overlaps == std::is_same_v<Backend, dp::backend::cpu>);
        if (started && !overlaps) continue;
        buffers_on_places<Backend, T> more(ordinals), shares(ordinals);
        buffers.fill(first, count);
        more.fill(first, count);
        shares.fill(first, count);
        if constexpr (overlaps) {
          if (started) {
            for (int i = 0; i != 3; ++i) c.mark_ready(0);
            c.start_all_reduce(buffers.span(), count, op);
            c.start_reduce(more.span(), count, op, n - 1);
            c.progress();
            c.start_reduce_scatter(shares.span(), std::span<const std::size_t>(begins), op);
            if (group.rank() == 0) c.progress();
            c.finish();
          }
        }
        if (!started) {
          c.all_reduce(buffers.span(), count, op);
          c.reduce(more.span(), count, op, n - 1);
          c.reduce_scatter(shares.span(), std::span<const std::size_t>(begins), op);
        }
        for (std::size_t k = 0; k != ordinals.size(); ++k) {
          const auto p = static_cast<std::size_t>(first) + k;
          for (std::size_t i = 0; i != count; ++i) {
            EXPECT(buffers.values(k)[i] == reduced<T>(n, i, op));
            if (p + 1 == static_cast<std::size_t>(n)) EXPECT(more.values(k)[i] == reduced<T>(n, i, op));
            if (i >= begins[p] && i < begins[p + 1]) EXPECT(shares.values(k)[i] == reduced<T>(n, i, op));
          }
        }
      }
    }
    for (int root = 0; root != n; ++root) {
      buffers.fill(first, count);
      c.broadcast(buffers.span(), count, root);
      for (std::size_t k = 0; k != ordinals.size(); ++k)
        for (std::size_t i = 0; i != count; ++i) EXPECT(buffers.values(k)[i] == number_of<T>(root, i));
    }
    buffers.fill(first, count);
    c.all_gather(buffers.span(), std::span<const std::size_t>(begins));
    for (std::size_t k = 0; k != ordinals.size(); ++k)
      for (int p = 0; p != n; ++p)
        for (std::size_t i = begins[static_cast<std::size_t>(p)]; i != begins[static_cast<std::size_t>(p) + 1]; ++i)
          EXPECT(buffers.values(k)[i] == number_of<T>(p, i));
  }
}

/// MPI must not read buffers before the device's pending work is done.
void wait_for_busy_device(const dp::process_group& group) {
  const std::array<int, 1> one{0};
  for (const mpi_access access : {mpi_access::staged, mpi_access::direct}) {
    const mpi_takes_device_memory while_tested(access);
    dp::parallel::mpi_collectives<dp::backend::cuda> c(one, group, access);
    buffers_on_places<dp::backend::cuda, float> buffers(one);
    buffers.fill(group.rank(), 100'000);
    float* const at = buffers.at[0];
    for (int times = 0; times != 50; ++times)
      dp::detail::for_each_index<dp::backend::cuda>(0, buffers.count, 1 << 20, [at](std::size_t i) { at[i] += 1; });
    c.all_reduce(buffers.span(), buffers.count, dp::reduction::sum);
    const auto values = buffers.values(0);
    for (std::size_t i = 0; i != values.size(); ++i)
      EXPECT(values[i] ==
             reduced<float>(group.size(), i, dp::reduction::sum) + 50.0F * static_cast<float>(group.size()));
  }
}

void misuse(const dp::process_group& group) {
  const std::array<int, 1> one{0};
  const dp::process_group alone;
  EXPECT_THROWS(dp::argument_error,
                "collective::mpi: the group is rank 0 of 1 process, and this engine calls MPI's collectives. Make the "
                "group by mpi_session or mpi_processes",
                dp::collective::mpi{}.connect_across<dp::backend::cpu>(one, alone));
  auto c = dp::collective::mpi{}.connect_across<dp::backend::cpu>(one, group);
  std::array<int, 3> values{};
  std::array<int*, 2> buffers{values.data(), values.data()};
  const std::span<int* const> both(buffers), single = both.first(1);
  EXPECT_THROWS(dp::argument_error, "2 buffers were given for 1 places of this process",
                c.all_reduce(both, 3, dp::reduction::sum));
  EXPECT_THROWS(dp::argument_error, "a mean over places is defined for float",
                c.all_reduce(single, 3, dp::reduction::mean));
  EXPECT_THROWS(dp::argument_error, "the root is rank -1; give one from 0 to ", c.broadcast(single, 3, -1));
  const std::array<std::size_t, 1> begins{1};
  EXPECT_THROWS(dp::argument_error, "the boundaries of the parts must be ascending numbers",
                c.all_gather(single, std::span<const std::size_t>(begins)));
  c.all_reduce(single, 3, dp::reduction::sum);  // the rejected calls have sent nothing
}

/// Long parts, all but the first of which overlap the begin of a window in which MPI reduces them.
template <class Backend> void long_parts(const dp::process_group& group) {
  const std::array<int, 1> one{0};
  const std::size_t count = 300'000;
  for (const std::size_t most : {count, count / 2}) {
    dp::parallel::mpi_collectives<Backend> c(one, group, mpi_access::staged, most);
    std::vector<std::size_t> begins(static_cast<std::size_t>(group.size()) + 1, count);
    begins[0] = 0;
    for (std::size_t p = 1; p + 1 < begins.size(); ++p) begins[p] = p * 100;
    buffers_on_places<Backend, double> buffers(one);
    buffers.fill(group.rank(), count);
    c.reduce_scatter(buffers.span(), std::span<const std::size_t>(begins), dp::reduction::mean);
    const auto values = buffers.values(0);
    const auto own = static_cast<std::size_t>(group.rank());
    for (std::size_t i = begins[own]; i != begins[own + 1]; ++i)
      EXPECT(values[i] == reduced<double>(group.size(), i, dp::reduction::mean));
  }
}

/// One process leaves out a call.
void one_skips(const dp::process_group& group) {
  const std::array<int, 1> one{0};
  auto c = dp::collective::mpi{}.connect_across<dp::backend::cpu>(one, group);
  std::vector<float> values(100);
  float* const data = values.data();
  const std::span<float* const> buffer(&data, 1);
  c.all_reduce(buffer, values.size(), dp::reduction::sum);
  if (group.rank() != 1) {
    c.start_all_reduce(buffer, values.size(), dp::reduction::sum);
    c.progress();
    c.finish();
  }
  group.barrier();
}

/// Computation between the start and the end of a collective does not count as time in the call.
void compute_longer_than_timeout() {
  const dp::process_group group = dp::mpi_processes(MPI_COMM_WORLD, {.op_timeout = 0.5, .heartbeat = 0.1});
  const std::array<int, 1> one{0};
  auto c = dp::collective::mpi{}.connect_across<dp::backend::cpu>(one, group);
  float value = 1;
  float* const data = &value;
  c.start_all_reduce(std::span<float* const>(&data, 1), 1, dp::reduction::sum);
  ::usleep(1'200'000);
  c.finish();
  EXPECT(value == static_cast<float>(group.size()));
  group.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  devplace::test::run_rank([&] {
    const dp::mpi_session session{argc, argv, {.op_timeout = 20, .heartbeat = 0.1}};
    const dp::process_group& group = session.processes();
    const std::array<int, 1> cpu{0};
    const std::array<int, 2> two{0, 1};
    if (argc > 1) return one_skips(group);
    for (const std::size_t most : {std::size_t{5}, std::size_t{1} << 30}) {
      collectives<dp::backend::cpu, float>(group, cpu, mpi_access::staged, most);
      collectives<dp::backend::cpu, std::int64_t>(group, cpu, mpi_access::staged, most);
      collectives<dp::backend::cpu, std::uint8_t>(group, cpu, mpi_access::direct, most);
      collectives<dp::backend::cpu, dp::bf16>(group, cpu, mpi_access::staged, most);
      for (const mpi_access access : {mpi_access::staged, mpi_access::direct}) {
        collectives<dp::backend::cuda, double>(group, cpu, access, most);
        collectives<dp::backend::cuda, float>(group, two, access, most);
      }
    }
    long_parts<dp::backend::cpu>(group);
    long_parts<dp::backend::cuda>(group);
    wait_for_busy_device(group);
    compute_longer_than_timeout();
    misuse(group);
    EXPECT(!dp::parallel::detail::mpi_takes_cuda_memory());  // true of Debian's MPIs
    group.barrier();
  });
}
