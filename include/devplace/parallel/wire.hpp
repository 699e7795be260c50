// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/parallel/across_processes.hpp>
#include <devplace/parallel/detail/combine.hpp>
#include <devplace/parallel/direct.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/place/detail/host_memory.hpp>
#include <devplace/place/replica_error.hpp>
#include <devplace/runtime/round_elements.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace {

namespace parallel {

/// A communicator that reduces gradients as elements of type `Short` and all else as `Communicator` does.
template <class Backend, class Communicator, short_element Short>
class rounding : public Communicator {
 public:
  /// The type of gradients between places.
  using rounded_type = Short;

  /// For these devices of this process; further arguments are the communicator's.
  template <class... Processes>
  explicit rounding(std::span<const int> ordinals, const Processes&... processes) try
      : Communicator(ordinals, processes...), ordinals_(ordinals.begin(), ordinals.end()), rounded_(ordinals.size()) {
  } catch (const std::bad_alloc&) {
    devplace::detail::fail_without_memory("a communicator");
  }

  /// Allocates the memory for reductions of up to `count` elements.
  void prepare(std::size_t count, std::size_t element_bytes) {
    Communicator::prepare(count, element_bytes);
    for (std::size_t k = 0; k != ordinals_.size(); ++k) {
      if (this->size() == 1 || rounded_[k].bytes() >= count * sizeof(Short)) continue;
      rounded_[k] = {};
      devplace::detail::on_behalf_of_replica<Backend>(k, ordinals_.size(), ordinals_[k], [&] {
        rounded_[k] =
            devplace::detail::allocate<Backend>(ordinals_[k], count * sizeof(Short), memory_purpose::workspace);
      });
    }
  }

  /// Sums the participants' buffers, on all of them or on the first: each one rounds its own elements, the sum is
  /// formed in the type that Short is computed in, and rounded. One participant's elements stay as they are.
  template <class T>
  void reduce_rounded(std::span<T* const> buffers, std::size_t count, bool on_all) {
    if (this->size() == 1) return;
    prepare(count, sizeof(T));
    Short* rounded[detail::max_ranks];
    for (std::size_t k = 0; k != buffers.size(); ++k) {
      rounded[k] = static_cast<Short*>(rounded_[k].data());
      runtime::round_elements<Backend>(ordinals_[k], rounded[k], static_cast<const T*>(buffers[k]), count);
    }
    const std::span<Short* const> all(rounded, buffers.size());
    if (on_all)
      this->all_reduce(all, count, reduction::sum);
    else
      this->reduce(all, count, reduction::sum, 0);
    for (std::size_t k = 0; k != buffers.size(); ++k)
      if (on_all || this->first_rank() + static_cast<int>(k) == 0)
        runtime::round_elements<Backend>(ordinals_[k], buffers[k], static_cast<const Short*>(rounded[k]), count);
  }

 private:
  std::vector<int> ordinals_;
  std::vector<devplace::detail::memory_block> rounded_;  // one for each device of this process
};

}  // namespace parallel

namespace collective {

/// The engine that sends gradients in 16 bits: `all_reduce<wire<bf16>>`. Each place rounds its gradients, their sums
/// are formed in float in the order of `direct`, and are rounded: an element's error is about 2^-7 (bf16) or 2^-10
/// (half) of the sum of the summands' magnitudes at most, and all places get the same bits. Half overflows above 65504;
/// numbers below 2^-14 it rounds with an error of up to 2^-25, about 3e-8, and those below that become 0. Half as many
/// bytes are moved as by `direct`; the sums of losses and weights, parameters and buffers are sent as they are. For
/// `all_reduce` and `reduce_and_broadcast`. Buckets are reduced after the backward pass.
template <short_element Short = bf16>
struct wire {
  /// The type of gradients between places.
  using wire_type = Short;
  /// The name in output.
  static constexpr std::string_view name = std::is_same_v<Short, bf16> ? "wire<bf16>" : "wire<half>";
  /// Bytes of workspace on each place for reducing `count` elements: the rounded gradients.
  static constexpr std::size_t workspace_bytes(std::size_t, std::size_t count, std::size_t) {
    return count * sizeof(Short);
  }
  /// The same across processes.
  static constexpr std::size_t workspace_bytes_across(std::size_t count) { return count * sizeof(Short); }
  /// The communicator of a backend's devices in one process, and in several.
  ///@{
  template <class Backend>
  using communicator = parallel::rounding<Backend, parallel::direct<Backend>, Short>;
  template <class Backend>
  using communicator_across =
      parallel::rounding<Backend, parallel::across_processes<Backend, parallel::summation::by_rank>, Short>;
  ///@}
  /// Creates it; the first device is rank 0.
  template <class Backend>
  communicator<Backend> connect(std::span<const int> ordinals) const {
    return communicator<Backend>(ordinals);
  }
  /// The same for the processes of a group: ranks are ordered by process.
  template <class Backend>
  communicator_across<Backend> connect_across(std::span<const int> ordinals, const process_group& processes) const {
    return communicator_across<Backend>(ordinals, processes.transport());
  }
};

}  // namespace collective
}  // namespace devplace
