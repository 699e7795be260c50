// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by mock_cudnn.cpp only, in its unnamed namespace. Computes graphs of products, reductions and pointwise
// operations in double, operation by operation, and rounds results to their tensors' types.

bool is_of_graph(cudnnBackendDescriptorType_t type) {
  return type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR || type == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR ||
         type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR || type == CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR;
}

using index = std::array<std::int64_t, 4>;

/// Calls f(index) for all elements.
template <class F> void for_each_element(const std::vector<std::int64_t>& extents, const F& f) {
  index at{};
  for (at[0] = 0; at[0] < extents[0]; ++at[0])
    for (at[1] = 0; at[1] < extents[1]; ++at[1])
      for (at[2] = 0; at[2] < extents[2]; ++at[2])
        for (at[3] = 0; at[3] < extents[3]; ++at[3]) f(at);
}

/// The values of the tensors of an executing graph.
class graph_values {
 public:
  explicit graph_values(const descriptor& pack)
      : ids_(values<std::int64_t>(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS)),
        pointers_(values<void*>(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)) {}

  static std::vector<std::int64_t> extents(const descriptor& d) {
    return values<std::int64_t>(d, CUDNN_ATTR_TENSOR_DIMENSIONS);
  }
  static std::vector<std::int64_t> strides(const descriptor& d) {
    return values<std::int64_t>(d, CUDNN_ATTR_TENSOR_STRIDES);
  }

  /// Returns an element; an axis of extent 1 is repeated.
  double read(const descriptor& d, index at) {
    const auto size = extents(d);
    for (std::size_t k = 0; k < 4; ++k)
      if (size[k] == 1) at[k] = 0;
    if (is_virtual(d)) return between_.at(number(d)).at(offset(d, at));
    const auto* const data = static_cast<const unsigned char*>(address(d));
    switch (value<cudnnDataType_t>(d, CUDNN_ATTR_TENSOR_DATA_TYPE)) {
      case CUDNN_DATA_BFLOAT16:
        return static_cast<double>(at_offset<bf16>(data, offset(d, at)));
      case CUDNN_DATA_HALF:
        return static_cast<double>(at_offset<half>(data, offset(d, at)));
      default:
        return static_cast<double>(at_offset<float>(data, offset(d, at)));
    }
  }
  void write(const descriptor& d, const index& at, double x) {
    const auto type = value<cudnnDataType_t>(d, CUDNN_ATTR_TENSOR_DATA_TYPE);
    if (is_virtual(d)) {
      between_[number(d)][offset(d, at)] = type == CUDNN_DATA_BFLOAT16
                                               ? static_cast<double>(bf16(static_cast<float>(x)))
                                           : type == CUDNN_DATA_HALF ? static_cast<double>(half(static_cast<float>(x)))
                                                                     : x;
    } else if (type == CUDNN_DATA_BFLOAT16) {
      put(d, at, bf16(static_cast<float>(x)));
    } else if (type == CUDNN_DATA_HALF) {
      put(d, at, half(static_cast<float>(x)));
    } else {
      put(d, at, static_cast<float>(x));
    }
  }

  /// Returns whether the tensor, if it needs an address, has an aligned one.
  bool has_place(const descriptor& d) const {
    if (is_virtual(d)) return true;
    const auto at = std::find(ids_.begin(), ids_.end(), number(d));
    if (at == ids_.end()) return false;
    const auto alignment = value<std::int64_t>(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
    return address(d) != nullptr &&
           reinterpret_cast<std::uintptr_t>(address(d)) % static_cast<std::uintptr_t>(alignment) == 0;
  }

 private:
  static std::int64_t number(const descriptor& d) { return value<std::int64_t>(d, CUDNN_ATTR_TENSOR_UNIQUE_ID); }
  static bool is_virtual(const descriptor& d) {
    return d.attributes.count(CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0 &&
           d.attributes.at(CUDNN_ATTR_TENSOR_IS_VIRTUAL).bytes.at(0) != 0;
  }
  static std::size_t offset(const descriptor& d, const index& at) {
    const auto by = strides(d);
    return static_cast<std::size_t>(at[0] * by[0] + at[1] * by[1] + at[2] * by[2] + at[3] * by[3]);
  }
  void* address(const descriptor& d) const {
    return pointers_.at(static_cast<std::size_t>(std::find(ids_.begin(), ids_.end(), number(d)) - ids_.begin()));
  }
  template <class T> static T at_offset(const unsigned char* data, std::size_t element) {
    T result;
    std::memcpy(&result, data + element * sizeof(T), sizeof(T));
    return result;
  }
  template <class T> void put(const descriptor& d, const index& at, T x) const {
    std::memcpy(static_cast<unsigned char*>(address(d)) + offset(d, at) * sizeof(T), &x, sizeof(T));
  }

  std::vector<std::int64_t> ids_;
  std::vector<void*> pointers_;
  std::map<std::int64_t, std::map<std::size_t, double>> between_;
};

double apply(cudnnPointwiseMode_t mode, double x, double b, double t) {
  switch (mode) {
    case CUDNN_POINTWISE_ADD:
      return x + b;
    case CUDNN_POINTWISE_SUB:
      return x - b;
    case CUDNN_POINTWISE_MUL:
      return x * b;
    case CUDNN_POINTWISE_DIV:
      return x / b;
    case CUDNN_POINTWISE_EXP:
      return std::exp(x);
    case CUDNN_POINTWISE_LOG:
      return std::log(x);
    case CUDNN_POINTWISE_CMP_GE:
      return x >= b ? 1 : 0;
    default:
      return t != 0 ? x : b;  // BINARY_SELECT
  }
}

/// Returns the tensors of an operation: the result, then the operands.
std::vector<const descriptor*> tensors_of(const descriptor& operation) {
  std::vector<const descriptor*> all;
  for (const auto name :
       {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, CUDNN_ATTR_OPERATION_MATMUL_CDESC,
        CUDNN_ATTR_OPERATION_RESHAPE_YDESC, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_ATTR_OPERATION_REDUCTION_XDESC,
        CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
        CUDNN_ATTR_OPERATION_MATMUL_BDESC, CUDNN_ATTR_OPERATION_POINTWISE_TDESC})
    if (operation.attributes.count(name) != 0) all.push_back(&part(operation, name));
  return all;
}

/// Checks the extents of an operation's tensors, as cuDNN does when the operation is finalised.
bool graph_operation_fits(const descriptor& operation) {
  const auto tensors = tensors_of(operation);
  const auto y = graph_values::extents(*tensors[0]), x = graph_values::extents(*tensors[1]);
  if (operation.type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR) {
    const auto b = graph_values::extents(*tensors[2]);
    return y[0] == x[0] && y[1] == x[1] && y[2] == x[2] && x[3] == b[2] && y[3] == b[3] && y[0] == b[0] && y[1] == b[1];
  }
  if (operation.type == CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR) {  // shares the memory, transposed
    const auto by = graph_values::strides(*tensors[0]), from = graph_values::strides(*tensors[1]);
    return y[2] == x[3] && y[3] == x[2] && by[2] == from[3] && by[3] == from[2];
  }
  for (const descriptor* d : tensors)
    for (std::size_t k = 0; k < 4; ++k) {
      const std::int64_t extent = graph_values::extents(*d)[k], whole = std::max(x[k], y[k]);
      if (extent != whole && extent != 1) return false;
    }
  return true;
}

void compute(const descriptor& operation, graph_values& all) {
  const auto tensors = tensors_of(operation);
  const descriptor &y = *tensors[0], &x = *tensors[1];
  const auto extents = graph_values::extents(y);
  if (operation.type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR) {
    const std::int64_t depth = graph_values::extents(x)[3];
    for_each_element(extents, [&](const index& at) {
      double sum = 0;
      for (std::int64_t k = 0; k < depth; ++k)
        sum += all.read(x, {at[0], at[1], at[2], k}) * all.read(*tensors[2], {at[0], at[1], k, at[3]});
      all.write(y, at, sum);
    });
  } else if (operation.type == CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR) {
    for_each_element(extents, [&](const index& at) { all.write(y, at, all.read(x, {at[0], at[1], at[3], at[2]})); });
  } else if (operation.type == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR) {
    const auto op = value<cudnnReduceTensorOp_t>(part(operation, CUDNN_ATTR_OPERATION_REDUCTION_DESC),
                                                 CUDNN_ATTR_REDUCTION_OPERATOR);
    const std::int64_t count = graph_values::extents(x)[3];
    for_each_element(extents, [&](const index& at) {
      double result = op == CUDNN_REDUCE_TENSOR_MAX ? all.read(x, {at[0], at[1], at[2], 0}) : 0;
      for (std::int64_t k = 0; k < count; ++k) {
        const double next = all.read(x, {at[0], at[1], at[2], k});
        result = op == CUDNN_REDUCE_TENSOR_MAX ? std::max(result, next) : result + next;
      }
      all.write(y, at, result);
    });
  } else {
    const descriptor& how = part(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    const auto mode = value<cudnnPointwiseMode_t>(how, CUDNN_ATTR_POINTWISE_MODE);
    for_each_element(extents, [&](const index& at) {
      if (mode == CUDNN_POINTWISE_GEN_INDEX)
        return all.write(
            y, at,
            static_cast<double>(at.at(static_cast<std::size_t>(value<std::int64_t>(how, CUDNN_ATTR_POINTWISE_AXIS)))));
      all.write(y, at,
                apply(mode, all.read(x, at), tensors.size() > 2 ? all.read(*tensors[2], at) : 0,
                      tensors.size() > 3 ? all.read(*tensors[3], at) : 0));
    });
  }
}
