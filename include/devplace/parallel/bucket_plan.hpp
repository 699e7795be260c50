// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>

#include <devplace/base/joined.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/parallel/policy.hpp>

namespace devplace {

namespace parallel {

/// A contiguous range of elements of the gradient arena, reduced in one call.
struct bucket {
  std::size_t first = 0;  ///< its first element
  std::size_t count = 0;  ///< number of elements, including padding
};

namespace detail {

/// Number of gradients in bucket `i`, without the sums that follow them in the first bucket.
constexpr std::size_t gradients_of(const bucket& b, std::size_t i) {
  return i == 0 ? b.count - runtime::gradient_tail : b.count;
}

/// Names the first and the last parameter with elements in parts of a network's arena: `2.weight to 2.bias`.
template <class Net> std::string names_in(std::initializer_list<bucket> parts) {
  std::string first, last;
  runtime::network_plan<Net>::visit_parameters(
      [&](const std::string& name, const nn::parameter& entry, std::size_t offset) {
        for (const bucket& part : parts)
          if (offset < part.first + part.count && offset + entry.shape.size() > part.first) last = name;
        if (first.empty()) first = last;
      });
  return first.empty() ? "no parameter" : first == last ? first : devplace::detail::joined({first, " to ", last});
}

/// Divides `elements` elements into buckets, from the back; parameter i begins at `offsets[i]`.
template <std::size_t Parameters> struct bucket_list {
  std::array<bucket, Parameters == 0 ? 1 : Parameters> buckets{};
  std::size_t count = 0, largest = 0;

  constexpr bucket_list(const std::array<std::size_t, Parameters>& offsets, std::size_t elements,
                        std::size_t element_bytes, std::size_t first_bytes, std::size_t other_bytes) {
    std::size_t end = elements;
    for (std::size_t left = std::max<std::size_t>(Parameters, 1); left != 0; --left) {
      const std::size_t begin = left == 1 ? 0 : offsets[left - 1];
      if (left != 1 && (end - begin) * element_bytes < (count == 0 ? first_bytes : other_bytes)) continue;
      buckets[count++] = {begin, end - begin};
      largest = std::max(largest, end - begin);
      end = begin;
    }
  }
};

/// The buckets of a network's gradients for a reduction in elements of type T.
template <class Net, class T, class Policy> struct network_buckets {
 private:
  using plan = runtime::network_plan<Net>;
  static constexpr bucket_list<plan::offsets.size()> list{
      plan::offsets, plan::parameter_elements + runtime::gradient_tail, sizeof(T), Policy::bucket_sizes::first_bytes,
      Policy::bucket_sizes::other_bytes};

 public:
  static constexpr std::size_t size = list.count;
  static constexpr std::size_t largest = list.largest;
  static constexpr bucket at(std::size_t index) { return list.buckets[index]; }
};

}  // namespace detail
}  // namespace parallel

/// Lists the buckets in which a policy reduces a model's gradients, in the order of reduction. The buckets depend on
/// the types alone, so they are not rebuilt after the first step, and processes need not communicate to agree on them.
/// The sums of sample weights and losses follow the last parameter, in the first bucket. The buckets do not depend on
/// the placement. `size` is the number of buckets, `at(i)` the i-th bucket to be reduced, `largest` the number of
/// elements of the largest one.
template <class Model, class Policy> struct bucket_plan;

/// The plan of a `model<Net, Where, P>`.
template <class Net, class Where, class P, class Policy>
struct bucket_plan<model<Net, Where, P>, Policy>
    : parallel::detail::network_buckets<Net, typename precision_traits<P>::wire, Policy> {};

/// Describes the buckets, one per line: `bucket 0: 2.weight to 2.bias, 10304 bytes`.
template <class Model, class Policy> std::string describe_buckets() {
  using plan = bucket_plan<Model, Policy>;
  using wire = typename precision_traits<typename Model::precision_type>::wire;
  std::string text;
  for (std::size_t i = 0; i != plan::size; ++i) {
    const parallel::bucket b = plan::at(i);
    const std::string names =
        parallel::detail::names_in<typename Model::network_type>({{b.first, parallel::detail::gradients_of(b, i)}});
    text += devplace::detail::joined({"bucket ", i, ": ", names, ", ", b.count * sizeof(wire), " bytes\n"});
  }
  return text;
}

}  // namespace devplace
