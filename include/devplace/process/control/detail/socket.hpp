// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/file_descriptor.hpp>
#include <devplace/process/control/detail/messages.hpp>

namespace devplace::parallel::detail {

using devplace::detail::file_descriptor;

/// The timeout of poll() for `seconds`, rounded up.
inline int poll_milliseconds(double seconds) noexcept {
  if (seconds <= 0) return 0;
  return seconds > 1e6 ? 1000000000 : static_cast<int>(std::ceil(1e3 * seconds));
}

struct socket_address {
  ::sockaddr_storage storage{};
  ::socklen_t length = 0;

  const ::sockaddr* get() const noexcept { return reinterpret_cast<const ::sockaddr*>(&storage); }
  bool local() const noexcept { return storage.ss_family == AF_UNIX; }
};

/// The abstract Unix socket of a user's job on this host. It leaves no file.
inline socket_address address_of_job(const control_token& token) {
  ::sockaddr_un local{};
  local.sun_family = AF_UNIX;
  const int letters =
      std::snprintf(local.sun_path + 1, sizeof local.sun_path - 1, "devplace-%lu-%016llx%016llx",
                    static_cast<unsigned long>(::getuid()), static_cast<unsigned long long>(token.halves[0]),
                    static_cast<unsigned long long>(token.halves[1]));
  socket_address result;
  std::memcpy(&result.storage, &local, sizeof local);
  result.length = static_cast<::socklen_t>(offsetof(::sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(letters));
  return result;
}

inline std::vector<socket_address> resolve(const std::string& address, int port) {
  if (port < 0 || port > 65535)
    throw argument_error({"control_endpoint: ", port, " is no port; give one from 0 to 65535."});
  ::addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const int failed = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed != 0)
    throw communication_error({"the address '", address,
                               "', where the processes meet, is unknown to this host: ", ::gai_strerror(failed),
                               ". Give MASTER_ADDR as a host name or an IP address that all hosts know."});
  std::vector<socket_address> result;
  for (const ::addrinfo* one = found; one != nullptr; one = one->ai_next) {
    result.emplace_back();
    std::memcpy(&result.back().storage, one->ai_addr, one->ai_addrlen);
    result.back().length = one->ai_addrlen;
  }
  ::freeaddrinfo(found);
  return result;
}

/// Returns an empty descriptor and sets errno for an address of a kind that this host does not have, such as IPv6.
inline file_descriptor open_socket(const socket_address& address) {
  file_descriptor result(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!result && errno != EAFNOSUPPORT)
    throw communication_error(
        {"the system gives no socket: ", std::strerror(errno), ". Raise the limit of open files (ulimit -n)."});
  return result;
}

/// Returns an empty descriptor and sets errno on failure.
inline file_descriptor listen_at(const socket_address& address) {
  file_descriptor result = open_socket(address);
  if (!result) return {};
  const int on = 1;
  if (!address.local()) ::setsockopt(result.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(result.get(), address.get(), address.length) != 0 || ::listen(result.get(), SOMAXCONN) != 0) return {};
  return result;
}

/// Disables Nagle's algorithm, which would delay small messages.
inline void disable_nagle(int socket) noexcept {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // fails for a Unix socket, which has no such delay
}

/// Returns an empty descriptor and sets errno if the connection is not accepted within `seconds`.
inline file_descriptor connect_to(const socket_address& address, double seconds) {
  file_descriptor result = open_socket(address);
  if (!result) return {};
  if (::connect(result.get(), address.get(), address.length) != 0) {
    if (errno != EINPROGRESS) return {};
    ::pollfd wait{result.get(), POLLOUT, 0};
    int failed = ETIMEDOUT;
    ::socklen_t size = sizeof failed;
    if (::poll(&wait, 1, poll_milliseconds(seconds)) == 1)
      ::getsockopt(result.get(), SOL_SOCKET, SO_ERROR, &failed, &size);
    if (failed != 0) {
      errno = failed;
      return {};
    }
  }
  disable_nagle(result.get());
  return result;
}

/// Whether the process at the other end of a Unix socket belongs to this user.
inline bool same_user(int socket, ::pid_t* pid = nullptr) noexcept {
  ::ucred peer{};
  ::socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  if (pid != nullptr) *pid = peer.pid;
  return peer.uid == ::getuid();
}

}  // namespace devplace::parallel::detail
