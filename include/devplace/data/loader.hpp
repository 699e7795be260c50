// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/data/detail/batch_maker.hpp>
#include <devplace/data/detail/placed_batches.hpp>
#include <devplace/data/labelled_batch.hpp>
#include <devplace/data/labelled_images.hpp>
#include <devplace/data/loader_options.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/placed.hpp>

namespace devplace {

/// Named in the message when a loader is looped over, or an epoch is asked for, without the epoch's number.
struct LOOP_OVER_epoch_AND_GIVE_ITS_NUMBER;
/// Named in the message when an epoch of a temporary loader is asked for, which would be gone before the first batch.
struct KEEP_THE_LOADER_IN_A_VARIABLE;
/// Named in the message when a loader is given data that would be gone before the first batch.
struct KEEP_THE_DATA_IN_A_VARIABLE;

/// Deals data out in batches that lie where a model on `Where` wants them: on its place, or split along axis 0 over its
/// places, as the option `split` says.
/// ```
/// dp::loader<Where> batches{data.train, {.batch = 64, .shuffle = dp::seed{2}}};
/// for (int epoch = 0; epoch < 5; ++epoch)
///   for (const auto& [images, labels] : batches.epoch(epoch)) step(images, labels);
/// ```
/// Images (n, height, width) become `T`, by default divided by 255; labels stay uint8. The data is looked at, not
/// copied, and must outlive the loader; data in plain tensors goes through make_loader.
///
/// Batches are made in the host's memory, in the caller's thread or by `workers` threads ahead of it, which end with
/// the loader; order and bits are the same. For devices that memory is pinned, and a batch that is asked for is copied
/// into one of two buffers on a stream of the loader's own, while the device works with the batch before; the host does
/// not wait, and makes the next batch meanwhile. Bytes that no transform changes travel as bytes and become `T` there
/// (in files that are compiled as C++, which have no kernels, on the host). All memory is allocated by the constructor:
/// a batch is valid until the next one is asked for, to be read by the stream that was the thread's current one when
/// the loader was made. One epoch can be read at a time.
///
/// Not to be used by two threads at once.
template <placement Where, floating_element T = float, class Source = image_set>
class loader {
  using source = detail::batch_source<Source>;
  using target = detail::batch_target_t<T, typename source::targets>;
  using batch_placement_type = batch_placement_t<Where>;
  using backend_type = placement_backend_t<Where>;
  static_assert(
      detail::computes<backend_type>,
      "devplace: a loader brings batches to where a model computes, through pinned memory of its own; name the "
      "model's placement.");
  static constexpr bool in_host_memory = std::is_same_v<batch_placement_type, on<cpu>>;
  using memory = std::conditional_t<std::is_same_v<backend_type, backend::cpu>, on<cpu>, on<pinned>>;
  using maker = detail::batch_maker<T, typename source::features, typename source::targets, memory, !in_host_memory>;
  using placed_batches = detail::placed_batches<batch_placement_type, T, typename maker::features_extents, target,
                                                typename maker::targets_extents>;

 public:
  /// A move-only aggregate of the tensors `images` and `labels`, whose first extents are the number of samples.
  using batch_type = labelled_batch<tensor<T, typename maker::features_extents, batch_placement_type>,
                                    tensor<target, typename maker::targets_extents, batch_placement_type>>;

  /// Throws argument_error when an option is out of its range, or there is not one label for each sample.
  template <class Tu = detail::this_tu>
  loader(const Source& data, const loader_options& options)
      : maker_(source::views(data), options, {}, scaled_there<Tu>, Tu{}), placed_(maker_, options.split, Tu{}) {
    connect();
  }

  /// With `transform(std::span<T> sample, std::size_t index, int epoch)`, which changes a sample in place after it was
  /// scaled, say to move or mirror an image; `index` is the sample's in the data, so that random changes can depend on
  /// it and the epoch and on nothing else. Workers call it at the same time. What it throws reaches the caller when the
  /// loop comes to the sample's batch.
  template <class Transform, class Tu = detail::this_tu>
  loader(const Source& data, const loader_options& options, Transform transform)
      : maker_(source::views(data), options, erased(std::move(transform)), scaled_there<Tu>, Tu{}),
        placed_(maker_, options.split, Tu{}) {
    connect();
  }

  template <class... More, class FIX = KEEP_THE_DATA_IN_A_VARIABLE>
    requires(source::owns)
  loader(const Source&&, const loader_options&, const More&...)
  = delete;

  loader(const loader&) = delete;
  loader& operator=(const loader&) = delete;

  /// One epoch's batches, to be read once; what a range-for leaves unread is dropped.
  template <class Tu>
  class epoch_range;

  /// The batches of epoch `number`, which counts from 0 and chooses the random order. Throws argument_error for a
  /// negative number, and error while another epoch is being read.
  template <class Tu = detail::this_tu>
  epoch_range<Tu> epoch(int number) & {
    return epoch_range<Tu>(*this, number);
  }
  template <class FIX = KEEP_THE_LOADER_IN_A_VARIABLE>
  void epoch(int) && = delete;
  template <class FIX = LOOP_OVER_epoch_AND_GIVE_ITS_NUMBER>
  void epoch() const = delete;
  template <class FIX = LOOP_OVER_epoch_AND_GIVE_ITS_NUMBER>
  void begin() const = delete;
  template <class FIX = LOOP_OVER_epoch_AND_GIVE_ITS_NUMBER>
  void end() const = delete;

  /// Number of batches in an epoch.
  std::size_t size() const { return maker_.batches(); }
  /// Number of samples in an epoch: those of the data, less what drop_last leaves out.
  std::size_t samples() const { return maker_.samples(); }
  /// Number of samples in the largest batch.
  std::size_t batch_capacity() const { return maker_.capacity(); }

 private:
  using placed_type = std::conditional_t<in_host_memory, detail::no_placed_batches, placed_batches>;
  template <class Tu>
  static constexpr bool scaled_there = detail::provided<backend_type, op::scale_bytes, Tu>;

  template <class Transform>
  static detail::sample_transform<T> erased(Transform&& transform) {
    static_assert(std::is_invocable_v<const Transform&, std::span<T>, std::size_t, int>,
                  "devplace: a loader's transform is called as transform(std::span<T> sample, std::size_t index, int "
                  "epoch), T being the loader's element type, and is const, because workers call it at the same time; "
                  "give it these parameters and no `mutable`.");
    return detail::sample_transform<T>::from(std::move(transform));
  }

  void connect() {
    if constexpr (!in_host_memory)
      maker_.wait_before_filling(
          [](const void* placed, std::size_t slot) noexcept {
            static_cast<const placed_type*>(placed)->wait_for(slot);
          },
          &placed_);
  }

  template <class Tu>
  const batch_type& get(std::size_t number) {
    const std::size_t slot = maker_.get(number);
    if constexpr (in_host_memory) {
      return maker_.in_slot(slot);
    } else {
      const byte_scale<T>* scale = nullptr;
      if constexpr (std::is_same_v<typename source::features::value_type, std::uint8_t>)
        scale = &maker_.scale().bytes();
      const batch_type& placed = placed_.template place<Tu>(maker_.in_slot(slot), slot, scale);
      maker_.release(number);
      return placed;
    }
  }

  maker maker_;
  [[no_unique_address]] placed_type placed_;  // goes first: its copies from the maker's memory end
};

template <placement Where, floating_element T, class Source>
template <class Tu>
class loader<Where, T, Source>::epoch_range {
 public:
  /// Where a range-for stands. An input iterator: there is one position, which all copies share.
  class iterator {
   public:
    /// What std::input_iterator asks for.
    ///@{
    using value_type = batch_type;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;
    ///@}

    /// The current batch; valid until the next one is asked for.
    ///@{
    const batch_type& operator*() const { return *range_->current_; }
    const batch_type* operator->() const { return range_->current_; }
    ///@}
    /// Throws what making the next batch threw; the batch after that one can still be asked for.
    iterator& operator++() {
      range_->advance();
      return *this;
    }
    /// The same.
    void operator++(int) { ++*this; }
    /// Whether all batches have been read.
    friend bool operator==(const iterator& at, std::default_sentinel_t) { return at.range_->ended(); }

   private:
    friend class epoch_range;
    explicit iterator(epoch_range& range) : range_(&range) {}
    epoch_range* range_;
  };

  epoch_range(const epoch_range&) = delete;
  epoch_range& operator=(const epoch_range&) = delete;
  /// Drops what was not read.
  ~epoch_range() { loader_.maker_.stop(); }

  /// The first batch that has not been read; makes it. Throws what making it threw.
  iterator begin() {
    if (current_ == nullptr && number_ == 0) fetch();
    return iterator(*this);
  }
  /// After the last batch.
  std::default_sentinel_t end() const { return {}; }

  /// Whether all batches have been read.
  bool ended() const { return number_ >= loader_.size(); }
  /// Number of batches.
  std::size_t size() const { return loader_.size(); }

 private:
  friend class loader;
  epoch_range(loader& batches, int epoch) : loader_(batches) { loader_.maker_.start(epoch); }

  void advance() {
    current_ = nullptr;
    loader_.maker_.release(number_);
    ++number_;
    fetch();
  }
  void fetch() {
    if (!ended()) current_ = &loader_.template get<Tu>(number_);
  }

  loader& loader_;
  std::size_t number_ = 0;
  const batch_type* current_ = nullptr;
};

/// A loader for samples and targets in two tensors (or views) on the CPU that agree in their first extent: features of
/// float, double or uint8 with any further axes, and either one integer label for each sample or floating-point
/// targets, which become `T`. The tensors are looked at and must outlive the loader.
/// `auto batches = dp::make_loader<Where>(features, targets, {.batch = 64});`
template <placement Where, floating_element T = float, tensor_like Features, tensor_like Targets, class... Transform>
  requires(detail::outlives_the_call<Features>&& detail::outlives_the_call<Targets> && sizeof...(Transform) <= 1)
auto make_loader(Features&& features, Targets&& targets, const loader_options& options, Transform... transform) {
  using features_view = detail::const_view_t<Features>;
  using targets_view = detail::const_view_t<Targets>;
  using source = detail::feature_target_views<features_view, targets_view>;
  return loader<Where, T, source>(source{detail::as_view(features), detail::as_view(targets)}, options,
                                  std::move(transform)...);
}

template <placement Where, floating_element T = float, tensor_like Features, tensor_like Targets, class... Transform,
          class FIX = KEEP_THE_DATA_IN_A_VARIABLE>
  requires(!(detail::outlives_the_call<Features> && detail::outlives_the_call<Targets>))
void make_loader(Features&&, Targets&&, const loader_options&, const Transform&...) = delete;

}  // namespace devplace
