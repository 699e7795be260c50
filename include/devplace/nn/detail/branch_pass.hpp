// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/nn/detail/batch_rows.hpp>
#include <devplace/nn/detail/chain_pass.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/place/axis.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace::nn::detail {

/// Where a branch's result lies: in the input itself, in memory that backward reads, in the branches' joint output, or
/// in scratch memory.
enum class branch_result : unsigned char { input, saved, output, scratch };

/// A branch, as run-time values.
struct branch_facts {
  elements_before before;
  layer_phases forward, backward;
  std::size_t parameters;  ///< elements of the branch's parameters
  std::size_t size;        ///< elements per sample of the result
  bool passes_on;          ///< whether the branch only reshapes: its result is the input, and gradients pass through
  bool keeps_result;       ///< whether the branch's backward reads the result
  bool reports_layers;     ///< whether the branch's backward calls `after`
  bytes_function saved_bytes, scratch_bytes;
};

/// Branches that take the same input, as run-time values, and the layout of their workspace.
///
/// From forward to backward: each branch's result, if its backward reads the result, and the branch's saved data.
/// Scratch memory: a result or its gradient, a gradient of the input, and the branch's own scratch memory.
struct branch_table {
  const branch_facts* branches;
  std::size_t count;
  std::size_t inputs;   ///< elements per sample of the input
  std::size_t outputs;  ///< elements per sample of the joint output
  std::size_t rows;     ///< the number of rows of one sample whose parts are the branches' results
  bool adds;            ///< whether the joint output is the sum of the results

  [[gnu::noinline]] constexpr branch_result result_of(std::size_t index, mode m) const {
    if (branches[index].passes_on) return branch_result::input;
    if (m == mode::train && branches[index].keeps_result) return branch_result::saved;
    const bool output_is_free = index == 0 || (index == 1 && result_of(0, m) != branch_result::output);
    return adds && output_is_free ? branch_result::output : branch_result::scratch;
  }
  /// Whether the gradient of the input that the last branch gives is the output's gradient.
  constexpr bool last_passes_on() const { return adds && branches[count - 1].passes_on; }
  /// Whether a branch adds its gradient of the input to the sum from branches that ran earlier in backward.
  constexpr bool adds_gradient(std::size_t index) const {
    return index + 1 != count && !branches[index].passes_on && !(index + 2 == count && last_passes_on());
  }

  constexpr std::size_t bytes_of_result(std::size_t index, std::size_t batch, const element_sizes& e) const {
    return padded_bytes(branches[index].size * batch * e.activation);
  }
  constexpr std::size_t saved_of(std::size_t index, std::size_t batch, const element_sizes& e) const {
    return result_of(index, mode::train) == branch_result::saved ? bytes_of_result(index, batch, e) : 0;
  }
  [[gnu::noinline]] constexpr std::size_t saved_before(std::size_t index, std::size_t batch,
                                                       const element_sizes& e) const {
    std::size_t total = 0;
    for (std::size_t i = 0; i != index; ++i)
      total += saved_of(i, batch, e) + branches[i].saved_bytes(batch, mode::train, e);
    return total;
  }
  /// Bytes for a result or, in backward of a concatenation, a result's gradient.
  [[gnu::noinline]] constexpr std::size_t scratch_result(std::size_t batch, mode m, const element_sizes& e) const {
    const bool gradients = m == mode::train && !adds;
    std::size_t largest = 0;
    for (std::size_t i = 0; i != count; ++i)
      if (gradients || result_of(i, m) == branch_result::scratch)
        largest = std::max(largest, bytes_of_result(i, batch, e));
    return largest;
  }
  constexpr std::size_t scratch_gradient(std::size_t batch, mode m, const element_sizes& e) const {
    for (std::size_t i = 0; i != count && m == mode::train; ++i)
      if (adds_gradient(i)) return padded_bytes(inputs * batch * e.activation);
    return 0;
  }
  constexpr std::size_t before_inner(std::size_t batch, mode m, const element_sizes& e) const {
    return scratch_result(batch, m, e) + scratch_gradient(batch, m, e);
  }
  /// A branch's scratch memory in prediction also holds the data that training saves for backward.
  constexpr std::size_t scratch_bytes(std::size_t batch, mode m, const element_sizes& e) const {
    std::size_t inner = 0;
    for (std::size_t i = 0; i != count; ++i)
      inner = std::max(inner, branches[i].scratch_bytes(batch, m, e) +
                                  (m == mode::predict ? branches[i].saved_bytes(batch, m, e) : 0));
    return before_inner(batch, m, e) + inner;
  }
};

/// A pass through branches; `Adds`: the joint output is the sum of the results, else their concatenation. All networks
/// share this code. Overwrites neither the input nor the output's gradient. Adds up the branches' gradients of the
/// input, beginning with the last branch.
template <class Backend, class P, bool Adds> class branch_pass {
  using T = element_of_t<P>;

 public:
  branch_pass(const branch_table& all, const pass<P>& p, const element_sizes& e) : all_(all), p_(p), e_(e) {}

  [[gnu::noinline]] void forward(const forward_function<P>* functions, const void* x, void* y) const {
    for (std::size_t i = 0; i != all_.count; ++i) {
      const branch_facts& own = all_.branches[i];
      if (!own.forward.contain(p_)) continue;
      void* const result = result_at(i, x, y);
      if (!own.passes_on) functions[i](inner(i, own.forward), x, result);
      if (p_.again || !own.forward.end_at(p_.phase)) continue;
      if constexpr (!Adds)
        copy(part_of(i, static_cast<T*>(y)), rows_of(i, static_cast<const T*>(result)));
      else if (i != 0)
        add_into(y, i == 1 ? result_at(0, x, y) : y, result, all_.outputs);
    }
  }

  [[gnu::noinline]] void backward(const backward_function<P>* functions, const backward_arguments<P>& a) const {
    for (std::size_t i = all_.count; i-- != 0;) {
      const branch_facts& branch = all_.branches[i];
      if (!branch.backward.contain(p_)) continue;
      const bool complete = branch.backward.end_at(p_.phase), last = i + 1 == all_.count;
      const void* const so_far = i + 2 == all_.count && all_.last_passes_on() ? a.dy : a.dx;
      backward_arguments<P> own = a;
      own.gradients += branch.before.parameters;
      if (branch.passes_on) {
        if (a.dx != nullptr) {
          if constexpr (!Adds) {
            own.dx = last ? a.dx : p_.scratch;
            take_gradient(i, own.dx, a.dy);
          }
          if (!last) add_into(a.dx, so_far, Adds ? a.dy : own.dx, all_.inputs);
        }
      } else if (branch.parameters != 0 || a.dx != nullptr) {
        if constexpr (!Adds) {
          take_gradient(i, p_.scratch, a.dy);
          own.dy = p_.scratch;
        }
        if (a.dx != nullptr && all_.adds_gradient(i)) own.dx = p_.scratch + all_.scratch_result(p_.batch, p_.mode, e_);
        own.y = result_at(i, a.x, const_cast<void*>(a.y));
        functions[i](inner(i, branch.backward), own);
        if (!last && a.dx != nullptr && complete) add_into(a.dx, so_far, own.dx, all_.inputs);
      }
      if (!branch.reports_layers && a.after != nullptr && complete) (*a.after)(own.gradients);
    }
  }

 private:
  /// Returns the pass of branch `index`, with the branch's phase, parameters and parts of the workspace.
  [[gnu::noinline]] pass<P> inner(std::size_t index, const layer_phases& phases) const {
    const branch_facts& own = all_.branches[index];
    pass<P> result = p_;
    enter_layer(result, own.before);
    result.phase -= phases.first;
    result.again = p_.again && !own.keeps_result;
    result.scratch = p_.scratch + all_.before_inner(p_.batch, p_.mode, e_);
    if (p_.mode == mode::train) {
      result.saved = p_.saved + all_.saved_before(index, p_.batch, e_) + all_.saved_of(index, p_.batch, e_);
    } else {
      result.saved = result.scratch;
      result.scratch += own.saved_bytes(p_.batch, mode::predict, e_);
    }
    return result;
  }

  [[gnu::noinline]] void* result_at(std::size_t index, const void* x, void* y) const {
    switch (all_.result_of(index, p_.mode)) {
      case branch_result::input:
        return const_cast<void*>(x);
      case branch_result::saved:
        return p_.saved + all_.saved_before(index, p_.batch, e_);
      case branch_result::output:
        return y;
      default:
        return p_.scratch;
    }
  }

  /// Branch `index`'s part of the concatenated results, and the branch's own result, both as rows of contiguous
  /// elements.
  ///@{
  template <class Element> auto part_of(std::size_t index, Element* all) const {
    std::size_t first = 0;
    for (std::size_t i = 0; i != index; ++i) first += all_.branches[i].size;
    first /= all_.rows;
    const auto parts = devplace::detail::view_at<Backend>(p_.ordinal, all,
                                                          dextents<2>{all_.rows * p_.batch, all_.outputs / all_.rows});
    return parts.slice(axis<1>{}, first, first + all_.branches[index].size / all_.rows);
  }
  template <class Element> auto rows_of(std::size_t index, Element* own) const {
    return devplace::detail::view_at<Backend>(p_.ordinal, own,
                                              dextents<2>{all_.rows * p_.batch, all_.branches[index].size / all_.rows});
  }
  ///@}
  void take_gradient(std::size_t index, void* to, const void* dy) const {
    copy(rows_of(index, static_cast<T*>(to)), part_of(index, static_cast<const T*>(dy)));
  }

  /// Computes to = a + b, of `size` elements per sample; `to` may be a or b.
  [[gnu::noinline]] void add_into(void* to, const void* a, const void* b, std::size_t size) const {
    const auto flat = [&]<class Element>(Element* data) {
      return devplace::detail::view_at<Backend>(p_.ordinal, data, extents<dyn>{size * p_.batch});
    };
    assign_flat(flat(static_cast<T*>(to)),
                computed(flat(static_cast<const T*>(a))) + computed(flat(static_cast<const T*>(b))));
  }

  const branch_table& all_;
  const pass<P>& p_;
  element_sizes e_;
};

}  // namespace devplace::nn::detail
