// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <devplace/backend/cuda/cudnn.hpp>
#include <devplace/backend/cuda/product_key.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/base/joined.hpp>
#include <devplace/ops/detail/convolution_arguments.hpp>

namespace devplace::detail {

/// Which tensor of a convolution y = x * weight is computed from the other two: y, dx or dweight.
enum class convolution_pass : unsigned char { output, input_gradient, weight_gradient };

/// Everything that the choice of cuDNN's engine depends on.
struct convolution_key {
  convolution_shape shape;
  convolution_pass pass;
  const dtype* element;  ///< type of the tensors; sums of 16-bit elements are float
  product_math math;
  double beta;                             ///< factor of the existing result
  std::array<std::uint32_t, 3> alignment;  ///< of x, weight and y, in bytes; powers of two

  friend auto operator<=>(const convolution_key&, const convolution_key&) = default;
};

/// Returns the size in bytes of a 16-bit weight gradient, which cuDNN writes to the workspace; otherwise 0.
inline std::size_t rounded_gradient_bytes(const convolution_key& key) {
  if (key.pass != convolution_pass::weight_gradient || key.element->bytes != 2) return 0;
  return padded_to(key.shape.weights() * 2, 256);
}

/// Describes the key for error messages: "the weight gradient of a convolution (float; x 8x64x28x28, weight 64x32x3x3,
/// y 8x64x28x28, groups 2, stride 1x1, padding 1x1, dilation 1x1)".
inline std::string to_string(const convolution_key& key) {
  const convolution_shape& s = key.shape;
  const auto size = [](std::size_t rows, std::size_t columns) { return joined({rows, "x", columns}); };
  const auto array = [&](std::size_t outer, std::size_t channels, std::size_t rows, std::size_t columns) {
    return joined({outer, "x", channels, "x", size(rows, columns)});
  };
  return joined({key.pass == convolution_pass::output           ? "a convolution"
                 : key.pass == convolution_pass::input_gradient ? "the input gradient of a convolution"
                                                                : "the weight gradient of a convolution",
                 " (", precision_name(key.element, key.math), "; x ",
                 array(s.samples, s.groups * s.channels, s.rows.in, s.columns.in), ", weight ",
                 array(s.groups * s.outputs, s.channels, s.rows.size, s.columns.size), ", y ",
                 array(s.samples, s.groups * s.outputs, s.rows.out, s.columns.out), ", groups ", s.groups, ", stride ",
                 size(s.rows.stride, s.columns.stride), ", padding ", size(s.rows.padding, s.columns.padding),
                 ", dilation ", size(s.rows.dilation, s.columns.dilation), ")"});
}

static_assert(dtypes.have(&dtype::cudnn, {CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16,
                                          CUDNN_DATA_INT32, CUDNN_DATA_INT64, CUDNN_DATA_UINT8}));

/// The addresses in a cuDNN call: the plan's tensors in the order of their numbers, then the workspace.
using cudnn_addresses = std::array<void*, 14>;

/// An operation that is prepared once with a fixed engine, so that repeated calls give the same bits.
struct cudnn_plan {
  /// Maximum number of address sets whose descriptors are kept: one set per batch buffer and layer of this shape.
  static constexpr std::size_t most_packs = 128;

  std::vector<cudnn_descriptor> parts;     ///< descriptors that the plan was made from
  std::vector<std::int64_t> tensors;       ///< numbers of the tensors in memory
  std::unique_ptr<const float[]> factors;  ///< values of the scalar tensors
  cudnn_descriptor plan;                   ///< empty if cuDNN has no engine for the operation
  std::size_t workspace = 0;               ///< bytes that the engine needs
  std::size_t before = 0;                  ///< bytes of the workspace before the engine's part, for a result in 16 bits
  bool computes = false;                   ///< whether cuDNN has enqueued the operation
  std::uint64_t number = 0;                ///< differs from the numbers of the cache's other and earlier plans
  std::uint64_t last_use = 0;              ///< the cache's clock at the last use

  /// Returns the descriptor of these addresses, and makes it at the first use of the addresses, because a finalised
  /// descriptor cannot be changed. Later uses do not allocate.
  const cudnn_descriptor& pack_of(const cudnn_addresses& addresses, std::uint64_t now, const cudnn_caller& caller) {
    kept_pack& kept = find_or_make(packs_, most_packs, addresses, [&] {
      cudnn_descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, caller);
      pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::span(tensors.data(), tensors.size()), caller);
      pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, std::span(addresses).first(tensors.size()), caller);
      pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, addresses.back(), caller);
      caller.check(cudnnBackendFinalize(pack.get()), "cudnnBackendFinalize");
      return kept_pack{std::move(pack), 0};
    });
    kept.last_use = now;
    return kept.pack;
  }

 private:
  struct kept_pack {
    cudnn_descriptor pack;
    std::uint64_t last_use;
  };
  std::map<cudnn_addresses, kept_pack> packs_;
};

/// Appends the descriptors of a convolution's tensors, then of its windows, then of the operation. Returns false if
/// cuDNN has no such operation. Needs no device.
inline bool describe_convolution(std::vector<cudnn_descriptor>& parts, const convolution_key& key,
                                 const cudnn_caller& caller) {
  const convolution_shape& s = key.shape;
  const bool wide = key.element == dtype_of<double>;
  const cudnnDataType_t computed = wide ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  const auto number = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  using pair = std::array<std::int64_t, 2>;
  using extents = std::array<std::size_t, 4>;

  const auto add_tensor = [&](std::int64_t id, const extents& e) {
    cudnn_descriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, caller);
    std::array<std::int64_t, 4> dimensions{}, strides{};
    std::size_t stride = 1;
    for (std::size_t k = 4; k-- != 0; stride *= e[k]) dimensions[k] = number(e[k]), strides[k] = number(stride);
    tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, static_cast<cudnnDataType_t>(key.element->cudnn), caller);
    tensor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, dimensions, caller);
    tensor.set(CUDNN_ATTR_TENSOR_STRIDES, strides, caller);
    tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id, caller);
    tensor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{key.alignment[static_cast<std::size_t>(id - 1)]}, caller);
    parts.push_back(std::move(tensor));
    return parts.back().finalize(caller);
  };
  // cuDNN takes the number of groups from the extents of x and weight.
  if (!add_tensor(1, {s.samples, s.groups * s.channels, s.rows.in, s.columns.in}) ||
      !add_tensor(2, {s.groups * s.outputs, s.channels, s.rows.size, s.columns.size}) ||
      !add_tensor(3, {s.samples, s.groups * s.outputs, s.rows.out, s.columns.out}))
    return false;

  cudnn_descriptor windows(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, caller);
  const pair padding{number(s.rows.padding), number(s.columns.padding)};
  windows.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, computed, caller);
  windows.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION, caller);
  windows.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2}, caller);
  windows.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, padding, caller);
  windows.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, padding, caller);
  windows.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, pair{number(s.rows.stride), number(s.columns.stride)}, caller);
  windows.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, pair{number(s.rows.dilation), number(s.columns.dilation)}, caller);
  parts.push_back(std::move(windows));
  if (!parts.back().finalize(caller)) return false;

  struct names {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t x, weight, y, windows, alpha, beta;
  };
  const names descriptors = key.pass == convolution_pass::output
                                ? names{CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA}
                            : key.pass == convolution_pass::input_gradient
                                ? names{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA}
                                : names{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  cudnn_descriptor operation(descriptors.type, caller);
  operation.set(descriptors.x, parts[0], caller);
  operation.set(descriptors.weight, parts[1], caller);
  operation.set(descriptors.y, parts[2], caller);
  operation.set(descriptors.windows, parts[3], caller);
  const auto set_factor = [&](cudnnBackendAttributeName_t name, double value) {
    if (wide)
      operation.set(name, value, caller);
    else
      operation.set(name, static_cast<float>(value), caller);
  };
  set_factor(descriptors.alpha, 1);
  set_factor(descriptors.beta, key.beta);
  parts.push_back(std::move(operation));
  return parts.back().finalize(caller);
}

/// Returns whether tensor cores read the operands unrounded (all types but float), or may round them to TF32.
inline bool may_use_tensor_cores(const convolution_key& key) {
  return key.element != dtype_of<float> || key.math == product_math::tf32;
}

/// Returns whether an engine keeps devplace's promises: the same bits in every run, sums of products of unrounded
/// operands, and NaN or infinity only in outputs that depend on a NaN or an infinity.
inline bool keeps_promises(std::span<const cudnnBackendNumericalNote_t> notes, bool tensor_cores) {
  return std::none_of(notes.begin(), notes.end(), [tensor_cores](cudnnBackendNumericalNote_t note) {
    switch (note) {
      case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
      case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
      case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
      case CUDNN_NUMERICAL_NOTE_FFT:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
        return true;
      case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
        return !tensor_cores;
      default:
        return false;
    }
  });
}

inline bool keeps_promises(const cudnn_descriptor& configuration, bool tensor_cores, const cudnn_caller& caller) {
  const cudnn_descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR, caller);
  std::array<cudnnBackendDescriptor_t, 1> result{engine.get()};
  configuration.read(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, result, caller);
  std::array<cudnnBackendNumericalNote_t, 64> notes{};  // more than this version of cuDNN has
  const std::size_t count = engine.read(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, notes, caller);
  return keeps_promises(std::span(notes).first(std::min(count, notes.size())), tensor_cores);
}

/// Returns the engine configurations of a finalised heuristic, fastest first by cuDNN's own estimate.
inline std::vector<cudnn_descriptor> heuristic_results(const cudnn_descriptor& heuristic, const cudnn_caller& caller) {
  std::vector<cudnnBackendDescriptor_t> results;
  const auto read = [&] {
    return heuristic.read(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, results, caller);
  };
  results.resize(read());
  std::vector<cudnn_descriptor> configurations;
  for (cudnnBackendDescriptor_t& result : results)
    result = configurations.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, caller).get();
  if (!results.empty()) configurations.resize(std::min(read(), results.size()));
  return configurations;
}

/// Returns the engine configurations that cuDNN offers for a graph; none if it does not support the graph.
inline std::vector<cudnn_descriptor> engine_configurations(const cudnn_descriptor& graph, cudnnBackendHeurMode_t mode,
                                                           const cudnn_caller& caller) {
  cudnn_descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, caller);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph, caller);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE, mode, caller);
  if (!heuristic.finalize(caller)) return {};
  return heuristic_results(heuristic, caller);
}

/// Makes the plan of operations with the first engine for which keeps_promises() is true and that needs at most `limit`
/// bytes of workspace. The plan stays empty if there is no such engine.
inline void choose_engine(cudnn_plan& result, cudnnHandle_t handle,
                          std::span<const cudnnBackendDescriptor_t> operations, bool tensor_cores, std::size_t limit,
                          const cudnn_caller& caller) {
  cudnn_descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, caller);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle, caller);
  graph.set_all(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations, caller);
  if (!graph.finalize(caller)) return;
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
    for (cudnn_descriptor& configuration : engine_configurations(graph, mode, caller)) {
      if (!keeps_promises(configuration, tensor_cores, caller)) continue;
      cudnn_descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, caller);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle, caller);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration, caller);
      if (!plan.finalize(caller)) continue;
      std::array<std::int64_t, 1> bytes{};
      plan.read(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, bytes, caller);
      result.workspace = static_cast<std::size_t>(bytes[0]);
      if (result.workspace > limit) continue;
      result.plan = std::move(plan);
      result.parts.push_back(std::move(graph));
      result.parts.push_back(std::move(configuration));
      return;
    }
}

/// Makes the plan of a convolution. A weight gradient of 16-bit operands is written in 16 bits and then converted: its
/// sums are computed in float and rounded once. On an H100, cuDNN 9.19 can write float only if channels are the last
/// axis of images and a pointwise operation follows.
inline cudnn_plan make_cudnn_plan(cudnnHandle_t handle, const convolution_key& key, std::size_t limit, int ordinal) {
  const cudnn_caller caller(ordinal, key);
  cudnn_plan result;
  result.tensors = {1, 2, 3};
  result.before = rounded_gradient_bytes(key);
  if (result.before > limit || !describe_convolution(result.parts, key, caller)) return result;
  const std::array operations{result.parts.back().get()};
  choose_engine(result, handle, operations, may_use_tensor_cores(key), limit - result.before, caller);
  return result;
}

}  // namespace devplace::detail
