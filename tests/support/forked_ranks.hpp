// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

namespace devplace::test {

/// Returns when all other threads of this process sleep, or after a second. To be called before fork(): a thread that
/// begins or ends may hold a lock of AddressSanitizer, which the child's copy of that lock would wait for.
inline void wait_until_threads_sleep() {
  const std::string self = std::to_string(::gettid());
  const auto sleeps = [&](const std::filesystem::path& thread) {
    std::string line;
    std::getline(std::ifstream(thread / "stat"), line);
    const std::size_t end = line.rfind(") ");  // of the name, which the state follows
    return thread.filename() == self || end == std::string::npos || line.compare(end, 3, ") S") == 0;
  };
  for (int turn = 0; turn != 1000; ++turn, ::usleep(1000)) {
    std::error_code none;
    const std::filesystem::directory_iterator threads("/proc/self/task", none);
    if (std::all_of(begin(threads), end(threads), [&](const auto& thread) { return sleeps(thread.path()); })) return;
  }
}

/// Real processes, one per rank. All have ended when the object is destroyed, however the test ends.
class forked_ranks {
 public:
  struct outcome {
    std::string end;   ///< `exit 0`, `signal 9`, or `hung`
    std::string text;  ///< the process's stderr
  };

  forked_ranks() = default;
  forked_ranks(const forked_ranks&) = delete;
  forked_ranks& operator=(const forked_ranks&) = delete;
  ~forked_ranks() {
    for (child& one : children_) {
      if (one.pid > 0) {
        ::kill(one.pid, SIGKILL);
        ::waitpid(one.pid, nullptr, 0);
      }
      ::close(one.output);
    }
  }

  /// Starts a process that calls `f`, writes the text that it returns to stderr, and exits with 0, or with 3 after an
  /// exception, whose text it writes. The text has at most 60,000 bytes.
  template <class F> void start(const F& f, bool when_threads_sleep = true) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    if (when_threads_sleep) wait_until_threads_sleep();
    const ::pid_t pid = ::fork();
    if (pid < 0) throw std::runtime_error("no process");
    if (pid == 0) {
      ::alarm(60);
      ::dup2(ends[1], STDERR_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      std::string text;
      int code = 0;
      try {
        if constexpr (std::is_convertible_v<decltype(f()), std::string>)
          text = f();
        else
          f();
      } catch (const std::exception& failure) {
        text = std::string("caught: ") + failure.what() + "\n";
        code = 3;
      }
      if (::write(STDERR_FILENO, text.data(), text.size()) != static_cast<::ssize_t>(text.size())) code = 4;
      std::_Exit(code);
    }
    ::close(ends[1]);
    children_.push_back({pid, ends[0]});
  }

  ::pid_t pid(std::size_t i) const { return children_[i].pid; }

  /// Returns how all processes ended, in the order of their start; kills them after `seconds`.
  std::vector<outcome> wait(double seconds = 20) {
    std::vector<outcome> result(children_.size());
    auto ended = static_cast<std::size_t>(
        std::count_if(children_.begin(), children_.end(), [](const child& one) { return one.pid == 0; }));
    for (auto turns = static_cast<std::size_t>(seconds * 500); ended != children_.size(); --turns) {
      for (std::size_t i = 0; i != children_.size(); ++i) {
        child& one = children_[i];
        if (one.pid == 0) continue;
        if (turns == 0) ::kill(one.pid, SIGKILL);
        int status = 0;
        if (::waitpid(one.pid, &status, turns == 0 ? 0 : WNOHANG) != one.pid) continue;
        one.pid = 0;
        ++ended;
        result[i].end = turns == 0            ? "hung"
                        : WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                              : "exit " + std::to_string(WEXITSTATUS(status));
      }
      if (turns == 0) break;
      sleep_for(0.002);
    }
    for (std::size_t i = 0; i != children_.size(); ++i) {
      char some[4096];
      for (::ssize_t n = 0; (n = ::read(children_[i].output, some, sizeof some)) > 0;)
        result[i].text.append(some, static_cast<std::size_t>(n));
    }
    return result;
  }

  static void sleep_for(double seconds) {
    ::timespec t{static_cast<std::time_t>(seconds), 0};
    t.tv_nsec = static_cast<long>(1e9 * (seconds - static_cast<double>(t.tv_sec)));
    ::nanosleep(&t, nullptr);
  }

 private:
  struct child {
    ::pid_t pid;
    int output;
  };
  std::vector<child> children_;
};

}  // namespace devplace::test
