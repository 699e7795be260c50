// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <devplace/parallel/detail/control_wire.hpp>
#include <devplace/parallel/detail/watched_process.hpp>

namespace devplace::parallel::detail {

/// What processes have given to exchanges that are not complete, in process 0.
class control_exchanges {
 public:
  /// Takes the message of process `rank`; false if no process of the group sends it.
  bool take(std::size_t rank, const std::vector<std::byte>& body, std::size_t processes) {
    if (body.size() < sizeof(control_gather)) return false;
    const auto head = control_read<control_gather>(body.data());
    if (head.members > processes || body.size() < sizeof head + head.members * sizeof(std::int32_t)) return false;
    exchange now{.whole = head.members == 0, .equal = head.equal != 0};
    for (std::size_t i = 0; i != head.members; ++i)
      now.members.push_back(control_read<std::int32_t>(body.data() + sizeof head + i * sizeof(std::int32_t)));
    for (std::size_t r = 0; head.members == 0 && r != processes; ++r)
      now.members.push_back(static_cast<std::int32_t>(r));
    now.given.resize(now.members.size());
    const auto at = std::find(now.members.begin(), now.members.end(), static_cast<std::int32_t>(rank));
    const auto known = [processes](std::int32_t r) { return r >= 0 && static_cast<std::size_t>(r) < processes; };
    if (at == now.members.end() || !std::all_of(now.members.begin(), now.members.end(), known)) return false;
    exchange& one = open_.try_emplace(head.key, now).first->second;
    if (one.members != now.members) return false;
    auto& given = one.given[static_cast<std::size_t>(at - now.members.begin())];
    if (given) return false;
    const std::size_t begin = sizeof head + head.members * sizeof(std::int32_t);
    given.emplace(body.begin() + static_cast<std::ptrdiff_t>(begin), body.end());
    return true;
  }

  /// Passes the result of each complete exchange to its members, by `answer(rank, result)`. Returns what is wrong: a
  /// member that is gone, or, if it is one of all processes, does not come within `seconds`. During a collective call
  /// the group's judge finds these.
  template <class Answer>
  std::string serve(double now, const watched_processes& all, double seconds, const Answer& answer) {
    for (auto at = open_.begin(); at != open_.end();) {
      exchange& one = at->second;
      if (one.since == 0) one.since = now;
      const bool in_call = one.is_in_call(all);
      std::vector<std::byte> result;
      bool complete = true;
      for (std::size_t i = 0; i != one.members.size(); ++i) {
        const watched_process& member = all[static_cast<std::size_t>(one.members[i])];
        if (!one.given[i]) {
          complete = false;
          if (!in_call && (member.left || (one.whole && now - one.since > seconds)))
            return "an exchange between the processes waits for " + member.name() + ", which is " +
                   (member.left ? "gone." : member.last() + " after " + seconds_text(seconds) + ".");
          continue;
        }
        if (one.equal && one.given[0] && one.given[i]->size() != one.given[0]->size())
          return member.name() + " gives " + std::to_string(one.given[i]->size()) +
                 " bytes to an exchange between the processes, and " +
                 all[static_cast<std::size_t>(one.members[0])].name() + " " + std::to_string(one.given[0]->size()) +
                 ": all must be started from the same program.";
        result.insert(result.end(), one.given[i]->begin(), one.given[i]->end());
      }
      if (!complete) {
        ++at;
        continue;
      }
      const std::vector<std::int32_t> members = one.members;
      at = open_.erase(at);
      for (const std::int32_t member : members)
        answer(static_cast<std::size_t>(member), result);
    }
    return {};
  }

 private:
  struct exchange {
    bool whole = true, equal = true;
    std::vector<std::int32_t> members{};
    std::vector<std::optional<std::vector<std::byte>>> given{};
    double since = 0;

    bool is_in_call(const watched_processes& all) const {
      for (std::size_t i = 0; i != members.size(); ++i)
        if (given[i] && all[static_cast<std::size_t>(members[i])].waits()) return true;
      return false;
    }
  };

  std::map<std::uint64_t, exchange> open_;
};

}  // namespace devplace::parallel::detail
