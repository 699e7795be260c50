// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/host_memory.hpp>
#include <devplace/base/refusal.hpp>
#include <devplace/config.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/model_state.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/tensor/precision.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace {

namespace nn::detail {

/// Stands for an index that a program chooses at run time, which is rejected.
inline constexpr std::size_t no_index = static_cast<std::size_t>(-1);

/// Instantiated once for a function that no parameter can be passed to.
template <class F> consteval void refuse_visitor() {
  static_assert(devplace::detail::accepted<F>,
                "devplace: for_each_parameter, for_each_buffer: the function is called with a name and a view of any "
                "rank, as in [](const std::string& name, auto x).");
}

}  // namespace nn::detail

/// Base of models: the memory, names and views of the parameters on each place.
template <class Net, placement Where, precision P> class model_parameters {
  /// @cond Used by the model.
 protected:
  using roles = precision_traits<P>;
  using T = typename roles::parameter;
  using backend_type = placement_backend_t<Where>;
  using plan = runtime::network_plan<Net>;
  /// @endcond

 public:
  /// The run-time state of a model.
  using state_type = runtime::model_state<typename roles::storage>;

  /// Copies the parameters and buffers of `other`'s first replica, on any placement, to every place of this model. This
  /// model's trainers and optimizers continue with the copied values. Keeps seed and step count. Complete when the call
  /// returns.
  template <class From> DEVPLACE_CONFIGURED void assign(const model<Net, From, P>& other) {
    auto& state = *live();
    const runtime::sole_use use(state);
    runtime::copy_parameters<backend_type, placement_backend_t<From>>(state, other.state());
  }

  /// Returns the placement, which prints as its name and compares with `==`.
  static constexpr Where placement() { return {}; }

  /// Returns the number of trained elements.
  static constexpr std::size_t parameter_count() { return plan::parameters; }

  /// Returns the names of all parameters in order, as in PyTorch: `0.weight`, `0.bias`, `2.weight`.
  static std::vector<std::string> parameter_names() {
    return detail::naming_bad_alloc("the list of names", [] {
      std::vector<std::string> names;
      plan::visit_parameters([&](const std::string& name, const auto&, std::size_t) { names.push_back(name); });
      return names;
    });
  }

  /// Returns a view of parameter number `Index` on place k. The view is read-only for a const model. It is also
  /// read-only on several places, where replicas must stay equal; `assign(other)` writes to all replicas. In mixed
  /// precision, to write after a pass, first get the view again, so that the next pass rounds the parameters again. So
  /// do programs that train with optim::on_host, because the host then reads the parameters again.
  ///@{
  template <std::size_t Index = nn::detail::no_index>
  DEVPLACE_CONFIGURED auto parameter(std::size_t k = 0) DEVPLACE_LIFETIMEBOUND {
    if constexpr (single_place<Where>)
      return parameter_only_on<Index>(k);
    else
      return window<const T, Index>(k);
  }
  template <std::size_t Index = nn::detail::no_index>
  DEVPLACE_CONFIGURED auto parameter(std::size_t k = 0) const DEVPLACE_LIFETIMEBOUND {
    return window<const T, Index>(k);
  }
  ///@}
  /// Returns a writable view, even of one of several replicas; the caller must then write equal elements to the other
  /// replicas.
  template <std::size_t Index> DEVPLACE_CONFIGURED auto parameter_only_on(std::size_t k) DEVPLACE_LIFETIMEBOUND {
    expect_writes();
    return window<T, Index>(k);
  }

  /// Calls `f(name, view)` for every parameter on place k; views are writable as in `parameter`.
  ///@{
  template <class F> DEVPLACE_CONFIGURED void for_each_parameter(F&& f, std::size_t k = 0) {
    if constexpr (single_place<Where>) expect_writes();
    visit<writable, false>(f, k);
  }
  template <class F> DEVPLACE_CONFIGURED void for_each_parameter(F&& f, std::size_t k = 0) const {
    visit<const T, false>(f, k);
  }
  ///@}

  /// Calls `f(name, view)` for every buffer on place k. Buffers are the layers' state that is not trained, such as
  /// `1.running_mean` of a batch_norm. Views are writable as in `parameter`.
  ///@{
  template <class F> DEVPLACE_CONFIGURED void for_each_buffer(F&& f, std::size_t k = 0) { visit<writable, true>(f, k); }
  template <class F> DEVPLACE_CONFIGURED void for_each_buffer(F&& f, std::size_t k = 0) const {
    visit<const T, true>(f, k);
  }
  ///@}

  /// Return the model's arenas for optimizers, trainers and collectives. Shared ownership of the arenas survives a move
  /// of the model.
  ///@{
  state_type& state() { return *live(); }
  const state_type& state() const { return *live(); }
  std::shared_ptr<state_type> shared_state() { return live(); }
  std::shared_ptr<const state_type> shared_state() const { return live(); }
  ///@}

  /// Throws unless this model issued the lease and the model is usable.
  template <class Lease> void check_lease(const Lease& lease) const {
    if (&lease.arena() != state_.get())
      throw error(
          "these gradients belong to another model; each model's optimizer takes the gradients that the "
          "model's own backward returned.");
    static_cast<void>(live());
  }

  /// @cond Used by the model.
 protected:
  explicit model_parameters(std::shared_ptr<state_type> state) : state_(std::move(state)) {}
  model_parameters(model_parameters&&) noexcept = default;
  model_parameters& operator=(model_parameters&& other) noexcept {
    if (state_ != nullptr && state_ != other.state_) state_->replaced = true;
    state_ = std::move(other.state_);
    return *this;
  }
  ~model_parameters() = default;

  /// Returns the state of a usable model. Throws if one of the model's devices has failed since the model was made.
  const std::shared_ptr<state_type>& live() const {
    if (state_ == nullptr) throw error("this model was moved from; use the variable that it was moved to.");
    state_->check_failures(*state_);
    return state_;
  }

  std::shared_ptr<state_type> state_;
  /// @endcond

 private:
  /// The element type of views of a non-const model.
  using writable = std::conditional_t<single_place<Where>, T, const T>;

  /// Called before writable views are returned: working copies, and copies of optim::on_host, are old.
  void expect_writes() {
    state_type& state = *live();
    state.working_copies_are_old = true;
    ++state.writable_views;
  }

  /// Returns a view. On one place the view's type names the place, so that the view has element access on the CPU. On
  /// several places the type erases the place.
  template <class Element, bool Buffers, class Extents>
  DEVPLACE_CONFIGURED auto view_of(std::size_t k, std::size_t offset, const Extents& e) const {
    const auto& r = runtime::replica_at(*live(), k);
    Element* const data = (Buffers ? r.buffer_data() : r.parameter_data()) + offset;
    if constexpr (single_place<Where>)
      return view<Element, Extents, Where>{data, e};
    else
      return detail::view_at<backend_type>(r.ordinal, data, e);
  }
  template <class Element, std::size_t Index> DEVPLACE_CONFIGURED auto window(std::size_t k) const {
    constexpr bool is_constant = Index != nn::detail::no_index;
    static_assert(is_constant,
                  "devplace: parameter: the index is a template argument, because the view's type depends on it: "
                  "model.parameter<0>(); for_each_parameter(f) calls f(name, view) for all.");
    using entry = typename plan::template parameter_at<is_constant ? Index : 0>;
    return view_of<Element, false>(k, entry::offset, typename entry::extents{});
  }
  template <class Element, bool Buffers, class F> DEVPLACE_CONFIGURED void visit(F&& f, std::size_t k) const {
    detail::naming_bad_alloc(Buffers ? "a buffer's name" : "a parameter's name", [&] {
      const auto call = [&](const std::string& name, auto entry, std::size_t offset) {
        auto window = view_of<Element, Buffers>(k, offset, typename decltype(entry)::extents{});
        if constexpr (requires { f(name, window); })
          f(name, window);
        else  // clang instantiates what depends on F alone even if it is discarded
          nn::detail::refuse_visitor<std::conditional_t<sizeof(window) == 0, void, F>>();
      };
      if constexpr (Buffers)
        plan::for_each_buffer(call);
      else
        plan::for_each_parameter(call);
    });
  }
};

}  // namespace devplace
