// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/divided_up.hpp>
#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/data/detail/batch_source.hpp>
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

DEVPLACE_COMPILABLE([[noreturn]]) void fail_loader(std::initializer_list<text_part> found) {
  throw argument_error({"loader: ", joined(found)});
}
DEVPLACE_COMPILED(void fail_loader(std::initializer_list<text_part>))

/// A batch in host memory, from which devices copy. uint8 features that the devices convert are in `bytes`, and their
/// moves in `moves` if the devices move pixels. All other features are in `images`, as elements of the network's type.
/// Unused tensors have no rows.
template <class Images, class Bytes, class Moves, class Labels> struct staged_batch {
  Images images;
  Bytes bytes;
  Moves moves;
  Labels labels;
};

/// The batches of an epoch, and this process's share of them: what a batch_maker has for all types of data.
class batch_plan {
 public:
  std::size_t samples() const { return visited_; }
  std::size_t batches() const { return batches_; }
  /// Number of rows of the largest batch.
  std::size_t capacity() const { return std::min(batch_, visited_); }
  /// Number of rows of batch `number`, and this process's share of them.
  std::size_t rows(std::size_t number) const { return std::min(batch_, visited_ - number * batch_); }
  const batch_share& share() const { return share_; }
  int epoch() const { return epoch_; }

 protected:
  [[gnu::noinline]] DEVPLACE_CONFIGURED batch_plan(std::size_t samples, std::size_t labels,
                                                   const loader_options& options, const batch_share& share)
      : share_(share),
        batch_(checked(samples, labels, options)),
        visited_(options.drop_last ? samples / batch_ * batch_ : samples),
        batches_(divided_up(visited_, batch_)),
        sampler_(samples, options.shuffle) {}
  [[gnu::noinline]] ~batch_plan() = default;

  /// Number of slots: one is read or copied while the others are filled. There is at most one slot per batch.
  std::size_t slots_for(const loader_options& options, bool staged) const {
    const std::size_t prefetched =
        static_cast<std::size_t>(options.workers) * static_cast<std::size_t>(options.prefetch);
    return std::max<std::size_t>(1, std::min(staged && prefetched == 0 ? 2 : prefetched + 1, batches_));
  }

  void start(int epoch, std::size_t first, prefetcher& ahead) {
    if (first > batches_)
      fail_loader({"an epoch of ", batches_, " batches cannot begin at batch ", first,
                   "; give the number of its batches that the training has read, with the same data and options."});
    if (started_)
      throw error(
          "loader: another epoch is being read, and all epochs use the same memory; end that epoch first, or make a "
          "second loader.");
    order_ = sampler_.order(epoch);
    epoch_ = epoch;
    ahead.start(batches_, first);
    started_ = true;
  }

  batch_share share_;
  std::size_t batch_;
  std::size_t visited_;
  std::size_t batches_;
  sampler sampler_;
  std::span<const std::int64_t> order_;
  int epoch_ = 0;
  bool started_ = false;

 private:
  DEVPLACE_COMPILABLE()
  static std::size_t checked(std::size_t samples, std::size_t labels, const loader_options& options) {
    if (samples != labels)
      fail_loader({"the data has ", samples, " samples and ", labels, " labels; give one label for each sample."});
    if (options.batch == 0)
      fail_loader({"the option batch is 0; give the number of samples in a batch, as in {.batch = 64}."});
    if (options.workers < 0)
      fail_loader({"the option workers is ", options.workers,
                   "; give the number of threads that prepare batches ahead, or 0 for none."});
    if (options.prefetch < 1)
      fail_loader({"the option prefetch is ", options.prefetch,
                   "; give the number of batches that each worker prepares ahead, at least 1."});
    if (!is_finite(options.standard_deviation) || options.standard_deviation <= 0)
      fail_loader({"the option standard_deviation is ", format_number(options.standard_deviation),
                   "; give a finite number above 0."});
    const double scale = options.scale.value_or(1);
    if (const bool infinite = !is_finite(options.mean); infinite || !is_finite(scale))
      fail_loader({"the option ", infinite ? "mean" : "scale", " is ", format_number(infinite ? options.mean : scale),
                   "; give a finite number."});
    return options.batch;
  }
};
DEVPLACE_COMPILED(std::size_t batch_plan::checked(std::size_t, std::size_t, const loader_options&))

/// The host part of a loader: makes batches in host memory, in the calling thread or ahead of it in workers. `Staged`
/// batches lie in `Memory`, from which devices copy them; the loader yields other batches directly.
template <floating_element T, class Features, class Targets, class Memory = on<cpu>, bool Staged = false>
class batch_maker : public batch_plan {
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
      : batch_plan(data.features.extents().extent(0), data.targets.extents().extent(0), options, share),
        data_(data),
        scale_(options),
        transform_(std::move(transform)),
        as_bytes_(Staged && std::is_same_v<feature, std::uint8_t> && device_scales && !transform_),
        slots_(slots_for(options, Staged)),
        prefetcher_(static_cast<std::size_t>(options.workers), slots_.size(), &make, this) {
    image_size target_size{};
    if constexpr (Targets::rank >= 3) {
      target_size = {0, data.targets.extents().extent(Targets::rank - 2),
                     data.targets.extents().extent(Targets::rank - 1)};
      target_size.channels =
          data.targets.extents().stride(0) / std::max<std::size_t>(target_size.height * target_size.width, 1);
    }
    transform_.check(data.features.extents().stride(0), target_size);
    for (std::unique_ptr<batch_type>& slot : slots_) slot.reset(new_slot());
  }

  features_extents features_capacity() const { return with_rows(data_.features, capacity()); }
  targets_extents targets_capacity() const { return with_rows(data_.targets, capacity()); }

  void start(int epoch, std::size_t first) { batch_plan::start(epoch, first, prefetcher_); }
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
  const batch_type& in_slot(std::size_t slot) const { return *slots_[slot]; }
  void release(std::size_t number) { prefetcher_.release(number); }

 private:
  template <class View> static auto with_rows(const View& view, std::size_t rows) {
    return with_dynamic_axis<typename View::extents_type>::with(rows, view.extents());
  }

  DEVPLACE_CONFIGURED batch_type* new_slot() const {
    if constexpr (Staged) {
      const std::size_t rows = share_.capacity(capacity());
      return new batch_type{images_type(with_rows(data_.features, as_bytes_ ? 0 : rows)),
                            bytes_type(with_rows(data_.features, as_bytes_ ? rows : 0)),
                            moves_type(typename moves_type::extents_type(as_bytes_ && transform_.moves() ? rows : 0)),
                            labels_type(with_rows(data_.targets, rows))};
    } else {
      return new batch_type{images_type(features_capacity()), labels_type(targets_capacity())};
    }
  }

  static void make(void* self, std::size_t slot, std::size_t number) {
    static_cast<batch_maker*>(self)->fill(slot, number);
  }

  void fill(std::size_t slot, std::size_t number) {
    batch_type& batch = *slots_[slot];
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
    if (transform_.moves())
      from = static_cast<const feature*>(
          transform_.moved(from, width * sizeof(feature), target_of_sample, sizeof(label), index, epoch_));
    scale_(sample, from, width);
    transform_(std::span<sample_element>(sample, width), index, epoch_);
  }

  /// Mixes samples and targets with the samples and targets of their partners. Makes the partners' samples again.
  template <class Rows> void mix_rows(Rows& samples, labels_type& labels, std::size_t number) const {
    const std::size_t first = number * batch_ + share_.begin(rows(number));
    const std::size_t width = data_.features.extents().stride(0), target_width = data_.targets.extents().stride(0);
    T* const partner = static_cast<T*>(thread_memory(2, width * sizeof(T)));
    T* const partner_target = static_cast<T*>(thread_memory(3, target_width * sizeof(T)));
    for (std::size_t row = 0; row < samples.extent(0); ++row) {
      const sample_mix mix =
          transform_.partner(static_cast<std::size_t>(order_[first + row]), epoch_, data_.features.extent(0));
      if (mix.weight == 1) continue;
      std::copy_n(data_.targets.data() + mix.partner * target_width, target_width, partner_target);
      make_sample(partner, partner_target, width, mix.partner);
      const T weight = static_cast<T>(mix.weight), rest = static_cast<T>(1 - mix.weight);
      T* const sample = samples.data() + row * width;
      for (std::size_t i = 0; i < width; ++i) sample[i] = weight * sample[i] + rest * partner[i];
      T* const target_of_sample = labels.data() + row * target_width;
      for (std::size_t i = 0; i < target_width; ++i)
        target_of_sample[i] = weight * target_of_sample[i] + rest * partner_target[i];
    }
  }

  void fill_rows(auto& samples, labels_type& labels, std::size_t number, const auto& make_row) const {
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
  feature_scale<feature, sample_element> scale_;
  sample_transform<sample_element> transform_;
  bool as_bytes_;
  void (*wait_)(const void* object, std::size_t slot) noexcept = nullptr;
  const void* waiting_for_ = nullptr;
  std::vector<std::unique_ptr<batch_type>> slots_;
  prefetcher prefetcher_;  // last, so destroyed first: its threads use the other members
};

}  // namespace devplace::detail
