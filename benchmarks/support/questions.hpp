// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <iostream>
#include <string>

#include <devplace/place/thread_team.hpp>

namespace devplace::bench {

/// Answers questions on standard input, two words a line, with `seconds(first, second)`, until the input ends. The
/// question `threads <count>` sets the number of threads and is answered with 0. The other side is
/// benchmarks/peers/timing.py.
template <class Seconds>
void answer_questions(const Seconds& seconds) {
  std::string question, of;
  while (std::cin >> question >> of) {
    double answer = 0;
    if (question == "threads")
      set_thread_count(std::stoi(of));
    else
      answer = seconds(question, of);
    std::cout << answer << std::endl;
  }
}

}  // namespace devplace::bench
