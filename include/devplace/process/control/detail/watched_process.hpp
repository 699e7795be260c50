// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <charconv>
#include <string>
#include <vector>

#include <devplace/process/control/detail/messages.hpp>
#include <devplace/tensor/detail/number_format.hpp>

namespace devplace::parallel::detail {

/// The state of a process, as another process knows it.
struct watched_process {
  int rank = 0;
  control_address from{};
  control_state state{};
  double last_message = 0;  ///< time of its last message
  bool left = false;        ///< whether it has left the group, with a goodbye
  /// The call in which this process waits in another group (the whole group or a part); empty if there is none.
  std::string other_call = {};

  bool is_waiting() const noexcept { return state.entered != state.left; }
  /// `rank 2 (host c, pid 812)`
  std::string name() const { return joined({"rank ", rank, " (host ", from.host.str(), ", pid ", from.pid, ")"}); }
  /// `all_reduce #5 (100 x 4 bytes)`
  std::string call(std::uint64_t number) const {
    const control_call* const known = state.find(number);
    const std::string text = joined({known == nullptr ? "call" : known->name.str(), " #", number});
    if (known == nullptr || known->element_bytes == 0) return text;
    return joined({text, " (", known->count, " x ", known->element_bytes, " bytes)"});
  }
  /// Its last call: `in all_reduce #5 (100 x 4 bytes)`
  std::string last() const {
    if (state.entered == 0) return "before its first collective call";
    return (is_waiting() ? "in " : "after ") + call(state.entered);
  }
};

using watched_processes = std::vector<watched_process>;

/// The shortest text: `0.5 s`, `60 s`.
inline std::string seconds_text(double seconds) {
  return devplace::detail::rounded_text(seconds, std::chars_format::general, 6) + " s";
}

// Descriptions of failures. All processes begin a description with the same words, so that logs can be searched.

/// Describes the last call that `process` reported, and the call of `finder`, if `finder` is ahead.
inline std::string last_known(const watched_process& process, const watched_process& finder) {
  const bool reported = process.state.entered != 0, behind = process.state.entered < finder.state.entered;
  return joined({"last known ", reported || !behind ? process.last() : "", reported && behind ? ", " : "",
                 behind ? joined({"before ", finder.name(), " came to ", finder.call(finder.state.entered)}) : ""});
}

inline std::string ended_text(const watched_process& process, const watched_process& finder) {
  return joined({process.name(), " ended without leaving the group, ", last_known(process, finder),
                 ": it was killed, crashed, or called exit. Its own output may say why."});
}

inline std::string silent_text(const watched_process& process, const watched_process& finder, double seconds) {
  return joined({process.name(), " has been silent for ", seconds_text(seconds), ", ", last_known(process, finder),
                 ": it is stopped, as by SIGSTOP or a debugger, or its host is down or cannot be "
                 "reached. process_options::heartbeat_timeout says how long that may take."});
}

inline std::string invalid_text(const watched_process& process) {
  return process.name() + " sent an invalid message over the control connection.";
}

inline std::string exception_text(const watched_process& process) {
  return joined(
      {process.name(), " left the group because of an exception, ", process.last(), ". Its own output may say which."});
}

}  // namespace devplace::parallel::detail
