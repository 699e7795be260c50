// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <poll.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <devplace/parallel/detail/control_link.hpp>
#include <devplace/parallel/detail/control_socket.hpp>

namespace devplace::parallel::detail {

/// What comes to the socket of process 0: hears everybody, and passes on those who belong to the job. The others are
/// told why, if they speak the protocol, and disturb nobody.
class control_arrivals {
 public:
  control_arrivals(descriptor listener, const control_token& token)
      : listener_(std::move(listener)), token_(token), local_(is_local(listener_.get())) {
    listener_.close_in_children();
  }

  void descriptors(std::vector<::pollfd>& to) const {
    if (monotonic_seconds() >= accepts_again_) to.push_back({listener_.get(), POLLIN, 0});
    for (const arrival& one : arrivals_)
      to.push_back({one.link.fd(), POLLIN, 0});
  }

  /// Stops listening on a network, where anybody can connect. On one host who comes too late is told so.
  void all_are_there() {
    if (local_) return;
    listener_ = {};
    arrivals_.clear();
  }

  /// Why processes could not be heard lately, for messages; empty if they could.
  std::string trouble() const {
    if (refused_by_system_ == 0) return {};
    return std::string(" Process 0 could not take a connection: ") + std::strerror(refused_by_system_) +
           ". Raise its limit of open files (ulimit -n).";
  }

  /// `admit(hello, link)` takes the link of a process of the job, or returns why it is refused; "later" closes the link
  /// without an answer, so that the process tries again.
  template <class Admit>
  void serve(double now, const Admit& admit) {
    std::erase_if(arrivals_, [&](arrival& one) { return !hear(one, now, admit); });
    accept_some(now, admit);
  }

 private:
  struct arrival {
    control_link link;
    double until;
  };
  static constexpr double patience = 5;    // seconds for a hello
  static constexpr double retry = 0.1;     // seconds after which a connection that could not be taken is tried again
  static constexpr std::size_t most = 64;  // connections that have not said who they are

  static bool is_local(int socket) noexcept {
    ::sockaddr_storage own{};
    ::socklen_t size = sizeof own;
    return ::getsockname(socket, reinterpret_cast<::sockaddr*>(&own), &size) == 0 && own.ss_family == AF_UNIX;
  }

  /// Accepts connections. When the process has too many open files, connections wait in the listener's queue. When too
  /// many connections are unidentified, the oldest is closed: processes of the job identify themselves at once, and
  /// connect again if they are closed.
  template <class Admit>
  void accept_some(double now, const Admit& admit) {
    if (now < accepts_again_) return;
    for (std::size_t taken = 0; taken != most; ++taken) {
      descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
          refused_by_system_ = errno;
          accepts_again_ = now + retry;  // poll would return at once
        }
        return;
      }
      refused_by_system_ = 0;
      if (local_ && !same_user(socket.get())) continue;
      send_at_once(socket.get());
      arrival one{control_link(std::move(socket)), now + patience};
      if (!hear(one, now, admit)) continue;
      if (arrivals_.size() == most) arrivals_.erase(arrivals_.begin());
      arrivals_.push_back(std::move(one));
    }
  }

  /// Whether the arrival is still to be heard.
  template <class Admit>
  bool hear(arrival& one, double now, const Admit& admit) {
    const bool open = one.link.receive();
    control_header header{};
    std::vector<std::byte> body;
    switch (one.link.next(header, body, sizeof(control_hello))) {
      case control_link::found::nothing:
        return open && now < one.until;
      case control_link::found::garbage:
        if (header.magic == control_header::magic_number && header.protocol != control_header::current_protocol)
          one.link.send_text(control_message::refusal,
                             "this process has version " + std::to_string(header.protocol) +
                                 " of the control connection's protocol and process 0 version " +
                                 std::to_string(control_header::current_protocol) +
                                 ": all processes of a group must be started from the same program.");
        return false;
      case control_link::found::message:
        break;
    }
    if (header.type != control_message::hello || body.size() != sizeof(control_hello)) return false;
    const auto hello = control_read<control_hello>(body.data());
    std::string refused = hello.token == token_
                              ? std::string()
                              : "process 0 at this address belongs to another job: give each job its own MASTER_PORT, "
                                "and all processes of a job the same DEVPLACE_JOB_TOKEN.";
    if (refused.empty() && hello.version.str() != version)
      refused = "this process has devplace " + hello.version.str() + " and process 0 " + version +
                ": all processes of a group must be started from the same program.";
    if (refused.empty()) {
      if (local_) one.link.remember_process();
      refused = admit(hello, one.link);
    }
    if (!refused.empty() && refused != "later") one.link.send_text(control_message::refusal, refused);
    return false;
  }

  descriptor listener_;
  control_token token_;
  bool local_;
  int refused_by_system_ = 0;
  double accepts_again_ = 0;
  std::vector<arrival> arrivals_;
};

}  // namespace devplace::parallel::detail
