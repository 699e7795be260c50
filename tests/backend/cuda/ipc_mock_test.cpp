// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The other processes are forked after the export and share the mock's memory.

#include <devplace/tensor/ipc.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/memory/stream.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"
#include "support/forked_processes.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;

namespace {

using where = dp::on<dp::cuda<1>>;
using matrix = dp::tensor<float, dp::extents<2, 3>, where>;
using rows = dp::tensor<double, dp::extents<dp::dyn, 2>, where>;

matrix numbers() { return matrix{{1, 2, 3}, {4, 5, 6}}; }

/// Returns the position of the first call that begins with `begin`, counted from 1; 0 if there is none.
std::size_t call(const std::string& begin) {
  const auto& calls = mock::calls();
  const auto found =
      std::find_if(calls.begin(), calls.end(), [&](const std::string& one) { return one.rfind(begin, 0) == 0; });
  return found == calls.end() ? 0 : static_cast<std::size_t>(found - calls.begin()) + 1;
}

std::string violations() {
  std::string text;
  for (const std::string& one : mock::violations()) text += one + "\n";
  return text;
}

template <class F> std::string error_of(F&& f) {
  try {
    f();
  } catch (const dp::error& failure) {
    return failure.what();
  }
  return "no error";
}

/// Returns the result of `f` in a forked process.
template <class F> std::string in_another_process(const F& f) {
  const auto ended = support::in_forked_processes(1, [&](int) { return f() + violations(); });
  CHECK(support::failures(ended).empty());
  return ended[0].text;
}

/// Destroys an exported tensor while another process has it open and then closes it or is killed.
void check_wait_for_other(bool killed) {
  std::optional<dp::exported<matrix>> out(std::in_place, numbers());
  const auto handle = out->handle();
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  // Shared by both processes; set before the other process closes the tensor or is killed.
  auto* const closing = static_cast<std::atomic<int>*>(
      ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  dp::test::forked_ranks other;
  other.start([&] {
    const auto there = dp::open_ipc<dp::cuda<1>>(handle);
    static_cast<void>(::write(ready[1], "x", 1) == 1);
    dp::test::forked_ranks::sleep_for(0.1);
    *closing = 1;
    if (killed) ::kill(::getpid(), SIGKILL);
  });
  char answer = 0;
  REQUIRE(::read(ready[0], &answer, 1) == 1);
  CHECK(*closing == 0);
  out.reset();
  CHECK(*closing == 1);
  CHECK(other.wait()[0].end == (killed ? "signal 9" : "exit 0"));
  ::munmap(closing, sizeof(std::atomic<int>));
  ::close(ready[0]);
  ::close(ready[1]);
}

}  // namespace

TEST_CASE("a handle is trivially copyable and opened in another process, which reads and writes the elements") {
  {
    dp::exported out{numbers()};
    const auto handle = out.handle();
    static_assert(std::is_trivially_copyable_v<decltype(handle)>);
    const std::string read = in_another_process([&] {
      auto there = dp::open_ipc<dp::cuda<1>>(handle);
      static_assert(std::is_same_v<decltype(there), matrix>);
      const auto values = dp::to<dp::on<dp::cpu>>(there);
      dp::copy(there, dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>{{0, 0, 0}, {0, 0, 42}});
      dp::synchronize<dp::cuda<1>>();
      return std::to_string(values(1, 2));
    });
    CHECK(read == std::to_string(6.0f));
    CHECK(dp::to<dp::on<dp::cpu>>(out.view())(1, 2) == 42);
  }
  CHECK(violations().empty());
  CHECK(mock::live_events() == 0);
}

TEST_CASE("memory is exported in whole pages of cudaMalloc, counted, and freed with the object") {
  const std::size_t blocks = mock::live_blocks();
  {
    const dp::exported out{numbers()};
    CHECK(call("cudaMalloc device 1 2097152 bytes") != 0);
    CHECK(call("cudaIpcGetMemHandle device 1") != 0);
    CHECK(mock::live_blocks() == blocks + 1);  // the tensor's own memory is given back
    CHECK(dp::memory_statistics<dp::cuda<1>>().allocated == 6 * sizeof(float));
  }
  CHECK(call("cudaFree device 1") != 0);
  CHECK(mock::live_blocks() == blocks);
  CHECK(dp::memory_statistics<dp::cuda<1>>().allocated == 0);
  CHECK(violations().empty());
}

TEST_CASE("work of the opening process comes after the exporter's enqueued work") {
  dp::exported out{numbers()};
  const dp::stream<dp::cuda<1>> side;
  mock::name_stream(side.native_handle(), "side");
  mock::clear_calls();
  const auto handle = [&] {
    const dp::stream_scope on_side(side);
    return out.handle();
  }();
  CHECK(call("cudaEventRecord device 1 on side") != 0);
  const std::string order = in_another_process([&] {
    mock::clear_calls();
    const auto there = dp::open_ipc<dp::cuda<1>>(handle);
    static_cast<void>(dp::to<dp::on<dp::cpu>>(there));
    const std::size_t opened = call("cudaIpcOpenEventHandle"), waits = call("cudaStreamWaitEvent"),
                      copies = call("cudaMemcpyAsync");
    return std::string(0 < opened && opened < waits && waits < copies ? "in order" : "not in order");
  });
  CHECK(order == "in order");
}

TEST_CASE("the opening process waits for its work before it closes the memory") {
  dp::exported out{numbers()};
  const auto handle = out.handle();
  const std::string order = in_another_process([&] {
    {
      const auto there = dp::open_ipc<dp::cuda<1>>(handle);
      mock::clear_calls();
    }
    const std::size_t waits = call("cudaStreamSynchronize"), closes = call("cudaIpcCloseMemHandle");
    return std::string(0 < waits && waits < closes ? "in order" : "not in order");
  });
  CHECK(order == "in order");
}

TEST_CASE("the exporter frees the memory when all others have closed it") {
  check_wait_for_other(false);
  CHECK(violations().empty());
}

TEST_CASE("a process that was forked and destroys its copy leaves the memory to the exporter and the others") {
  std::optional<dp::exported<matrix>> out(std::in_place, numbers());
  const auto handle = out->handle();
  const std::string freed = in_another_process([&] {
    mock::clear_calls();
    out.reset();
    return std::to_string(call("cudaFree")) + " " + std::to_string(call("cudaEventDestroy"));
  });
  CHECK(freed == "0 0");
  const std::string read = in_another_process(
      [&] { return std::to_string(dp::to<dp::on<dp::cpu>>(dp::open_ipc<dp::cuda<1>>(handle))(1, 2)); });
  CHECK(read == std::to_string(6.0f));
}

TEST_CASE("handles of freed memory, another type, another GPU or this process are not opened") {
  std::optional<dp::exported<matrix>> out(std::in_place, numbers());
  const auto handle = out->handle();
  CHECK_THAT(error_of([&] { static_cast<void>(dp::open_ipc<dp::cuda<1>>(handle)); }),
             Catch::Matchers::ContainsSubstring("this process has exported the tensor itself"));
  const std::string elsewhere =
      in_another_process([&] { return error_of([&] { static_cast<void>(dp::open_ipc<dp::cuda<0>>(handle)); }); });
  CHECK_THAT(elsewhere, Catch::Matchers::ContainsSubstring("\"device: GPU-00010203-0405-0607-0809-0a0b0c0d0e0f\" and "
                                                           "\"device: GPU-10111213-1415-1617-1819-1a1b1c1d1e1f\""));
  dp::ipc_handle<float, dp::extents<3, 3>> wrong{};
  std::copy(std::begin(handle.name), std::end(handle.name), wrong.name);
  const std::string type =
      in_another_process([&] { return error_of([&] { static_cast<void>(dp::open_ipc<dp::cuda<1>>(wrong)); }); });
  CHECK_THAT(type, Catch::Matchers::ContainsSubstring("\"extents: 3x3\" and \"extents: 2x3\""));
  out.reset();
  const std::string freed =
      in_another_process([&] { return error_of([&] { static_cast<void>(dp::open_ipc<dp::cuda<1>>(handle)); }); });
  CHECK_THAT(freed, Catch::Matchers::ContainsSubstring("does not exist; the process that exported the tensor has"));
  CHECK(violations().empty());
}

TEST_CASE("run-time extents and empty tensors are exported") {
  const dp::exported out{rows(dp::extents<dp::dyn, 2>(5))};
  const dp::exported none{rows(dp::extents<dp::dyn, 2>(0))};
  const auto handle = out.handle(), of_none = none.handle();
  const std::string sizes = in_another_process([&] {
    return std::to_string(dp::open_ipc<dp::cuda<1>>(handle).extent(0)) + " " +
           std::to_string(dp::open_ipc<dp::cuda<1>>(of_none).extent(0));
  });
  CHECK(sizes == "5 0");
}

TEST_CASE("a failing call is reported and leaves nothing behind") {
  struct failing_call {
    const char* name;
    bool of_opener;
  };
  for (const failing_call& one : {failing_call{"cudaMalloc", false},
                                  {"cudaIpcGetMemHandle", false},
                                  {"cudaIpcGetEventHandle", false},
                                  {"cudaIpcOpenMemHandle", true},
                                  {"cudaIpcOpenEventHandle", true}}) {
    INFO(one.name);
    static_cast<void>(numbers());  // the pool exists
    const std::size_t blocks = mock::live_blocks(), events = mock::live_events();
    if (!one.of_opener) {
      mock::fail(one.name, cudaErrorMemoryAllocation);
      CHECK_THROWS_AS(dp::exported{numbers()}, dp::out_of_memory);
    } else {
      const dp::exported out{numbers()};
      const auto handle = out.handle();
      const std::string message = in_another_process([&] {
        mock::fail(one.name, cudaErrorMemoryAllocation);
        return error_of([&] { static_cast<void>(dp::open_ipc<dp::cuda<1>>(handle)); });
      });
      CHECK_THAT(message, Catch::Matchers::ContainsSubstring(one.name));
    }
    CHECK(mock::live_blocks() == blocks);
    CHECK(mock::live_events() == events);
    CHECK(violations().empty());
    CHECK(dp::memory_statistics<dp::cuda<1>>().allocated == 0);
  }
}

TEST_CASE("a moved exported tensor keeps its memory, and the old variable says so") {
  dp::exported first{numbers()};
  dp::exported second{std::move(first)};
  CHECK_THAT(error_of([&] { static_cast<void>(first.handle()); }),
             Catch::Matchers::ContainsSubstring("this exported tensor was moved from"));
  const auto handle = second.handle();
  CHECK(in_another_process([&] { return std::to_string(dp::open_ipc<dp::cuda<1>>(handle).size()); }) == "6");
}

// Must be the last test: the mock does not know that the process has ended.
TEST_CASE("the exporter frees the memory when the process that had it open was killed") {
  check_wait_for_other(true);
  CHECK(violations() == "cudaFree: a process has the memory open\n");
}
