// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <devplace/base/clock.hpp>
#include <devplace/base/hash.hpp>
#include <devplace/base/host.hpp>
#include <devplace/process/control/plane.hpp>
#include <devplace/process/mpi_calls.hpp>

namespace devplace::parallel::detail {

/// A candidate for the address at which process 0 listens, as MPI sends it.
struct mpi_candidate {
  control_text<64> address;
  std::int32_t port;
};
inline constexpr std::size_t max_candidates = 32;

/// Identifies the kernel and network namespace: processes with equal numbers can connect over an abstract Unix socket.
inline std::uint64_t network_of_process() {
  struct ::stat network = {};
  const bool known = ::stat("/proc/self/ns/net", &network) == 0;
  return devplace::detail::hash_of(devplace::detail::boot_id(), known ? network.st_ino : 0);
}

/// The addresses at which other hosts may reach this host, IPv4 first: those of running interfaces, without loopback
/// and link-local addresses.
inline std::vector<std::string> addresses_of_host() {
  std::vector<std::string> result, later;
  ::ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return result;
  for (const ::ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    const ::sockaddr* const address = one->ifa_addr;
    const unsigned running = IFF_UP | IFF_RUNNING;
    if (address == nullptr || (one->ifa_flags & (running | IFF_LOOPBACK)) != running) continue;
    char text[INET6_ADDRSTRLEN] = "";
    if (address->sa_family == AF_INET) {
      const ::in_addr& v4 = reinterpret_cast<const ::sockaddr_in*>(address)->sin_addr;
      result.emplace_back(::inet_ntop(AF_INET, &v4, text, sizeof text));
    } else if (address->sa_family == AF_INET6) {
      const ::in6_addr& v6 = reinterpret_cast<const ::sockaddr_in6*>(address)->sin6_addr;
      if (!IN6_IS_ADDR_LINKLOCAL(&v6)) later.emplace_back(::inet_ntop(AF_INET6, &v6, text, sizeof text));
    }
  }
  ::freeifaddrs(all);
  result.insert(result.end(), later.begin(), later.end());
  if (result.size() > max_candidates) result.resize(max_candidates);
  return result;
}

/// Returns the candidates to which this host can connect, as a bit set. Tries all candidates concurrently, for 2
/// seconds.
inline std::uint32_t reachable(const std::vector<mpi_candidate>& candidates) {
  std::vector<file_descriptor> sockets;
  std::vector<::pollfd> polled;
  std::uint32_t found = 0;
  for (std::size_t i = 0; i != candidates.size(); ++i) {
    const socket_address to = resolve(candidates[i].address.str(), candidates[i].port).at(0);
    sockets.push_back(open_socket(to));
    const bool at_once = ::connect(sockets[i].get(), to.get(), to.length) == 0;
    if (at_once) found |= std::uint32_t{1} << i;
    polled.push_back({at_once || errno != EINPROGRESS ? -1 : sockets[i].get(), POLLOUT, 0});
  }
  const double deadline = devplace::detail::monotonic_seconds() + 2;
  for (double left = 2; left > 0; left = deadline - devplace::detail::monotonic_seconds()) {
    const auto is_pending = [](const ::pollfd& one) { return one.fd >= 0; };
    if (std::none_of(polled.begin(), polled.end(), is_pending)) break;
    ::poll(polled.data(), polled.size(), poll_milliseconds(left));
    for (std::size_t i = 0; i != polled.size(); ++i) {
      if (polled[i].fd < 0 || polled[i].revents == 0) continue;
      int failed = 0;
      ::socklen_t size = sizeof failed;
      ::getsockopt(polled[i].fd, SOL_SOCKET, SO_ERROR, &failed, &size);
      if (failed == 0) found |= std::uint32_t{1} << i;
      polled[i].fd = -1;
    }
  }
  return found;
}

/// Makes the control connection of a communicator's processes. They agree on the address by MPI: an abstract Unix
/// socket of their host, or the first address of process 0's host that every other host can reach. The system chooses
/// the port.
class mpi_rendezvous {
 public:
  /// `network` is equal in processes that can connect over a Unix socket.
  mpi_rendezvous(MPI_Comm communicator, const process_ranks& ranks, std::uint64_t network = network_of_process())
      : communicator_(communicator), rank_(ranks.rank), size_(ranks.size), network_(network) {}

  /// Connects the processes. All processes call this function.
  std::shared_ptr<control_plane> watch(const process_options& options) {
    const job_member member{job(), rank_, size_, {}};
    std::vector<std::uint64_t> networks(static_cast<std::size_t>(size_));
    check_mpi("MPI_Allgather", MPI_Allgather(&network_, sizeof network_, MPI_BYTE, networks.data(), sizeof network_,
                                             MPI_BYTE, communicator_));
    const auto other_network = [&](std::uint64_t one) { return one != networks[0]; };
    const bool one_host = std::none_of(networks.begin(), networks.end(), other_network);
    const bool tests_addresses = std::find(networks.begin(), networks.end(), network_) - networks.begin() == rank_;
    std::vector<control_listener> listeners;
    std::string failure;
    if (rank_ == 0) failure = listen(member, one_host, listeners);
    broadcast(failure);
    if (!failure.empty()) throw communication_error(failure);
    control_endpoint endpoint;
    std::size_t chosen = 0;
    if (!one_host) endpoint = choose(listeners, tests_addresses, chosen);
    if (rank_ == 0) return std::make_shared<control_plane>(member, std::move(listeners[chosen]), options);
    return std::make_shared<control_plane>(member, endpoint, options);
  }

 private:
  /// A name that is unique to the group, also within the job.
  std::string job() {
    std::uint64_t numbers[2] = {};
    if (rank_ == 0 && ::getrandom(numbers, sizeof numbers, 0) != sizeof numbers)
      throw communication_error("the system gives no random numbers to name a group.");
    check_mpi("MPI_Bcast", MPI_Bcast(numbers, sizeof numbers, MPI_BYTE, 0, communicator_));
    return devplace::detail::joined({"mpi ", numbers[0], " ", numbers[1]});
  }

  /// Lets process 0 listen at a Unix socket or at all addresses of its host that it can use. Returns the failure, or an
  /// empty text.
  std::string listen(const job_member& member, bool one_host, std::vector<control_listener>& listeners) const {
    ::rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < static_cast<::rlim_t>(size_) + 64)
      return devplace::detail::joined({"process 0 may open ", files.rlim_cur, " files, and to watch ", size_,
                                       " processes it needs one for each. Raise the limit (ulimit -n), or give "
                                       "process_options{.heartbeat = 0} for a group that is not watched."});
    std::string why =
        "process 0's host has no network address that other hosts could know. Give "
        "process_options{.heartbeat = 0} for a group that is not watched.";
    for (const std::string& address : one_host ? std::vector<std::string>{""} : addresses_of_host()) {
      try {
        listeners.emplace_back(member, control_endpoint{address, 0});
      } catch (const communication_error& failed) {  // the host may be unable to use one of its addresses
        why = std::string(failed.what()).substr(std::strlen("devplace: "));
      }
    }
    return listeners.empty() ? why : std::string();
  }

  void broadcast(std::string& text) {
    auto length = static_cast<int>(text.size());
    check_mpi("MPI_Bcast", MPI_Bcast(&length, 1, MPI_INT, 0, communicator_));
    text.resize(static_cast<std::size_t>(length));
    check_mpi("MPI_Bcast", MPI_Bcast(text.data(), length, MPI_CHAR, 0, communicator_));
  }

  /// Chooses the first listener that all hosts can reach. `tests_addresses` is true in one process of each host.
  control_endpoint choose(const std::vector<control_listener>& listeners, bool tests_addresses, std::size_t& chosen) {
    auto count = static_cast<int>(listeners.size());
    check_mpi("MPI_Bcast", MPI_Bcast(&count, 1, MPI_INT, 0, communicator_));
    std::vector<mpi_candidate> candidates(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i != listeners.size(); ++i) {
      candidates[i].address = listeners[i].endpoint().address.c_str();
      candidates[i].port = listeners[i].endpoint().port;
    }
    check_mpi("MPI_Bcast", MPI_Bcast(candidates.data(), static_cast<int>(candidates.size() * sizeof candidates[0]),
                                     MPI_BYTE, 0, communicator_));
    std::uint32_t by_all = ~std::uint32_t{0};
    if (tests_addresses && rank_ != 0) by_all = reachable(candidates);
    check_mpi("MPI_Allreduce", MPI_Allreduce(MPI_IN_PLACE, &by_all, 1, MPI_UINT32_T, MPI_BAND, communicator_));
    std::string tried;
    for (std::size_t i = 0; i != candidates.size(); ++i) {
      if ((by_all >> i & 1) != 0) {
        chosen = i;
        return {candidates[i].address.str(), candidates[i].port};
      }
      tried += (tried.empty() ? "" : ", ") + candidates[i].address.str();
    }
    throw communication_error(
        {"the processes of this group are watched over a TCP connection to process 0's host, "
         "which has no address to which all hosts can connect (",
         tried,
         "). Allow the connection in the firewall, or give process_options{.heartbeat = 0} "
         "for a group that is not watched."});
  }

  MPI_Comm communicator_;
  int rank_, size_;
  std::uint64_t network_;
};

}  // namespace devplace::parallel::detail
