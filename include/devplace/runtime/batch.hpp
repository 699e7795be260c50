// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/place/placement.hpp>
#include <devplace/runtime/engine.hpp>

namespace devplace {

/// Number of samples in a batch, over all places.
template <std::size_t Samples> struct batch {
  static_assert(static_cast<std::ptrdiff_t>(Samples) >= 0,
                "devplace: batch<N>: the size of the largest batch is a static number, not dyn: batch<256>.");
  static constexpr std::size_t samples = Samples;
};

}  // namespace devplace

namespace devplace::runtime {

template <class Sample> constexpr auto batch_extents(std::size_t samples) {
  return devplace::detail::prepend_t<dyn, Sample>{samples};
}

/// Whether a batch of these extents can consist of samples of extents `Sample`. If the batch's sample size is static,
/// the numbers of elements must be equal.
template <class Extents, class Sample>
concept can_be_batch = Extents::rank != 0 && (devplace::detail::with_dynamic_axis<Extents>::type::dynamic_count > 1 ||
                                              Extents{}.stride(0) == Sample{}.size());

enum class batch_fault : unsigned char { none, no_tensor, placement, elements, own_elements, sample };

/// Returns the first error in the type `Batch`. `Whole` also permits a batch that is replicated over the places.
template <class Model, class Batch, bool Whole> constexpr batch_fault fault_of_batch() {
  if constexpr (!tensor_like<Batch>) {
    return batch_fault::no_tensor;
  } else {
    using where = typename Batch::placement_type;
    using taken = typename Model::input_type;
    if (!std::is_same_v<where, typename Model::batch_placement_type> &&
        !(Whole && std::is_same_v<where, typename Model::placement_type>))
      return batch_fault::placement;
    if (!std::is_same_v<typename Batch::value_type, taken>)
      return std::is_same_v<taken, typename precision_traits<typename Model::precision_type>::input>
                 ? batch_fault::elements
                 : batch_fault::own_elements;
    return can_be_batch<typename Batch::extents_type, typename Model::input_extents> ? batch_fault::none
                                                                                     : batch_fault::sample;
  }
}

/// Returns whether a model takes the batch; fails to compile if the model does not take it. Callers do nothing if the
/// result is false, so that compilers print one error, which names the caller's line.
template <class Model, class Batch, bool Whole> constexpr bool accepts_batch() {
  constexpr batch_fault fault = fault_of_batch<Model, Batch, Whole>();
  // Conditions have names, because clang would explain each comparison in three more lines.
  constexpr bool is_tensor = fault != batch_fault::no_tensor;
  constexpr bool in_parts = fault != batch_fault::placement || Whole;
  constexpr bool in_place = fault != batch_fault::placement || !Whole;
  constexpr bool of_elements = fault != batch_fault::elements;
  constexpr bool of_input_elements = fault != batch_fault::own_elements;
  constexpr bool of_samples = fault != batch_fault::sample;
  static_assert(is_tensor,
                "devplace: a batch is a tensor or a view of one; numbers elsewhere in the host's memory, as in a "
                "std::vector, are viewed by wrap(values, extents<dyn, 6>(n)), and an expression is stored first, as in "
                "tensor x = a - b.");
  static_assert(in_parts,
                "devplace: the batch does not lie where the model takes it: a model on one place takes it on that "
                "place (to<Place>(batch)), a replicated model takes shards (scatter<batch_placement_t<Where>>(batch), "
                "or a loader<Where>); with a replicated batch every place would do the same work.");
  static_assert(in_place,
                "devplace: the batch does not lie where the model takes it: a model on one place takes it on that "
                "place (to<Place>(batch)), a replicated model takes shards (scatter<batch_placement_t<Where>>(batch), "
                "or a loader<Where>), or a copy on each place (broadcast<Where>(batch)).");
  static_assert(of_elements, "devplace: the batch's element type is not the model's; convert it with cast<T>(batch).");
  static_assert(of_input_elements,
                "devplace: the batch's element type is not the input_element of the network's first layer; make a "
                "batch of this type, or convert it with cast<input_element>(batch).");
  static_assert(of_samples,
                "devplace: one sample of the batch has another number of elements than the network's input.");
  return fault == batch_fault::none;
}

/// Declared for functions whose arguments were rejected, to avoid further errors; never called.
template <class Result> Result rejected();

/// Returns the number of samples in a local batch. Throws shape_error if a run-time sample size is not the network's.
template <class Sample, class Part> std::size_t checked_rows(const Part& x) {
  const std::size_t rows = x.extent(0);
  if (x.size() != rows * Sample{}.size())
    throw shape_error({"the batch is ", devplace::detail::to_string(x.extents()),
                       ", and one sample at the network's input is ", devplace::detail::to_string(Sample{}), "; give ",
                       Sample{}.size(), " elements for each sample."});
  return rows;
}

/// Returns the random key for place k's part of a batch. Samples are numbered within the whole batch; the parts of a
/// replicated batch all start at sample 0, so that random layers draw the same numbers on every place.
template <class Batch>
random_key key_of_part(random_key key, [[maybe_unused]] const Batch& batch, [[maybe_unused]] std::size_t k) {
  if constexpr (requires { batch.first_row(k); }) key.first_sample = batch.first_row(k);
  return key;
}

/// Allocates the workspace, runs the training pass of one replica on its local batch `x`, and copies the outputs to the
/// view `output`.
template <class Net, class P, class Backend, class Part, class Output>
pass<P> run_forward(const typename engine<Net, P, Backend>::replica_type& r, const Part& x,
                    devplace::detail::memory_block& workspace, const random_key& key, const Output& output) {
  using run = engine<Net, P, Backend>;
  const std::size_t rows = checked_rows<typename run::input_extents>(x);
  workspace = devplace::detail::allocate<Backend>(r.ordinal, run::workspace_bytes(rows, mode::train),
                                                  devplace::memory_purpose::activations);
  const auto p = run::make_pass(r, workspace.data(), rows, mode::train, key);
  if (rows != 0) run::forward(p, x.data());
  devplace::detail::copy_within<Backend>(r.ordinal, output.data(), run::output_of(p),
                                         output.size() * sizeof(typename run::output_element));
  return p;
}

/// Stands for the gradient of the input where it is not needed: null on every place.
struct no_input_gradient {
  std::nullptr_t operator()(std::size_t) const { return nullptr; }
};

/// Runs the backward pass of one replica: writes or accumulates the gradients, and writes the gradient of the input to
/// `dx` unless it is null. The caller stores the loss's two sums. Calls `after` unless it is null; the last call is for
/// the whole arena.
template <class Net, class P, class Backend>
void run_backward(const pass<P>& p, const typename engine<Net, P, Backend>::replica_type& r, const void* x,
                  const element_of_t<P>* dy, bool add, element_of_t<P>* dx = nullptr,
                  const after_layer* after = nullptr) {
  using run = engine<Net, P, Backend>;
  if (p.batch != 0)
    run::backward(p, r, static_cast<const typename run::input_element*>(x), dy, add, dx, after);
  else if (!add)
    run::clear_gradients(r);
  if (after != nullptr) (*after)(r.gradient_data());
}

}  // namespace devplace::runtime
