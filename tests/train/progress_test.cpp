// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/train/progress.hpp>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "support/catch.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;

namespace {

double now = 0;

double test_clock() { return now; }

/// A file in memory, not a terminal.
class memory_file {
 public:
  memory_file() : stream_(::open_memstream(&text_, &size_)) { REQUIRE(stream_ != nullptr); }
  ~memory_file() {
    std::fclose(stream_);
    std::free(text_);
  }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;

  std::FILE* stream() { return stream_; }
  std::string text() {
    std::fflush(stream_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_;
};

/// A pseudo terminal: text() returns the text that a terminal would get from `stream()`.
class terminal {
 public:
  terminal() : screen_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    if (screen_ < 0 || ::grantpt(screen_) != 0 || ::unlockpt(screen_) != 0) return;
    const char* const name = ::ptsname(screen_);
    if (name != nullptr) stream_ = std::fopen(name, "r+");
  }
  ~terminal() {
    if (stream_ != nullptr) std::fclose(stream_);
    if (screen_ >= 0) ::close(screen_);
  }
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;

  std::FILE* stream() { return stream_; }
  /// The text written since the last call.
  std::string text() {
    ::fcntl(screen_, F_SETFL, O_NONBLOCK);
    std::string all;
    char part[4096];
    for (ssize_t got; (got = ::read(screen_, part, sizeof part)) > 0;) all.append(part, static_cast<std::size_t>(got));
    return all;
  }

 private:
  int screen_;
  std::FILE* stream_ = nullptr;
};

}  // namespace

TEST_CASE("a file gets one line per epoch, and the loss is read only for that line", "[train]") {
  memory_file file;
  now = 50;
  int reads = 0;
  dp::progress progress{2, {.samples = 100, .stream = file.stream(), .clock = &test_clock}};
  for (int epoch = 0; epoch < 2; ++epoch)
    for (int batch = 0; batch < 4; ++batch) {
      now += 0.5;
      progress.update(epoch, 25, [&] {
        ++reads;
        return 0.25f * static_cast<float>(epoch + 1);
      });
    }
  CHECK(reads == 2);
  CHECK(file.text() ==
        "epoch 1/2  100 %  loss 0.25  50 samples/s  2.0 s left\n"
        "epoch 2/2  100 %  loss 0.5  50 samples/s  4.0 s in all\n");
}

TEST_CASE("a file gets additional lines in a long epoch", "[train]") {
  memory_file file;
  now = 0;
  dp::progress progress{1, {.samples = 1000, .stream = file.stream(), .file_interval = 30, .clock = &test_clock}};
  for (int batch = 0; batch < 10; ++batch) {
    now += 12;
    progress.update(0, 100, [] { return 1.5; });
  }
  CHECK(file.text() ==
        "epoch 1/1   30 %  loss 1.5  8 samples/s  1:24 left\n"
        "epoch 1/1   60 %  loss 1.5  8 samples/s  48.0 s left\n"
        "epoch 1/1   90 %  loss 1.5  8 samples/s  12.0 s left\n"
        "epoch 1/1  100 %  loss 1.5  8 samples/s  2:00 in all\n");
}

TEST_CASE("a terminal gets one line, rewritten at most ten times a second", "[train]") {
  terminal screen;
  if (screen.stream() == nullptr) DEVPLACE_SKIP("this machine gives no pseudo terminal");
  now = 0;
  int reads = 0;
  dp::progress progress{2, {.samples = 100, .stream = screen.stream(), .clock = &test_clock}};
  const auto loss = [&] {
    ++reads;
    return 2.0;
  };
  now = 0.0625;
  progress.update(0, 25, loss);
  CHECK(screen.text().empty());
  now = 0.125;
  progress.update(0, 25, loss);
  CHECK(screen.text() == "\repoch 1/2   50 %  loss 2  400 samples/s  0.4 s left\x1b[K");
  now = 0.1875;
  progress.update(0, 25, loss);
  CHECK(screen.text().empty());
  now = 0.25;
  progress.update(0, 25, loss);
  // The terminal driver inserts a carriage return before a newline.
  CHECK(screen.text() == "\repoch 1/2  100 %  loss 2  400 samples/s  0.2 s left\x1b[K\r\n");
  CHECK(reads == 2);
}

TEST_CASE("the destructor or the next epoch ends an unfinished line", "[train]") {
  terminal screen;
  if (screen.stream() == nullptr) DEVPLACE_SKIP("this machine gives no pseudo terminal");
  now = 0;
  {
    dp::progress progress{3, {.samples = 100, .stream = screen.stream(), .clock = &test_clock}};
    now = 1;
    progress.update(0, 25, [] { return 2.0; });
    CHECK_THAT(screen.text(), ContainsSubstring("epoch 1/3   25 %"));
    now = 2;
    progress.update(1, 25, [] { return 2.0; });
    CHECK(screen.text().substr(0, 16) == "\r\n\repoch 2/3   2");
  }
  CHECK(screen.text() == "\r\n");
}

TEST_CASE("samples per second exclude the time between epochs; the time left includes it", "[train]") {
  memory_file file;
  now = 0;
  dp::progress progress{3, {.samples = 100, .stream = file.stream(), .clock = &test_clock}};
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int batch = 0; batch < 2; ++batch) {
      now += 1;
      progress.update(epoch, 50, [] { return 1.0; });
    }
    now += 10;  // time between epochs, such as an evaluation
  }
  CHECK(file.text() ==
        "epoch 1/3  100 %  loss 1  50 samples/s  4.0 s left\n"
        "epoch 2/3  100 %  loss 1  50 samples/s  7.0 s left\n");
}

TEST_CASE("the time to read the loss counts, because reading waits for the device", "[train]") {
  memory_file file;
  now = 0;
  dp::progress progress{1, {.samples = 100, .stream = file.stream(), .clock = &test_clock}};
  progress.update(0, 50, [] { return 1.0; });
  progress.update(0, 50, [] {
    now = 5;
    return 1.0;
  });
  CHECK(file.text() == "epoch 1/1  100 %  loss 1  10 samples/s  5.0 s in all\n");
}

TEST_CASE("without a stream nothing is written and no loss is read", "[train]") {
  dp::progress progress{1, {.samples = 10, .stream = nullptr}};
  progress.update(0, 10, []() -> double { throw std::logic_error("was read"); });
}

TEST_CASE("progress of empty or inconsistent trainings prints sensible numbers", "[train]") {
  memory_file file;
  now = 0;
  {
    dp::progress progress{1, {.samples = 10, .stream = file.stream(), .clock = &test_clock}};
    progress.update(0, 10, [] { return std::nan(""); });  // no time has passed
    progress.update(0, 10, [] { return 1.0; });           // more samples than announced: no second line
  }
  {
    dp::progress none{0, {.samples = 0, .stream = file.stream(), .clock = &test_clock}};
  }
  CHECK(file.text() == "epoch 1/1  100 %  loss nan  0 samples/s  0.0 s in all\n");
}

TEST_CASE("exceptions from reading the loss propagate", "[train]") {
  memory_file file;
  dp::progress progress{1, {.samples = 10, .stream = file.stream(), .clock = &test_clock}};
  CHECK_THROWS_AS(progress.update(0, 10, []() -> double { throw std::runtime_error("device lost"); }),
                  std::runtime_error);
  CHECK(file.text().empty());
}

TEST_CASE("durations read like a clock, and the longest line has less than 80 columns", "[train]") {
  const auto text = &dp::detail::duration_text;
  CHECK(text(0) == "0.0 s");
  CHECK(text(-1) == "0.0 s");
  CHECK(text(59.94) == "59.9 s");
  CHECK(text(59.96) == "1:00");
  CHECK(text(125.4) == "2:05");
  CHECK(text(3725) == "1:02:05");
  CHECK(text(INFINITY) == "?");
  CHECK(text(NAN) == "?");

  dp::detail::progress_state state;
  state.epoch = state.epochs = 1000;
  state.share = 1;
  state.loss = -1.234e-30;
  state.rate = 123456789;
  state.left = 359999;
  const std::string line = dp::detail::progress_text(state);
  CHECK(line == "epoch 1000/1000  100 %  loss -1.234e-30  123456789 samples/s  99:59:59 left");
  CHECK(line.size() < 80);
}
