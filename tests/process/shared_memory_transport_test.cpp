// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <devplace/parallel/across_processes.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/process/shared_memory_transport.hpp>

#include "support/catch.hpp"
#include "support/forked_processes.hpp"
#include "support/require_here.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::parallel::shared_memory_transport;
using support::failures;
using support::in_forked_processes;

namespace {

/// Connects the processes of a test.
std::shared_ptr<shared_memory_transport> connect(support::meeting_point& meeting, int rank, int processes,
                                                 std::size_t portion = 0,
                                                 std::shared_ptr<dp::parallel::group_monitor> watch = nullptr) {
  return shared_memory_transport::connect(
      {rank, processes, rank, processes},
      [&](const void* own, std::size_t bytes, void* all) { meeting.all_gather(rank, own, bytes, all); },
      std::move(watch), portion);
}

/// Calls `f(transport, rank)` in connected processes; returns the text of failures.
template <class F>
std::vector<support::ended_process> in_connected(int processes, const F& f, std::size_t portion = 0) {
  support::meeting_point meeting(processes);
  return in_forked_processes(processes, [&](int rank) {
    const auto connected = connect(meeting, rank, processes, portion);
    std::string output;
    if constexpr (std::is_void_v<decltype(f(connected, rank))>)
      f(connected, rank);
    else
      output = f(connected, rank);
    meeting.barrier();
    return output;
  });
}

/// Skips the test case where Linux lets no process copy from another one's memory.
void require_copies_between_processes() {
  const auto ended = in_connected(2, [](const auto& via, int) {
    return std::string(via->message_portion() > via->portion() ? "copies" : "copies twice");
  });
  REQUIRE(failures(ended) == "");
  if (ended[0].text != "copies") DEVPLACE_SKIP("Linux lets no process copy from another one's memory");
}

/// Throws some time after the first check of a waiting call.
class impatient_monitor final : public dp::parallel::group_monitor {
 public:
  void enter(const dp::parallel::collective_call&) noexcept override { ++entered; }
  void leave() noexcept override {}
  void check() override {
    ++checks;
    if (checks == 20) throw dp::communication_error("rank 1 does not answer.");
  }
  int checks = 0, entered = 0;
};

/// The value of process `rank` at index `i` of buffer `b` in call `round`.
std::uint32_t value(std::size_t rank, std::size_t b, std::size_t i, std::size_t round) {
  return static_cast<std::uint32_t>((rank + 1) * 1'000'003 + b * 10'007 + i * 31 + round * 7'919);
}

void poll_until_ended(dp::parallel::transport& via) {
  while (!via.poll()) std::this_thread::yield();
}

/// Replaces every buffer of every process by the sum of all, one portion of the transport at a time. `polled`: polls
/// calls instead of waiting in them.
void all_reduce(dp::parallel::transport& via, std::vector<std::vector<std::uint32_t>>& buffers, bool polled = false) {
  const auto n = static_cast<std::size_t>(via.size()), rank = static_cast<std::size_t>(via.ranks().rank);
  const std::size_t most = via.portion() / buffers.size() / sizeof(std::uint32_t), count = buffers[0].size();
  for (std::size_t done = 0; done < count || done == 0; done += most) {
    const std::size_t now = std::min(most, count - done);
    std::vector<std::byte*> at;
    for (auto& buffer : buffers) at.push_back(reinterpret_cast<std::byte*>(buffer.data() + done));
    std::vector<std::size_t> begins(n + 1);
    for (std::size_t r = 0; r <= n; ++r) begins[r] = now * r / n * sizeof(std::uint32_t);
    if (polled) {
      via.start_collect(at, begins);
      poll_until_ended(via);
    } else {
      via.collect(at, begins);
    }
    const auto [summands, result] = via.summands();
    REQUIRE_HERE(summands.size() == n * buffers.size());
    for (std::size_t i = 0; i != (begins[rank + 1] - begins[rank]) / sizeof(std::uint32_t); ++i) {
      std::uint32_t sum = 0;
      for (const std::byte* const summand : summands) sum += reinterpret_cast<const std::uint32_t*>(summand)[i];
      reinterpret_cast<std::uint32_t*>(result)[i] = sum;
    }
    if (polled) {
      via.start_distribute(result, at, begins);
      poll_until_ended(via);
    } else {
      via.distribute(result, at, begins);
    }
    if (count == 0) break;
  }
}

std::vector<std::vector<std::uint32_t>> filled(std::size_t rank, std::size_t buffers, std::size_t count,
                                               std::size_t round) {
  std::vector<std::vector<std::uint32_t>> result(buffers, std::vector<std::uint32_t>(count));
  for (std::size_t b = 0; b != buffers; ++b)
    for (std::size_t i = 0; i != count; ++i) result[b][i] = value(rank, b, i, round);
  return result;
}

bool reduced(const std::vector<std::vector<std::uint32_t>>& buffers, std::size_t processes, std::size_t round) {
  for (std::size_t i = 0; i != buffers[0].size(); ++i) {
    std::uint32_t sum = 0;
    for (std::size_t r = 0; r != processes; ++r)
      for (std::size_t b = 0; b != buffers.size(); ++b) sum += value(r, b, i, round);
    for (const auto& buffer : buffers)
      if (buffer[i] != sum) return false;
  }
  return true;
}

/// Bytes of group memory that this process maps.
std::size_t mapped_segments() {
  std::ifstream maps("/proc/self/maps");
  std::size_t bytes = 0;
  for (std::string line; std::getline(maps, line);) {
    std::size_t end = 0;
    if (line.find("memfd:devplace") == std::string::npos) continue;
    const std::size_t first = std::stoull(line, &end, 16);
    bytes += std::stoull(line.substr(end + 1), nullptr, 16) - first;
  }
  return bytes;
}

/// Number of files in a folder with `part` in their name.
std::ptrdiff_t entries(const char* folder, const char* part = "") {
  const std::filesystem::directory_iterator all(folder);
  return std::count_if(begin(all), end(all), [part](const auto& entry) {
    return entry.path().filename().string().find(part) != std::string::npos;
  });
}

/// Waits until no segment has a name: tests beside this one have named segments for a moment.
bool no_named_segments() {
  for (int i = 0; i != 1000; ++i) {
    if (entries("/dev/shm", "devplace") == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

TEST_CASE("processes reduce through shared memory: all sizes, several buffers, in portions", "[process]") {
  for (const std::size_t processes : {1U, 2U, 3U, 4U, 5U})
    CHECK(failures(in_connected(
              static_cast<int>(processes),
              [processes](const auto& via, int rank) {
                std::size_t round = 0;
                for (const std::size_t buffers : {1U, 2U, 3U})
                  for (const std::size_t count :
                       std::vector<std::size_t>{0, 1, processes - 1, processes, 7, 1023, 2048, 20'001}) {
                    auto values = filled(static_cast<std::size_t>(rank), buffers, count, ++round);
                    all_reduce(*via, values, round % 2 == 1);
                    REQUIRE_HERE(reduced(values, processes, round));
                  }
              },
              std::size_t{16'384})) == "");
}

TEST_CASE("streaming stores write exactly their range", "[process]") {
  std::vector<std::byte> from(2000), to(2200);
  for (std::size_t i = 0; i != from.size(); ++i) from[i] = static_cast<std::byte>(i % 251);
  for (std::size_t first = 0; first < 70; first += 3)
    for (const std::size_t bytes : {0U, 1U, 63U, 64U, 65U, 127U, 128U, 200U, 1999U}) {
      std::fill(to.begin(), to.end(), std::byte{0xee});
      dp::parallel::detail::shared_writer::stream(to.data() + first, from.data() + 1, bytes > 0 ? bytes - 1 : 0);
      std::vector<std::byte> expected(to.size(), std::byte{0xee});
      std::copy_n(from.begin() + 1, bytes > 0 ? bytes - 1 : 0, expected.begin() + static_cast<std::ptrdiff_t>(first));
      REQUIRE(to == expected);
    }
}

TEST_CASE("arrays of several default-size portions are reduced", "[process]") {
  CHECK(failures(in_connected(2, [](const auto& via, int rank) {
          for (std::size_t round = 0; round != 8; ++round) {
            auto values = filled(static_cast<std::size_t>(rank), 1, 300'001, round);
            all_reduce(*via, values);
            REQUIRE_HERE(reduced(values, 2, round));
          }
        })) == "");
}

TEST_CASE("messages between single processes arrive in the order in which they are listed", "[process]") {
  using message = dp::parallel::transport::message;
  for (const std::size_t processes : {1U, 2U, 3U, 4U})
    CHECK(failures(in_connected(
              static_cast<int>(processes),
              [processes](const auto& via, int own) {
                const auto rank = static_cast<std::size_t>(own);
                // In round n, process p sends (p + q + n) % 3 messages to each process q, among other calls.
                for (std::size_t round = 0; round != 40; ++round) {
                  std::vector<std::vector<std::byte>> memory;
                  std::vector<std::array<std::size_t, 4>> ends;  // whether sent, sender, receiver, number
                  for (std::size_t p = 0; p != processes; ++p)
                    for (std::size_t q = 0; q != processes; ++q)
                      for (std::size_t i = 0; p != q && (p == rank || q == rank) && i != (p + q + round) % 3; ++i)
                        ends.push_back({p == rank, p, q, i});
                  std::vector<message> sends, receives;
                  const auto bytes = [&](const auto& end) {
                    return (end[1] * 7 + end[2] * 3 + end[3] * 97 + round * 60) % 700;
                  };
                  for (const auto& end : ends) {
                    memory.emplace_back(bytes(end) + 1, std::byte{0xee});
                    for (std::size_t i = 0; end[0] != 0 && i != bytes(end); ++i)
                      memory.back()[i] = static_cast<std::byte>(value(end[1], end[3], i, round + end[2]));
                  }
                  for (std::size_t i = 0; i != ends.size(); ++i)
                    (ends[i][0] != 0 ? sends : receives)
                        .push_back(
                            {static_cast<int>(ends[i][ends[i][0] != 0 ? 2 : 1]), memory[i].data(), bytes(ends[i])});
                  via->start_messages(sends, receives);
                  via->wait();
                  for (std::size_t i = 0; i != ends.size(); ++i) {
                    for (std::size_t b = 0; b != bytes(ends[i]); ++b)
                      REQUIRE_HERE(memory[i][b] ==
                                   static_cast<std::byte>(value(ends[i][1], ends[i][3], b, round + ends[i][2])));
                    REQUIRE_HERE(memory[i].back() == std::byte{0xee});
                  }
                  if (round % 3 == 0) via->barrier();
                  auto values = filled(rank, 1, 100, round);
                  all_reduce(*via, values);
                  REQUIRE_HERE(reduced(values, processes, round));
                }
              },
              std::size_t{16'384})) == "");
}

TEST_CASE("a message of another size than expected, and too many bytes, are refused", "[process]") {
  using message = dp::parallel::transport::message;
  const auto ended = in_connected(2, [](const auto& via, int rank) {
    std::byte data[8]{};
    const message one[] = {{1 - rank, data, rank == 0 ? std::size_t{8} : std::size_t{4}}};
    try {
      via->start_messages(rank == 0 ? std::span(one) : std::span<const message>(),
                          rank == 0 ? std::span<const message>() : std::span(one));
      via->wait();
    } catch (const dp::communication_error& refused) {
      return std::string(refused.what());
    }
    return std::string();
  });
  CHECK_THAT(ended[1].text, ContainsSubstring("rank 0 sent 8 bytes to rank 1 where 4 were expected"));
  CHECK(failures(in_connected(2, [](const auto& via, int rank) {
          std::byte data{};
          const message one[] = {{1 - rank, &data, 3 * via->message_portion()}};
          bool refused = false;
          try {
            if (rank == 0) via->start_messages(one, {});
          } catch (const dp::argument_error&) {
            refused = true;
          }
          REQUIRE_HERE(refused == (rank == 0));
          via->barrier();  // the refused call does not count
        })) == "");
}

TEST_CASE("large messages are copied from the sender's memory", "[process]") {
  using message = dp::parallel::transport::message;
  constexpr std::size_t processes = 3;
  require_copies_between_processes();
  CHECK(failures(in_connected(
            processes,
            [](const auto& via, int own) {
              REQUIRE_HERE(via->message_portion() > via->portion());
              const auto rank = static_cast<std::size_t>(own);
              // In round n, process (n % 3) sends nothing, and each other one a message to every process, of which some
              // fit the shared memory. Every process writes to its memory as soon as a call has ended.
              for (std::size_t round = 0; round != 60; ++round) {
                const auto count = [&](std::size_t p, std::size_t q) {
                  return p == q || p == round % 3 ? 0 : (p * 7 + q * 3 + round) % 5 * 2'500 + p + 1;
                };
                std::vector<std::vector<std::uint32_t>> sent(processes), received(processes);
                std::vector<message> sends, receives;
                const auto list = [](std::vector<message>& in, std::size_t other, std::vector<std::uint32_t>& data) {
                  in.push_back({static_cast<int>(other), reinterpret_cast<std::byte*>(data.data()),
                                data.size() * sizeof data[0]});
                };
                for (std::size_t q = 0; q != processes; ++q) {
                  for (std::size_t i = 0; i != count(rank, q); ++i) sent[q].push_back(value(rank, q, i, round));
                  received[q].resize(count(q, rank));
                  if (!sent[q].empty()) list(sends, q, sent[q]);
                  if (!received[q].empty()) list(receives, q, received[q]);
                }
                via->start_messages(sends, receives);
                round % 2 == rank % 2 ? via->wait() : poll_until_ended(*via);
                for (auto& data : sent) std::fill(data.begin(), data.end(), 0xffff'ffffU);
                for (std::size_t q = 0; q != processes; ++q)
                  for (std::size_t i = 0; i != received[q].size(); ++i)
                    REQUIRE_HERE(received[q][i] == value(q, rank, i, round));
                auto values = filled(rank, 1, 100, round);
                all_reduce(*via, values);
                REQUIRE_HERE(reduced(values, processes, round));
              }
            },
            std::size_t{16'384})) == "");
}

TEST_CASE("a sender that ends before its messages are copied is reported", "[process]") {
  using message = dp::parallel::transport::message;
  require_copies_between_processes();
  support::meeting_point meeting(2);
  const auto ended = in_forked_processes(2, [&](int rank) {
    const auto via = connect(meeting, rank, 2, 16'384);
    std::vector<std::byte> data(1 << 20);
    const message one[] = {{1 - rank, data.data(), data.size()}};
    if (rank == 0) via->start_messages(one, {});
    if (rank == 0) ::raise(SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::string told;
    try {
      via->start_messages({}, one);
      via->wait();
    } catch (const dp::communication_error& failure) {
      told = failure.what();
    }
    REQUIRE_HERE(via->poll());  // the failed call has ended
    return told;
  });
  CHECK_THAT(ended[1].text, ContainsSubstring("could not copy"));
}

TEST_CASE("where one process may not copy from the others' memory, none does", "[process]") {
  CHECK(failures(in_forked_processes(2, [meeting = std::make_shared<support::meeting_point>(2)](int rank) {
          // Linux answers process_vm_readv with EPERM, as where processes may not trace each other.
          ::sock_filter refuse[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(::seccomp_data, nr)),
                                    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
                                    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
          const ::sock_fprog program{4, refuse};
          if (rank == 1) {
            REQUIRE_HERE(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
            REQUIRE_HERE(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
          }
          const auto via = connect(*meeting, rank, 2);
          REQUIRE_HERE(via->message_portion() == via->portion());
          auto values = filled(static_cast<std::size_t>(rank), 1, 1000, 0);
          all_reduce(*via, values);
          REQUIRE_HERE(reduced(values, 2, 0));
          return std::string();
        })) == "");
}

TEST_CASE("small buffers are reduced by all processes, bitwise like larger ones", "[process]") {
  for (const std::size_t processes : {1U, 2U, 3U})
    CHECK(failures(in_connected(static_cast<int>(processes), [processes](const auto& via, int rank) {
            const std::vector<int> places{0};
            dp::parallel::across_processes<dp::backend::cpu, dp::parallel::summation::by_rank> engine(
                places, dp::process_group(via));
            const std::size_t most = via->most_everywhere() / sizeof(float);
            REQUIRE_HERE(most > 1000);
            const auto term = [](std::size_t r, std::size_t i) {
              return r == 0 ? 1e8F : r == 1 ? static_cast<float>(i % 100) + 0.3F : -1e8F;  // the order matters
            };
            for (const std::size_t count : std::vector<std::size_t>{0, 1, 250, most, most + 1, 4 * most}) {
              std::vector<float> values(count), expected(count);
              for (std::size_t i = 0; i != count; ++i) {
                values[i] = term(static_cast<std::size_t>(rank), i);
                for (std::size_t r = 0; r != processes; ++r) expected[i] += term(r, i);
              }
              float* const buffer = values.data();
              engine.template all_reduce<float>(std::span(&buffer, 1), count, dp::reduction::sum);
              REQUIRE_HERE(values == expected);
            }
            // Two buffers per process.
            std::vector<std::uint32_t> own{value(static_cast<std::size_t>(rank), 0, 0, 0), 1, 2, 3};
            const std::array<std::byte*, 2> at{reinterpret_cast<std::byte*>(own.data()),
                                               reinterpret_cast<std::byte*>(own.data() + 2)};
            for (int round = 0; round != 3; ++round) {
              const auto [summands, result] = via->collect_everywhere(at, 2 * sizeof(std::uint32_t));
              REQUIRE_HERE(result == at[0]);
              REQUIRE_HERE(summands.size() == 2 * processes);
              for (std::size_t r = 0; r != processes; ++r) {
                const auto* const first = reinterpret_cast<const std::uint32_t*>(summands[2 * r]);
                const auto* const second = reinterpret_cast<const std::uint32_t*>(summands[2 * r + 1]);
                REQUIRE_HERE(first[0] == value(r, 0, 0, 0));
                REQUIRE_HERE(first[1] == 1);
                REQUIRE_HERE(second[0] == 2);
                REQUIRE_HERE(second[1] == 3);
              }
            }
          })) == "");
}

TEST_CASE("10,000 consecutive calls of processes that are out of step", "[process]") {
  CHECK(failures(in_connected(3, [](const auto& via, int rank) {
          const dp::process_group group(via);
          for (int i = 0; i != 10'000; ++i) {
            if (i % 1000 == 333 * rank) ::usleep(1500);  // meanwhile the others sleep
            if (i % 4 == 0) {
              const std::vector<int> all = group.all_gather(i + rank);
              REQUIRE_HERE(all == std::vector{i, i + 1, i + 2});
            } else if (i % 4 == 1) {
              REQUIRE_HERE(group.all_reduce(i * rank) == 3 * i);
            } else if (i % 4 == 2) {
              REQUIRE_HERE(group.broadcast(i + rank, i % 3) == i + i % 3);
            } else {
              auto values = filled(static_cast<std::size_t>(rank), 1, 3, static_cast<std::size_t>(i));
              all_reduce(*via, values);
              REQUIRE_HERE(reduced(values, 3, static_cast<std::size_t>(i)));
              group.barrier();
            }
          }
        })) == "");
}

TEST_CASE("a started call ends when the others have entered it, and no other call may precede its end", "[process]") {
  support::meeting_point meeting(2);
  const auto ended = in_forked_processes(2, [&](int rank) {
    const auto via = connect(meeting, rank, 2);
    auto values = filled(static_cast<std::size_t>(rank), 1, 64, 0);
    std::byte* const buffer = reinterpret_cast<std::byte*>(values[0].data());
    const std::array<std::size_t, 3> begins{0, 128, 256};
    if (rank == 1) meeting.barrier();
    via->start_collect(std::span(&buffer, 1), begins);
    if (rank == 0) {
      for (int i = 0; i != 100; ++i) REQUIRE_HERE(!via->poll());
      bool refused = false;
      try {
        via->barrier();
      } catch (const dp::error& e) {
        refused = std::string(e.what()).find("before the started call has ended") != std::string::npos;
      }
      REQUIRE_HERE(refused);
      meeting.barrier();
    }
    via->wait();
    REQUIRE_HERE(via->poll());
    REQUIRE_HERE(via->summands().summands.size() == 2);
    via->give_up();  // no started call
    via->barrier();
    meeting.barrier();
  });
  for (const support::ended_process& process : ended) CHECK(process.end + process.text == "exit 0");
}

TEST_CASE("giving up a started call is reported to the other processes", "[process]") {
  const auto ended = in_connected(2, [&](const auto& via, int rank) {
    std::vector<std::byte> values(64);
    std::byte* const buffer = values.data();
    const std::array<std::size_t, 3> begins{0, 32, 64};
    if (rank == 0) {
      via->start_collect(std::span(&buffer, 1), begins);
      via->give_up();
    }
    std::string told;
    try {
      for (int i = 0; i != 3; ++i) via->distribute(buffer, std::span(&buffer, 1), begins);
    } catch (const dp::communication_error& e) {
      told = e.what();
    }
    REQUIRE_HERE(told.find(rank == 0 ? "cannot be used any more" : "while rank 0") != std::string::npos);
  });
  for (const support::ended_process& process : ended) CHECK(process.end + process.text == "exit 0");
}

TEST_CASE("a large array is broadcast in portions", "[process]") {
  CHECK(failures(in_connected(
            3,
            [](const auto& via, int rank) {
              const dp::process_group group(via);
              std::vector<double> values(10'000, rank);
              for (std::size_t i = 0; rank == 1 && i != values.size(); ++i) values[i] = static_cast<double>(i);
              group.broadcast(std::span(values), 1);
              for (std::size_t i = 0; i != values.size(); ++i) REQUIRE_HERE(values[i] == static_cast<double>(i));
              REQUIRE_HERE(group.description() == "rank " + std::to_string(rank) + " of 3 processes, by shared memory");
            },
            std::size_t{4096})) == "");
}

TEST_CASE("a shared-memory group is split by color and key", "[process]") {
  CHECK(failures(in_connected(5, [](const auto& via, int rank) {
          const dp::process_group group(via);
          const dp::process_group part = group.split(rank % 2, -rank);
          const std::vector<int> expected = rank % 2 == 0 ? std::vector{4, 2, 0} : std::vector{3, 1};
          REQUIRE_HERE(part.local_size() == part.size());
          REQUIRE_HERE(part.local_rank() == part.rank());
          for (int i = 0; i != 100 + 50 * (rank % 2); ++i)  // the parts make different numbers of calls
            REQUIRE_HERE(part.all_gather(rank) == expected);
          const dp::process_group single = part.split(rank);
          REQUIRE_HERE(single.size() == 1);
          REQUIRE_HERE(single.all_reduce(5) == 5);
          REQUIRE_HERE(group.all_gather(rank) == std::vector{0, 1, 2, 3, 4});
        })) == "");
}

TEST_CASE("a part's calls are not announced to the whole group's monitor, but still check it", "[process]") {
  support::meeting_point meeting(2);
  const auto ended = in_forked_processes(2, [&](int rank) {
    const auto watch = std::make_shared<impatient_monitor>();
    const dp::process_group group(connect(meeting, rank, 2, 4096, watch));
    const dp::process_group part = group.split(0);
    const int before = watch->entered;
    part.barrier();
    REQUIRE_HERE(watch->entered == before);
    if (rank == 1) ::_exit(0);  // without notifying the other process
    part.barrier();
  });
  CHECK(ended[0].text == "caught: devplace: rank 1 does not answer.\n");
}

TEST_CASE("processes that make different calls are named", "[process]") {
  struct mistake {
    std::function<void(dp::parallel::transport&)> first, second;
    std::string message[2];
  };
  const auto distribute = [](std::vector<std::size_t> begins) {
    return [begins](dp::parallel::transport& via) {
      std::vector<std::byte> values(begins.back());
      std::byte* const to = values.data();
      via.distribute(to, std::span(&to, 1), begins);
    };
  };
  const auto collect = [](std::vector<std::size_t> begins) {
    return [begins](dp::parallel::transport& via) {
      std::vector<std::byte> values(2 * begins.back());
      const std::array<std::byte*, 2> at{values.data(), values.data() + begins.back()};
      static_cast<void>(via.collect(at, begins));
    };
  };
  const auto barrier = [](dp::parallel::transport& via) { via.barrier(); };
  const std::string rule = ". All processes of a group make the same calls in the same order.";
  const std::vector<mistake> mistakes{
      {barrier,
       distribute({0, 8, 16}),
       {"rank 0 waits at a barrier while rank 1 broadcasts or gathers 1 buffer of 16 bytes",
        "rank 1 broadcasts or gathers 1 buffer of 16 bytes while rank 0 waits at a barrier"}},
      {collect({0, 40, 80}),
       distribute({0, 40, 80}),
       {"rank 0 reduces 2 buffers of 80 bytes while rank 1 broadcasts or gathers 1 buffer of 80 bytes",
        "rank 1 broadcasts or gathers 1 buffer of 80 bytes while rank 0 reduces 2 buffers of 80 bytes"}},
      {collect({0, 40, 80}),
       collect({0, 44, 80}),
       {"rank 0 reduces 2 buffers of 80 bytes while rank 1 reduces 2 buffers of 80 bytes, with other boundaries "
        "between their parts",
        "rank 1 reduces 2 buffers of 80 bytes while rank 0 reduces 2 buffers of 80 bytes, with other boundaries "
        "between their parts"}},
      {collect({0, 100, 200}),
       collect({0, 200'000, 400'000}),
       {"rank 0 reduces 2 buffers of 200 bytes while rank 1 reduces 2 buffers of 400000 bytes",
        "rank 1 reduces 2 buffers of 400000 bytes while rank 0 reduces 2 buffers of 200 bytes"}},
      {[](dp::parallel::transport& via) {
         std::array<std::byte, 8> values{};
         std::byte* const at = values.data();
         static_cast<void>(via.collect_everywhere(std::span(&at, 1), values.size()));
       },
       barrier,
       {"rank 0 reduces 1 buffer of 8 bytes while rank 1 waits at a barrier",
        "rank 1 waits at a barrier while rank 0 reduces 1 buffer of 8 bytes"}},
      {[](dp::parallel::transport& via) { static_cast<void>(via.split(0, 0)); },
       barrier,
       {"rank 0 splits the group by 1 buffer of 24 bytes while rank 1 waits at a barrier",
        "rank 1 waits at a barrier while rank 0 splits the group by 1 buffer of 24 bytes"}},
  };
  for (const mistake& wrong : mistakes) {
    const auto ended = in_connected(2, [&](const auto& via, int rank) {
      via->barrier();
      std::string message;
      try {
        (rank == 0 ? wrong.first : wrong.second)(*via);
      } catch (const dp::communication_error& failure) {
        message = failure.what();
      }
      const std::string expected = "devplace: " + wrong.message[rank] + rule;
      if (message != expected) throw std::runtime_error(message + " instead of " + expected);
      try {
        via->barrier();
      } catch (const dp::communication_error& failure) {
        message = failure.what();
      }
      support::require(
          message == "devplace: this group of processes cannot be used any more, because an earlier call failed.",
          message.c_str());
    });
    CHECK(failures(ended) == "");
  }
}

TEST_CASE("invalid boundaries are rejected before use", "[process]") {
  CHECK(failures(in_connected(
            2,
            [](const auto& via, int) {
              std::vector<std::byte> values(100'000);
              std::byte* const at = values.data();
              for (const std::vector<std::size_t>& begins : std::vector<std::vector<std::size_t>>{
                       {0, 8}, {8, 16, 24}, {0, 16, 8}, {0, 50'000, 100'000}, {0, 1, SIZE_MAX}}) {
                std::string message;
                try {
                  via->distribute(at, std::span(&at, 1), begins);
                } catch (const dp::argument_error& failure) {
                  message = failure.what();
                }
                REQUIRE_HERE(message ==
                             "devplace: shared_memory_transport: a call needs 3 ascending boundaries that begin with "
                             "0, and at most 4096 bytes in all buffers together.");
              }
              via->barrier();  // the group still works
            },
            std::size_t{4096})) == "");
}

TEST_CASE("a process that leaves its group while others wait is named", "[process]") {
  support::meeting_point meeting(3);
  const auto ended = in_forked_processes(3, [&](int rank) {
    const auto via = connect(meeting, rank, 3);
    via->barrier();
    if (rank == 2) {
      ::usleep(20'000);  // the others sleep
      return;
    }
    via->barrier();
  });
  CHECK(ended[2].end == "exit 0");
  for (const std::size_t rank : {0U, 1U}) {
    CHECK(ended[rank].end == "exit 3");
    // The first process to notice leaves the group, too.
    CHECK_THAT(ended[rank].text, ContainsSubstring(" has left the group, or one of its calls has failed, while rank " +
                                                   std::to_string(rank) + " waits at a barrier. All processes"));
  }
  CHECK((ended[0].text + ended[1].text).find("devplace: rank 2 has left") != std::string::npos);
}

TEST_CASE("a waiting call checks the monitor, whose exception ends the call", "[process]") {
  support::meeting_point meeting(2);
  const auto ended = in_forked_processes(2, [&](int rank) {
    const auto watch = std::make_shared<impatient_monitor>();
    const auto via = connect(meeting, rank, 2, 4096, watch);
    REQUIRE_HERE(via->monitor() == watch.get());
    if (rank == 1) ::_exit(7);  // like kill -9: without notifying the others
    via->barrier();
  });
  CHECK(ended[0].end == "exit 3");
  CHECK(ended[0].text == "caught: devplace: rank 1 does not answer.\n");
  CHECK(ended[1].end == "exit 7");
}

TEST_CASE("a child of fork does not end the group of its parent", "[process]") {
  CHECK(failures(in_connected(2, [](auto via, int) {
          const auto child = support::in_forked_processes(1, [&](int) { via.reset(); }, 20);
          REQUIRE_HERE(child[0].end == "exit 0");
          via->barrier();
        })) == "");
}

TEST_CASE("shared memory leaves nothing behind: no file, no descriptor, no mapping", "[process]") {
  support::meeting_point meeting(2);
  const auto ended = in_forked_processes(2, [&](int rank) {
    const std::ptrdiff_t descriptors = entries("/proc/self/fd");
    {
      const auto via = connect(meeting, rank, 2);
      via->split(0, 0)->barrier();
      REQUIRE_HERE(entries("/proc/self/fd") == descriptors);
      via->barrier();
      REQUIRE_HERE(no_named_segments());
    }
    std::array<char, 1 << 16> maps{};
    const int file = ::open("/proc/self/maps", O_RDONLY);
    std::string text;
    for (::ssize_t n = 0; (n = ::read(file, maps.data(), maps.size())) > 0;)
      text.append(maps.data(), static_cast<std::size_t>(n));
    ::close(file);
    REQUIRE_HERE(text.find("memfd:devplace") == std::string::npos);
    const auto via = connect(meeting, rank, 2);
    ::kill(::getpid(), SIGKILL);
  });
  CHECK(ended[0].end == "signal 9");
  CHECK(ended[1].end == "signal 9");
  CHECK(no_named_segments());
}

TEST_CASE("many processes use less shared memory each, and their sums are exact", "[process]") {
  constexpr int processes = 16;
  CHECK(failures(in_connected(processes, [](const auto& via, int rank) {
          const std::size_t mapped = mapped_segments();
          REQUIRE_HERE(mapped == dp::parallel::shared_layout{16, via->portion()}.bytes());
          REQUIRE_HERE(mapped <= std::size_t{36} << 20);  // 65 MiB with the per-process memory of a group of two
          for (std::size_t round = 0; round != 2; ++round) {
            auto values = filled(static_cast<std::size_t>(rank), 1, 300'001, round);
            all_reduce(*via, values);
            REQUIRE_HERE(reduced(values, processes, round));
          }
        })) == "");
}

TEST_CASE("float sums have the same bits for every portion, in rank order and by a ring", "[process]") {
  const auto bits = [](std::size_t portion) {
    return in_connected(
        3,
        [](const auto& via, int rank) {
          std::vector<float> result;
          const auto sum = [&]<dp::parallel::summation Order>() {
            const std::vector<int> places{0};
            dp::parallel::across_processes<dp::backend::cpu, Order> engine(places, dp::process_group(via));
            std::vector<float> values(50'001);
            for (std::size_t i = 0; i != values.size(); ++i)
              values[i] = 1.0F / static_cast<float>(i % 997 + 3 + 1000 * static_cast<std::size_t>(rank));
            float* const buffer = values.data();
            engine.template all_reduce<float>(std::span(&buffer, 1), values.size(), dp::reduction::sum);
            result.insert(result.end(), values.begin(), values.end());
          };
          sum.template operator()<dp::parallel::summation::by_rank>();
          sum.template operator()<dp::parallel::summation::by_ring>();
          std::uint64_t hash = 0;
          for (const float value : result) hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 0x9e37'79b9'7f4a'7c15U;
          return std::to_string(hash);
        },
        portion);
  };
  const auto usual = bits(0);
  CHECK(failures(usual) == "");
  for (const std::size_t portion : {4096U, 65'536U, 131'072U}) {
    const auto other = bits(portion);
    for (std::size_t r = 0; r != 3; ++r) CHECK(other[r].text == usual[0].text);
  }
}

TEST_CASE("all processes get the reason why they cannot share memory", "[process]") {
  CHECK_THROWS_WITH(shared_memory_transport::connect(
                        {3, 4, 1, 2}, [](const void*, std::size_t, void*) {}, nullptr),
                    "devplace: shared_memory_transport: only 2 of the 4 processes are on the host of rank 3. Processes "
                    "of several hosts are connected by MPI: start them by mpirun or srun, and link devplace::mpi.");
  using segment = dp::parallel::detail::shared_segment;
  const auto changed = [](std::int64_t process, std::int64_t descriptor, std::uint64_t inode, std::uint64_t more = 0) {
    support::meeting_point meeting(2);
    return in_forked_processes(2, [&](int rank) {
      int rounds = 0;
      static_cast<void>(shared_memory_transport::connect(
          {rank, 2, rank, 2},
          [&](const void* own, std::size_t bytes, void* all) {
            meeting.all_gather(rank, own, bytes, all);
            if (++rounds != 1) return;
            auto& first = *static_cast<segment::address*>(all);
            if (process != 0) first.process = process;
            if (descriptor >= 0) first.descriptor = descriptor;
            first.inode += inode;
            first.bytes += more;
          },
          nullptr));
    });
  };
  const std::string sentence =
      "caught: devplace: shared_memory_transport: rank 1 of 2 processes could not open the memory of rank 0 by /proc "
      "(No such "
      "file or directory). Start all processes on one host, in one container and as one user, or connect them by "
      "MPI.\n";
  for (const auto& ended : {changed(0, 987, 0), changed(999'999'999, 0, 0), changed(0, -1, 1), changed(0, -1, 0, 4096)})
    for (const auto& process : ended) CHECK(process.text == sentence);
}

TEST_CASE("all processes get the failure to create a segment", "[process]") {
  support::meeting_point meeting(2);
  const auto ended =
      in_forked_processes(2, [&](int rank) { static_cast<void>(connect(meeting, rank, 2, std::size_t{1} << 58)); });
  for (const auto& process : ended)
    CHECK_THAT(process.text, ContainsSubstring("rank 0 of 2 processes could not get 2305843009213") &&
                                 ContainsSubstring("Give the job more memory, or start fewer processes."));
}

TEST_CASE("the protocol runs under ThreadSanitizer with threads that share one mapping", "[process]") {
  constexpr std::size_t portion = 4096, processes = 3;
  const auto segment = std::make_shared<dp::parallel::detail::shared_segment>();
  segment->create(dp::parallel::shared_layout{processes, portion}.bytes());
  std::vector<std::shared_ptr<shared_memory_transport>> connected;
  for (int rank = 0; rank != static_cast<int>(processes); ++rank)
    connected.push_back(std::make_shared<shared_memory_transport>(
        dp::parallel::process_ranks{rank, processes, rank, processes}, segment, portion, true, nullptr));
  std::array<std::string, processes> failed;
  {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank != processes; ++rank)
      threads.emplace_back([&, rank] {
        try {
          for (std::size_t round = 0; round != 1000; ++round) {
            auto values = filled(rank, 1 + round % 2, 1 + round * 7 % 3000, round);
            all_reduce(*connected[rank], values, round % 2 == rank % 2);
            REQUIRE_HERE(reduced(values, processes, round));
            if (round % 5 == rank) std::this_thread::yield();
            if (round % 3 == 0) connected[rank]->barrier();
          }
        } catch (const std::exception& failure) {
          failed[rank] = failure.what();
          connected[rank].reset();
        }
      });
  }
  for (const std::string& failure : failed) CHECK(failure == "");
}
