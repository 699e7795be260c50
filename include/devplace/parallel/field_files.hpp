// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>

#include <devplace/base/refusal.hpp>
#include <devplace/config.hpp>
#include <devplace/io/npy.hpp>
#include <devplace/parallel/field.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::parallel::detail {

/// The cells of a part in a view of the whole field.
template <std::size_t Axis = 0, std::size_t Rank> auto cells_of_part(const auto& whole, const field_part<Rank>& part) {
  if constexpr (Axis == Rank)
    return whole;
  else
    return cells_of_part<Axis + 1>(whole.slice(axis<Axis>{}, part.begin[Axis], part.begin[Axis] + part.size[Axis]),
                                   part);
}

}  // namespace devplace::parallel::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// The whole field as a tensor on one place: `gather<on<cpu>>(x)`. Over processes, all make the call, and each gets the
/// whole.
template <class To = void, class T, class Extents, class Where, class Halo>
auto gather(const field<T, Extents, Where, Halo>& x) {
  constexpr bool to_one = single_place<To>;
  static_assert(to_one, "devplace: gather: the result lies on one place, as in gather<on<cpu>>(x).");
  if constexpr (to_one) {
    const auto& layout = parallel::detail::field_access::layout(x);
    tensor<T, Extents, cpu> whole(x.extents());
    for (std::size_t k = 0; k != x.places; ++k)
      copy(parallel::detail::cells_of_part(whole.view(), layout.part(k)), x.local(k));
    if constexpr (spans_processes<Where>) {
      const process_group group(parallel::detail::field_access::between(x));
      auto of = layout;
      for (of.members.first = 0; of.members.first != layout.members.count; ++of.members.first) {
        const auto cells = parallel::detail::cells_of_part(whole.view(), of.part(0));
        auto part = to<cpu>(cells);
        group.broadcast(std::span<T>(part.data(), part.size()), static_cast<int>(of.members.first / x.places));
        copy(cells, part);
      }
    }
    return to<To>(std::move(whole));
  } else {
    return devplace::detail::refusal{};
  }
}

/// Copies a whole field from a tensor or view on one place. Over processes, each one copies its part of its own tensor.
template <class T, class Extents, class Where, class Halo, tensor_like From>
void copy(field<T, Extents, Where, Halo>& x, const From& whole) {
  const auto from = devplace::detail::as_view(whole);
  if (!(from.extents() == x.extents()))
    throw shape_error({"copy: the field is ", devplace::detail::to_string(x.extents()), " and the tensor ",
                       devplace::detail::to_string(from.extents()), "; give a tensor of the whole field."});
  const auto& layout = parallel::detail::field_access::layout(x);
  for (std::size_t k = 0; k != x.places; ++k) copy(x.local(k), parallel::detail::cells_of_part(from, layout.part(k)));
}

/// Writes a whole field as one .npy file, as write_npy does for tensors. Over processes, all make the call; the first
/// one writes, and all return when the file is complete. `write_npy(path, to<cpu>(x.local(k)))` writes one part.
template <std::convertible_to<std::string> Path, class T, class Extents, class Where, class Halo>
void write_npy(const Path& path, const field<T, Extents, Where, Halo>& x) {
  const auto whole = gather<cpu>(x);
  if constexpr (spans_processes<Where>) {
    const process_group group(parallel::detail::field_access::between(x));
    if (group.is_main()) write_npy(std::string(path), whole);
    group.barrier();
  } else {
    write_npy(std::string(path), whole);
  }
}

/// Reads a file that was written from any number of places, or by `np.save`, into a field of the file's shape. Each
/// process reads the file.
template <class T, class Extents, class Where, class Halo>
void read_npy(const std::string& path, field<T, Extents, Where, Halo>& x) {
  copy(x, read_npy<T, Extents>(path));
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
