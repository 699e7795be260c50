// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <devplace/nn/model.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/distributed.hpp>

#include "support/host_values.hpp"

namespace devplace::test {

using support::values_of;

/// Copies a batch to where a model on `Where` takes it.
template <class Where, class X, class... Rule> auto distribute(const X& x, const Rule&... rule) {
  if constexpr (single_place<Where>)
    return to<Where>(x);
  else
    return scatter<batch_placement_t<Where>>(x, rule...);
}

/// Copies a host tensor to every place of `Where`.
template <placement Where, class X> auto copies_of(const X& x) {
  tensor<typename X::value_type, typename X::extents_type, Where> result(x.extents());
  for (std::size_t k = 0; k < local_place_count<Where>; ++k) copy(devplace::detail::local_part(result, k), x);
  return result;
}

// Function objects instead of closures, so that the walk over a network is instantiated once, not once per placement.
template <class T> struct append_values {
  std::vector<T>& values;
  void operator()(const std::string&, auto view) const {
    const auto more = values_of(view);
    values.insert(values.end(), more.begin(), more.end());
  }
};
template <class T> struct set_integers {
  std::size_t next = 0;
  void operator()(const std::string&, auto view) {
    std::vector<T> values(view.size());
    for (T& value : values) value = static_cast<T>(next++ * 5 % 7) - T{3};
    support::set_values(view, values);
  }
};

/// Returns all parameters of one replica.
template <class Model> auto parameters_of(const Model& model, std::size_t k = 0) {
  std::vector<typename Model::value_type> values;
  model.for_each_parameter(append_values<typename Model::value_type>{values}, k);
  return values;
}

/// Sets all parameters of all replicas to small integers.
template <class Model> void set_integer_parameters(Model& model) {
  devplace::model<typename Model::network_type, devplace::cpu, typename Model::precision_type> one{devplace::seed{0}};
  one.for_each_parameter(set_integers<typename Model::value_type>{});
  model.assign(one);
}

}  // namespace devplace::test
