// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <devplace/process/control/plane.hpp>

#include "process/control/job.hpp"
#include "support/catch.hpp"
#include "support/forked_ranks.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
namespace wire = devplace::parallel::detail;
using Catch::Matchers::ContainsSubstring;
using dp::parallel::control_endpoint;
using dp::parallel::control_listener;
using dp::parallel::control_plane;
using dp::test::forked_ranks;
using dp::test::new_token;
using dp::test::quick;
using dp::test::together;

namespace {

/// The answer of process 0 to a client that sends `bytes`: a rejection's text, "closed", or "silence" after a while.
std::string answer_to(const std::string& token, const std::string& bytes) {
  dp::detail::file_descriptor socket;
  for (int i = 0; !socket && i != 5000; ++i) {
    socket = wire::connect_to(wire::address_of_job(wire::control_token(token)), 1);
    if (!socket) forked_ranks::sleep_for(0.001);
  }
  if (::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return "nobody";
  wire::control_link link(std::move(socket));
  wire::control_header header{};
  std::vector<std::byte> body;
  for (int i = 0; i != 300; ++i) {
    const bool open = link.receive();
    if (link.next(header, body, 100000) == wire::control_link::found::message)
      return {reinterpret_cast<const char*>(body.data()), body.size()};
    if (!open) return "closed";
    forked_ranks::sleep_for(0.001);
  }
  return "silence";
}

template <class T> std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

wire::control_hello hello_of(const std::string& token, int rank, int size) {
  wire::control_hello hello{wire::control_token(token), rank, size, {4242, {}}, {}, 0};
  hello.from.host = "elsewhere";
  hello.version = dp::version;
  return hello;
}
std::string hello_bytes(const wire::control_hello& hello) {
  return bytes_of(wire::control_header{.type = wire::control_message::hello, .bytes = sizeof hello}) + bytes_of(hello);
}

/// Starts processes with the given ranks and sizes; all fail to form a group. Process 0 waits for missing processes for
/// all of `exit_grace`, to report the reason to them.
std::vector<forked_ranks::outcome> start_with(const std::vector<std::pair<int, int>>& ranks, double init_timeout = 15,
                                              double exit_grace = 3) {
  const std::string token = new_token();
  auto options = quick();
  options.init_timeout = init_timeout;
  options.exit_grace = exit_grace;
  forked_ranks processes;
  for (const auto& [rank, size] : ranks) {
    processes.start([&, rank = rank, size = size] {
      control_plane plane({token, rank, size, "started by the test"}, {}, options);
    });
    forked_ranks::sleep_for(0.05);
  }
  return processes.wait();
}

/// Limits the process to `more` additional descriptors; returns the previous limit.
::rlimit allow_descriptors(unsigned more) {
  const int next = ::dup(STDERR_FILENO);
  ::close(next);
  ::rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const ::rlimit now{static_cast<::rlim_t>(next) + more, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &now);
  return before;
}

}  // namespace

TEST_CASE("an incomplete rendezvous names the missing processes", "[process][control_plane]") {
  const auto ends = start_with({{0, 4}, {1, 4}, {3, 4}}, 0.5, 0.3);
  for (const auto& one : ends) {
    CHECK(one.end == "exit 3");
    CHECK(one.text ==
          "caught: devplace: the rendezvous at the job's socket of this host got 3 of 4 processes in 0.5 s; missing: "
          "rank "
          "2. Process 0 is started by the test.\n");
  }
  const auto no_first = start_with({{1, 2}}, 0.3);
  CHECK(no_first[0].text ==
        "caught: devplace: rank 1 of 2 did not find process 0 at the job's socket of this host in 0.3 s: it "
        "was not started, has ended, or its group is complete. This process is started by the test.\n");
}

TEST_CASE("processes with different reactions to failures get an error", "[process][control_plane]") {
  const std::string token = new_token();
  forked_ranks processes;
  for (const int rank : {0, 1})
    processes.start([&, rank] {
      auto options = quick();
      options.failure = rank == 0 ? dp::on_failure::throw_ : dp::on_failure::terminate;
      control_plane plane({token, rank, 2, "started by the test"}, {}, options);
    });
  for (const auto& one : processes.wait()) {
    CHECK(one.end == "exit 3");
    CHECK_THAT(one.text,
               ContainsSubstring("devplace: rank 1 (host ") &&
                   ContainsSubstring(") has on_failure::terminate and rank 0 (host ") &&
                   ContainsSubstring(") has on_failure::throw_: give all processes the same process_options."));
  }
}

TEST_CASE("processes started with different sizes get an error", "[process][control_plane]") {
  for (const auto& one : start_with({{0, 3}, {1, 3}, {2, 4}})) {
    CHECK(one.end == "exit 3");
    CHECK_THAT(one.text, ContainsSubstring("devplace: rank 2 (host "));
    CHECK_THAT(one.text, ContainsSubstring(") was started for 4 processes and rank 0 (host "));
    CHECK_THAT(one.text, ContainsSubstring(") for 3: all must have the same WORLD_SIZE. Process 0 is started by the "
                                           "test."));
  }
}

TEST_CASE("two processes with one rank get an error", "[process][control_plane]") {
  for (const auto& one : start_with({{0, 3}, {1, 3}, {1, 3}}, 15, 0.3)) {
    CHECK(one.end == "exit 3");
    CHECK_THAT(one.text, ContainsSubstring("devplace: rank 1 (host "));
    CHECK_THAT(one.text, ContainsSubstring(") have the same rank: each process needs its own RANK. Process 0 is"));
  }
  const std::string token = new_token();
  const control_listener first({token, 0, 2, ""}, {});
  const auto second = [&] { control_plane plane({token, 0, 2, ""}, {}, quick()); };
  CHECK_THROWS_WITH(second(),
                    ContainsSubstring("this process has made the group of the job already. Keep that group, or "
                                      "take parts of it by split()."));
  forked_ranks other;
  other.start(second);
  CHECK_THAT(other.wait()[0].text,
             ContainsSubstring("process " + std::to_string(::getpid()) +
                               " is process 0 of a job with this name already. Two processes have RANK 0, two jobs "
                               "have the same MASTER_PORT, or an earlier start of the job has not ended."));
}

TEST_CASE("a process that connects after process 0 has rejected the others gets the same error",
          "[process][control_plane]") {
  const auto ends = start_with({{0, 4}, {1, 4}, {1, 4}, {2, 4}, {3, 4}});
  for (const auto& one : ends) {
    CHECK(one.end == "exit 3");
    CHECK(one.text == ends[0].text);
  }
  CHECK_THAT(ends[0].text, ContainsSubstring(") have the same rank: each process needs its own RANK."));
}

TEST_CASE("control characters in foreign messages do not reach a terminal", "[process][control_plane]") {
  const std::string token = new_token();
  forked_ranks processes;
  processes.start([&] { control_plane plane({token, 0, 2, ""}, {}, quick()); });
  auto hello = hello_of(token, 1, 3);
  hello.from.host = "\x1b]0;title\x07\x9b";
  CHECK_THAT(answer_to(token, hello_bytes(hello)),
             ContainsSubstring("rank 1 (host ?]0;title??, pid 4242) was started"));
  CHECK_THAT(processes.wait()[0].text, ContainsSubstring("rank 1 (host ?]0;title??, pid 4242) was started"));

  const dp::detail::file_descriptor stranger = wire::listen_at(wire::address_of_job(wire::control_token(token)));
  forked_ranks refused;
  refused.start([&] { control_plane plane({token, 1, 2, ""}, {}, quick()); });
  ::pollfd waited_for{stranger.get(), POLLIN, 0};
  REQUIRE(::poll(&waited_for, 1, 10000) == 1);
  wire::control_link link(dp::detail::file_descriptor(::accept(stranger.get(), nullptr, nullptr)));
  link.send_text(wire::control_message::refusal, "no\x1b[2J\n\x7f\xc2\x9b");
  CHECK(refused.wait()[0].text == "caught: devplace: no?[2J????\n");
}

TEST_CASE("a process that ends during the rendezvous ends the rendezvous", "[process][control_plane]") {
  const std::string token = new_token();
  forked_ranks processes;
  auto options = quick();
  options.exit_grace = 0.3;  // process 0 waits this long for rank 3
  for (const int rank : {0, 1}) processes.start([&] { control_plane plane({token, rank, 4, ""}, {}, options); });
  CHECK(answer_to(token, "") == "silence");
  CHECK(answer_to(token, hello_bytes(hello_of(token, 2, 4))) == "silence");
  for (const auto& one : processes.wait()) {
    CHECK(one.end == "exit 3");
    CHECK(
        one.text ==
        "caught: devplace: rank 2 (host elsewhere, pid 4242) ended before all processes were there. Its own output may "
        "say why.\n");
  }
}

TEST_CASE("foreign clients are rejected and disturb no process", "[process][control_plane]") {
  const std::string token = new_token();
  forked_ranks processes;
  const bool complete = GENERATE(false, true);
  const auto start = [&](int rank) {
    processes.start([&, rank] {
      control_plane plane({token, rank, 2, ""}, {}, quick());
      for (int i = 0; i != 30; ++i) {
        together(plane);
        forked_ranks::sleep_for(0.03);
      }
    });
  };
  start(0);
  if (complete) {
    start(1);
    forked_ranks::sleep_for(0.2);
  }
  CHECK(answer_to(token, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") == "closed");
  CHECK(answer_to(token, std::string(100000, 'x')) == "closed");
  CHECK(answer_to(token, "") == "silence");
  const auto good = hello_of(token, 1, 2);
  wire::control_header header{.type = wire::control_message::hello, .bytes = sizeof good};
  header.bytes = sizeof good - 1;
  CHECK(answer_to(token, bytes_of(header) + bytes_of(good)) == "closed");
  header.bytes = sizeof good + 1;
  CHECK(answer_to(token, bytes_of(header) + bytes_of(good)) == "closed");
  header.bytes = std::size_t{1} << 60;
  CHECK(answer_to(token, bytes_of(header)) == "closed");
  header = {.type = wire::control_message::goodbye, .bytes = sizeof good};
  CHECK(answer_to(token, bytes_of(header) + bytes_of(good)) == "closed");
  header = {.protocol = 7, .type = wire::control_message::hello, .bytes = 0};
  CHECK(answer_to(token, bytes_of(header)) ==
        "this process has version 7 of the control connection's protocol and process 0 has version 3: all processes of "
        "a group must be started from the same program.");
  auto bad = good;
  bad.version = "9.9.9";
  CHECK(answer_to(token, hello_bytes(bad)) == std::string("this process has devplace 9.9.9 and process 0 has ") +
                                                  dp::version +
                                                  ": all processes of a group must be started from the same program.");
  bad = good;
  bad.token = wire::control_token("another job");
  CHECK(answer_to(token, hello_bytes(bad)) ==
        "process 0 at this address belongs to another job: give each job its own MASTER_PORT, and all processes of a "
        "job the same DEVPLACE_JOB_TOKEN.");
  if (complete)
    CHECK_THAT(answer_to(token, hello_bytes(good)),
               ContainsSubstring("rank 1 (host elsewhere, pid 4242) comes too late: the group of 2 processes is "
                                 "complete, with rank 1 (host "));
  else
    start(1);
  for (const auto& one : processes.wait()) {
    CHECK(one.end == "exit 0");
    CHECK(one.text.empty());
  }
}

TEST_CASE("processes connect at an address and a port that the system chose", "[process][control_plane]") {
  const std::string token = new_token();
  for (const char* const address : {"127.0.0.1", "localhost"}) {
    control_endpoint where;
    {
      // This frees the port again; a program would pass on the listener.
      const control_listener probe({token, 0, 3, ""}, {address, 0});
      where = probe.endpoint();
      REQUIRE(where.port != 0);
      CHECK_THROWS_WITH(control_listener({token, 0, 3, ""}, where),
                        ContainsSubstring("process 0 cannot listen at " + where.text() +
                                          ": Address already in use. Another program, or another job, has this port: "
                                          "give another MASTER_PORT to all processes of this job."));
    }
    forked_ranks processes;
    for (const int rank : {2, 1, 0})
      processes.start([&] {
        control_plane plane({token, rank, 3, ""}, where, quick());
        together(plane);
        if (rank == 1) std::_Exit(0);
        dp::test::wait_in(plane);
      });
    const auto ends = processes.wait();
    CHECK(ends[0].end == "exit 75");
    CHECK(ends[0].text.empty());
    CHECK(ends[1].end == "exit 0");
    CHECK(ends[2].end == "exit 75");
    CHECK_THAT(ends[2].text, ContainsSubstring("devplace: rank 1 (host "));
  }
}

TEST_CASE("foreign clients use up few descriptors, and processes of the job are still admitted",
          "[process][control_plane]") {
  const wire::control_token token(new_token());
  const wire::socket_address where = wire::address_of_job(token);
  wire::control_arrivals arrivals(wire::listen_at(where), token, true);
  std::vector<dp::detail::file_descriptor> strangers;
  int admitted = 0;
  const auto serve = [&] {
    arrivals.serve(devplace::detail::monotonic_seconds(), [&](const auto&, auto&) {
      ++admitted;
      return std::string();
    });
  };
  for (int i = 0; i != 300; ++i) {
    strangers.push_back(wire::connect_to(where, 1));
    REQUIRE(strangers.back());
    if (i % 50 == 0) serve();
  }
  wire::control_link member(wire::connect_to(where, 1));
  auto hello = hello_of("", 1, 2);
  hello.token = token;
  member.send(wire::control_message::hello, hello);
  for (int turn = 0; turn != 10; ++turn) serve();
  CHECK(admitted == 1);
  std::vector<::pollfd> waited_for;
  arrivals.descriptors(waited_for);
  CHECK(waited_for.size() == 1 + 64);
}

TEST_CASE("the network socket is closed once all processes are connected", "[process][control_plane]") {
  const std::string token = new_token();
  control_listener listener({token, 0, 2, ""}, {"127.0.0.1", 0});
  const control_endpoint where = listener.endpoint();
  forked_ranks processes;
  processes.start([&] {
    control_plane plane({token, 0, 2, ""}, std::move(listener), quick());
    together(plane);
    together(plane);
  });
  {
    const control_listener closed_here = std::move(listener);
  }
  const wire::socket_address address = wire::resolve(where.address, where.port).at(0);
  const dp::detail::file_descriptor before = wire::connect_to(address, 1);
  CHECK(before);
  processes.start([&] {
    control_plane plane({token, 1, 2, ""}, where, quick());
    together(plane);
    if (wire::connect_to(address, 1)) throw std::runtime_error("process 0 still listens");
    char some = 0;
    if (::recv(before.get(), &some, 1, 0) != 0) throw std::runtime_error("a stranger is still heard");
    together(plane);
  });
  for (const auto& one : processes.wait()) {
    CHECK(one.end == "exit 0");
    CHECK(one.text.empty());
  }
}

TEST_CASE("process 0 takes over a listener", "[process][control_plane]") {
  const std::string token = new_token();
  control_listener listener({token, 0, 2, ""}, {"127.0.0.1", 0});
  const control_endpoint where = listener.endpoint();
  forked_ranks processes;
  processes.start([&] {
    control_plane plane({token, 0, 2, ""}, std::move(listener), quick());
    together(plane);
  });
  processes.start([&] {
    control_plane plane({token, 1, 2, ""}, where, quick());
    together(plane);
  });
  for (const auto& one : processes.wait()) {
    CHECK(one.end == "exit 0");
    CHECK(one.text.empty());
  }
}

TEST_CASE("process 0 does not spin while no descriptor is available", "[process][control_plane]") {
  const wire::control_token token(new_token());
  forked_ranks processes;
  processes.start([&] {
    const wire::socket_address where = wire::address_of_job(token);
    wire::control_arrivals arrivals(wire::listen_at(where), token, true);
    const auto waited_for = [&] {
      std::vector<::pollfd> all;
      arrivals.descriptors(all);
      return all.size();
    };
    const auto serve = [&] {
      arrivals.serve(devplace::detail::monotonic_seconds(), [](const auto&, auto&) { return std::string(); });
    };
    const dp::detail::file_descriptor other = wire::connect_to(where, 1);
    const ::rlimit before = allow_descriptors(0);
    serve();
    const bool waited_while_full = waited_for() != 0;
    const std::string failure = arrivals.accept_error();
    ::setrlimit(RLIMIT_NOFILE, &before);
    forked_ranks::sleep_for(0.15);
    serve();
    if (waited_while_full) throw std::runtime_error("the listener is polled, which returns at once");
    if (waited_for() != 2) throw std::runtime_error("the connection was not taken when there was a descriptor again");
    if (failure.find("Too many open files. Raise its limit of open files (ulimit -n).") == std::string::npos)
      throw std::runtime_error("it is not said: " + failure);
    if (!arrivals.accept_error().empty()) throw std::runtime_error("an error that is over is reported");
  });
  const auto ends = processes.wait();
  CHECK(ends[0].text == "");
  CHECK(ends[0].end == "exit 0");
}

// UndefinedBehaviorSanitizer, used together with AddressSanitizer, probes memory through a pipe, which also needs
// descriptors.
#if !DEVPLACE_TEST_ADDRESS_SANITIZER
TEST_CASE("process 0 reports that no descriptor is available", "[process][control_plane]") {
  forked_ranks processes;
  const std::string job = new_token();
  processes.start([&] {
    auto options = quick();
    options.init_timeout = 0.4;
    options.exit_grace = 0.3;
    static_cast<void>(allow_descriptors(2));  // for its thread and the listener
    control_plane plane({job, 0, 2, ""}, {}, options);
  });
  processes.start([&] {
    auto options = quick();
    options.init_timeout = 1;
    control_plane plane({job, 1, 2, ""}, {}, options);
  });
  const auto ends = processes.wait();
  CHECK_THAT(ends[0].text, ContainsSubstring("got 1 of 2 processes in 0.4 s; missing: rank 1. Process 0 could not take "
                                             "a connection: Too many open files. Raise its limit of open files"));
}
#endif

TEST_CASE("unusable addresses are named", "[process][control_plane]") {
  CHECK_THROWS_WITH(control_listener({"", 0, 2, ""}, {"192.0.2.1", 0}),
                    ContainsSubstring("The address is not one of this host: MASTER_ADDR must be the host of RANK 0."));
  CHECK_THROWS_WITH(control_listener({"", 0, 2, ""}, {"127.0.0.1", 65536}), ContainsSubstring("65536 is no port"));
  CHECK_THROWS_WITH(control_listener({"", 0, 2, ""}, {"no host has this name", 1}),
                    ContainsSubstring("the address 'no host has this name', where the processes meet, is unknown to "
                                      "this host: "));
  CHECK_THROWS_WITH(control_plane({"", 2, 2, ""}), ContainsSubstring("control_plane: rank 2 of 2 processes; ranks go"));
}

TEST_CASE("addresses of a kind that the host does not have are passed over", "[process][control_plane]") {
  forked_ranks processes;
  processes.start([] {
    ::sock_filter refuse[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(::seccomp_data, nr)),
                              BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
                              BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(::seccomp_data, args[0])),
                              BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
                              BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
                              BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const ::sock_fprog program{6, refuse};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
      throw std::runtime_error("no filter");
    const auto address = wire::resolve("::1", 1).at(0);
    if (wire::connect_to(address, 1) || errno != EAFNOSUPPORT) throw std::runtime_error("connected");
    if (wire::listen_at(address) || errno != EAFNOSUPPORT) throw std::runtime_error("listens");
  });
  const auto end = processes.wait().at(0);
  CHECK(end.text == "");
  CHECK(end.end == "exit 0");
}

TEST_CASE("invalid process options are rejected", "[process][control_plane]") {
  const auto message = [](const auto& change) {
    dp::process_options options;
    change(options);
    try {
      control_plane plane({new_token(), 0, 1, ""}, {}, options);
    } catch (const dp::argument_error& refused) {
      return std::string(refused.what());
    }
    return std::string();
  };
  CHECK(message([](auto&) {}).empty());
  CHECK_THAT(message([](auto& o) { o.heartbeat = 0; }), ContainsSubstring("heartbeat must be more than 0 seconds."));
  CHECK_THAT(message([](auto& o) { o.heartbeat_timeout = 1; }),
             ContainsSubstring("must be 3 heartbeats or more, or 0"));
  CHECK_THAT(message([](auto& o) { o.init_timeout = 0; }), ContainsSubstring("init_timeout must be more than 0"));
  CHECK_THAT(message([](auto& o) { o.op_timeout = -1; }), ContainsSubstring("op_timeout must not be negative"));
  CHECK_THAT(message([](auto& o) { o.exit_grace = -1; }), ContainsSubstring("exit_grace must not be negative"));
  control_plane alone({new_token(), 0, 1, ""});
  std::vector<char> many(65537);
  CHECK_THROWS_WITH(alone.all_gather(many.data(), many.size(), many.data()),
                    ContainsSubstring("an exchange of 65537 bytes; the maximum is 65536 bytes of each process."));
}
