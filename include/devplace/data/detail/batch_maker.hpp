// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/divided_up.hpp>
#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/data/detail/batch_share.hpp>
#include <devplace/data/detail/batch_source.hpp>
#include <devplace/data/detail/feature_scale.hpp>
#include <devplace/data/detail/prefetcher.hpp>
#include <devplace/data/detail/sample_transform.hpp>
#include <devplace/data/labelled_batch.hpp>
#include <devplace/data/loader_options.hpp>
#include <devplace/data/sampler.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/tensor/detail/leading_extent.hpp>
#include <devplace/tensor/detail/number_format.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::detail {

/// Extents of a batch of samples from a tensor with extents `Extents`: the first extent is dynamic.
template <extents_like Extents> using batch_extents_t = typename with_dynamic_axis<Extents>::type;

/// Integer features, except uint8, keep their type; other features get the network's element type.
template <floating_element T, class Features>
using batch_feature_t =
    std::conditional_t<numbering_element<typename Features::value_type>, typename Features::value_type, T>;

/// Integer labels keep their type; floating-point targets get the network's element type.
template <floating_element T, class Targets>
using batch_target_t =
    std::conditional_t<floating_element<typename Targets::value_type>, T, typename Targets::value_type>;

/// The host part of a loader: makes batches in host memory, in the calling thread or ahead of it in workers. `Staged`
/// batches lie in `Memory`, from which devices copy them; the loader yields other batches directly.
template <floating_element T, class Features, class Targets, class Memory = on<cpu>, bool Staged = false>
class batch_maker {
  using feature = typename Features::value_type;
  using target = typename Targets::value_type;
  using sample_element = batch_feature_t<T, Features>;
  static_assert(floating_element<feature> || std::is_integral_v<feature>,
                "devplace: a loader's features are float, double or integers; convert them with cast<float>(x) first.");
  static_assert(std::is_same_v<typename Features::placement_type, on<cpu>> &&
                    std::is_same_v<typename Targets::placement_type, on<cpu>>,
                "devplace: a loader reads from ordinary memory; copy the data there first, with to<on<cpu>>(x).");
  static_assert(Features::rank > 0 && Targets::rank > 0,
                "devplace: a loader's features and targets need a first axis, which counts samples.");

 public:
  using features_extents = batch_extents_t<typename Features::extents_type>;
  using targets_extents = batch_extents_t<typename Targets::extents_type>;
  using images_type = tensor<sample_element, features_extents, Memory>;
  using bytes_type = tensor<std::uint8_t, features_extents, Memory>;
  using moves_type = tensor<double, extents<dyn, move_numbers>, Memory>;
  using label = batch_target_t<T, Targets>;
  using labels_type = tensor<label, targets_extents, Memory>;
  using batch_type = std::conditional_t<Staged, staged_batch<images_type, bytes_type, moves_type, labels_type>,
                                        labelled_batch<images_type, labels_type>>;

  /// Makes only `share` of each batch. `device_scales`: whether devices can convert the bytes of staged batches to `T`.
  DEVPLACE_CONFIGURED batch_maker(const features_and_targets<Features, Targets>& data, const loader_options& options,
                                  sample_transform<sample_element>&& transform, bool device_scales,
                                  const batch_share& share = {})
      : data_(data),
        share_(share),
        batch_(checked(data, options)),
        visited_(options.drop_last ? data.features.extent(0) / batch_ * batch_ : data.features.extent(0)),
        batches_(divided_up(visited_, batch_)),
        scale_(options),
        transform_(checked(std::move(transform), data)),
        as_bytes_(Staged && std::is_same_v<feature, std::uint8_t> && device_scales && !transform_),
        sampler_(data.features.extent(0), options.shuffle),
        slots_(make_slots(options)),
        prefetcher_(static_cast<std::size_t>(options.workers), slots_.size(), &make, this) {}

  std::size_t samples() const { return visited_; }
  std::size_t batches() const { return batches_; }
  /// Number of rows of the largest batch, and the extents of its tensors.
  std::size_t capacity() const { return std::min(batch_, visited_); }
  features_extents features_capacity() const { return with_rows(data_.features, capacity()); }
  targets_extents targets_capacity() const { return with_rows(data_.targets, capacity()); }
  /// Number of rows of batch `number`, and this process's share of them.
  std::size_t rows(std::size_t number) const { return std::min(batch_, visited_ - number * batch_); }
  const batch_share& share() const { return share_; }
  /// Number of the epoch that was started last.
  int epoch() const { return epoch_; }

  void start(int epoch, std::size_t first = 0) {
    if (first > batches_)
      throw argument_error(
          {"loader: an epoch of ", batches_, " batches cannot begin at batch ", first,
           "; give the number of its batches that the training has read, with the same data and options."});
    if (started_)
      throw error(
          "loader: another epoch is being read, and all epochs use the same memory; end that epoch first, or make a "
          "second loader.");
    order_ = sampler_.order(epoch);
    epoch_ = epoch;
    prefetcher_.start(batches_, first);
    started_ = true;
  }
  void stop() noexcept {
    prefetcher_.stop();
    started_ = false;
  }

  /// Whether features stay bytes until they reach the device, and the scaling that the device applies.
  bool as_bytes() const { return as_bytes_; }
  const feature_scale<feature, sample_element>& scale() const { return scale_; }
  /// How the device moves the pixels of features and targets if features stay bytes; `on_device` is null if the device
  /// moves none.
  const moved_images& moved_features() const { return transform_.features; }
  const moved_images& moved_targets() const { return transform_.targets; }

  /// Number of slots, one for each batch that is being made or in use. `wait(object, slot)` is called in any thread
  /// before a slot is refilled.
  std::size_t slots() const { return slots_.size(); }
  void wait_before_filling(void (*wait)(const void* object, std::size_t slot) noexcept, const void* object) {
    wait_ = wait;
    waiting_for_ = object;
  }

  /// Makes batch `number`, or waits until a worker has made the batch, and returns the slot; the batch is valid until
  /// release(). Throws the transform's exception for a sample of the batch.
  std::size_t get(std::size_t number) { return prefetcher_.wait(number); }
  const batch_type& in_slot(std::size_t slot) const { return slots_[slot]; }
  void release(std::size_t number) { prefetcher_.release(number); }

 private:
  static std::size_t checked(const features_and_targets<Features, Targets>& data, const loader_options& options) {
    const std::size_t samples = data.features.extent(0);
    if (samples != data.targets.extent(0))
      throw argument_error({"loader: the data has ", samples, " samples and ", data.targets.extent(0),
                            " labels; give one label for each sample."});
    if (options.batch == 0)
      throw argument_error(
          "loader: the option batch is 0; give the number of samples in a batch, as in {.batch = 64}.");
    if (options.workers < 0)
      throw argument_error({"loader: the option workers is ", options.workers,
                            "; give the number of threads that prepare batches ahead, or 0 for none."});
    if (options.prefetch < 1)
      throw argument_error({"loader: the option prefetch is ", options.prefetch,
                            "; give the number of batches that each worker prepares ahead, at least 1."});
    if (!is_finite(options.standard_deviation) || options.standard_deviation <= 0)
      throw argument_error({"loader: the option standard_deviation is ", format_number(options.standard_deviation),
                            "; give a finite number above 0."});
    if (!is_finite(options.mean) || !is_finite(options.scale.value_or(1)))
      throw argument_error({"loader: the option ",
                            is_finite(options.mean) ? "scale is " + format_number(*options.scale)
                                                    : "mean is " + format_number(options.mean),
                            "; give a finite number."});
    return options.batch;
  }

  /// Checks the extents of moved samples and targets, and sets the number of channels of moved targets.
  static sample_transform<sample_element> checked(sample_transform<sample_element>&& transform,
                                                  const features_and_targets<Features, Targets>& data) {
    if (transform.moves()) require_size("a sample", data.features.extents().stride(0), transform.features.size);
    if constexpr (Targets::rank >= 3)
      if (transform.targets.in_thread != nullptr) {
        image_size& size = transform.targets.size;
        const std::size_t height = data.targets.extent(Targets::rank - 2),
                          width = data.targets.extent(Targets::rank - 1);
        if (height != size.height || width != size.width)
          throw shape_error({"transforms: targets have ", height, " rows of ", width, " pixels and samples ",
                             size.height, " rows of ", size.width, "; with_targets moves targets of equal size."});
        size.channels = data.targets.extents().stride(0) / std::max<std::size_t>(height * width, 1);
      }
    return std::move(transform);
  }

  template <class View> static auto with_rows(const View& view, std::size_t rows) {
    return with_dynamic_axis<typename View::extents_type>::with(rows, view.extents());
  }

  DEVPLACE_CONFIGURED std::vector<batch_type> make_slots(const loader_options& options) const {
    // One slot is read or copied while the others are filled. There is at most one slot per batch.
    const std::size_t prefetched =
        static_cast<std::size_t>(options.workers) * static_cast<std::size_t>(options.prefetch);
    const std::size_t wanted = Staged && prefetched == 0 ? 2 : prefetched + 1;
    const std::size_t count = std::max<std::size_t>(1, std::min(wanted, batches_));
    std::vector<batch_type> slots;
    slots.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (Staged) {
        const std::size_t rows = share_.capacity(capacity());
        images_type images(with_rows(data_.features, as_bytes_ ? 0 : rows));
        bytes_type bytes(with_rows(data_.features, as_bytes_ ? rows : 0));
        moves_type moves(typename moves_type::extents_type(as_bytes_ && transform_.moves() ? rows : 0));
        labels_type labels(with_rows(data_.targets, rows));
        slots.push_back({std::move(images), std::move(bytes), std::move(moves), std::move(labels)});
      } else {
        images_type images(features_capacity());
        labels_type labels(targets_capacity());
        slots.push_back({std::move(images), std::move(labels)});
      }
    }
    return slots;
  }

  static void make(void* self, std::size_t slot, std::size_t number) {
    static_cast<batch_maker*>(self)->fill(slot, number);
  }

  void fill(std::size_t slot, std::size_t number) {
    batch_type& batch = slots_[slot];
    if (wait_ != nullptr) wait_(waiting_for_, slot);
    if constexpr (Staged && std::is_same_v<feature, std::uint8_t>) {
      if (as_bytes_) {
        double* move = batch.moves.data();
        fill_rows(batch.bytes, batch.labels, number,
                  [&](std::uint8_t* sample, label*, std::size_t width, std::size_t index) {
                    std::copy_n(data_.features.data() + index * width, width, sample);
                    if (transform_.moves())
                      transform_.store_move(index, epoch_, std::exchange(move, move + move_numbers));
                  });
        return;
      }
    }
    fill_rows(batch.images, batch.labels, number,
              [this](sample_element* sample, label* target_of_sample, std::size_t width, std::size_t index) {
                make_sample(sample, target_of_sample, width, index);
              });
    if constexpr (floating_element<sample_element> && floating_element<target>)
      if (transform_.mixes()) mix_rows(batch.images, batch.labels, number);
  }

  /// Makes a sample and moves its target, without mixing.
  void make_sample(sample_element* sample, label* target_of_sample, std::size_t width, std::size_t index) const {
    const feature* from = data_.features.data() + index * width;
    if (transform_.moves()) {
      thread_local std::vector<feature> moved;  // grow once in each thread that makes batches
      thread_local std::vector<label> unmoved;
      double move[move_numbers];
      transform_.store_move(index, epoch_, move);
      moved.resize(width);
      transform_.features.in_thread(0, moved.data(), from, move, 1, transform_.features);
      from = moved.data();
      if (const moved_images& targets = transform_.targets; targets.in_thread != nullptr) {
        unmoved.assign(target_of_sample, target_of_sample + targets.size.elements());
        targets.in_thread(0, target_of_sample, unmoved.data(), move, 1, targets);
      }
    }
    scale_(sample, from, width);
    transform_(std::span<sample_element>(sample, width), index, epoch_);
  }

  /// Mixes samples and targets with the samples and targets of their partners. Makes the partners' samples again.
  template <class Rows> void mix_rows(Rows& samples, labels_type& labels, std::size_t number) const {
    thread_local std::vector<T> partner, partner_target;  // grow once in each thread that makes batches
    const std::size_t first = number * batch_ + share_.begin(rows(number));
    const std::size_t width = data_.features.extents().stride(0), target_width = data_.targets.extents().stride(0);
    partner.resize(width);
    partner_target.resize(target_width);
    for (std::size_t row = 0; row < samples.extent(0); ++row) {
      const sample_mix mix =
          transform_.partner(static_cast<std::size_t>(order_[first + row]), epoch_, data_.features.extent(0));
      if (mix.weight == 1) continue;
      std::copy_n(data_.targets.data() + mix.partner * target_width, target_width, partner_target.data());
      make_sample(partner.data(), partner_target.data(), width, mix.partner);
      const T weight = static_cast<T>(mix.weight), rest = static_cast<T>(1 - mix.weight);
      T* const sample = samples.data() + row * width;
      for (std::size_t i = 0; i < width; ++i) sample[i] = weight * sample[i] + rest * partner[i];
      T* const target_of_sample = labels.data() + row * target_width;
      for (std::size_t i = 0; i < target_width; ++i)
        target_of_sample[i] = weight * target_of_sample[i] + rest * partner_target[i];
    }
  }

  template <class Rows, class Make>
  void fill_rows(Rows& samples, labels_type& labels, std::size_t number, const Make& make_row) const {
    const std::size_t all = this->rows(number), first = number * batch_ + share_.begin(all),
                      rows = share_.end(all) - share_.begin(all);
    leading_extent::set(samples, rows);
    leading_extent::set(labels, rows);
    const std::size_t width = data_.features.extents().stride(0), target_width = data_.targets.extents().stride(0);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto index = static_cast<std::size_t>(order_[first + row]);
      if (row + 1 < rows)
        fetch(data_.features.data() + static_cast<std::size_t>(order_[first + row + 1]) * width, width);
      std::copy_n(data_.targets.data() + index * target_width, target_width, labels.data() + row * target_width);
      make_row(samples.data() + row * width, labels.data() + row * target_width, width, index);
    }
  }

  /// Prefetches the first KiB of the next sample while the current sample is made, since samples in random order miss
  /// the caches. The hardware prefetcher loads the rest.
  static void fetch(const feature* sample, std::size_t count) {
    const char* const bytes = reinterpret_cast<const char*>(sample);
    const std::size_t most = std::min<std::size_t>(count * sizeof(feature), 1024);
    for (std::size_t i = 0; i < most; i += alignment) __builtin_prefetch(bytes + i);
  }

  features_and_targets<Features, Targets> data_;
  batch_share share_;
  std::size_t batch_;
  std::size_t visited_;
  std::size_t batches_;
  feature_scale<feature, sample_element> scale_;
  sample_transform<sample_element> transform_;
  bool as_bytes_;
  void (*wait_)(const void* object, std::size_t slot) noexcept = nullptr;
  const void* waiting_for_ = nullptr;
  sampler sampler_;
  std::span<const std::int64_t> order_;
  int epoch_ = 0;
  bool started_ = false;
  std::vector<batch_type> slots_;
  prefetcher prefetcher_;  // last, so destroyed first: its threads use the other members
};

}  // namespace devplace::detail
