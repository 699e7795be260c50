// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <devplace/base/host_memory.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/parallel/direct.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/process/combine.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/runtime/round_elements.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::parallel {

/// A `Communicator` that can also reduce elements rounded to type `Rounded`, for gradients.
template <class Backend, class Communicator, half_precision_element Rounded> class rounding : public Communicator {
 public:
  /// The type of gradients between places.
  using rounded_type = Rounded;

  /// Connects these devices of this process; further arguments are passed to the communicator.
  explicit rounding(std::span<const int> ordinals, const auto&... processes) try
      : Communicator(ordinals, processes...), ordinals_(ordinals.begin(), ordinals.end()), rounded_(ordinals.size()) {
  } catch (const std::bad_alloc&) {
    devplace::detail::fail_without_memory("a communicator");
  }

  /// Allocates the memory for reductions of up to `count` elements, rounded ones too.
  void prepare(std::size_t count, std::size_t element_bytes) {
    Communicator::prepare(count, element_bytes);
    if (this->size() != 1) Communicator::prepare(count, sizeof(Rounded));
  }
  /// Allocates the memory for `count` rounded elements of each device.
  void prepare_rounded(std::size_t count) {
    for (std::size_t k = 0; k != ordinals_.size(); ++k)
      if (this->size() != 1 && rounded_[k].bytes() < count * sizeof(Rounded))
        detail::replace_workspace<Backend>(rounded_, ordinals_, k, count * sizeof(Rounded));
  }

  /// The rounded elements of this process's devices from element `first`, for collectives. The span is valid until the
  /// next call.
  std::span<Rounded* const> rounded(std::size_t first) {
    for (std::size_t k = 0; k != ordinals_.size(); ++k)
      if (rounded_[k].data() != nullptr) from_[k] = static_cast<Rounded*>(rounded_[k].data()) + first;
    return {from_, ordinals_.size()};
  }
  /// Rounds `count` elements of participant `k` of this process and stores them from rounded element `first` on, or
  /// converts rounded elements back. Does nothing for a single participant.
  ///@{
  template <class T> void round(std::size_t k, const T* elements, std::size_t first, std::size_t count) {
    if (this->size() != 1) runtime::round_elements<Backend>(ordinals_[k], rounded(first)[k], elements, count);
  }
  template <class T> void take(std::size_t k, T* elements, std::size_t first, std::size_t count) {
    if (this->size() == 1) return;
    const Rounded* const from = rounded(first)[k];
    runtime::round_elements<Backend>(ordinals_[k], elements, from, count);
  }
  ///@}

  /// Sums the participants' buffers; all participants or only the first get the result. Each participant rounds its own
  /// elements; the sums are computed in float and rounded.
  template <class T> void reduce_rounded(std::span<T* const> buffers, std::size_t count, bool on_all) {
    if (this->size() == 1) return;
    round_all(buffers, count);
    if (on_all)
      this->all_reduce(rounded(0), count, reduction::sum);
    else
      this->reduce(rounded(0), count, reduction::sum, 0);
    for (std::size_t k = 0; k != buffers.size(); ++k)
      if (on_all || rank(k) == 0) take(k, buffers[k], 0, count);
  }
  /// Sums each participant's part [`begins[rank]`, `begins[rank + 1]`) on that participant.
  template <class T> void reduce_scatter_rounded(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    if (this->size() == 1) return;
    round_all(buffers, begins.back());
    this->reduce_scatter(rounded(0), begins, reduction::sum);
    for (std::size_t k = 0; k != buffers.size(); ++k) take_part(k, buffers[k], 0, begins);
  }
  /// Converts back the part of this process's participant `k`; `elements[0]` corresponds to rounded element `first`.
  void take_part(std::size_t k, auto* elements, std::size_t first, std::span<const std::size_t> begins) {
    const std::size_t begin = begins[rank(k)], end = begins[rank(k) + 1];
    take(k, elements + begin, first + begin, end - begin);
  }

 private:
  std::size_t rank(std::size_t k) const { return static_cast<std::size_t>(this->first_rank()) + k; }

  template <class T> void round_all(std::span<T* const> buffers, std::size_t count) {
    prepare_rounded(count);
    for (std::size_t k = 0; k != buffers.size(); ++k) round(k, static_cast<const T*>(buffers[k]), 0, count);
  }

  std::vector<int> ordinals_;
  std::vector<devplace::detail::memory_block> rounded_;  // one for each device of this process
  Rounded* from_[detail::max_ranks] = {};
};

}  // namespace devplace::parallel

namespace devplace::collective {

/// The engine that sends gradients in 16 bits: `all_reduce<wire<bf16>>`, or with NCCL between GPUs
/// `all_reduce<wire<bf16, nccl>>`. Each place rounds its gradients; the sums are computed in float in the order of
/// `direct` and rounded. An element's error is at most about 2^-7 (bf16) or 2^-10 (half) of the sum of the summands'
/// magnitudes. All places get the same bits, also with NCCL. Half overflows above 65504 and rounds numbers below
/// 2^-14 with an error of up to 2^-25, about 3e-8; smaller numbers become 0. Gradients need half as many bytes as in
/// float; sums of losses and weights, parameters and buffers are not rounded.
template <class Rounded = bf16, class Engine = direct> struct wire {
  /// Whether `Rounded` is bf16 or half.
  static constexpr bool is_half_precision = half_precision_element<Rounded>;
  static_assert(is_half_precision,
                "devplace: collective::wire sends gradients as bf16 or half: write wire<bf16> or wire<half>.");
  /// Whether `Engine` adds 16-bit elements in float in the order of the participants; a user's engine declares this by
  /// `static constexpr bool adds_in_float = true`.
  static constexpr bool in_float = std::is_same_v<Engine, direct> || requires { requires Engine::adds_in_float; };
  static_assert(in_float,
                "devplace: collective::wire rounds gradients to 16 bits and lets collective::direct or "
                "collective::nccl add them in float, in the order of the places; other engines do not. Write "
                "wire<bf16> or wire<bf16, nccl>, or let the other engine send gradients in float.");
  /// The type of gradients between places.
  using wire_type = std::conditional_t<is_half_precision, Rounded, bf16>;
  /// The name in output, without the name of `Engine`.
  static constexpr std::string_view name = std::is_same_v<wire_type, bf16> ? "wire<bf16>" : "wire<half>";
  /// Bytes of workspace on each place: the rounded gradients, `count` elements.
  static constexpr std::size_t workspace_bytes(std::size_t, std::size_t count, std::size_t) {
    return count * sizeof(wire_type);
  }
  /// Bytes of workspace on each place across processes.
  static constexpr std::size_t workspace_bytes_across(std::size_t count) { return count * sizeof(wire_type); }
  /// Bytes of workspace on each place that the engine needs in addition, for buckets of up to `count` elements.
  static constexpr std::size_t bucket_workspace_bytes(std::size_t participants, std::size_t count) {
    if constexpr (requires { Engine::mixed_workspace_bytes(participants, count); })
      return Engine::mixed_workspace_bytes(participants, count);
    else
      return 0;
  }
  /// The communicator of a backend's devices, in one process and across several.
  ///@{
  template <class Backend>
  using communicator = parallel::rounding<Backend, typename Engine::template communicator<Backend>, wire_type>;
  template <class Backend>
  using communicator_across =
      parallel::rounding<Backend, typename Engine::template communicator_across<Backend>, wire_type>;
  ///@}
  /// Connects the devices of one process; the first one is rank 0.
  template <class Backend> communicator<Backend> connect(std::span<const int> ordinals) const {
    return communicator<Backend>(ordinals);
  }
  /// Connects the devices of a group's processes; ranks are ordered by process.
  template <class Backend>
  communicator_across<Backend> connect_across(std::span<const int> ordinals, const process_group& processes) const {
    return communicator_across<Backend>(ordinals, processes);
  }
};

}  // namespace devplace::collective
