// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>

#include <devplace/base/joined.hpp>
#include <devplace/tensor/detail/number_format.hpp>

namespace devplace::detail {

/// Whether a stream is a terminal. A stream without a file descriptor, such as a stream in memory, is not a terminal.
inline bool is_terminal(std::FILE* stream) {
  const int descriptor = ::fileno(stream);
  return descriptor >= 0 && ::isatty(descriptor) != 0;
}

struct progress_state {
  int epoch = 0;     // counted from 1
  int epochs = 0;    // epochs of the whole training
  double share = 0;  // completed share of this epoch, 0 to 1
  double loss = 0;
  double rate = 0;     // samples per second
  double elapsed = 0;  // seconds since the start
  double left = 0;     // seconds, estimated
  bool ended = false;
};

/// `1.3 s` below a minute, then `2:05`, then `1:02:05`.
inline std::string duration_text(double seconds) {
  if (!(seconds < 360000000)) return "?";
  if (seconds < 59.95) return rounded_text(std::fmax(seconds, 0), std::chars_format::fixed, 1) + " s";
  const long long whole = std::llround(seconds), hours = whole / 3600, minutes = whole / 60 % 60;
  char text[32];
  if (hours > 0)
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", hours, minutes, whole % 60);
  else
    std::snprintf(text, sizeof text, "%lld:%02lld", minutes, whole % 60);
  return text;
}

/// `epoch 2/5   41 %  loss 0.1234  125000 samples/s  3.2 s left`, in less than 80 columns, so that a terminal does not
/// wrap it.
inline std::string progress_text(const progress_state& state) {
  return joined({"epoch ", state.epoch, "/", state.epochs, "  ",
                 padded_left(std::to_string(static_cast<int>(state.share * 100)), 3), " %  loss ",
                 rounded_text(state.loss, std::chars_format::general, 4), "  ",
                 rounded_text(state.rate, std::chars_format::fixed, 0), " samples/s  ",
                 duration_text(state.ended ? state.elapsed : state.left), state.ended ? " in all" : " left"});
}

}  // namespace devplace::detail
