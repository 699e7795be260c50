// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <devplace/process/control/detail/messages.hpp>
#include <devplace/process/control/detail/watched_process.hpp>

namespace devplace::parallel::detail {

/// Collects, in process 0, the contributions to incomplete exchanges.
class control_exchanges {
 public:
  /// Adds the message of process `rank`; false if the message is not valid in this group.
  bool take(std::size_t rank, const std::vector<std::byte>& body, std::size_t processes) {
    if (body.size() < sizeof(control_gather)) return false;
    const auto head = control_read<control_gather>(body.data());
    if (head.members > processes || body.size() < sizeof head + head.members * sizeof(std::int32_t)) return false;
    exchange opened{.whole = head.members == 0, .equal = head.equal != 0};
    for (std::size_t i = 0; i != head.members; ++i)
      opened.members.push_back(control_read<std::int32_t>(body.data() + sizeof head + i * sizeof(std::int32_t)));
    for (std::size_t r = 0; head.members == 0 && r != processes; ++r)
      opened.members.push_back(static_cast<std::int32_t>(r));
    opened.contributions.resize(opened.members.size());
    const auto at = std::find(opened.members.begin(), opened.members.end(), static_cast<std::int32_t>(rank));
    const auto known = [processes](std::int32_t r) { return r >= 0 && static_cast<std::size_t>(r) < processes; };
    if (at == opened.members.end() || !std::all_of(opened.members.begin(), opened.members.end(), known)) return false;
    exchange& one = open_.try_emplace(head.key, opened).first->second;
    if (one.members != opened.members) return false;
    auto& own = one.contributions[static_cast<std::size_t>(at - opened.members.begin())];
    if (own) return false;
    const std::size_t begin = sizeof head + head.members * sizeof(std::int32_t);
    own.emplace(body.begin() + static_cast<std::ptrdiff_t>(begin), body.end());
    return true;
  }

  /// Sends the result of each complete exchange to its members, by `answer(rank, result)`. Returns a description of the
  /// first failure, or an empty text if there is none. An exchange fails if a member leaves or sends a wrong number
  /// of bytes. An exchange of all processes also fails after `seconds`. control_call_checker reports missing members of
  /// an exchange inside a collective call.
  std::string serve(double now, const watched_processes& all, double seconds, const auto& answer) {
    for (auto at = open_.begin(); at != open_.end();) {
      exchange& one = at->second;
      if (one.since == 0) one.since = now;
      const bool inside_call = one.inside_call(all);
      std::vector<std::byte> result;
      bool complete = true;
      for (std::size_t i = 0; i != one.members.size(); ++i) {
        const watched_process& member = all[static_cast<std::size_t>(one.members[i])];
        if (!one.contributions[i]) {
          complete = false;
          if (!inside_call && (member.left || (one.whole && now - one.since > seconds)))
            return joined({"an exchange between the processes waits for ", member.name(), ", which is ",
                           member.left ? "gone." : joined({member.last(), " after ", seconds_text(seconds), "."})});
          continue;
        }
        if (one.equal && one.contributions[0] && one.contributions[i]->size() != one.contributions[0]->size())
          return joined({member.name(), " gives ", one.contributions[i]->size(),
                         " bytes to an exchange between the processes, and ",
                         all[static_cast<std::size_t>(one.members[0])].name(), " gives ", one.contributions[0]->size(),
                         ": all must be started from the same program."});
        result.insert(result.end(), one.contributions[i]->begin(), one.contributions[i]->end());
      }
      if (!complete) {
        ++at;
        continue;
      }
      const std::vector<std::int32_t> members = one.members;
      at = open_.erase(at);
      for (const std::int32_t member : members) answer(static_cast<std::size_t>(member), result);
    }
    return {};
  }

 private:
  struct exchange {
    bool whole = true, equal = true;
    std::vector<std::int32_t> members{};
    std::vector<std::optional<std::vector<std::byte>>> contributions{};
    double since = 0;

    bool inside_call(const watched_processes& all) const {
      for (std::size_t i = 0; i != members.size(); ++i)
        if (contributions[i] && all[static_cast<std::size_t>(members[i])].is_waiting()) return true;
      return false;
    }
  };

  std::map<std::uint64_t, exchange> open_;
};

}  // namespace devplace::parallel::detail
