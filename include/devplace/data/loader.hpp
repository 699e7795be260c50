// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include <devplace/base/host_memory.hpp>
#include <devplace/base/joined.hpp>
#include <devplace/base/refusal.hpp>
#include <devplace/base/type_text.hpp>
#include <devplace/base/unprintable.hpp>
#include <devplace/config.hpp>
#include <devplace/data/detail/batch_maker.hpp>
#include <devplace/data/detail/device_batches.hpp>
#include <devplace/data/detail/epoch_range.hpp>
#include <devplace/data/labelled_batch.hpp>
#include <devplace/data/labelled_images.hpp>
#include <devplace/data/loader_options.hpp>
#include <devplace/parallel/fingerprint.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace::detail {

/// Collects the options of a loader that must be equal in all processes: trainers compare the options in each step, and
/// accuracy() once. Empty for placements of one process.
template <class Where, class Views, class... Transform>
parallel::batch_note note_of_loader([[maybe_unused]] const Views& data, [[maybe_unused]] const loader_options& options,
                                    [[maybe_unused]] const Transform&... transform) {
  parallel::batch_note note;
  if constexpr (spans_processes<Where>) {
    parallel::fingerprint& all = note.loader;
    all.add("loader's features", to_string(data.features.extents()));
    all.add("loader's targets", to_string(data.targets.extents()));
    all.add("loader's batch", options.batch);
    all.add("loader's shuffle", options.shuffle ? joined({"seed ", options.shuffle->value}) : "none");
    all.add("loader's drop_last", options.drop_last);
    options.scale ? all.add("loader's scale", *options.scale) : all.add("loader's scale", "default");
    all.add("loader's mean", options.mean);
    all.add("loader's standard_deviation", options.standard_deviation);
    all.add("loader's split", options.split);
    (all.add("loader's transform", type_text<Transform>()), ...);
    (all.add_options("loader's transform's ", transform), ...);
    note.loader_hash = all.hash();
  }
  return note;
}

}  // namespace devplace::detail

namespace devplace {

/// Yields batches. Specialised in data/loader.hpp; this primary template rejects all other template arguments.
template <class Where, class T = float, class Source = image_set> class loader {
  static_assert(detail::accepted<Where>,
                "devplace: loader: name the placement of the batches, which is the model's, and a floating-point type "
                "unless it is float: loader<on<cpu>> batches{data.train, {.batch = 64}}.");

 public:
  template <class... Any> loader(const Source&, const loader_options&, const Any&...) {}  ///< avoids a second error
  detail::refusal epoch(int);                                                             ///< avoids a second error
};
/// A loader without a place, which the primary template rejects.
template <class Data, class... Any>
loader(const Data&, const loader_options&, const Any&...) -> loader<void, float, Data>;

/// Yields batches where a model on `Where` takes them: on its place, or split along axis 0 over its places by the
/// option `split`.
/// ```
/// dp::loader<Where> batches{data.train, {.batch = 64, .shuffle = dp::seed{2}}};
/// for (int epoch = 0; epoch < 5; ++epoch)
///   for (const auto& [images, labels] : batches.epoch(epoch)) step(images, labels);
/// ```
/// Images (n, height, width) become `T`, by default divided by 255; labels stay uint8. The loader refers to the data
/// and does not copy it, so the data must outlive the loader. For data in plain tensors use make_loader.
///
/// The calling thread makes batches, or `workers` threads make them ahead; the destructor joins the threads. Order and
/// bits do not depend on the number of workers. Batches are made in host memory, which is pinned for devices. The
/// requested batch is copied into one of two device buffers on a stream of the loader, while the device works on the
/// previous batch. The host does not wait. uint8 features are copied as bytes if no transform changes their values. The
/// device then moves their pixels and converts them to `T`. (In files compiled as C++, which have no kernels, the host
/// does so before the copy.) The constructor allocates all memory. A batch is valid until the next one is requested;
/// read it on the stream that was the thread's current stream when the loader was made. Only one epoch can be read at a
/// time.
///
/// On `across<...>` batches are divided over the processes of this thread's process_scope: each process makes only the
/// samples of its participants. Together, the processes make the batches that a single process with all places would
/// make; no sample is repeated or left out. All processes must have the same data and options, and read the same
/// epochs.
///
/// Only one thread at a time may use a loader; different threads may use different loaders of the same data.
template <placement Where, floating_element T, class Source> class loader<Where, T, Source> {
  using source = detail::batch_source<Source>;
  using sample_element = detail::batch_feature_t<T, typename source::features>;
  using target = detail::batch_target_t<T, typename source::targets>;
  static constexpr bool divides_samples = !detail::kind_of<Where>::is_parts;
  using batch_placement_type = std::conditional_t<divides_samples, batch_placement_t<Where>, on<cpu>>;
  using backend_type = placement_backend_t<Where>;
  static_assert(detail::computes<backend_type>,
                "devplace: a loader's placement is the model's, and no model lies in pinned memory; a loader for a "
                "cuda place has pinned memory of its own.");
  static_assert(divides_samples,
                "devplace: loader: batches of a model in parts are split along their rows; make batches on the host, "
                "with loader<on<cpu>>, and copy samples and targets of each by to_batch<Where>(x).");
  static constexpr bool in_host_memory = std::is_same_v<batch_placement_type, on<cpu>>;
  using memory = std::conditional_t<std::is_same_v<backend_type, backend::cpu>, on<cpu>, on<pinned>>;
  using maker = detail::batch_maker<T, typename source::features, typename source::targets, memory, !in_host_memory>;
  using device_batches = std::conditional_t<in_host_memory, detail::no_device_batches,
                                            detail::device_batches<batch_placement_type, maker>>;

 public:
  /// A move-only aggregate of the tensors `images` and `labels`, whose first extents are the number of samples.
  using batch_type = labelled_batch<tensor<sample_element, typename maker::features_extents, batch_placement_type>,
                                    tensor<target, typename maker::targets_extents, batch_placement_type>>;

  /// The optional `transform(std::span<T> sample, std::size_t index, int epoch)` changes a sample in place after
  /// scaling. A `transforms` also moves pixels of samples and targets (data/transforms.hpp). `index` is the sample's
  /// index in the data, so that random changes can depend only on the index and the epoch. Workers call the transform
  /// concurrently. The transform's exceptions are thrown when the sample's batch is requested. Throws argument_error if
  /// an option is out of its range or the numbers of samples and labels differ, and shape_error if the transform moves
  /// images of other extents.
  template <class... Transform>
    requires(sizeof...(Transform) <= 1)
  DEVPLACE_CONFIGURED loader(typename source::kept data DEVPLACE_LIFETIMEBOUND, const loader_options& options,
                             Transform... transform) try
      : data_(std::move(data)),
        note_(detail::note_of_loader<Where>(source::views(data_), options, transform...)),
        maker_(source::views(data_), options, erased(std::move(transform)...),
               detail::provided<backend_type, op::for_each>, share(options)),
        on_devices_(maker_) {
  } catch (const std::bad_alloc&) {
    detail::fail_without_memory("the loader");
  }
  loader& operator=(loader&&) = delete;

  /// The batches of one epoch, a single-pass range; its destructor discards unread batches.
  using epoch_range = detail::epoch_range<loader>;

  /// The batches of epoch `number`, counted from 0; the number also chooses the random order. Batches before `first`
  /// are not made: a resumed training continues in the middle of an epoch. Throws argument_error for a negative number
  /// or a first batch above size(), and error while another epoch is being read. Deleted for temporary loaders, because
  /// the range refers to the loader.
  DEVPLACE_CONFIGURED epoch_range epoch(int number, std::size_t first = 0) & DEVPLACE_LIFETIMEBOUND try {
    return epoch_range(*this, number, first);
  } catch (const std::bad_alloc&) {
    detail::fail_without_memory("an epoch of the loader");
  }

  /// Rejects loops over the loader itself; otherwise compilers would list every begin and end that they find.
  ///@{
  template <class Batch = batch_type> const Batch* begin() const {
    static_assert(detail::accepted<Batch>,
                  "devplace: loader: loop over an epoch: for (const auto& [images, labels] : batches.epoch(0)).");
    return nullptr;
  }
  const batch_type* end() const { return nullptr; }
  ///@}

  /// Number of batches in an epoch.
  std::size_t size() const { return maker_.batches(); }
  /// Number of samples in an epoch over all processes, excluding samples that drop_last leaves out.
  std::size_t samples() const { return maker_.samples(); }
  /// Number of samples in the largest batch.
  std::size_t batch_capacity() const { return maker_.capacity(); }

 private:
  friend class detail::epoch_range<loader>;

  /// Uses a device of the placement first, so that the maker's pinned memory does not occupy another one.
  DEVPLACE_CONFIGURED static detail::batch_share share([[maybe_unused]] const loader_options& options) {
    if constexpr (!in_host_memory)
      static_cast<void>(detail::make_event<backend_type>(place_traits<primary_place_t<Where>>::ordinal));
    constexpr std::size_t places = local_place_count<Where>;
    if constexpr (spans_processes<Where>)
      return {parallel::current_participants<Where>("loader"), places, options.split};
    else
      return {{0, places}, places, options.split};
  }

  using transform_type = detail::sample_transform<sample_element>;
  static transform_type erased() { return {}; }
  template <class Transform> DEVPLACE_CONFIGURED static transform_type erased([[maybe_unused]] Transform&& transform) {
    if constexpr (detail::accepts_transform<Transform, sample_element, target, source::targets::rank>())
      return transform_type::template from<backend_type, typename source::features::value_type, target>(
          std::move(transform));
    else
      return {};
  }

  DEVPLACE_CONFIGURED const batch_type& get(std::size_t number) {
    const std::size_t slot = maker_.get(number);
    if constexpr (in_host_memory) {
      return maker_.in_slot(slot);
    } else {
      const batch_type& uploaded = on_devices_.upload(number, slot);
      maker_.release(number);
      if constexpr (spans_processes<Where>) {
        note_.epoch = maker_.epoch();
        note_.number = number;
        detail::distributed_access::note(uploaded.images) = &note_;
      }
      return uploaded;
    }
  }

  typename source::kept data_;  // before the maker, which reads it
  parallel::batch_note note_;
  maker maker_;
  [[no_unique_address]] device_batches on_devices_;  // destroyed first: waits for its copies from the maker's memory
};

/// Makes a loader of features and targets in two tensors (or views) on the CPU with equal first extents and any further
/// axes. Features of float, double or uint8 become `T`; int32 and int64, such as tokens of a text, keep their type.
/// Integer targets, one label for each sample or for each of its tokens or pixels, keep their type; floating-point
/// targets become `T`. The loader owns tensors that are moved in; other tensors must outlive the loader.
/// ```
/// auto batches = dp::make_loader<Where>(features, targets, {.batch = 64});
/// ```
///@{
template <class Where = void, class T = float, class Features, class Targets, class... Transform>
  requires(sizeof...(Transform) <= 1)
DEVPLACE_CONFIGURED auto make_loader(Features&& features, Targets&& targets, const loader_options& options,
                                     Transform... transform) {
  constexpr bool of_tensors = placement<Where> && floating_element<T> && tensor_like<Features> && tensor_like<Targets>;
  static_assert(of_tensors,
                "devplace: make_loader: name the placement of the batches, and give two tensors or views, features and "
                "targets: make_loader<on<cpu>>(features, targets, {.batch = 64}); a std::vector is viewed by wrap.");
  if constexpr (of_tensors) {
    using source = detail::features_and_targets<detail::kept_t<Features>, detail::kept_t<Targets>>;
    return loader<Where, T, source>(
        source{detail::kept(std::forward<Features>(features)), detail::kept(std::forward<Targets>(targets))}, options,
        std::move(transform)...);
  } else {
    return detail::refusal{};
  }
}
// Overloads for two variables: clang warns if the loader outlives a variable. Views and moved tensors need no warning.
template <placement Where, floating_element T = float, class X, class Y, class... Transform>
  requires(detail::is_tensor<std::remove_const_t<X>> && detail::is_tensor<std::remove_const_t<Y>> &&
           sizeof...(Transform) <= 1)
DEVPLACE_CONFIGURED auto make_loader(X& features DEVPLACE_LIFETIMEBOUND, Y& targets DEVPLACE_LIFETIMEBOUND,
                                     const loader_options& options, Transform... transform) {
  return make_loader<Where, T>(detail::as_view(features), detail::as_view(targets), options, std::move(transform)...);
}
///@}

template <class Where, class T, class Source>
inline constexpr bool detail::not_printed<loader<Where, T, Source>> = true;

}  // namespace devplace
