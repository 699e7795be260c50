// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <devplace/nn/model.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/placed.hpp>

namespace devplace::test {

/// Every element of a tensor, view or part, read back from its place.
template <class X>
auto elements_of(const X& x) {
  const auto view = devplace::detail::as_view(x);
  using view_type = std::remove_const_t<decltype(view)>;
  std::vector<typename view_type::value_type> values(view.size());
  devplace::detail::copy_out<typename view_type::backend_type>(view.ordinal(), values.data(), view.data(),
                                                               values.size() * sizeof(typename view_type::value_type));
  return values;
}

/// All parameters on place k of a model, read back, in order.
template <class Model>
auto parameters_of(const Model& model, std::size_t k = 0) {
  std::vector<typename Model::value_type> all;
  model.for_each_parameter(
      [&](const std::string&, auto view) {
        const auto values = elements_of(view);
        all.insert(all.end(), values.begin(), values.end());
      },
      k);
  return all;
}

/// A copy of a host tensor on every place of `Where`.
template <placement Where, class X>
auto copies_of(const X& x) {
  tensor<typename X::value_type, typename X::extents_type, Where> result(x.extents());
  for (std::size_t k = 0; k < place_count<Where>; ++k)
    copy(devplace::detail::local_part(result, k), x);
  return result;
}

}  // namespace devplace::test
