// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/base/refusal.hpp>
#include <devplace/data/labelled_images.hpp>
#include <devplace/data/loader_options.hpp>

namespace devplace {

/// Yields batches. Specialised in data/loader.hpp; this primary template rejects all other template arguments.
template <class Where, class T = float, class Source = image_set> class loader {
  static_assert(detail::accepted<Where>,
                "devplace: loader: name the placement of the batches, which is the model's, and a floating-point type "
                "unless it is float: loader<on<cpu>> batches{data.train, {.batch = 64}}.");

 public:
  template <class... Any> loader(const Source&, const loader_options&, const Any&...) {}
  detail::refusal epoch(int);  ///< avoids a second error
};
/// A loader without a place, which the primary template rejects.
template <class Data, class... Any>
loader(const Data&, const loader_options&, const Any&...) -> loader<void, float, Data>;

}  // namespace devplace
