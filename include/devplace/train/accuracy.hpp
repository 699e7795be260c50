// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/data/loader.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/predictor.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/tensor/detail/float_bits.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/train/detail/fingerprint_of_training.hpp>

namespace devplace::detail {

/// The sum along a row is the rank of the row's label: returns 1 for each class that top_k orders before the label. If
/// the label is no class, returns 1 for every class, and if it is ignored 2.
template <class T, class Label> struct classes_before_label {
  const T* logits;
  const Label* labels;
  std::size_t classes;
  std::int64_t ignored;
  static constexpr bool has_only_runs = true, computes_little = true;

  DEVPLACE_HD std::int64_t operator()(std::size_t i) const {
    const std::size_t row = i / classes, column = i % classes;
    if (static_cast<std::int64_t>(labels[row]) == ignored) return 2;
    const auto label = static_cast<std::size_t>(labels[row]);
    if (label >= classes) return 1;
    const T own = logits[row * classes + label], other = logits[i];
    const bool own_is_nan = own != own, other_is_nan = other != other;
    const bool equal = own == other || (own_is_nan && other_is_nan);
    return (equal ? column < label : other_is_nan || other > own) ? 1 : 0;
  }
};

struct below_source {
  const std::int64_t* numbers;
  std::int64_t limit;
  static constexpr bool reduces_all = true, computes_little = true;

  DEVPLACE_HD std::int64_t operator()(std::size_t i) const { return numbers[i] < limit ? 1 : 0; }
};

template <class X> inline constexpr bool is_model = false;
template <class Net, class Where, class P> inline constexpr bool is_model<model<Net, Where, P>> = true;
template <class Net, class Where, class P> inline constexpr bool is_model<predictor<Net, Where, P>> = true;

template <class X>
concept model_like = is_model<X>;

template <class X>
concept epoch_like = !tensor_like<X> && requires(std::remove_cvref_t<X>& batches) { batches.begin(); };

/// Parameter type of overloads for the argument `{}`: it converts better to this type than to the option structs.
enum empty_braces : unsigned char {};

}  // namespace devplace::detail

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Adds to `right` the number of rows of logits [..., classes] whose label is not ignored and is among the first `top`
/// classes in the order of top_k, and to `counted`, unless it is null, the number of labels that are not ignored.
template <class Logits, class Labels>
void add_right(std::int64_t* right, std::int64_t* counted, const Logits& logits, const Labels& labels, std::int64_t top,
               std::int64_t ignored) {
  using backend_type = typename Logits::backend_type;
  using source = classes_before_label<typename Logits::value_type, typename Labels::value_type>;
  using reducer = sum_reducer<std::int64_t>;
  const std::size_t classes = logits.extent(Logits::rank - 1), rows = labels.size();
  const int ordinal = logits.ordinal();
  const auto memory = allocate<backend_type>(ordinal, rows * sizeof(std::int64_t), memory_purpose::workspace);
  const auto ranks = static_cast<std::int64_t*>(memory.data());
  reduce<backend_type>(ordinal, reduction_plan{rows, classes, 1, source{logits.data(), labels.data(), classes, ignored},
                                               reducer{ranks, 0}});
  const auto add_below = [&](std::int64_t* count, std::int64_t limit) {
    reduce<backend_type>(ordinal, reduction_plan{1, rows, 1, below_source{ranks, limit}, reducer{count, 1}});
  };
  add_below(right, top);
  if (counted != nullptr) add_below(counted, static_cast<std::int64_t>(classes) + 1);
}

/// On each place of `Where`, counts the right labels and the labels that are not ignored in the place's batches.
template <class Where> class label_counts {
  using backend_type = placement_backend_t<Where>;
  using numbers = std::array<std::int64_t, 2>;

 public:
  label_counts() {
    const numbers none{};
    for (std::size_t k = 0; k < local_place_count<Where>; ++k)
      copy_in<backend_type>(numbers_on(k).ordinal(), numbers_on(k).data(), none.data(), sizeof none);
  }
  std::int64_t* right(std::size_t k) { return numbers_on(k).data(); }
  std::int64_t* counted(std::size_t k) { return numbers_on(k).data() + 1; }

  /// Waits for the places; returns the sums over all places.
  numbers sums() {
    numbers result{};
    for (std::size_t k = 0; k < local_place_count<Where>; ++k) {
      numbers here;
      copy_out<backend_type>(numbers_on(k).ordinal(), here.data(), numbers_on(k).data(), sizeof here);
      for (std::size_t i = 0; i < here.size(); ++i) result[i] += here[i];
    }
    return result;
  }

 private:
  auto numbers_on(std::size_t k) { return local_part(numbers_, k); }

  tensor<std::int64_t, extents<2>, gradient_placement_t<Where>> numbers_{extents<2>{}};
};

inline void require_group_of_batches(const participants& of_batches, const participants& of_scope) {
  if (of_batches != of_scope)
    throw argument_error({"accuracy: the batches are divided among ", of_batches.count,
                          " participants, and this process has the ranks from ", of_batches.first,
                          " on; this thread's process_scope has ", of_scope.count,
                          " participants, and this process has the ranks from ", of_scope.first,
                          " on; call accuracy in the scope in which the loader was made."});
}

/// Throws shape_error unless labels are [n, ...] for logits [n, ..., classes].
template <class Logits, class Labels> void require_label_of_each_row(const Logits& logits, const Labels& labels) {
  bool fit = true;
  for (std::size_t axis = 0; axis < Labels::rank; ++axis) fit &= labels.extent(axis) == logits.extent(axis);
  if (!fit)
    throw shape_error({"accuracy: the output is ", to_string(logits.extents()), " and labels are ",
                       to_string(labels.extents()),
                       "; give labels with the output's sizes without the last one, which is the number of classes."});
}

inline void check_top(std::size_t top, std::size_t classes) {
  if (top == 0 || top > classes)
    throw argument_error({"accuracy: the option top is ", top, " and the model has ", classes,
                          " classes; give a number from 1 to ", classes, "."});
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace {

/// Options of accuracy(): `{.top = 5}`.
struct accuracy_options {
  /// A label is right if its output is one of the `top` largest; `top` is from 1 to the number of classes. Of equal
  /// outputs, the first ranks highest; NaN ranks above all numbers.
  std::size_t top = 1;
  /// A label that is not counted, such as the label of padding; give the loss's `ignore_index`.
  std::optional<std::int64_t> ignore_index = {};
};

}  // namespace devplace

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Returns the share of right labels, from 0 to 1, of a model or predictor; NaN without samples. A label is right if
/// its output is one of the `options.top` largest. A sample has one label. If its output is [..., classes], it has one
/// label for each row, as in networks that label tokens or pixels. The batches come from a loader for the model's
/// placement: `accuracy(model, batches.epoch(0))`. Reads two numbers from each place at the end. All processes of this
/// thread's process_scope call accuracy(); each process counts its own samples, and all processes get the result.
/// Throws communication_error if the processes' parameters or loaders differ. Throws argument_error if `options.top` is
/// out of range or the batches belong to another scope, and shape_error for a wrong number of labels.
template <detail::model_like Model, detail::epoch_like Batches>
double accuracy(const Model& m, Batches&& batches, const accuracy_options& options = {}) {
  using Where = typename Model::placement_type;
  using output = typename Model::output_extents;
  constexpr bool classes_last =
      output::rank == 1 || !runtime::network_plan<typename Model::network_type>::channels_first(false);
  static_assert(classes_last,
                "devplace: accuracy takes the last axis of the output for the classes, and this network's output has "
                "the channels first; put nn::permute<1, 2, 0> behind its layers, for images that get one label for "
                "each pixel, or nn::flatten.");
  detail::check_top(options.top, output::static_extent(output::rank - 1));
  detail::label_counts<Where> counts;
  std::size_t labels_of_all = 0;
  [[maybe_unused]] const parallel::batch_note* note = nullptr;
  constexpr std::int64_t no_class = -1;
  for (const auto& [images, labels] : batches) {
    using labels_type = std::remove_cvref_t<decltype(labels)>;
    static_assert(std::is_same_v<typename labels_type::placement_type, batch_placement_t<Where>>,
                  "devplace: accuracy: the labels do not lie where the model takes its batches; a loader<Where> puts "
                  "images and labels there.");
    static_cast<void>(runtime::accepts_batch<Model, std::remove_cvref_t<decltype(images)>, false>());
    static_assert(
        !classes_last || (std::is_integral_v<typename labels_type::value_type> && labels_type::rank == output::rank),
        "devplace: accuracy: there must be one integer label for each sample, or for each of its rows if the "
        "output is [..., classes].");
    if constexpr (spans_processes<Where>) {
      detail::require_group_of_batches(images.participants(), parallel::current_participants<Where>("accuracy"));
      note = detail::distributed_access::note(images);
    }
    const auto logits = m.predict(images);
    if constexpr (labels_type::rank == output::rank) detail::require_label_of_each_row(logits, labels);
    labels_of_all += labels.size();
    for (std::size_t k = 0; k < local_place_count<Where>; ++k) {
      detail::add_right(counts.right(k), options.ignore_index ? counts.counted(k) : nullptr,
                        detail::local_part(logits, k), detail::local_part(labels, k),
                        static_cast<std::int64_t>(options.top), options.ignore_index.value_or(no_class));
    }
  }
  auto [right, counted] = counts.sums();
  if constexpr (spans_processes<Where>) {
    const auto processes = parallel::current_processes("accuracy");
    parallel::fingerprint all;
    train::detail::add_note(all, note);
    if constexpr (requires { m.state(); })
      train::detail::add_parameters<typename Model::network_type, placement_backend_t<Where>, !stores_shares<Where>>(
          all, m.state());
    all.require_equal(processes, "accuracy");
    right = processes.all_reduce(right);
    if (options.ignore_index) counted = processes.all_reduce(counted);
  }
  const double all = options.ignore_index ? static_cast<double>(counted) : static_cast<double>(labels_of_all);
  return detail::without_sign_of_nan(static_cast<double>(right) / all);
}

/// Returns the accuracy over a set of images, in batches of `options.batch` (default 256): `accuracy(model, data.test,
/// options, {.top = 5})`. Use the training's options, because they scale the pixels. Makes a loader; memory_plan's
/// `loader` is the loader's memory on devices for this batch size.
template <detail::model_like Model>
double accuracy(const Model& m, const image_set& data, loader_options options = {.batch = 256},
                const accuracy_options& measure = {}) {
  options.shuffle.reset();
  options.drop_last = false;
  loader<typename Model::placement_type, typename Model::input_type> batches(data, options);
  return accuracy(m, batches.epoch(0), measure);
}
/// Returns the accuracy with the loader's default scaling of pixels: `accuracy(model, data.test, {.top = 5})`.
double accuracy(const detail::model_like auto& m, const image_set& data, const accuracy_options& options) {
  return accuracy(m, data, loader_options{.batch = 256}, options);
}
/// Takes `{}` for the default options.
double accuracy(const detail::model_like auto& m, const image_set& data, detail::empty_braces) {
  return accuracy(m, data);
}

/// Rejects other arguments and orders with one message; compilers would otherwise list all overloads.
template <class First, class Second, class... More>
  requires(!(detail::is_model<First> && (std::is_same_v<Second, image_set> || detail::epoch_like<Second>)) ||
           (std::is_arithmetic_v<More> || ...))
double accuracy(const First&, const Second&, const More&...) {
  static_assert(sizeof(First) == 0,
                "devplace: accuracy takes the model and then its batches or an image_set: accuracy(model, data.test), "
                "accuracy(model, batches.epoch(0)), and options by name, {.top = 5}.");
  return 0;
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
