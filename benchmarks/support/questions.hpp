// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <iostream>
#include <string>

namespace devplace::bench {

/// The answer to a question about work that the program does not do.
constexpr double not_done = -1;

/// Answers questions on standard input, two words per line, with `seconds(first, second)`, until the input ends. The
/// other side is benchmarks/peers/timing.py.
/// - `threads <count>` calls `set_threads(count)`;
/// - work that is not done is answered with `no`.
template <class SetThreads, class Seconds>
void answer_questions(const SetThreads& set_threads, const Seconds& seconds) {
  std::string question, of;
  while (std::cin >> question >> of) {
    double answer = 0;
    if (question == "threads")
      set_threads(std::stoi(of));
    else
      answer = seconds(question, of);
    if (answer < 0)
      std::cout << "no" << std::endl;
    else
      std::cout << answer << std::endl;
  }
}

}  // namespace devplace::bench
