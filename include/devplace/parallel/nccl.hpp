// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Component devplace::nccl. Not part of all.hpp, because this header includes <nccl.h>.
#if !__has_include(<nccl.h>)
  #error \
      "devplace: parallel/nccl.hpp needs NCCL. Link devplace::nccl, found by find_package(devplace COMPONENTS nccl); NVIDIA's packages are libnccl-dev and nvidia-nccl."
#elif !defined(DEVPLACE_WITH_CUDA)
  #error \
      "devplace: parallel/nccl.hpp connects CUDA devices, and this file is compiled without component cuda. Link devplace::nccl, which brings it."
#else

  #include <cstddef>
  #include <memory>
  #include <span>
  #include <string_view>
  #include <type_traits>

  #include <devplace/parallel/communicator.hpp>
  #include <devplace/parallel/detail/check_collective.hpp>
  #include <devplace/parallel/detail/nccl_mixed_sums.hpp>
  #include <devplace/parallel/policy.hpp>
  #include <devplace/process/process_group.hpp>

namespace devplace::parallel {

/// The communicator of CUDA devices of one or several processes, by NVIDIA's NCCL, over NVLink, PCIe or the network. It
/// computes sums, and maxima and minima of integers. NCCL does not document the order of sums, so the bits may differ
/// from those of `direct` and between numbers of devices; all participants get the same bits. devplace computes sums of
/// bf16 and half itself, in float and in the order of the ranks, and rounds once: their bits are those of `direct`.
///
/// A call returns when NCCL has enqueued the collective. Each device executes it on a separate stream, after its
/// earlier work and before its later work. A missing rank is detected while the calling thread enqueues a collective or
/// waits for a device, for example to read a loss: within process_options::op_timeout, or at once if the group knows
/// that a process has ended. All processes then throw communication_error.
///
/// Parts of equal size need one call of NCCL; unequal parts need one call for each participant, in one NCCL group.
/// Buffers are not registered (ncclCommRegister, symmetric windows): NCCL registers memory of ncclMemAlloc or
/// cuMemCreate, but devplace's arenas are in CUDA's stream-ordered pools, for which registration fails or has no
/// effect. Copies to registered memory would cost each bucket another read and write.
template <class Backend> class nccl_communicator : public detail::participants {
  static constexpr bool of_cuda_devices = std::is_same_v<Backend, backend::cuda>;
  static_assert(of_cuda_devices,
                "devplace: collective::nccl connects CUDA devices, and these places have none; use collective::direct "
                "or collective::ring, or a model on cuda places.");
  enum execution : bool { at_once, started };

 public:
  /// The host does not wait for the devices, so a trainer continues before the result is complete.
  static constexpr bool is_nonblocking = true;

  /// Connects these devices with an equal number of devices in every other process. All processes call this. Throws
  /// communication_error if NCCL cannot connect the devices within process_options::init_timeout, if the loaded NCCL is
  /// older than the one that the program was compiled for, or if two ranks use one GPU.
  explicit nccl_communicator(std::span<const int> ordinals, const process_group& processes = process_group())
      : participants(processes.transport()->ranks(), ordinals.size()),
        sums_(std::make_unique<detail::nccl_mixed_sums>(ordinals, processes)) {}

  /// The collectives of parallel/communicator.hpp.
  ///@{
  template <class T>
  void all_reduce(std::span<T* const> buffers, std::size_t count, reduction op, execution mode = at_once) {
    check(buffers.size());
    const ncclRedOp_t operation = detail::nccl_operation<T>(op);
    if constexpr (half_precision_element<T>)
      sums_->all_reduce(buffers, count, mode);
    else
      ranks().run(mode, count, "ncclAllReduce", {"all_reduce", count, sizeof(T)}, [&](std::size_t k, auto... to) {
        return ncclAllReduce(buffers[k], buffers[k], count, detail::nccl_type<T>(), operation, to...);
      });
  }
  template <class T>
  void reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root, execution mode = at_once) {
    check(buffers.size(), root);
    const ncclRedOp_t operation = detail::nccl_operation<T>(op);
    if constexpr (half_precision_element<T>)
      sums_->reduce(buffers, count, root, mode);
    else
      ranks().run(mode, count, "ncclReduce", {"reduce", count, sizeof(T)}, [&](std::size_t k, auto... to) {
        return ncclReduce(buffers[k], buffers[k], count, detail::nccl_type<T>(), operation, root, to...);
      });
  }
  template <class T> void broadcast(std::span<T* const> buffers, std::size_t count, int root) {
    check(buffers.size(), root);
    ranks().run(at_once, count, "ncclBroadcast", {"broadcast", count, sizeof(T)}, [&](std::size_t k, auto... to) {
      return ncclBroadcast(buffers[k], buffers[k], count, detail::nccl_type<T>(), root, to...);
    });
  }
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op,
                      execution mode = at_once) {
    check(buffers.size(), begins);
    const ncclRedOp_t operation = detail::nccl_operation<T>(op);
    if constexpr (half_precision_element<T>) return sums_->reduce_scatter(buffers, begins, mode);
    const std::size_t equal = equal_part(begins), all = begins.back() - begins.front();
    ranks().run(mode, all, equal != 0 ? "ncclReduceScatter" : "ncclReduce",
                {"reduce_scatter", begins.back(), sizeof(T)}, [&](std::size_t k, auto... to) {
                  T* const own = buffers[k];
                  if (equal != 0)
                    return ncclReduceScatter(own + begins[0], own + begins[rank(k)], equal, detail::nccl_type<T>(),
                                             operation, to...);
                  return for_each_part(begins, [&](int r, std::size_t first, std::size_t count) {
                    return ncclReduce(own + first, own + first, count, detail::nccl_type<T>(), operation, r, to...);
                  });
                });
  }
  template <class T>
  void all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins, execution mode = at_once) {
    check(buffers.size(), begins);
    const std::size_t equal = equal_part(begins), all = begins.back() - begins.front();
    ranks().run(mode, all, equal != 0 ? "ncclAllGather" : "ncclBroadcast", {"all_gather", begins.back(), sizeof(T)},
                [&](std::size_t k, auto... to) {
                  T* const own = buffers[k];
                  if (equal != 0)
                    return ncclAllGather(own + begins[rank(k)], own + begins[0], equal, detail::nccl_type<T>(), to...);
                  return for_each_part(begins, [&](int r, std::size_t first, std::size_t count) {
                    return ncclBroadcast(own + first, own + first, count, detail::nccl_type<T>(), r, to...);
                  });
                });
  }
  ///@}

  /// The members of an overlapping_communicator (parallel/communicator.hpp). Sums of 16-bit elements need workspace for
  /// about as many elements as are summed.
  ///@{
  void prepare(std::size_t count, std::size_t element_bytes) {
    if (element_bytes == sizeof(bf16)) sums_->prepare(count);
  }
  void mark_ready(std::size_t k) { ranks().mark(k); }
  template <class T> void start_all_reduce(std::span<T* const> buffers, std::size_t count, reduction op) {
    all_reduce(buffers, count, op, started);
  }
  template <class T> void start_reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root) {
    reduce(buffers, count, op, root, started);
  }
  template <class T>
  void start_reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op) {
    reduce_scatter(buffers, begins, op, started);
  }
  template <class T> void start_all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    all_gather(buffers, begins, started);
  }
  void progress() { ranks().progress(); }
  void finish() { ranks().finish(); }
  void abandon() noexcept { ranks().abandon(); }
  ///@}

 private:
  detail::nccl_ranks& ranks() { return sums_->ranks(); }
  std::size_t rank(std::size_t k) const { return index(first_rank()) + k; }

  /// The number of elements of each part; 0 if the parts differ in size.
  static std::size_t equal_part(std::span<const std::size_t> begins) {
    for (std::size_t r = 1; r + 1 < begins.size(); ++r)
      if (begins[r + 1] - begins[r] != begins[1] - begins[0]) return 0;
    return begins[1] - begins[0];
  }
  /// Calls f(rank, first, count) for each part that is not empty, until one call fails.
  template <class F> static ncclResult_t for_each_part(std::span<const std::size_t> begins, const F& f) {
    for (std::size_t r = 0; r + 1 < begins.size(); ++r) {
      if (begins[r + 1] == begins[r]) continue;
      const ncclResult_t result = f(static_cast<int>(r), begins[r], begins[r + 1] - begins[r]);
      if (result != ncclSuccess && result != ncclInProgress) return result;
    }
    return ncclSuccess;
  }

  std::unique_ptr<detail::nccl_mixed_sums> sums_;
};

}  // namespace devplace::parallel

namespace devplace::collective {

/// The engine that sums by NVIDIA's NCCL, for CUDA devices of one or several processes: `all_reduce<nccl>`,
/// `reduce_and_broadcast<nccl>`, `sharded_all_reduce<nccl>`. NCCL chooses the order of summation: all places get the
/// same bits, but the bits may differ from those of `direct`, and between `sharded_all_reduce` and `all_reduce`. With
/// `wire<bf16, nccl>` NCCL moves gradients in 16 bits, and the sums have the bits of `wire<bf16>`. Memory plans do not
/// include NCCL's own buffers.
struct nccl : engine_base<parallel::nccl_communicator, parallel::nccl_communicator> {
  /// The name in output.
  static constexpr std::string_view name = "nccl";
  /// Whether sums of bf16 and half are computed in float in the order of the participants, as `wire` requires.
  static constexpr bool adds_in_float = true;
  /// Bytes of workspace on each place for summing `count` 16-bit elements.
  static constexpr std::size_t mixed_workspace_bytes(std::size_t participants, std::size_t count) {
    return parallel::detail::nccl_mixed_sums::received_elements(participants, count) * sizeof(bf16);
  }
};

}  // namespace devplace::collective

#endif
