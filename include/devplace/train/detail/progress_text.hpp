// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>

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

/// Writes `1.3 s` below a minute, then `2:05`, then `1:02:05`.
inline void write_duration(char (&text)[32], double seconds) {
  if (!(seconds < 360000000)) {
    std::snprintf(text, sizeof text, "?");
    return;
  }
  if (seconds < 59.95) {
    std::snprintf(text, sizeof text, "%s s", rounded_text(std::fmax(seconds, 0), std::chars_format::fixed, 1).c_str());
    return;
  }
  const long long whole = std::llround(seconds), hours = whole / 3600, minutes = whole / 60 % 60;
  if (hours > 0)
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", hours, minutes, whole % 60);
  else
    std::snprintf(text, sizeof text, "%lld:%02lld", minutes, whole % 60);
}

/// Maximum size of a progress line in bytes.
inline constexpr std::size_t progress_text_size = 160;

/// Writes `epoch 2/5 41 % loss 0.1234 125000 samples/s 3.2 s left`, in less than 80 columns, so that a terminal does
/// not wrap it.
inline void write_progress_text(char (&text)[progress_text_size], const progress_state& state) {
  char time[32];
  write_duration(time, state.ended ? state.elapsed : state.left);
  std::snprintf(text, sizeof text, "epoch %d/%d  %3d %%  loss %s  %s samples/s  %s %s", state.epoch, state.epochs,
                static_cast<int>(state.share * 100), rounded_text(state.loss, std::chars_format::general, 4).c_str(),
                rounded_text(state.rate, std::chars_format::fixed, 0).c_str(), time, state.ended ? "in all" : "left");
}

}  // namespace devplace::detail
