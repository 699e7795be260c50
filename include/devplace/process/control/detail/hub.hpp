// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <devplace/process/control/detail/arrivals.hpp>
#include <devplace/process/control/detail/call_checker.hpp>
#include <devplace/process/control/detail/exchanges.hpp>
#include <devplace/process/control/detail/role.hpp>

namespace devplace::parallel::detail {

/// The role of process 0: waits for all processes, answers exchanges, detects failures and reports them.
class control_hub final : public control_role {
 public:
  control_hub(const job_member& member, control_endpoint endpoint, file_descriptor listener, const control_address& own,
              const process_options& options)
      : control_role(member, options),
        endpoint_(std::move(endpoint)),
        arrivals_(std::move(listener), control_token(member.token), endpoint_.address.empty()),
        checker_(options),
        all_parts_(options),
        links_(static_cast<std::size_t>(member.size)) {
    processes_.resize(links_.size());
    for (std::size_t r = 0; r != processes_.size(); ++r) processes_[r].rank = static_cast<int>(r);
    processes_[0].from = own;
    rendezvous();
  }

 private:
  void rendezvous() {
    const double deadline = monotonic_seconds() + options_.init_timeout;
    std::string error;
    std::set<int> informed;
    for (std::size_t present = 1; present != links_.size() && error.empty();) {
      const double now = serve_arrivals(deadline, [&](const control_hello& hello, control_link& link) {
        if (error.empty()) error = admit(hello, link);
        if (error.empty())
          ++present;
        else
          note_informed(informed, hello.rank);
        return error;
      });
      for (std::size_t r = 1; r != links_.size(); ++r)
        if (error.empty() && links_[r].open() && !links_[r].receive())
          error = processes_[r].name() + " ended before all processes were there. Its own output may say why.";
      if (error.empty() && now >= deadline && present != links_.size()) error = missing_text(present);
    }
    if (!error.empty()) refuse_all(error, std::move(informed));
    arrivals_.group_complete();
    std::vector<control_address> addresses;
    for (watched_process& one : processes_) {
      addresses.push_back(one.from);
      one.last_message = monotonic_seconds();
    }
    for (control_link& link : links_)
      link.send(control_message::welcome, addresses.data(), addresses.size() * sizeof(control_address));
  }

  /// Adds a process to the group, or returns why its hello makes the whole rendezvous fail.
  std::string admit(const control_hello& hello, control_link& link) {
    watched_process joining{.rank = hello.rank, .from = hello.from};
    if (hello.size != member_.size)
      return joined({joining.name(), " was started for ", hello.size, " processes and ", processes_[0].name(), " for ",
                     member_.size, ": all must have the same WORLD_SIZE.", source()});
    const auto failure = [](bool throws) { return throws ? "throw_" : "terminate"; };
    if ((hello.throws != 0) == terminates())  // the two would disagree on who prints a failure
      return joined({joining.name(), " has on_failure::", failure(hello.throws != 0), " and ", processes_[0].name(),
                     " has on_failure::", failure(!terminates()), ": give all processes the same process_options."});
    if (hello.rank < 0 || hello.rank >= member_.size)
      return joined({joining.name(), " is not one of the ranks 0 to ", member_.size - 1, ".", source()});
    const auto r = static_cast<std::size_t>(hello.rank);
    if (r == 0 || links_[r].open())
      return joined({joining.name(), " and ", processes_[r].name(),
                     " have the same rank: each process needs its own RANK.", source()});
    links_[r] = std::move(link);
    processes_[r] = joining;
    return {};
  }

  /// Returns the reason to refuse a process that connects when the group is complete. The group continues.
  std::string refuse_late(const control_hello& hello) const {
    const watched_process joining{.rank = hello.rank, .from = hello.from};
    const bool known = hello.rank >= 0 && hello.rank < member_.size;
    const auto& has_rank = processes_[known ? static_cast<std::size_t>(hello.rank) : 0];
    if (known && has_rank.left) return "later";  // the process belongs to the job's next group
    return joined({joining.name(), " comes too late: the group of ", member_.size, " processes is complete",
                   known ? ", with " + has_rank.name() : std::string(), ". Each process needs its own RANK.",
                   source()});
  }

  std::string missing_text(std::size_t present) const {
    std::string missing;
    for (std::size_t r = 1; r != links_.size(); ++r)
      if (!links_[r].open()) missing += (missing.empty() ? "" : ", ") + std::to_string(r);
    return joined({"the rendezvous at ", endpoint_.text(), " got ", present, " of ", member_.size, " processes in ",
                   seconds_text(options_.init_timeout), "; missing: rank ", missing, ".", arrivals_.accept_error(),
                   source()});
  }

  /// Adds a rank of the group to the ranks that know why the rendezvous failed.
  void note_informed(std::set<int>& informed, int rank) const {
    if (rank > 0 && static_cast<std::size_t>(rank) < links_.size()) informed.insert(rank);
  }
  /// Sends the reason to all connected processes and, for exit_grace, to processes that connect later. Then throws.
  [[noreturn]] void refuse_all(const std::string& why, std::set<int> informed) {
    for (std::size_t r = 1; r != links_.size(); ++r)
      if (links_[r].open()) {
        links_[r].send_text(control_message::refusal, why);
        links_[r].close();
        informed.insert(processes_[r].rank);
      }
    const double deadline = monotonic_seconds() + options_.exit_grace;
    for (double now = 0; informed.size() + 1 < links_.size() && now < deadline;)
      now = serve_arrivals(deadline, [&](const control_hello& hello, control_link&) {
        note_informed(informed, hello.rank);
        return why;
      });
    throw communication_error(why);
  }

  /// Waits for connections and messages, at most a second or until the deadline; returns the time.
  template <class Admit> double serve_arrivals(double deadline, const Admit& admit) {
    std::vector<::pollfd> polled;
    descriptors(polled);
    ::poll(polled.data(), polled.size(), poll_milliseconds(std::min(deadline - monotonic_seconds(), 1.0)));
    const double now = monotonic_seconds();
    arrivals_.serve(now, admit);
    return now;
  }

  void descriptors(std::vector<::pollfd>& to) const override {
    arrivals_.descriptors(to);
    for (const control_link& link : links_)
      if (link.open()) to.push_back(link.polled());
  }

  bool serve(double now, bool heartbeat_due, leaving mode) override {
    arrivals_.serve(now, [&](const control_hello& hello, control_link&) { return refuse_late(hello); });
    for (std::size_t r = 1; r != links_.size(); ++r)
      if (links_[r].open()) receive(r, now);
    serve_exchanges(now);
    if (mode == leaving::by_exception && !has_failed()) return leave_by_exception();
    self().left = mode != leaving::no;
    if (heartbeat_due || self().left) parts.report(now, [&](const control_part& part) { all_parts_.update(0, part); });
    if (heartbeat_due) watch(now);
    // After a failure process 0 waits only for processes that may have been stopped, until they answer or are killed.
    const auto is_awaited = [&](const watched_process& one) {
      const bool detects_stops = options_.heartbeat_timeout != 0;
      return links_[static_cast<std::size_t>(one.rank)].open() &&
             (!has_failed() || (detects_stops && is_late(one, now)));
    };
    return !self().left || std::any_of(processes_.begin(), processes_.end(), is_awaited);
  }

  void receive(std::size_t r, double now) {
    const auto status = links_[r].read(gather_limit(), [&](control_message type, const std::vector<std::byte>& body) {
      processes_[r].last_message = now;
      return handle(r, type, body);
    });
    if (status == control_link::status::open || !links_[r].open()) return;
    links_[r].close();
    fail(status == control_link::status::ended ? ended_text(processes_[r], self()) : invalid_text(processes_[r]));
  }

  /// Handles one message; false if it is not valid.
  bool handle(std::size_t r, control_message type, const std::vector<std::byte>& body) {
    if (type == control_message::heartbeat && body.size() == sizeof(control_state)) {
      processes_[r].state = control_read<control_state>(body.data());
      return true;
    }
    if (type == control_message::part && body.size() == sizeof(control_part)) {
      all_parts_.update(static_cast<int>(r), control_read<control_part>(body.data()));
      return true;
    }
    if (type == control_message::gather) return exchanges_.take(r, body, processes_.size());
    if (type != control_message::goodbye || body.size() != sizeof(leaving)) return false;
    processes_[r].left = true;
    links_[r].close();
    if (control_read<leaving>(body.data()) == leaving::by_exception) {
      // A launcher that sees this process end may end all others: the failed process needs time to print its exception.
      if (terminates()) ::poll(nullptr, 0, poll_milliseconds(std::min(0.5, options_.exit_grace)));
      fail(exception_text(processes_[r]));
    }
    return true;
  }

  void serve_exchanges(double now) {
    std::vector<std::byte> own;
    if (take_contribution(own)) static_cast<void>(exchanges_.take(0, own, processes_.size()));
    if (has_failed()) return;
    const std::string fault =
        exchanges_.serve(now, processes_, options_.init_timeout, [this](std::size_t r, const auto& result) {
          if (r == 0)
            answer(result.data(), result.size());
          else
            links_[r].send(control_message::gathered, result.data(), result.size());
        });
    if (!fault.empty()) fail(fault);
  }

  /// Sends heartbeats and looks for silent processes and for calls that cannot complete.
  void watch(double now) {
    for (control_link& link : links_)
      if (!link.has_unsent()) link.send(control_message::heartbeat, self().state);
    for (std::size_t r = 1; r != processes_.size(); ++r)
      if (links_[r].open() && is_silent(processes_[r], now)) {
        const std::string sentence = silent_text(processes_[r], self(), options_.heartbeat_timeout);
        if (terminates()) print_final(sentence);  // before a launcher reacts to the kill and ends this process
        links_[r].kill_process();
        links_[r].close();
        return fail(sentence);
      }
    if (has_failed()) return;
    std::string fault = checker_.find_fault(processes_, now);
    if (!fault.empty()) {
      all_parts_.note_waiting_members(processes_);
      fault = checker_.find_fault(processes_, now);
    } else {
      fault = all_parts_.find_fault(processes_, now);
    }
    if (!fault.empty()) fail(fault);
  }

  void fail(const std::string& sentence) {
    if (has_failed()) return;
    if (terminates()) print_final(sentence);
    broadcast_failure(sentence);
    if (terminates()) {
      wait_for_disconnects();
      end_process();
    }
    note_failure(sentence);
  }

  bool leave_by_exception() {
    const std::string sentence = exception_text(self());
    if (terminates()) print(sentence);
    broadcast_failure(sentence);
    wait_for_disconnects();
    return false;
  }

  bool is_late(const watched_process& one, double now) const { return now - one.last_message > 2 * options_.heartbeat; }

  void broadcast_failure(const std::string& sentence) {
    for (control_link& link : links_) link.send_text(control_message::failure, sentence);
  }

  /// Waits until the other processes have closed their links, at most exit_grace; then kills stopped processes.
  void wait_for_disconnects() {
    const double deadline = monotonic_seconds() + options_.exit_grace;
    for (;;) {
      std::vector<::pollfd> polled;
      for (control_link& link : links_) {
        const auto close_on_goodbye = [&](control_message type, const auto&) {
          if (type == control_message::goodbye) link.close();
          return true;
        };
        if (link.read(gather_limit(), close_on_goodbye) != control_link::status::open) link.close();
        if (link.open()) polled.push_back(link.polled());
      }
      const double now = monotonic_seconds();
      if (polled.empty()) return;
      if (now >= deadline) break;
      ::poll(polled.data(), polled.size(), poll_milliseconds(std::min(deadline - now, 0.1)));
    }
    for (std::size_t r = 1; r != links_.size(); ++r)
      if (terminates() && links_[r].open() && is_late(processes_[r], monotonic_seconds())) links_[r].kill_process();
  }

  control_endpoint endpoint_;
  control_arrivals arrivals_;
  control_call_checker checker_;
  watched_parts all_parts_;
  std::vector<control_link> links_;  // by rank
  control_exchanges exchanges_;
};

}  // namespace devplace::parallel::detail
