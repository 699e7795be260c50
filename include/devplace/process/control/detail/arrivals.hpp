// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <poll.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <devplace/process/control/detail/link.hpp>
#include <devplace/process/control/detail/socket.hpp>

namespace devplace::parallel::detail {

/// Accepts connections to the listening socket of process 0 and passes on the connections of the job's processes.
/// Refuses other processes: sends the reason, if they speak the protocol, and closes their connections.
class control_arrivals {
 public:
  /// `local`: all processes are on one host and connect by a Unix socket.
  control_arrivals(file_descriptor listener, const control_token& token, bool local)
      : listener_(std::move(listener)), token_(token), local_(local) {
    listener_.close_in_children();
  }

  void descriptors(std::vector<::pollfd>& to) const {
    if (monotonic_seconds() >= retry_at_) to.push_back({listener_.get(), POLLIN, 0});
    for (const arrival& one : arrivals_) to.push_back(one.link.polled());
  }

  /// Called when the group is complete. Stops listening on a network, where anybody can connect. On one host the socket
  /// stays open, so that a late process gets an answer.
  void group_complete() {
    if (local_) return;
    listener_ = {};
    arrivals_.clear();
  }

  /// The reason of the last failed accept(), for messages; empty if none failed.
  std::string accept_error() const {
    if (accept_errno_ == 0) return {};
    return joined({" Process 0 could not take a connection: ", std::strerror(accept_errno_),
                   ". Raise its limit of open files (ulimit -n)."});
  }

  /// Accepts connections and reads their hello messages. `admit(hello, link)` moves the link out if the process belongs
  /// to the job, or returns the reason of the refusal. The reason "later" closes the link without an answer, so that
  /// the process tries again.
  template <class Admit> void serve(double now, const Admit& admit) {
    std::erase_if(arrivals_, [&](arrival& one) { return !awaits_hello(one, now, admit); });
    accept_connections(now, admit);
  }

 private:
  struct arrival {
    control_link link;
    double deadline;
  };
  static constexpr double hello_timeout = 5;           // seconds
  static constexpr double retry_interval = 0.1;        // seconds between attempts after a failed accept()
  static constexpr std::size_t max_unidentified = 64;  // connections without a hello

  /// Accepts connections. When the process has too many open files, connections wait in the listener's queue. When too
  /// many connections are unidentified, the oldest is closed: processes of the job identify themselves at once, and
  /// connect again if their connections are closed.
  template <class Admit> void accept_connections(double now, const Admit& admit) {
    if (now < retry_at_) return;
    for (std::size_t accepted = 0; accepted != max_unidentified; ++accepted) {
      file_descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
          accept_errno_ = errno;
          retry_at_ = now + retry_interval;  // until then poll() leaves the listening socket out, whose waiting client
                                             // would end poll() at once
        }
        return;
      }
      accept_errno_ = 0;
      if (local_ && !same_user(socket.get())) continue;
      disable_nagle(socket.get());
      arrival one{control_link(std::move(socket)), now + hello_timeout};
      if (!awaits_hello(one, now, admit)) continue;
      if (arrivals_.size() == max_unidentified) arrivals_.erase(arrivals_.begin());
      arrivals_.push_back(std::move(one));
    }
  }

  /// Reads the hello of a connection and admits or refuses its process; true while the hello has not arrived.
  template <class Admit> bool awaits_hello(arrival& one, double now, const Admit& admit) {
    const bool open = one.link.receive();
    control_header header{};
    std::vector<std::byte> body;
    switch (one.link.next(header, body, sizeof(control_hello))) {
      case control_link::found::nothing:
        return open && now < one.deadline;
      case control_link::found::malformed:
        if (header.magic == control_header::magic_number && header.protocol != control_header::current_protocol)
          one.link.send_text(control_message::refusal,
                             joined({"this process has version ", header.protocol,
                                     " of the control connection's protocol and process 0 has version ",
                                     control_header::current_protocol,
                                     ": all processes of a group must be started from the same program."}));
        return false;
      case control_link::found::message:
        break;
    }
    if (header.type != control_message::hello || body.size() != sizeof(control_hello)) return false;
    const auto hello = control_read<control_hello>(body.data());
    std::string refusal = hello.token == token_
                              ? std::string()
                              : "process 0 at this address belongs to another job: give each job its own MASTER_PORT, "
                                "and all processes of a job the same DEVPLACE_JOB_TOKEN.";
    if (refusal.empty() && hello.version.str() != version)
      refusal = joined({"this process has devplace ", hello.version.str(), " and process 0 has ", version,
                        ": all processes of a group must be started from the same program."});
    if (refusal.empty()) {
      if (local_) one.link.remember_process();
      refusal = admit(hello, one.link);
    }
    if (!refusal.empty() && refusal != "later") one.link.send_text(control_message::refusal, refusal);
    return false;
  }

  file_descriptor listener_;
  control_token token_;
  bool local_;
  int accept_errno_ = 0;
  double retry_at_ = 0;
  std::vector<arrival> arrivals_;
};

}  // namespace devplace::parallel::detail
