// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <devplace/parallel/detail/control_role.hpp>

namespace devplace::parallel::detail {

/// A process other than 0: connects, says what it does, and hears of failures.
class control_spoke final : public control_role {
 public:
  control_spoke(const job_member& who, const control_endpoint& where, const control_address& own,
                const process_options& options)
      : control_role(who, options), where_(where) {
    meet({control_token(who.token), who.rank, who.size, own, {}});
  }

 private:
  void meet(control_hello hello) {
    hello.version = version;
    const double until = monotonic_seconds() + options_.init_timeout;
    std::vector<socket_address> addresses;
    if (where_.address.empty())
      addresses.push_back(address_of_job(hello.token));
    else
      addresses = resolve(where_.address, where_.port);
    for (std::size_t i = 0;; ++i) {
      const double left = until - monotonic_seconds();
      if (left <= 0)
        throw communication_error("rank " + std::to_string(who_.rank) + " of " + std::to_string(who_.size) +
                                  " did not find process 0 at " + where_.text() + " in " +
                                  seconds_text(options_.init_timeout) +
                                  ": it was not started, has ended, or its group is complete." + source());
      const socket_address& address = addresses[i % addresses.size()];
      hub_ = control_link(connect_to(address, left));
      if (hub_.open() && is_welcome(address, hello)) return;
      ::poll(nullptr, 0, 10);  // process 0 comes later, or still has an earlier group
    }
  }

  /// False if process 0 closes the link without an answer.
  bool is_welcome(const socket_address& address, const control_hello& hello) {
    if (address.local()) {
      if (!same_user(hub_.fd()))
        throw communication_error(
            "the socket at which the processes of this job should meet is another user's. "
            "Give another MASTER_PORT.");
      hub_.remember_process();
    }
    hub_.send(control_message::hello, hello);
    // Process 0 waits as long as that, from a time before this connection on, and says who is missing.
    const double until = monotonic_seconds() + options_.init_timeout + 1;
    control_header header{};
    std::vector<std::byte> body;
    for (bool open = true;;) {
      switch (hub_.next(header, body, answer_limit())) {
        case control_link::found::garbage:
          throw communication_error("what listens at " + where_.text() +
                                    " is no process 0 of this library and version: another program has this port, or "
                                    "the processes were started from different programs. Give another MASTER_PORT.");
        case control_link::found::message:
          return read_answer(header, body);
        case control_link::found::nothing:
          break;
      }
      if (!open) return false;
      const double left = until - monotonic_seconds();
      if (left <= 0)
        throw communication_error("process 0 at " + where_.text() + " did not answer in " +
                                  seconds_text(options_.init_timeout) + "." + source());
      ::pollfd waited_for{hub_.fd(), POLLIN, 0};
      ::poll(&waited_for, 1, poll_milliseconds(left));
      open = hub_.receive();
    }
  }

  bool read_answer(const control_header& header, const std::vector<std::byte>& body) {
    if (header.type == control_message::refusal) throw communication_error(text_of(body, 0));
    const auto size = static_cast<std::size_t>(who_.size);
    if (header.type != control_message::welcome || body.size() != size * sizeof(control_address))
      throw communication_error("process 0 at " + where_.text() +
                                " answers what no process 0 of this version does: all processes of a group must be "
                                "started from the same program.");
    all_.resize(size);
    for (std::size_t r = 0; r != size; ++r) {
      all_[r].rank = static_cast<int>(r);
      all_[r].from = control_read<control_address>(body.data() + r * sizeof(control_address));
      all_[r].heard = monotonic_seconds();
    }
    return true;
  }

  std::string source() const { return who_.source.empty() ? std::string() : " This process is " + who_.source + "."; }
  std::size_t answer_limit() const {
    return control_text_limit + static_cast<std::size_t>(who_.size) * (control_gather_limit + sizeof(control_address));
  }
  static std::string text_of(const std::vector<std::byte>& body, std::size_t from) {
    return printable(std::string(reinterpret_cast<const char*>(body.data()) + from, body.size() - from));
  }

  void descriptors(std::vector<::pollfd>& to) const override {
    if (hub_.open()) to.push_back({hub_.fd(), static_cast<short>(hub_.has_unsent() ? POLLIN | POLLOUT : POLLIN), 0});
  }

  bool serve(double now, bool beats, leaving how) override {
    hear(now);
    if (how != leaving::no) return say_goodbye(now, how);
    std::vector<std::byte> own;
    if (take_own(own)) hub_.send(control_message::gather, own.data(), own.size());
    if (!beats) return true;
    if (!hub_.has_unsent()) {
      tell_parts(now);
      hub_.send(control_message::heartbeat, self().state);
    }
    if (hub_.open() && is_silent(all_[0], now)) lose(silent_text(all_[0], self(), options_.heartbeat_timeout), true);
    return true;
  }

  void hear(double now) {
    if (!hub_.open()) return;
    hub_.flush();
    const bool open = hub_.receive();
    control_header header{};
    std::vector<std::byte> body;
    auto found = control_link::found::nothing;
    while ((found = hub_.next(header, body, answer_limit())) == control_link::found::message) {
      all_[0].heard = now;
      if (header.type == control_message::heartbeat && body.size() == sizeof(control_state))
        all_[0].state = control_read<control_state>(body.data());
      else if (header.type == control_message::gathered)
        answer(body.data(), body.size());
      else if (header.type == control_message::failure && body.size() >= sizeof(control_failure))
        be_told(text_of(body, sizeof(control_failure)), control_read<control_failure>(body.data()).printed != 0);
    }
    if (found == control_link::found::garbage)
      lose(all_[0].name() + " sent over the control connection what no process of this group sends.");
    else if (!open)
      lose(ended_text(all_[0], self()));
  }

  void be_told(const std::string& sentence, bool printed) {
    if (leaves() != leaving::no || has_failed()) return;
    if (terminates()) {
      if (!printed) print_last(sentence);
      end_process();
    }
    note_failure(sentence);
  }

  /// Process 0 is gone, or has stopped and is killed.
  void lose(const std::string& sentence, bool stopped = false) {
    if (leaves() == leaving::no && !has_failed()) {
      const descriptor speaks = terminates() ? claim_last_word() : descriptor();
      if (speaks) print_last(sentence);
      if (!terminates()) note_failure(sentence);
      // The others find out meanwhile; later they would take process 0 for killed, or would print, too. A closed
      // connection tells them at once, a stopped process 0 only at their next heartbeats.
      if (speaks || stopped) ::poll(nullptr, 0, poll_milliseconds(stopped ? 1 + 2 * options_.heartbeat : 1));
      if (stopped) hub_.kill_process();
      if (terminates()) end_process();
    }
    hub_.close();
  }

  /// A name that one process gets, which prints for all: the first to ask, on the first host that is not process 0's
  /// or, if there is no other, on process 0's.
  descriptor claim_last_word() {
    const auto is_elsewhere = [&](const watched_process& one) { return one.from.host != all_[0].from.host; };
    const auto elsewhere = std::find_if(all_.begin(), all_.end(), is_elsewhere);
    const auto& speaker = elsewhere == all_.end() ? all_[0] : *elsewhere;
    const socket_address name = address_of_job(control_token(all_[0].name() + " is gone"));
    descriptor result(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (self().from.host != speaker.from.host || ::bind(result.get(), name.get(), name.length) != 0) result = {};
    return result;
  }

  void tell_parts(double now) {
    parts.tell(now, [&](const control_part& told) { hub_.send(control_message::part, told); });
  }

  /// Process 0 closes the link when it has heard it.
  bool say_goodbye(double now, leaving how) {
    if (goodbye_until_ == 0) {
      goodbye_until_ = now + options_.exit_grace;
      tell_parts(now);
      hub_.send(control_message::goodbye, control_goodbye{self().state, how == leaving::by_exception});
    }
    return hub_.open() && now < goodbye_until_;
  }

  control_endpoint where_;
  control_link hub_;
  double goodbye_until_ = 0;
};

}  // namespace devplace::parallel::detail
