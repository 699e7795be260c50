// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <devplace/parallel/detail/control_arrivals.hpp>
#include <devplace/parallel/detail/control_exchanges.hpp>
#include <devplace/parallel/detail/control_judge.hpp>
#include <devplace/parallel/detail/control_role.hpp>

namespace devplace::parallel::detail {

/// Process 0: waits until all are there, answers exchanges, and finds and tells failures.
class control_hub final : public control_role {
 public:
  control_hub(const job_member& who, std::string where, descriptor listener, const control_address& own,
              const process_options& options)
      : control_role(who, options),
        where_(std::move(where)),
        arrivals_(std::move(listener), control_token(who.token)),
        judge_(options),
        parts_of_all_(options),
        links_(static_cast<std::size_t>(who.size)) {
    all_.resize(links_.size());
    for (std::size_t r = 0; r != all_.size(); ++r)
      all_[r].rank = static_cast<int>(r);
    all_[0].from = own;
    meet();
  }

 private:
  void meet() {
    const double until = monotonic_seconds() + options_.init_timeout;
    std::string wrong;
    std::set<int> told;
    for (std::size_t there = 1; there != links_.size() && wrong.empty();) {
      const double now = hear_arrivals(until, [&](const control_hello& hello, control_link& link) {
        if (wrong.empty()) wrong = admit(hello, link);
        there += wrong.empty();
        if (!wrong.empty()) note_told(told, hello.rank);
        return wrong;
      });
      for (std::size_t r = 1; r != links_.size(); ++r)
        if (wrong.empty() && links_[r].open() && !links_[r].receive())
          wrong = all_[r].name() + " ended before all processes were there. Its own output may say why.";
      if (wrong.empty() && now >= until && there != links_.size()) wrong = missing_text(there);
    }
    if (!wrong.empty()) refuse_all(wrong, std::move(told));
    arrivals_.all_are_there();
    std::vector<control_address> where;
    for (watched_process& one : all_) {
      where.push_back(one.from);
      one.heard = monotonic_seconds();
    }
    for (control_link& link : links_)
      link.send(control_message::welcome, where.data(), where.size() * sizeof(control_address));
  }

  /// At the start, what is wrong with a process of the job is wrong for all.
  std::string admit(const control_hello& hello, control_link& link) {
    watched_process comes{.rank = hello.rank, .from = hello.from};
    if (hello.size != who_.size)
      return comes.name() + " was started for " + std::to_string(hello.size) + " processes and " + all_[0].name() +
             " for " + std::to_string(who_.size) + ": all must have the same WORLD_SIZE." + source();
    if (hello.rank < 0 || hello.rank >= who_.size)
      return comes.name() + " is none of 0 to " + std::to_string(who_.size - 1) + "." + source();
    const auto r = static_cast<std::size_t>(hello.rank);
    if (r == 0 || links_[r].open())
      return comes.name() + " and " + all_[r].name() + " have the same rank: each process needs its own RANK." +
             source();
    links_[r] = std::move(link);
    all_[r] = comes;
    return {};
  }

  /// Afterwards, it is that process's mistake.
  std::string refuse_late(const control_hello& hello) const {
    const watched_process comes{.rank = hello.rank, .from = hello.from};
    const bool known = hello.rank >= 0 && hello.rank < who_.size;
    const auto& has_rank = all_[known ? static_cast<std::size_t>(hello.rank) : 0];
    if (known && has_rank.left) return "later";  // it will be in the next group of the same job
    return comes.name() + " comes too late: the group of " + std::to_string(who_.size) + " processes is complete" +
           (known ? ", with " + has_rank.name() : std::string()) + ". Each process needs its own RANK." + source();
  }

  std::string missing_text(std::size_t there) const {
    std::string missing;
    for (std::size_t r = 1; r != links_.size(); ++r)
      if (!links_[r].open()) missing += (missing.empty() ? "" : ", ") + std::to_string(r);
    return "the meeting at " + where_ + " got " + std::to_string(there) + " of " + std::to_string(who_.size) +
           " processes in " + seconds_text(options_.init_timeout) + "; missing: rank " + missing + "." +
           arrivals_.trouble() + source();
  }

  std::string source() const { return who_.source.empty() ? std::string() : " Process 0 is " + who_.source + "."; }

  /// Adds a process to those that know why the group was refused, if it has a rank of the group.
  void note_told(std::set<int>& told, int rank) const {
    if (rank > 0 && static_cast<std::size_t>(rank) < links_.size()) told.insert(rank);
  }
  /// Tells all processes why, also those that connect later, for exit_grace. Ranks that know are `told`.
  [[noreturn]] void refuse_all(const std::string& why, std::set<int> told) {
    for (std::size_t r = 1; r != links_.size(); ++r)
      if (links_[r].open()) {
        links_[r].send_text(control_message::refusal, why);
        links_[r].close();
        told.insert(all_[r].rank);
      }
    const double until = monotonic_seconds() + options_.exit_grace;
    for (double now = 0; told.size() + 1 < links_.size() && now < until;)
      now = hear_arrivals(until, [&](const control_hello& hello, control_link&) {
        note_told(told, hello.rank);
        return why;
      });
    throw communication_error(why);
  }

  template <class Admit>
  double hear_arrivals(double until, const Admit& admit) {
    std::vector<::pollfd> waited_for;
    descriptors(waited_for);
    ::poll(waited_for.data(), waited_for.size(), poll_milliseconds(std::min(until - monotonic_seconds(), 1.0)));
    const double now = monotonic_seconds();
    arrivals_.serve(now, admit);
    return now;
  }

  void descriptors(std::vector<::pollfd>& to) const override {
    arrivals_.descriptors(to);
    for (const control_link& link : links_)
      if (link.open()) to.push_back({link.fd(), static_cast<short>(link.has_unsent() ? POLLIN | POLLOUT : POLLIN), 0});
  }

  bool serve(double now, bool beats, leaving how) override {
    arrivals_.serve(now, [&](const control_hello& hello, control_link&) { return refuse_late(hello); });
    for (std::size_t r = 1; r != links_.size(); ++r)
      if (links_[r].open()) hear(r, now);
    gather(now);
    if (how == leaving::by_exception && !has_failed()) return leave_by_exception();
    self().left = how != leaving::no;
    if (beats || self().left) parts.tell(now, [&](const control_part& told) { parts_of_all_.note(0, told); });
    if (beats) watch(now);
    // After a failure process 0 waits only for processes that may have been stopped, until they answer or are killed.
    const auto waits_for = [&](const watched_process& one) {
      const bool finds_stopped = options_.heartbeat_timeout != 0;
      return links_[static_cast<std::size_t>(one.rank)].open() &&
             (!has_failed() || (finds_stopped && is_late(one, now)));
    };
    return !self().left || std::any_of(all_.begin(), all_.end(), waits_for);
  }

  void hear(std::size_t r, double now) {
    control_link& link = links_[r];
    link.flush();
    const bool open = link.receive();
    control_header header{};
    std::vector<std::byte> body;
    auto found = control_link::found::nothing;
    while ((found = link.next(header, body, gather_limit())) == control_link::found::message) {
      all_[r].heard = now;
      if (!take(r, header, body)) {
        found = control_link::found::garbage;
        break;
      }
    }
    if (found == control_link::found::garbage) {
      link.close();
      fail(all_[r].name() + " sent over the control connection what no process of this group sends.");
    } else if (!open && link.open()) {
      link.close();
      fail(ended_text(all_[r], self()));
    }
  }

  bool take(std::size_t r, const control_header& header, const std::vector<std::byte>& body) {
    if (header.type == control_message::heartbeat && body.size() == sizeof(control_state)) {
      all_[r].state = control_read<control_state>(body.data());
      return true;
    }
    if (header.type == control_message::part && body.size() == sizeof(control_part)) {
      parts_of_all_.note(static_cast<int>(r), control_read<control_part>(body.data()));
      return true;
    }
    if (header.type == control_message::gather) return exchanges_.take(r, body, all_.size());
    if (header.type != control_message::goodbye || body.size() != sizeof(control_goodbye)) return false;
    const auto goodbye = control_read<control_goodbye>(body.data());
    all_[r].state = goodbye.state;
    all_[r].left = true;
    links_[r].close();
    if (goodbye.failed != 0) {
      // A launcher that sees this process end may end the others: the failed one needs time to print its exception.
      if (terminates()) ::poll(nullptr, 0, poll_milliseconds(std::min(0.5, options_.exit_grace)));
      fail(exception_text(all_[r]));
    }
    return true;
  }

  /// Answers exchanges in which every member has given something.
  void gather(double now) {
    std::vector<std::byte> own;
    if (take_own(own)) static_cast<void>(exchanges_.take(0, own, all_.size()));
    if (has_failed()) return;
    const std::string fault =
        exchanges_.serve(now, all_, options_.init_timeout, [this](std::size_t r, const auto& result) {
          if (r == 0)
            answer(result.data(), result.size());
          else
            links_[r].send(control_message::gathered, result.data(), result.size());
        });
    if (!fault.empty()) fail(fault);
  }

  void watch(double now) {
    for (control_link& link : links_)
      if (!link.has_unsent()) link.send(control_message::heartbeat, self().state);
    for (std::size_t r = 1; r != all_.size(); ++r)
      if (links_[r].open() && is_silent(all_[r], now)) {
        const std::string sentence = silent_text(all_[r], self(), options_.heartbeat_timeout);
        if (terminates()) print_last(sentence);  // first: a launcher that sees a process end may end this one at once
        links_[r].kill_process();
        links_[r].close();
        return fail(sentence);
      }
    if (has_failed()) return;
    std::string fault = judge_.find_fault(all_, now);
    if (!fault.empty()) {
      parts_of_all_.tell_where_they_wait(all_);
      fault = judge_.find_fault(all_, now);
    } else {
      fault = parts_of_all_.find_fault(all_, now);
    }
    if (!fault.empty()) fail(fault);
  }

  void fail(const std::string& sentence) {
    if (has_failed()) return;
    if (terminates()) print_last(sentence);
    tell(sentence);
    if (terminates()) {
      wait_for_ends();
      end_process();
    }
    note_failure(sentence);
  }

  bool leave_by_exception() {
    const std::string sentence = exception_text(self());
    if (terminates()) print(sentence);
    tell(sentence);
    wait_for_ends();
    return false;
  }

  bool is_late(const watched_process& one, double now) const { return now - one.heard > 2 * options_.heartbeat; }

  void tell(const std::string& sentence) {
    const control_failure head{terminates()};
    for (control_link& link : links_)
      link.send(control_message::failure, &head, sizeof head, sentence.data(), sentence.size());
  }

  /// Until the others have closed their links, and no longer than allowed; kills those that have stopped.
  void wait_for_ends() {
    const double until = monotonic_seconds() + options_.exit_grace;
    for (;;) {
      std::vector<::pollfd> waited_for;
      for (control_link& link : links_) {
        control_header header{};
        std::vector<std::byte> ignored;
        link.flush();
        while (link.open() && link.next(header, ignored, gather_limit()) == control_link::found::message)
          if (header.type == control_message::goodbye) link.close();
        if (link.open()) waited_for.push_back({link.fd(), POLLIN, 0});
      }
      const double now = monotonic_seconds();
      if (waited_for.empty()) return;
      if (now >= until) break;
      ::poll(waited_for.data(), waited_for.size(), poll_milliseconds(std::min(until - now, 0.1)));
      for (control_link& link : links_)
        if (link.open() && !link.receive()) link.close();
    }
    for (std::size_t r = 1; r != links_.size(); ++r)
      if (terminates() && links_[r].open() && is_late(all_[r], monotonic_seconds())) links_[r].kill_process();
  }

  std::string where_;
  control_arrivals arrivals_;
  control_judge judge_;
  watched_parts parts_of_all_;
  std::vector<control_link> links_;  // by rank
  control_exchanges exchanges_;
};

}  // namespace devplace::parallel::detail
