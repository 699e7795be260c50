// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/base/divided_up.hpp>
#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/data/detail/batch_source.hpp>
#include <devplace/data/detail/sample_transform.hpp>
#include <devplace/data/labelled_batch.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/ops/scale_bytes.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/detail/leading_extent.hpp>
#include <devplace/tensor/distributed.hpp>

namespace devplace::detail {

/// Copies batches to one place, from a ring of slots in host memory into two alternating buffers. Owns the stream of
/// the copies, and events that order the copies with the place's work (on the calling thread's current stream) and with
/// the threads that fill the slots.
class copy_lane {
 public:
  copy_lane& operator=(copy_lane&&) = delete;
  /// Waits for the copies, since the slots are freed next.
  ~copy_lane() {
    for (std::size_t slot = 0; slot < copied_.size(); ++slot) wait_for(slot);
  }

  /// Call open() once, after the buffers were allocated. The first copy into a buffer then waits for the work enqueued
  /// on the place's stream before open(), including the allocation.
  template <class Backend> void open(int ordinal, std::size_t slots) {
    ordinal_ = ordinal;
    stream_ = streams_of<Backend>().create(ordinal);
    for (event_handle& used : used_) {
      used = make_event<Backend>(ordinal);
      record_event<Backend>(used);
    }
    copied_.reserve(slots);
    wait_ = &wait<Backend>;
    while (copied_.size() < slots) copied_.push_back(make_event<Backend>(ordinal));
  }

  /// Calls `copies`, which enqueues copies from a slot into a buffer on the lane's stream. They run after the place's
  /// work on the buffer's previous batch and before the place's later work. Enqueue all work on the other buffer before
  /// this call. The host does not wait.
  template <class Backend, class Copies> void send(std::size_t slot, std::size_t buffer, const Copies& copies) {
    record_event<Backend>(used_[1 - buffer]);
    {
      const current_stream_change own_stream(Backend{}, ordinal_, stream_.get());
      follow_event<Backend>(ordinal_, used_[buffer]);
      try {
        copies();
      } catch (...) {  // some copies may have been enqueued
        note_copies<Backend>(slot);
        throw;
      }
      note_copies<Backend>(slot);
    }
    follow_event<Backend>(ordinal_, copied_[slot]);
  }

  /// Waits on the host until the last copies from a slot are done, or skipped on a failed device. Callable from any
  /// thread.
  void wait_for(std::size_t slot) const noexcept { wait_(copied_[slot]); }

 private:
  /// Makes wait_for(slot) wait for the work enqueued so far on the lane's stream, which must be the current stream.
  template <class Backend> void note_copies(std::size_t slot) {
    try {
      record_event<Backend>(copied_[slot]);
    } catch (...) {  // wait_for() cannot use the event to wait for these copies
      streams_of<Backend>().synchronize(ordinal_, stream_.get());
      throw;
    }
  }

  template <class Backend> static void wait(const event_handle& copied) noexcept {
    try {
      if (!events_of<Backend>().ready(copied.get(), copied.ordinal()))
        events_of<Backend>().wait(copied.get(), copied.ordinal());
    } catch (...) {  // reported to callers that wait for the device's results
    }
  }

  int ordinal_ = 0;
  stream_handle stream_;
  std::array<event_handle, 2> used_;
  std::vector<event_handle> copied_;
  void (*wait_)(const event_handle&) noexcept = nullptr;
};

/// The device part of a loader: two batches on `Where` (one place, or axis 0 split), filled alternately from batches in
/// host memory while the places work. The constructor allocates all memory.
template <class Where, class Maker> class device_batches {
  using backend_type = placement_backend_t<Where>;
  static constexpr std::size_t places = local_place_count<Where>;
  using images_tensor = tensor<typename Maker::images_type::value_type, typename Maker::features_extents, Where>;
  using targets_tensor = tensor<typename Maker::label, typename Maker::targets_extents, Where>;
  using bytes_tensor = tensor<std::uint8_t, typename Maker::features_extents, Where>;
  using moves_tensor = tensor<double, extents<dyn, move_numbers>, Where>;

 public:
  using batch_type = labelled_batch<images_tensor, targets_tensor>;

  /// Takes the batches of a maker, which must outlive the object. Splits them over several places by the rule of the
  /// maker's share.
  DEVPLACE_CONFIGURED explicit device_batches(Maker& maker)
      : maker_(maker),
        batches_{make_batch(), make_batch()},
        bytes_(make_tensor<bytes_tensor>(rows_if(maker.as_bytes(), maker.features_capacity()))),
        unmoved_bytes_(make_tensor<bytes_tensor>(rows_if(moves(), maker.features_capacity()))),
        unmoved_targets_(make_tensor<targets_tensor>(rows_if(moves_targets(), maker.targets_capacity()))),
        moves_(make_tensor<moves_tensor>(extents<dyn, move_numbers>(moves() ? maker.capacity() : 0))) {
    for (std::size_t k = 0; k < places; ++k)
      lanes_[k].template open<backend_type>(local_part(batches_[0].labels, k).ordinal(), maker.slots());
    maker.wait_before_filling(
        [](const void* batches, std::size_t slot) noexcept {
          for (const copy_lane& lane : static_cast<const device_batches*>(batches)->lanes_) lane.wait_for(slot);
        },
        this);
  }

  /// Enqueues the copy of slot `slot`, which has this process's share of batch `number`. Returns the batch that
  /// receives the copy; later work on the places' current streams may read this batch. The batch is valid until the
  /// next call; the slot is refilled after the copy.
  DEVPLACE_CONFIGURED const batch_type& upload(std::size_t number, std::size_t slot) {
    const auto& staged = maker_.in_slot(slot);
    const std::size_t rows = maker_.rows(number), next = 1 - current_;
    batch_type& to = batches_[next];
    leading_extent::set(to.images, rows);
    leading_extent::set(to.labels, rows);
    if (maker_.as_bytes()) leading_extent::set(bytes_, rows);
    if (moves()) {
      leading_extent::set(moves_, rows);
      leading_extent::set(unmoved_bytes_, rows);
    }
    if (moves_targets()) leading_extent::set(unmoved_targets_, rows);
    for (std::size_t k = 0; k < places; ++k)
      lanes_[k].template send<backend_type>(slot, next, [&] {
        std::size_t first = 0;
        if constexpr (!single_place<Where>) first = to.labels.first_row(k) - to.labels.first_row(0);
        if (moves()) copy_rows(local_part(moves_, k), staged.moves, first);
        if constexpr (requires { maker_.scale().bytes(); })
          if (maker_.as_bytes()) {
            const auto bytes = local_part(bytes_, k);
            copy_moved(maker_.moved_features(), bytes, local_part(unmoved_bytes_, k), staged.bytes, first, k);
            scale_part(local_part(to.images, k), bytes, maker_.scale().bytes());
          }
        if (!maker_.as_bytes()) copy_rows(local_part(to.images, k), staged.images, first);
        copy_moved(maker_.moved_targets(), local_part(to.labels, k), local_part(unmoved_targets_, k), staged.labels,
                   first, k);
      });
    current_ = next;
    return to;
  }

 private:
  bool moves() const { return maker_.as_bytes() && maker_.moved_features().on_device != nullptr; }
  bool moves_targets() const { return maker_.as_bytes() && maker_.moved_targets().on_device != nullptr; }

  template <class Extents> static Extents rows_if(bool needed, const Extents& capacity) {
    return needed ? capacity : with_dynamic_axis<Extents>::with(0, capacity);
  }

  DEVPLACE_CONFIGURED batch_type make_batch() const {
    return {make_tensor<images_tensor>(maker_.features_capacity()),
            make_tensor<targets_tensor>(maker_.targets_capacity())};
  }
  template <class Tensor, class Extents> DEVPLACE_CONFIGURED Tensor make_tensor(const Extents& extents) const {
    if constexpr (single_place<Where>) {
      return Tensor(extents);
    } else {
      // Under torch's rule a place may get more rows of a smaller batch; memory for equal parts is enough for all
      // batches.
      const batch_share& share = maker_.share();
      const std::size_t rows = extents.extent(0), equal = padded_to(rows, share.participants.count);
      const auto most = with_dynamic_axis<Extents>::with(share.rule == split::torch ? equal : rows, extents);
      Tensor result = [&] {
        if constexpr (spans_processes<Where>)
          return Tensor(most, share.rule, share.participants);
        else
          return Tensor(most, share.rule);
      }();
      leading_extent::set(result, rows);
      return result;
    }
  }

  /// Enqueues a copy of the rows of a part, which begin at row `first` of the whole batch.
  template <class Part, class Whole>
  DEVPLACE_CONFIGURED static void copy_rows(const Part& part, const Whole& whole, std::size_t first) {
    const void* const from = whole.data() + first * whole.extents().stride(0);
    copy_in_async<backend_type>(part.ordinal(), part.data(), from, part.size() * sizeof(typename Whole::value_type));
  }

  /// Enqueues the copy of a part's rows, and moves the pixels if devices do.
  template <class Part, class Whole>
  DEVPLACE_CONFIGURED void copy_moved(const moved_images& how, const Part& part, const Part& unmoved,
                                      const Whole& whole, std::size_t first, std::size_t k) {
    if (!maker_.as_bytes() || how.on_device == nullptr) {
      copy_rows(part, whole, first);
    } else {
      copy_rows(unmoved, whole, first);
      how.on_device(part.ordinal(), part.data(), unmoved.data(), local_part(moves_, k).data(), part.extent(0), how);
    }
  }

  DEVPLACE_CONFIGURED static void scale_part(const auto& images, const auto& bytes, const auto& scale) {
    if constexpr (provided<backend_type, op::for_each>) {
      scale_bytes_into(images, bytes, scale);
    } else {
      throw error(
          "loader: the loader was made in a file compiled as CUDA, so that devices scale its bytes, and is read in a "
          "file compiled as C++; compile both files as CUDA: devplace_compile_as_cuda(target) in CMake.");
    }
  }

  const Maker& maker_;
  std::array<batch_type, 2> batches_;
  bytes_tensor bytes_, unmoved_bytes_;  // one buffer is enough: a lane reads a batch before it copies the next
  targets_tensor unmoved_targets_;
  moves_tensor moves_;
  std::size_t current_ = 0;
  std::array<copy_lane, places> lanes_;
};

/// Replaces device_batches if the maker's memory is on the batches' place.
struct no_device_batches {
  template <class Maker> explicit no_device_batches(const Maker&) {}
};

}  // namespace devplace::detail
