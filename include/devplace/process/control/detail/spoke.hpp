// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <devplace/process/control/detail/link.hpp>
#include <devplace/process/control/detail/role.hpp>

namespace devplace::parallel::detail {

/// The role of a process other than 0: connects, reports its calls, and learns of failures.
class control_spoke final : public control_role {
 public:
  control_spoke(const job_member& member, const control_endpoint& endpoint, const control_address& own,
                const process_options& options)
      : control_role(member, options), endpoint_(endpoint) {
    connect({control_token(member.token), member.rank, member.size, own, {}, terminates() ? 0U : 1U});
  }

 private:
  void connect(control_hello hello) {
    hello.version = version;
    const double deadline = monotonic_seconds() + options_.init_timeout;
    std::vector<socket_address> addresses;
    if (endpoint_.address.empty())
      addresses.push_back(address_of_job(hello.token));
    else
      addresses = resolve(endpoint_.address, endpoint_.port);
    for (std::size_t i = 0;; ++i) {
      const double left = deadline - monotonic_seconds();
      if (left <= 0)
        throw communication_error({"rank ", member_.rank, " of ", member_.size, " did not find process 0 at ",
                                   endpoint_.text(), " in ", seconds_text(options_.init_timeout),
                                   ": it was not started, has ended, or its group is complete.", source()});
      const socket_address& address = addresses[i % addresses.size()];
      hub_ = control_link(connect_to(address, left));
      if (hub_.open() && shake_hands(address, hello)) return;
      ::poll(nullptr, 0, 10);  // process 0 has not started yet, or is still in an earlier group
    }
  }

  /// Sends the hello and waits for the answer. False if process 0 closes the link without an answer.
  bool shake_hands(const socket_address& address, const control_hello& hello) {
    if (address.local()) {
      if (!same_user(hub_.fd()))
        throw communication_error(
            "the socket for the rendezvous of this job belongs to another user. "
            "Give another MASTER_PORT.");
      hub_.remember_process();
    }
    hub_.send(control_message::hello, hello);
    // Process 0 began to wait before this connection was made and reports missing processes after init_timeout.
    const double deadline = monotonic_seconds() + options_.init_timeout + 1;
    control_header header{};
    std::vector<std::byte> body;
    for (bool open = true;;) {
      switch (hub_.next(header, body, answer_limit())) {
        case control_link::found::malformed:
          throw communication_error(
              {"the program that listens at ", endpoint_.text(),
               " is not process 0 of this library and version: another program has this port, or the processes were "
               "started from different programs. Give another MASTER_PORT."});
        case control_link::found::message:
          return read_answer(header, body);
        case control_link::found::nothing:
          break;
      }
      if (!open) return false;
      const double left = deadline - monotonic_seconds();
      if (left <= 0)
        throw communication_error({"process 0 at ", endpoint_.text(), " did not answer in ",
                                   seconds_text(options_.init_timeout), ".", source()});
      ::pollfd polled = hub_.polled();
      ::poll(&polled, 1, poll_milliseconds(left));
      hub_.flush();
      open = hub_.receive();
    }
  }

  bool read_answer(const control_header& header, const std::vector<std::byte>& body) {
    if (header.type == control_message::refusal) throw communication_error(text_of(body));
    const auto size = static_cast<std::size_t>(member_.size);
    if (header.type != control_message::welcome || body.size() != size * sizeof(control_address))
      throw communication_error(
          {"process 0 at ", endpoint_.text(),
           " sent an invalid answer: all processes of a group must be started from the same program."});
    processes_.resize(size);
    for (std::size_t r = 0; r != size; ++r) {
      processes_[r].rank = static_cast<int>(r);
      processes_[r].from = control_read<control_address>(body.data() + r * sizeof(control_address));
      processes_[r].last_message = monotonic_seconds();
    }
    return true;
  }

  std::size_t answer_limit() const {
    return control_text_limit +
           static_cast<std::size_t>(member_.size) * (control_gather_limit + sizeof(control_address));
  }
  static std::string text_of(const std::vector<std::byte>& body) {
    return printable(std::string(reinterpret_cast<const char*>(body.data()), body.size()));
  }

  void descriptors(std::vector<::pollfd>& to) const override {
    if (hub_.open()) to.push_back(hub_.polled());
  }

  bool serve(double now, bool heartbeat_due, leaving mode) override {
    receive(now);
    if (mode != leaving::no) return say_goodbye(now, mode);
    std::vector<std::byte> own;
    if (take_contribution(own)) hub_.send(control_message::gather, own.data(), own.size());
    if (!heartbeat_due) return true;
    if (!hub_.has_unsent()) report(now);
    if (hub_.open() && is_silent(processes_[0], now))
      handle_hub_failure(silent_text(processes_[0], self(), options_.heartbeat_timeout), true);
    return true;
  }

  void receive(double now) {
    if (!hub_.open()) return;
    const auto status = hub_.read(answer_limit(), [&](control_message type, const std::vector<std::byte>& body) {
      processes_[0].last_message = now;
      if (type == control_message::heartbeat && body.size() == sizeof(control_state))
        processes_[0].state = control_read<control_state>(body.data());
      else if (type == control_message::gathered)
        answer(body.data(), body.size());
      else if (type == control_message::failure && leave_state() == leaving::no && !has_failed()) {
        if (terminates()) end_process();  // process 0 has printed the failure
        note_failure(text_of(body));
      }
      return true;
    });
    if (status == control_link::status::ended) handle_hub_failure(ended_text(processes_[0], self()));
    if (status == control_link::status::invalid) handle_hub_failure(invalid_text(processes_[0]));
  }

  /// Handles the failure of process 0; kills process 0 if it is stopped.
  void handle_hub_failure(const std::string& sentence, bool stopped = false) {
    if (leave_state() == leaving::no && !has_failed()) {
      const file_descriptor printer_lock = terminates() ? claim_printing() : file_descriptor();
      if (printer_lock) print_final(sentence);
      if (!terminates()) note_failure(sentence);
      // Gives the other processes time to detect the failure themselves: after the kill they would report process 0 as
      // killed, and after the end of this process they would print, too. They detect a closed connection at once, and a
      // stopped process 0 at their next heartbeat.
      if (printer_lock || stopped) ::poll(nullptr, 0, poll_milliseconds(stopped ? 1 + 2 * options_.heartbeat : 1));
      if (stopped) hub_.kill_process();
      if (terminates()) end_process();
    }
    hub_.close();
  }

  /// Selects one process to print for all: the first one that binds a socket's name. Only processes of one host
  /// compete: of the first host other than process 0's, or of process 0's host if there is no other. Returns an empty
  /// descriptor in the processes that are not selected.
  file_descriptor claim_printing() {
    const auto on_other_host = [&](const watched_process& one) { return one.from.host != processes_[0].from.host; };
    const auto found = std::find_if(processes_.begin(), processes_.end(), on_other_host);
    const auto& printer = found == processes_.end() ? processes_[0] : *found;
    const socket_address name = address_of_job(control_token(processes_[0].name() + " is gone"));
    file_descriptor result(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (self().from.host != printer.from.host || ::bind(result.get(), name.get(), name.length) != 0) result = {};
    return result;
  }

  void report(double now) {
    parts.report(now, [&](const control_part& part) { hub_.send(control_message::part, part); });
    hub_.send(control_message::heartbeat, self().state);
  }

  /// Sends the goodbye once. Returns true until process 0 has closed the link in answer, at most for exit_grace.
  bool say_goodbye(double now, leaving mode) {
    if (goodbye_deadline_ == 0) {
      goodbye_deadline_ = now + options_.exit_grace;
      report(now);
      hub_.send(control_message::goodbye, mode);
    }
    return hub_.open() && now < goodbye_deadline_;
  }

  control_endpoint endpoint_;
  control_link hub_;
  double goodbye_deadline_ = 0;
};

}  // namespace devplace::parallel::detail
