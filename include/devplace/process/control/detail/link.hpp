// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include <devplace/base/file_descriptor.hpp>
#include <devplace/process/control/detail/messages.hpp>
#include <devplace/process/control/detail/socket.hpp>

namespace devplace::parallel::detail {

/// One end of a control connection: messages over a non-blocking socket, which children of fork() close.
class control_link {
 public:
  control_link() = default;
  explicit control_link(file_descriptor socket) : socket_(std::move(socket)) { socket_.close_in_children(); }

  bool open() const noexcept { return static_cast<bool>(socket_); }
  int fd() const noexcept { return socket_.get(); }
  bool has_unsent() const noexcept { return !unsent_.empty(); }

  void close() noexcept {
    socket_ = {};
    received_.clear();
    unsent_.clear();
  }

  /// Sends as much as the socket accepts; flush() sends the rest. receive() reports a lost connection.
  void send(control_message type, const void* body, std::size_t bytes) {
    if (!open()) return;
    const control_header header{.type = type, .bytes = bytes};
    append(&header, sizeof header);
    append(body, bytes);
    flush();
  }
  template <class T> void send(control_message type, const T& message) {
    static_assert(std::is_trivially_copyable_v<T>);
    send(type, &message, sizeof message);
  }
  void send_text(control_message type, std::string_view text) { send(type, text.data(), text.size()); }

  void flush() noexcept {
    std::size_t sent = 0;
    while (open() && sent != unsent_.size()) {
      const ::ssize_t n =
          ::send(socket_.get(), unsent_.data() + sent, unsent_.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n > 0)
        sent += static_cast<std::size_t>(n);
      else if (n < 0 && errno == EINTR)
        continue;
      else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        break;
      else
        sent = unsent_.size();  // the connection is lost
    }
    unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<std::ptrdiff_t>(sent));
  }

  /// Reads available bytes; false if the connection is closed. next() still returns the messages received before.
  bool receive() {
    if (!open()) return false;
    std::byte buffer[16384];
    for (;;) {
      const ::ssize_t n = ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
      if (n > 0) {
        received_.insert(received_.end(), buffer, buffer + n);
        return true;
      }
      if (n < 0 && errno == EINTR) continue;
      return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }
  }

  enum class found { nothing, message, malformed };

  /// Takes the next message with a body of at most `limit` bytes. The header of a malformed message is valid only with
  /// the correct magic number.
  found next(control_header& header, std::vector<std::byte>& body, std::size_t limit) {
    header.magic = 0;
    if (received_.size() < sizeof header) return found::nothing;
    std::memcpy(&header, received_.data(), sizeof header);
    if (header.magic != control_header::magic_number || header.protocol != control_header::current_protocol ||
        header.bytes > limit)
      return found::malformed;
    const std::size_t bytes = sizeof header + static_cast<std::size_t>(header.bytes);
    if (received_.size() < bytes) return found::nothing;
    const auto begin = received_.begin(), end = begin + static_cast<std::ptrdiff_t>(bytes);
    body.assign(begin + sizeof header, end);
    received_.erase(begin, end);
    return found::message;
  }

  enum class status { open, ended, invalid };

  /// Sends and receives as much as the socket allows without waiting, and calls `handle(type, body)` for each message;
  /// `handle` returns false for an invalid message. Returns whether the connection is still open, has ended, or brought
  /// an invalid message.
  template <class Handle> status read(std::size_t limit, const Handle& handle) {
    flush();
    const bool is_open = receive();
    control_header header{};
    std::vector<std::byte> body;
    auto last = found::nothing;
    while ((last = next(header, body, limit)) == found::message)
      if (!handle(header.type, body)) return status::invalid;
    return last == found::malformed ? status::invalid : is_open ? status::open : status::ended;
  }

  ::pollfd polled() const noexcept {
    return {fd(), static_cast<short>(unsent_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
  }

  /// Opens a pidfd of the connected process, which must be on this host, for kill_process().
  void remember_process() noexcept {
#if defined(SYS_pidfd_open) && defined(SYS_pidfd_send_signal)
    ::pid_t pid = 0;
    if (same_user(fd(), &pid) && pid > 0 && pid != ::getpid())
      process_ = file_descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
#endif
  }
  void kill_process() noexcept {
#if defined(SYS_pidfd_open) && defined(SYS_pidfd_send_signal)
    if (process_) ::syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
#endif
  }

 private:
  /// Uses memcpy, because g++ 12 warns of an insert() of bytes here.
  void append(const void* data, std::size_t bytes) {
    const std::size_t before = unsent_.size();
    unsent_.resize(before + bytes);
    if (bytes != 0) std::memcpy(unsent_.data() + before, data, bytes);
  }

  file_descriptor socket_, process_;
  std::vector<std::byte> received_, unsent_;
};

}  // namespace devplace::parallel::detail
