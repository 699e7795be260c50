// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <string>
#include <utility>

#include <devplace/process/control/detail/socket.hpp>

namespace devplace::parallel {

/// The position of this process in its job.
struct job_member {
  std::string token;  ///< identifies the job, equal in all its processes; a secret over a network
  int rank = 0;       ///< number of the process, from 0
  int size = 1;       ///< number of processes
  /// Where the position comes from, for messages: `rank 1 of 4, started by torchrun (RANK, WORLD_SIZE)`. May be empty.
  std::string source = {};
};

/// The address of the rendezvous: process 0 listens, the others connect.
struct control_endpoint {
  /// Host name or IP address of process 0, which listens at this address only. Empty if all processes are on one
  /// host: then the rendezvous is an abstract Unix socket named after the user and the job.
  std::string address = {};
  /// Port at `address`. 0: the system chooses one, see control_listener::endpoint().
  int port = 0;

  /// Text for messages: `127.0.0.1:29501`.
  std::string text() const {
    if (address.empty()) return "the job's socket of this host";
    return detail::joined(
        {address.find(":") == std::string::npos ? address : detail::joined({"[", address, "]"}), ":", port});
  }
};

/// Listens for the processes of a job. If the system chooses the port, the program creates the listener in process 0
/// and passes the port to the others; otherwise control_plane creates it. Throws communication_error if listening
/// fails.
class control_listener {
 public:
  /// Listens at `endpoint`. If `endpoint` has no address, listens at the Unix socket of `member`'s job.
  control_listener(const job_member& member, control_endpoint endpoint) : endpoint_(std::move(endpoint)) {
    if (endpoint_.address.empty()) {
      const detail::socket_address address = detail::address_of_job(detail::control_token(member.token));
      socket_ = detail::listen_at(address);
      if (!socket_) refuse_name(address, member);
      return;
    }
    int failed = 0;
    for (const detail::socket_address& address : detail::resolve(endpoint_.address, endpoint_.port)) {
      socket_ = detail::listen_at(address);
      if (socket_) {
        find_port();
        return;
      }
      failed = errno;
    }
    throw communication_error(
        {"process 0 cannot listen at ", endpoint_.text(), ": ", std::strerror(failed), ". ",
         failed == EADDRINUSE
             ? "Another program, or another job, has this port: give another MASTER_PORT to all processes of this job."
         : failed == EADDRNOTAVAIL ? "The address is not one of this host: MASTER_ADDR must be the host of RANK 0."
                                   : "Give an address and a port that process 0 may use."});
  }

  /// The endpoint, with the port that the system has chosen.
  const control_endpoint& endpoint() const { return endpoint_; }

 private:
  friend class control_plane;

  [[noreturn]] static void refuse_name(const detail::socket_address& address, const job_member& member) {
    const int failed = errno;
    ::pid_t pid = 0;
    const detail::file_descriptor other = detail::connect_to(address, 0.1);
    if (other) static_cast<void>(detail::same_user(other.get(), &pid));
    throw communication_error(
        {"process 0 of job '", member.token, "' cannot listen at this host: ",
         failed == EADDRINUSE && pid == ::getpid()
             ? "this process has made the group of the job already. Keep that group, or take parts of it by split()."
         : failed == EADDRINUSE
             ? detail::joined({"process ", pid,
                               " is process 0 of a job with this name already. Two processes have RANK 0, two "
                               "jobs have the same MASTER_PORT, or an earlier start of the job has not ended."})
             : std::string(std::strerror(failed)) + "."});
  }

  void find_port() {
    ::sockaddr_storage bound{};
    ::socklen_t size = sizeof bound;
    ::getsockname(socket_.get(), reinterpret_cast<::sockaddr*>(&bound), &size);
    if (bound.ss_family == AF_INET) endpoint_.port = ntohs(reinterpret_cast<const ::sockaddr_in*>(&bound)->sin_port);
    if (bound.ss_family == AF_INET6) endpoint_.port = ntohs(reinterpret_cast<const ::sockaddr_in6*>(&bound)->sin6_port);
  }

  control_endpoint endpoint_;
  detail::file_descriptor socket_;
};

}  // namespace devplace::parallel
