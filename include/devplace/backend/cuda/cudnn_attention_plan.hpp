// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <devplace/backend/cuda/cudnn_plan.hpp>
#include <devplace/backend/cuda/product_key.hpp>
#include <devplace/base/joined.hpp>
#include <devplace/ops/detail/attention_arguments.hpp>

namespace devplace::detail {

/// Everything that the choice of cuDNN's engine for attention depends on.
struct attention_key {
  attention_shape shape;
  const dtype* element;  ///< bf16 or half
  bool gradient;
  float scale;  ///< factor of scores

  friend auto operator<=>(const attention_key&, const attention_key&) = default;
};

/// Describes the key for error messages: "the gradient of causal attention (bf16; 8 samples of 512 positions, 4 heads
/// of 64 elements)".
inline std::string to_string(const attention_key& key) {
  return joined({key.gradient ? "the gradient of " : "", key.shape.causal ? "causal attention (" : "attention (",
                 key.element->name, "; ", key.shape.samples, " samples of ", key.shape.length, " positions, ",
                 key.shape.heads, " heads of ", key.shape.width, " elements)"});
}

/// The tensors' numbers, unique ids in cuDNN's graph. cuDNN reads `scale`, `minus_infinity` and `one` on the host.
enum class attention_tensor : std::int64_t {
  queries = 1,
  keys,
  values,
  results,
  log_sums,
  scale,
  minus_infinity,  ///< for causal attention only
  dresults,        ///< this and all following tensors: for the gradient only
  dqueries,
  dkeys,
  dvalues,
  products,
  one
};

/// Describes attention or its gradient to cuDNN as products, reductions and pointwise operations. Their order is the
/// one that NVIDIA's cudnn-frontend uses, because cuDNN's engines recognise this order. A single product writes the
/// gradient of the queries, so engines store score gradients in their workspace and add them in a fixed order, instead
/// of by atomic additions in varying order.
class attention_graph {
  using handle = cudnnBackendDescriptor_t;
  using name = attention_tensor;
  struct layout {
    std::array<std::int64_t, 4> extents, strides;
  };

 public:
  attention_graph(std::vector<cudnn_descriptor>& to, const attention_key& key, const cudnn_caller& caller)
      : parts_(to),
        caller_(caller),
        causal_(key.shape.causal),
        element_(static_cast<cudnnDataType_t>(key.element->cudnn)) {
    const auto n = [](std::size_t extent) { return static_cast<std::int64_t>(extent); };
    const std::int64_t b = n(key.shape.samples), h = n(key.shape.heads), s = n(key.shape.length),
                       d = n(key.shape.width);
    queries_ = {{b, h, s, d}, {s * 3 * h * d, d, 3 * h * d, 1}};
    keys_ = {{b, h, d, s}, {s * 3 * h * d, d, 1, 3 * h * d}};
    results_ = {{b, h, s, d}, {s * h * d, d, h * d, 1}};
    by_heads_ = {{b, h, s, d}, {h * s * d, s * d, d, 1}};
    scores_ = {{b, h, s, s}, {h * s * s, s * s, s, 1}};
    transposed_ = {{b, h, s, s}, {h * s * s, s * s, 1, s}};
    rows_ = {{b, h, s, 1}, {h * s, s, 1, 1}};
  }

  /// Describes attention (or its gradient). Returns false if cuDNN lacks an operation.
  bool describe() {
    const handle results = tensor(name::results, results_), log_sums = tensor(name::log_sums, rows_, CUDNN_DATA_FLOAT);
    const handle scores = masked(scaled_scores(tensor(name::queries, queries_), tensor(name::keys, keys_)));
    const handle maxima = reduce(CUDNN_REDUCE_TENSOR_MAX, scores);
    const handle e = apply(CUDNN_POINTWISE_EXP, scores_, apply(CUDNN_POINTWISE_SUB, scores_, scores, maxima));
    const handle sums = reduce(CUDNN_REDUCE_TENSOR_ADD, e);
    apply_to(log_sums, CUDNN_POINTWISE_ADD, maxima, apply(CUDNN_POINTWISE_LOG, rows_, sums));
    const handle probabilities = between(scores_, element_);
    apply_to(probabilities, CUDNN_POINTWISE_DIV, e, sums);
    multiply(results, probabilities, tensor(name::values, queries_));
    return !unsupported_;
  }
  bool describe_gradient() {
    const handle q = tensor(name::queries, queries_), k = tensor(name::keys, keys_), v = tensor(name::values, keys_);
    const handle log_sums = tensor(name::log_sums, rows_, CUDNN_DATA_FLOAT), dy = tensor(name::dresults, results_);
    const handle products = tensor(name::products, rows_, CUDNN_DATA_FLOAT);
    const handle each = apply(CUDNN_POINTWISE_MUL, by_heads_, dy, tensor(name::results, results_));
    apply_to(products, CUDNN_POINTWISE_MUL, reduce(CUDNN_REDUCE_TENSOR_ADD, each), number(name::one));
    const handle scores = scaled_scores(q, k);
    const handle logarithms = masked(apply(CUDNN_POINTWISE_SUB, scores_, scores, log_sums));
    const handle p = apply(CUDNN_POINTWISE_EXP, scores_, logarithms);
    multiply(tensor(name::dvalues, queries_), reshape(p, transposed_), dy);
    const handle dp = between(scores_, CUDNN_DATA_FLOAT);
    multiply(dp, dy, v);
    const handle difference = apply(CUDNN_POINTWISE_SUB, scores_, dp, products);
    const handle unscaled = apply(CUDNN_POINTWISE_MUL, scores_, difference, p);
    const handle dscores = between(scores_, element_);
    apply_to(dscores, CUDNN_POINTWISE_MUL, unscaled, scale_);
    multiply(tensor(name::dkeys, queries_), reshape(dscores, transposed_), q);
    multiply(tensor(name::dqueries, queries_), dscores, reshape(k, queries_));
    return !unsupported_;
  }

  std::span<const handle> operations() const { return operations_; }
  /// Returns the numbers of the tensors in memory.
  std::vector<std::int64_t> tensors(bool gradient) const {
    std::vector<std::int64_t> all;
    for (std::int64_t number = 1; number <= static_cast<std::int64_t>(gradient ? name::one : name::minus_infinity);
         ++number)
      if (causal_ || number != static_cast<std::int64_t>(name::minus_infinity)) all.push_back(number);
    return all;
  }

 private:
  handle add(cudnn_descriptor part) {
    unsupported_ = unsupported_ || !part.finalize(caller_);
    parts_.push_back(std::move(part));
    return parts_.back().get();
  }
  /// Adds an operation with these attributes, except those that are null.
  void add_operation(cudnnBackendDescriptorType_t type,
                     std::initializer_list<std::pair<cudnnBackendAttributeName_t, handle>> attributes) {
    if (unsupported_) return;
    cudnn_descriptor operation(type, caller_);
    for (const auto& [attribute, value] : attributes)
      if (value != nullptr) operation.set_all(attribute, std::array{value}, caller_);
    operations_.push_back(add(std::move(operation)));
  }

  enum class kind : unsigned char { memory, number, between };
  handle add_tensor(std::int64_t id, const layout& shape, cudnnDataType_t type, kind where) {
    if (unsupported_) return nullptr;
    cudnn_descriptor descriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, caller_);
    descriptor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type, caller_);
    descriptor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, shape.extents, caller_);
    descriptor.set(CUDNN_ATTR_TENSOR_STRIDES, shape.strides, caller_);
    descriptor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id, caller_);
    descriptor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{type == element_ ? 16 : 4}, caller_);
    if (where == kind::between) descriptor.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true, caller_);
    if (where == kind::number) descriptor.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, true, caller_);
    return add(std::move(descriptor));
  }
  handle tensor(name id, const layout& shape) { return tensor(id, shape, element_); }
  handle tensor(name id, const layout& shape, cudnnDataType_t type) {
    return add_tensor(static_cast<std::int64_t>(id), shape, type, kind::memory);
  }
  handle number(name id) {
    return add_tensor(static_cast<std::int64_t>(id), {{1, 1, 1, 1}, {1, 1, 1, 1}}, CUDNN_DATA_FLOAT, kind::number);
  }
  /// Adds a virtual tensor: a result that only operations of the graph read.
  handle between(const layout& shape, cudnnDataType_t type) { return add_tensor(next_++, shape, type, kind::between); }

  /// Adds a pointwise operation on one to three operands with the result y.
  void apply_to(handle y, cudnnPointwiseMode_t mode, handle x, handle b = nullptr, handle t = nullptr,
                cudnnDataType_t computed = CUDNN_DATA_FLOAT, std::int64_t axis = -1) {
    if (unsupported_) return;
    cudnn_descriptor descriptor(CUDNN_BACKEND_POINTWISE_DESCRIPTOR, caller_);
    descriptor.set(CUDNN_ATTR_POINTWISE_MODE, mode, caller_);
    descriptor.set(CUDNN_ATTR_POINTWISE_MATH_PREC, computed, caller_);
    if (axis >= 0) descriptor.set(CUDNN_ATTR_POINTWISE_AXIS, axis, caller_);
    add_operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
                  {{CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, add(std::move(descriptor))},
                   {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x},
                   {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b},
                   {CUDNN_ATTR_OPERATION_POINTWISE_TDESC, t},
                   {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y}});
  }
  handle apply(cudnnPointwiseMode_t mode, const layout& shape, handle x, handle b = nullptr) {
    const handle y = between(shape, CUDNN_DATA_FLOAT);
    apply_to(y, mode, x, b);
    return y;
  }

  handle reduce(cudnnReduceTensorOp_t op, handle x) {
    const handle y = between(rows_, CUDNN_DATA_FLOAT);
    if (unsupported_) return y;
    cudnn_descriptor descriptor(CUDNN_BACKEND_REDUCTION_DESCRIPTOR, caller_);
    descriptor.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT, caller_);
    descriptor.set(CUDNN_ATTR_REDUCTION_OPERATOR, op, caller_);
    add_operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
                  {{CUDNN_ATTR_OPERATION_REDUCTION_DESC, add(std::move(descriptor))},
                   {CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x},
                   {CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y}});
    return y;
  }

  void multiply(handle c, handle a, handle b) {
    if (unsupported_) return;
    cudnn_descriptor descriptor(CUDNN_BACKEND_MATMUL_DESCRIPTOR, caller_);
    descriptor.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT, caller_);
    add_operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
                  {{CUDNN_ATTR_OPERATION_MATMUL_DESC, add(std::move(descriptor))},
                   {CUDNN_ATTR_OPERATION_MATMUL_ADESC, a},
                   {CUDNN_ATTR_OPERATION_MATMUL_BDESC, b},
                   {CUDNN_ATTR_OPERATION_MATMUL_CDESC, c}});
  }

  /// Adds the transposes of the matrices of x.
  handle reshape(handle x, const layout& shape) {
    const handle y = between(shape, element_);
    add_operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
                  {{CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x}, {CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y}});
    return y;
  }

  handle scaled_scores(handle queries, handle keys) {
    scale_ = number(name::scale);
    const handle products = between(scores_, CUDNN_DATA_FLOAT);
    multiply(products, queries, keys);
    return apply(CUDNN_POINTWISE_MUL, scores_, products, scale_);
  }
  /// Adds a causal mask: minus infinity for keys after the query.
  handle masked(handle scores) {
    if (!causal_) return scores;
    const handle row = between(scores_, CUDNN_DATA_INT32), column = between(scores_, CUDNN_DATA_INT32);
    apply_to(row, CUDNN_POINTWISE_GEN_INDEX, scores, nullptr, nullptr, CUDNN_DATA_FLOAT, 2);
    apply_to(column, CUDNN_POINTWISE_GEN_INDEX, scores, nullptr, nullptr, CUDNN_DATA_FLOAT, 3);
    const handle attends = between(scores_, CUDNN_DATA_BOOLEAN), y = between(scores_, CUDNN_DATA_FLOAT);
    apply_to(attends, CUDNN_POINTWISE_CMP_GE, row, column, nullptr, CUDNN_DATA_BOOLEAN);
    apply_to(y, CUDNN_POINTWISE_BINARY_SELECT, scores, number(name::minus_infinity), attends);
    return y;
  }

  std::vector<cudnn_descriptor>& parts_;
  const cudnn_caller& caller_;
  bool causal_;
  bool unsupported_ = false;
  cudnnDataType_t element_;
  layout queries_, keys_, results_, by_heads_, scores_, transposed_, rows_;
  handle scale_ = nullptr;
  std::int64_t next_ = 100;
  std::vector<handle> operations_;
};

inline cudnn_plan make_cudnn_plan(cudnnHandle_t handle, const attention_key& key, std::size_t limit, int ordinal) {
  const cudnn_caller caller(ordinal, key);
  cudnn_plan result;
  attention_graph graph(result.parts, key, caller);
  if (!(key.gradient ? graph.describe_gradient() : graph.describe())) return result;
  result.tensors = graph.tensors(key.gradient);
  result.factors.reset(new float[3]{key.scale, -std::numeric_limits<float>::infinity(), 1});
  choose_engine(result, handle, graph.operations(), true, limit, caller);
  return result;
}

}  // namespace devplace::detail
