// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <string>

#include <devplace/base/error.hpp>
#include <devplace/io/detail/dlpack_abi.hpp>
#include <devplace/io/stored_shape.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/layout.hpp>

namespace devplace::detail {

constexpr dlpack::data_type dlpack_type(const dtype& type) {
  return {dlpack::type_code{type.dlpack}, static_cast<std::uint8_t>(8 * type.bytes), 1};
}

/// Returns NumPy's and PyTorch's name of the type: `float32`, `bool`.
inline std::string dlpack_type_text(dlpack::data_type type) {
  constexpr const char* kinds[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
  const auto code = static_cast<std::size_t>(type.code);
  std::string text = code < std::size(kinds) ? kinds[code] : joined({"type code ", code, " of bits "});
  if (type.code != dlpack::type_code::boolean || type.bits != 8) text += std::to_string(type.bits);
  if (type.lanes != 1) text.append(" in vectors of ").append(std::to_string(type.lanes));
  return text;
}

inline std::string dlpack_device_text(dlpack::device device) {
  using dlpack::device_type;
  if (device.type == device_type::cpu) return "in host memory";
  if (device.type == device_type::cuda) return joined({"on CUDA device ", device.id});
  if (device.type == device_type::cuda_host) return "in pinned host memory";
  if (device.type == device_type::extension) return joined({"on extension device ", device.id});
  if (device.type == device_type::cuda_managed) return "in CUDA's managed memory";
  return joined({"on a device of DLPack's type ", static_cast<std::int32_t>(device.type)});
}

struct dlpack_request {
  const char* operation;
  const dtype* type;
  dlpack::device device;
  std::string place;
  std::size_t alignment;
  std::span<const std::size_t> extents;  ///< dyn accepts any extent
  bool writable;
  bool row_major;
};

/// Checks a tensor against a request, writes its extents and strides, and returns the address of its first element.
/// Throws argument_error or shape_error.
class dlpack_checks {
 public:
  dlpack_checks(const dlpack::tensor& tensor, const dlpack_request& request) : tensor_(tensor), request_(request) {}

  void* run(bool read_only, std::span<std::size_t> extents, std::span<std::ptrdiff_t> strides) const {
    check_device();
    check_type();
    check_shape(extents);
    const bool empty = read_strides(extents, strides);
    if (request_.row_major && !is_contiguous(extents, strides))
      fail_shape(joined({"is not row-major: its strides are ", sizes_text<std::ptrdiff_t>(strides),
                         " elements for the shape ", sizes_text(extents),
                         ". Take a view by view_dlpack, which has strides, or let the producer make it contiguous: "
                         "numpy.ascontiguousarray(x), x.contiguous() in PyTorch."}));
    if (request_.writable && read_only)
      refuse(joined(
          {std::string("may only be read, as its producer says. Take a view of const elements by view_dlpack<const "),
           request_.type->name, ", ...>, or let the producer copy it."}));
    if (request_.writable && !empty) check_distinct(extents, strides);
    return address(empty);
  }

  static void check_version(dlpack::version version, const char* operation) {
    if (version.major != 1)
      throw argument_error({operation, ": the tensor has version ", version.major, ".", version.minor,
                            " of DLPack's struct and devplace reads versions 1.x. Ask the producer for version "
                            "1, as by __dlpack__(max_version=(1, 0))."});
  }

 private:
  static constexpr std::size_t largest = std::numeric_limits<std::ptrdiff_t>::max();

  void check_device() const {
    using dlpack::device_type;
    const bool pinned_as_host =
        request_.device.type == device_type::cpu && tensor_.device.type == device_type::cuda_host;
    const bool same_type = tensor_.device.type == request_.device.type || pinned_as_host;
    const bool numbered = tensor_.device.type == device_type::cuda || tensor_.device.type == device_type::extension;
    if (same_type && (!numbered || tensor_.device.id == request_.device.id)) return;
    std::string text = joined({"is ", dlpack_device_text(tensor_.device), ", but ", request_.place,
                               " was asked for, which is ", dlpack_device_text(request_.device), ". "});
    text += request_.device.type == device_type::cpu
                ? "Let the producer copy it, as x.cpu() in PyTorch, or ask for the cuda place that is this device."
                : "Ask for the place where it lies, or let the producer copy it, as x.to(\"cuda:0\") in PyTorch.";
    refuse(text);
  }

  void check_type() const {
    const dlpack::data_type type = tensor_.type, requested = dlpack_type(*request_.type);
    if (type == requested) return;
    std::string text = joined({"has elements of type ", dlpack_type_text(type), ", but ", request_.type->name, " (",
                               dlpack_type_text(requested), ") was asked for; "});
    const auto* const known =
        std::find_if(dtypes.begin(), dtypes.end(), [&](const dtype& one) { return dlpack_type(one) == type; });
    if (known != dtypes.end())
      text.append("ask for ").append(known->name);
    else if (type.code == dlpack::type_code::boolean)
      text += "let the producer view it as bytes, x.view(numpy.uint8) or x.to(torch.uint8), and ask for uint8";
    else
      text += "tensors have no such elements, so let the producer convert them, as x.astype(numpy.float32)";
    refuse(text + ".");
  }

  void check_shape(std::span<std::size_t> extents) const {
    bool fits = tensor_.rank >= 0 && static_cast<std::size_t>(tensor_.rank) == extents.size();
    std::string shape;
    if (tensor_.rank > 0 && tensor_.shape == nullptr) fail_shape("has axes and no shape; its producer is wrong.");
    for (std::int32_t axis = 0; axis < tensor_.rank; ++axis) {
      const std::int64_t extent = tensor_.shape[axis];
      if (extent < 0) fail_shape(joined({"has a negative extent, ", extent, "; its producer is wrong."}));
      shape.append(axis == 0 ? "" : "x").append(std::to_string(extent));
      if (!fits) continue;
      const auto at = static_cast<std::size_t>(axis);
      extents[at] = static_cast<std::size_t>(extent);
      fits = request_.extents[at] == dyn || request_.extents[at] == extents[at];
    }
    if (!fits)
      fail_shape(joined({"has the shape ", shape.empty() ? std::string("of a scalar") : shape, ", which does not fit ",
                         extents_text(request_.extents),
                         "; ask for extents that fit (dyn where they vary), or reshape it in Python."}));
    if (!stored_bytes(extents, request_.type->bytes))
      fail_shape(joined({"has the shape ", shape, ", which no machine can address; its producer is wrong."}));
  }

  /// Reads the strides. Axes with fewer than two indices get row-major strides, because the given strides of such axes
  /// have no meaning. Returns whether the tensor is empty.
  bool read_strides(std::span<const std::size_t> extents, std::span<std::ptrdiff_t> strides) const {
    bool empty = false;
    std::size_t packed = 1, last = 0;
    for (std::size_t axis = extents.size(); axis-- != 0;) {
      strides[axis] = static_cast<std::ptrdiff_t>(packed);
      empty = empty || extents[axis] == 0;
      if (tensor_.strides != nullptr && extents[axis] > 1) {
        strides[axis] = tensor_.strides[axis];
        if (magnitude(strides[axis]) > (largest / sizeof(double) - last) / (extents[axis] - 1))
          fail_shape("has strides beyond any memory; its producer is wrong.");
        last += magnitude(strides[axis]) * (extents[axis] - 1);
      }
      packed *= extents[axis];
    }
    return empty;
  }

  /// Throws if several positions share an element, as in broadcast tensors: such elements cannot be written one by one.
  void check_distinct(std::span<const std::size_t> extents, std::span<const std::ptrdiff_t> strides) const {
    for (std::size_t axis = 0; axis != extents.size(); ++axis)
      if (strides[axis] == 0 && extents[axis] > 1)
        fail_shape(joined({"repeats its elements along axis ", axis,
                           ", where its stride is 0, so that they cannot be written one by one. Take a view of const "
                           "elements, or let the producer copy it."}));
    // If each stride exceeds the range of all axes with smaller strides, no two positions share an element.
    const auto step = [&](std::size_t axis) { return magnitude(strides[axis]); };
    const auto before = [&](std::size_t a, std::size_t b) { return step(a) != step(b) ? step(a) < step(b) : a < b; };
    for (std::size_t axis = 0; axis != extents.size(); ++axis) {
      if (extents[axis] <= 1) continue;
      std::size_t reach = 0;
      for (std::size_t other = 0; other != extents.size(); ++other)
        if (extents[other] > 1 && before(other, axis)) reach += step(other) * (extents[other] - 1);
      if (step(axis) <= reach)
        fail_shape(joined({"has overlapping rows: its strides are ", sizes_text<std::ptrdiff_t>(strides),
                           " elements for the shape ", sizes_text(extents),
                           ", so that several positions may be one element, which cannot be written one by one. Take a "
                           "view of const elements, or let the producer copy it."}));
    }
  }

  void* address(bool empty) const {
    auto* const first = static_cast<unsigned char*>(tensor_.data);
    if (first == nullptr && !empty) refuse("has no memory; its producer is wrong.");
    if (first == nullptr) return nullptr;
    void* const data = first + tensor_.byte_offset;
    if (reinterpret_cast<std::uintptr_t>(data) % request_.alignment != 0 && !empty)
      refuse(joined({"starts at an address that is not a multiple of ", request_.alignment, " bytes, the alignment ",
                     "of ", request_.type->name, ". Let the producer copy it, as x.copy() in NumPy."}));
    return data;
  }

  [[noreturn]] void refuse(const std::string& found) const {
    throw argument_error({request_.operation, ": the tensor ", found});
  }
  [[noreturn]] void fail_shape(const std::string& found) const {
    throw shape_error({request_.operation, ": the tensor ", found});
  }

  const dlpack::tensor& tensor_;
  const dlpack_request& request_;
};

}  // namespace devplace::detail
