// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/mock_cudnn/mock_cudnn.hpp"
#include "support/mock_cuda/mock_cuda.hpp"
#include "support/mock_cuda/planned_failures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include <devplace/tensor/dtype.hpp>

namespace devplace::test::mock_cudnn {

namespace {

using attribute_name = cudnnBackendAttributeName_t;

struct attribute {
  cudnnBackendAttributeType_t type;
  std::vector<unsigned char> bytes;
};

struct descriptor {
  cudnnBackendDescriptorType_t type;
  bool final = false;
  std::map<attribute_name, attribute> attributes{};
  // Of engines and their configurations, which the library describes:
  cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
  int engine = 0;
  const descriptor* graph = nullptr;
};

struct library {
  std::vector<std::unique_ptr<cudaStream_t>> handles;  ///< a handle points to its stream
  std::map<const void*, std::unique_ptr<descriptor>> descriptors;
  std::map<cudnnBackendHeurMode_t, std::vector<engine>> engines{{CUDNN_HEUR_MODE_A, {engine{{}, 0, true}}}};
  planned_failures<cudnnStatus_t> failures;
  std::vector<std::string> calls;
  std::vector<execution> convolutions, graphs;
  std::string last_error;
};

library& of_process() {
  static library& one = *new library;
  return one;
}

cudnnStatus_t begin(const std::string& function) {
  of_process().calls.push_back(function);
  return of_process().failures.next(function);
}

cudnnStatus_t refuse(cudnnStatus_t status, const std::string& why) {
  of_process().last_error = why;
  return status;
}

/// An attribute that a descriptor may have, with the number of its elements; 0: any. Without those that are not
/// optional, a descriptor is not finalised.
struct rule {
  attribute_name name;
  cudnnBackendAttributeType_t type = CUDNN_TYPE_BACKEND_DESCRIPTOR;
  std::size_t count = 1;
  bool optional = false;
};

/// Returns the rules of a convolution or of its gradients, which have attributes with consecutive numbers.
std::vector<rule> rules_of_convolution(attribute_name alpha) {
  std::vector<rule> rules;
  for (const int part : {0, 1, 2, 5, 4, 3})  // alpha, beta, the windows, y, x, weight
    rules.push_back(
        {static_cast<attribute_name>(alpha + part), part < 2 ? CUDNN_TYPE_FLOAT : CUDNN_TYPE_BACKEND_DESCRIPTOR});
  return rules;
}

/// Returns a descriptor's rules; none for those that the library describes. An operation's result comes before the
/// operands.
const std::vector<rule>& rules_of(cudnnBackendDescriptorType_t type) {
  // Never destroyed, because work may execute when CUDA's devices are queried at exit.
  static auto& all = *new std::map<cudnnBackendDescriptorType_t, std::vector<rule>>{
      {CUDNN_BACKEND_TENSOR_DESCRIPTOR,
       {{CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE},
        {CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4},
        {CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4},
        {CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64},
        {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64},
        {CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, true},
        {CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, true}}},
      {CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
       {{CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE},
        {CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE},
        {CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, true}}},
      {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR},
        {CUDNN_ATTR_OPERATION_POINTWISE_YDESC},
        {CUDNN_ATTR_OPERATION_POINTWISE_XDESC},
        {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true},
        {CUDNN_ATTR_OPERATION_POINTWISE_TDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true}}},
      {CUDNN_BACKEND_REDUCTION_DESCRIPTOR,
       {{CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE},
        {CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE}}},
      {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_REDUCTION_DESC},
        {CUDNN_ATTR_OPERATION_REDUCTION_YDESC},
        {CUDNN_ATTR_OPERATION_REDUCTION_XDESC}}},
      {CUDNN_BACKEND_MATMUL_DESCRIPTOR, {{CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE}}},
      {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_MATMUL_DESC},
        {CUDNN_ATTR_OPERATION_MATMUL_CDESC},
        {CUDNN_ATTR_OPERATION_MATMUL_ADESC},
        {CUDNN_ATTR_OPERATION_MATMUL_BDESC}}},
      {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_RESHAPE_YDESC}, {CUDNN_ATTR_OPERATION_RESHAPE_XDESC}}},
      {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
       {{CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE},
        {CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE},
        {CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64},
        {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2},
        {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2},
        {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2},
        {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2}}},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
       rules_of_convolution(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA)},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
       rules_of_convolution(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA)},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
       rules_of_convolution(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA)},
      {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE},
        {CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0}}},
      {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
       {{CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH}, {CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE}}},
      {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
       {{CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE}, {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG}}},
      {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
       {{CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 0},
        {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 0},
        {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR}}}};
  return all[type];
}

std::size_t size_of(cudnnBackendAttributeType_t type) {
  constexpr std::array of_8_bytes{CUDNN_TYPE_INT64, CUDNN_TYPE_DOUBLE, CUDNN_TYPE_HANDLE, CUDNN_TYPE_VOID_PTR,
                                  CUDNN_TYPE_BACKEND_DESCRIPTOR};
  if (type == CUDNN_TYPE_BOOLEAN) return 1;
  return std::find(of_8_bytes.begin(), of_8_bytes.end(), type) == of_8_bytes.end() ? 4 : 8;
}

descriptor* find(const void* handle) {
  const auto found = of_process().descriptors.find(handle);
  return found == of_process().descriptors.end() ? nullptr : found->second.get();
}

template <class T> std::vector<T> values(const descriptor& d, attribute_name name) {
  const std::vector<unsigned char>& bytes = d.attributes.at(name).bytes;
  std::vector<T> result(bytes.size() / sizeof(T));
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}
template <class T> T value(const descriptor& d, attribute_name name) { return values<T>(d, name).at(0); }
const descriptor& part(const descriptor& d, attribute_name name) { return *find(value<void*>(d, name)); }

bool is_convolution(const descriptor& d) {
  return d.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR ||
         d.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR ||
         d.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR;
}

/// Returns factor 0, alpha, or 1, beta, of a convolution.
double factor(const descriptor& convolution, std::size_t which) {
  const attribute_name name = rules_of(convolution.type)[which].name;
  return convolution.attributes.at(name).type == CUDNN_TYPE_DOUBLE
             ? value<double>(convolution, name)
             : static_cast<double>(value<float>(convolution, name));
}
const descriptor& windows_of(const descriptor& convolution) {
  return part(convolution, rules_of(convolution.type)[2].name);
}

/// Returns the tensors of an operation: the result, then the operands; of a convolution and its gradients y, x and the
/// weight. None if the descriptor is no operation.
std::vector<const descriptor*> tensors_of(const descriptor& operation) {
  std::vector<const descriptor*> all;
  for (const rule& r : rules_of(operation.type))
    if (r.type == CUDNN_TYPE_BACKEND_DESCRIPTOR && operation.attributes.count(r.name) != 0)
      if (const descriptor& d = part(operation, r.name); d.type == CUDNN_BACKEND_TENSOR_DESCRIPTOR) all.push_back(&d);
  return all;
}

using numbers = std::vector<std::int64_t>;
using index = std::array<std::int64_t, 4>;

numbers extents_of(const descriptor& tensor) { return values<std::int64_t>(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS); }
numbers strides_of(const descriptor& tensor) { return values<std::int64_t>(tensor, CUDNN_ATTR_TENSOR_STRIDES); }

bool fits_convolution(const descriptor& windows, const numbers& y, const numbers& x, const numbers& w) {
  const auto pre = values<std::int64_t>(windows, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  const auto post = values<std::int64_t>(windows, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  const auto stride = values<std::int64_t>(windows, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  const auto dilation = values<std::int64_t>(windows, CUDNN_ATTR_CONVOLUTION_DILATIONS);
  bool right = x[0] == y[0] && x[1] % w[1] == 0 && y[1] == w[0] && w[0] % (x[1] / w[1]) == 0 &&
               value<std::int64_t>(windows, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS) == 2 &&
               value<cudnnConvolutionMode_t>(windows, CUDNN_ATTR_CONVOLUTION_CONV_MODE) == CUDNN_CROSS_CORRELATION;
  for (std::size_t k = 0; k < 2; ++k)
    right = right && y[k + 2] == (x[k + 2] + pre[k] + post[k] - dilation[k] * (w[k + 2] - 1) - 1) / stride[k] + 1;
  return right;
}

/// Checks the extents of an operation's tensors, as cuDNN does when the operation is finalised.
bool fits(const descriptor& operation) {
  const auto tensors = tensors_of(operation);
  if (tensors.empty()) return true;
  const numbers y = extents_of(*tensors[0]), x = extents_of(*tensors[1]);
  if (is_convolution(operation)) return fits_convolution(windows_of(operation), y, x, extents_of(*tensors[2]));
  if (operation.type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR) {
    const numbers b = extents_of(*tensors[2]);
    return y[0] == x[0] && y[1] == x[1] && y[2] == x[2] && x[3] == b[2] && y[3] == b[3] && y[0] == b[0] && y[1] == b[1];
  }
  if (operation.type == CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR) {  // shares the memory, transposed
    const numbers by = strides_of(*tensors[0]), from = strides_of(*tensors[1]);
    return y[2] == x[3] && y[3] == x[2] && by[2] == from[3] && by[3] == from[2];
  }
  for (const descriptor* d : tensors)
    for (std::size_t k = 0; k < 4; ++k)
      if (const std::int64_t extent = extents_of(*d)[k]; extent != 1 && extent != std::max(x[k], y[k])) return false;
  return true;
}

/// Returns whether there are engines for an operation: those of convolutions have tensors of one type, and sum products
/// in this type or in float.
bool is_supported(const descriptor& operation) {
  if (!is_convolution(operation)) return true;
  const auto type_of = [](const descriptor* d) { return value<cudnnDataType_t>(*d, CUDNN_ATTR_TENSOR_DATA_TYPE); };
  const auto tensors = tensors_of(operation);
  const cudnnDataType_t type = type_of(tensors[0]);
  return type_of(tensors[1]) == type && type_of(tensors[2]) == type &&
         value<cudnnDataType_t>(windows_of(operation), CUDNN_ATTR_CONVOLUTION_COMP_TYPE) ==
             (type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
}

/// Calls f(index) for all elements.
template <class F> void for_each_element(const numbers& extents, const F& f) {
  index at{};
  for (at[0] = 0; at[0] < extents[0]; ++at[0])
    for (at[1] = 0; at[1] < extents[1]; ++at[1])
      for (at[2] = 0; at[2] < extents[2]; ++at[2])
        for (at[3] = 0; at[3] < extents[3]; ++at[3]) f(at);
}

/// The memory of virtual tensors, by their numbers.
using virtual_memory = std::map<std::int64_t, std::vector<double>>;

/// A tensor of an executing operation, in memory that the pack of addresses names, or virtual.
class tensor {
 public:
  numbers extents, strides;

  tensor(const descriptor& d, const descriptor& pack, virtual_memory& between)
      : extents(extents_of(d)),
        strides(strides_of(d)),
        type_(value<cudnnDataType_t>(d, CUDNN_ATTR_TENSOR_DATA_TYPE)),
        alignment_(value<std::int64_t>(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT)) {
    const auto id = value<std::int64_t>(d, CUDNN_ATTR_TENSOR_UNIQUE_ID);
    const auto ids = values<std::int64_t>(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const auto at = static_cast<std::size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin());
    if (d.attributes.count(CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0 &&
        value<unsigned char>(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0) {
      between[id].resize(size());
      data_ = reinterpret_cast<unsigned char*>(between[id].data());
    } else if (at != ids.size()) {
      data_ = values<unsigned char*>(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).at(at);
    }
  }

  bool has_aligned_address() const {
    return data_ != nullptr && reinterpret_cast<std::uintptr_t>(data_) % static_cast<std::uintptr_t>(alignment_) == 0;
  }
  /// Returns the number of elements in memory.
  std::size_t size() const { return offset({extents[0] - 1, extents[1] - 1, extents[2] - 1, extents[3] - 1}) + 1; }
  std::size_t offset(const index& at) const {
    return static_cast<std::size_t>(at[0] * strides[0] + at[1] * strides[1] + at[2] * strides[2] + at[3] * strides[3]);
  }
  /// Returns an element; an axis of extent 1 is repeated.
  double read(index at) const {
    for (std::size_t k = 0; k < 4; ++k)
      if (extents[k] == 1) at[k] = 0;
    return with_type([&](auto x) {
      std::memcpy(&x, data_ + offset(at) * sizeof x, sizeof x);
      return static_cast<double>(x);
    });
  }
  void write(const index& at, double result) const {
    with_type([&](auto x) {
      x = static_cast<decltype(x)>(static_cast<devplace::detail::computed_t<decltype(x)>>(result));
      std::memcpy(data_ + offset(at) * sizeof x, &x, sizeof x);
    });
  }

 private:
  /// Calls f with a value of the element type. Virtual tensors of other types contain floats.
  template <class F> auto with_type(const F& f) const -> decltype(f(float{})) {
    return type_ == CUDNN_DATA_DOUBLE     ? f(double{})
           : type_ == CUDNN_DATA_BFLOAT16 ? f(bf16{})
           : type_ == CUDNN_DATA_HALF     ? f(half{})
                                          : f(float{});
  }

  cudnnDataType_t type_;
  std::int64_t alignment_;
  unsigned char* data_ = nullptr;
};

/// Computes a convolution or one of its gradients.
void convolve(const descriptor& operation, const tensor& y, const tensor& x, const tensor& w) {
  const descriptor& windows = windows_of(operation);
  const auto padding = values<std::int64_t>(windows, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  const auto stride = values<std::int64_t>(windows, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  const auto dilation = values<std::int64_t>(windows, CUDNN_ATTR_CONVOLUTION_DILATIONS);
  const bool forward = operation.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
  const bool back = operation.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR;
  const tensor& result = forward ? y : back ? x : w;
  std::vector<double> sums(result.size());
  const std::int64_t channels = w.extents[1], outputs_of_group = w.extents[0] / (x.extents[1] / channels);
  for_each_element(y.extents, [&](const index& out) {
    for_each_element({1, channels, w.extents[2], w.extents[3]}, [&](const index& of_output) {
      const index by{out[1], of_output[1], of_output[2], of_output[3]};
      const index in{out[0], out[1] / outputs_of_group * channels + by[1],
                     out[2] * stride[0] + by[2] * dilation[0] - padding[0],
                     out[3] * stride[1] + by[3] * dilation[1] - padding[1]};
      if (in[2] < 0 || in[3] < 0 || in[2] >= x.extents[2] || in[3] >= x.extents[3]) return;
      const index& to = forward ? out : back ? in : by;
      sums[result.offset(to)] += (forward ? x.read(in) : y.read(out)) * (forward || back ? w.read(by) : x.read(in));
    });
  });
  const double alpha = factor(operation, 0), beta = factor(operation, 1);
  for_each_element(result.extents, [&](const index& at) {
    result.write(at, alpha * sums[result.offset(at)] + (beta == 0 ? 0. : beta * result.read(at)));
  });
}

double apply(cudnnPointwiseMode_t mode, double x, double b, double t) {
  return mode == CUDNN_POINTWISE_ADD      ? x + b
         : mode == CUDNN_POINTWISE_SUB    ? x - b
         : mode == CUDNN_POINTWISE_MUL    ? x * b
         : mode == CUDNN_POINTWISE_DIV    ? x / b
         : mode == CUDNN_POINTWISE_EXP    ? std::exp(x)
         : mode == CUDNN_POINTWISE_LOG    ? std::log(x)
         : mode == CUDNN_POINTWISE_CMP_GE ? static_cast<double>(x >= b)
                                          : (t != 0 ? x : b);  // BINARY_SELECT
}

/// Computes an operation in double and rounds the result to its tensor's type.
void compute(const descriptor& operation, const std::vector<tensor>& tensors) {
  const tensor &y = tensors[0], &x = tensors[1];
  if (is_convolution(operation)) return convolve(operation, y, x, tensors[2]);
  if (operation.type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR)
    return for_each_element(y.extents, [&](const index& at) {
      double sum = 0;
      for (std::int64_t k = 0; k < x.extents[3]; ++k)
        sum += x.read({at[0], at[1], at[2], k}) * tensors[2].read({at[0], at[1], k, at[3]});
      y.write(at, sum);
    });
  if (operation.type == CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR)
    return for_each_element(y.extents, [&](const index& at) { y.write(at, x.read({at[0], at[1], at[3], at[2]})); });
  if (operation.type == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR) {
    const bool maximum = value<cudnnReduceTensorOp_t>(part(operation, CUDNN_ATTR_OPERATION_REDUCTION_DESC),
                                                      CUDNN_ATTR_REDUCTION_OPERATOR) == CUDNN_REDUCE_TENSOR_MAX;
    return for_each_element(y.extents, [&](const index& at) {
      double result = x.read(at);
      for (std::int64_t k = 1; k < x.extents[3]; ++k) {
        const double next = x.read({at[0], at[1], at[2], k});
        result = maximum ? std::max(result, next) : result + next;
      }
      y.write(at, result);
    });
  }
  const descriptor& how = part(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  const auto mode = value<cudnnPointwiseMode_t>(how, CUDNN_ATTR_POINTWISE_MODE);
  const auto axis = mode == CUDNN_POINTWISE_GEN_INDEX
                        ? static_cast<std::size_t>(value<std::int64_t>(how, CUDNN_ATTR_POINTWISE_AXIS))
                        : 0;
  for_each_element(y.extents, [&](const index& at) {
    const auto operand = [&](std::size_t k) { return k < tensors.size() ? tensors[k].read(at) : 0; };
    y.write(at, mode == CUDNN_POINTWISE_GEN_INDEX ? static_cast<double>(at.at(axis))
                                                  : apply(mode, operand(1), operand(2), operand(3)));
  });
}

const engine& engine_of(const descriptor& d) {
  return of_process().engines[d.mode].at(static_cast<std::size_t>(d.engine));
}

}  // namespace

void offer(cudnnBackendHeurMode_t mode, std::vector<engine> engines) {
  of_process().engines[mode] = std::move(engines);
}
void fail(const std::string& function, cudnnStatus_t status, int nth) {
  of_process().failures.plan(function, status, nth);
}
void set_last_error(const std::string& text) { of_process().last_error = text; }
const std::vector<std::string>& calls() { return of_process().calls; }
void clear_calls() { of_process().calls.clear(); }
const std::vector<execution>& convolutions() { return of_process().convolutions; }
const std::vector<execution>& graphs() { return of_process().graphs; }
std::size_t live_handles() { return of_process().handles.size(); }
std::size_t live_descriptors() { return of_process().descriptors.size(); }

extern "C" {

const char* cudnnGetErrorString(cudnnStatus_t status) {
  return status == CUDNN_STATUS_BAD_PARAM          ? "CUDNN_STATUS_BAD_PARAM"
         : status == CUDNN_STATUS_EXECUTION_FAILED ? "CUDNN_STATUS_EXECUTION_FAILED"
                                                   : "a status of the mock";
}

void cudnnGetLastErrorString(char* message, std::size_t size) {
  message[of_process().last_error.copy(message, size - 1)] = '\0';
}

std::size_t cudnnGetVersion(void) { return CUDNN_VERSION; }

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  const cudnnStatus_t status = begin("cudnnCreate");
  if (status != CUDNN_STATUS_SUCCESS) return status;
  of_process().handles.push_back(std::make_unique<cudaStream_t>());
  *handle = reinterpret_cast<cudnnHandle_t>(of_process().handles.back().get());
  return status;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  const cudnnStatus_t status = begin("cudnnSetStream");
  if (status == CUDNN_STATUS_SUCCESS) *reinterpret_cast<cudaStream_t*>(handle) = stream;
  return status;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* created) {
  const cudnnStatus_t status = begin("cudnnBackendCreateDescriptor");
  if (status != CUDNN_STATUS_SUCCESS) return status;
  auto mine = std::make_unique<descriptor>(descriptor{type});
  *created = mine.get();
  of_process().descriptors.emplace(*created, std::move(mine));
  return status;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t handle) {
  const cudnnStatus_t status = begin("cudnnBackendDestroyDescriptor");
  return of_process().descriptors.erase(handle) == 1 ? status : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t handle, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count, const void* elements) {
  const cudnnStatus_t status = begin("cudnnBackendSetAttribute");
  if (status != CUDNN_STATUS_SUCCESS) return status;
  descriptor* const d = find(handle);
  if (d == nullptr || d->final || elements == nullptr)
    return refuse(CUDNN_STATUS_BAD_PARAM, "the descriptor is finalised");
  const auto& rules = rules_of(d->type);
  const bool allowed = std::any_of(rules.begin(), rules.end(), [&](const rule& r) {
    const bool type_fits = r.type == type || (r.type == CUDNN_TYPE_FLOAT && type == CUDNN_TYPE_DOUBLE);
    return r.name == name && type_fits && (r.count == 0 || static_cast<std::int64_t>(r.count) == count);
  });
  if (!allowed) return refuse(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "no such attribute");
  for (std::int64_t k = 0; type == CUDNN_TYPE_BACKEND_DESCRIPTOR && k < count; ++k) {
    const descriptor* const other = find(static_cast<const cudnnBackendDescriptor_t*>(elements)[k]);
    if (other == nullptr || !other->final)
      return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "the attribute's descriptor is not finalised");
  }
  const auto* const bytes = static_cast<const unsigned char*>(elements);
  d->attributes[name] = {type, {bytes, bytes + static_cast<std::size_t>(count) * size_of(type)}};
  return status;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t handle) {
  const cudnnStatus_t status = begin("cudnnBackendFinalize");
  if (status != CUDNN_STATUS_SUCCESS) return status;
  descriptor* const d = find(handle);
  if (d == nullptr || d->final) return CUDNN_STATUS_BAD_PARAM;
  for (const rule& r : rules_of(d->type))
    if (!r.optional && d->attributes.count(r.name) == 0)
      return refuse(CUDNN_STATUS_BAD_PARAM, "an attribute is not set");
  if (!fits(*d)) return refuse(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "the extents do not match");
  if (d->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR && !is_supported(part(*d, CUDNN_ATTR_OPERATIONGRAPH_OPS)))
    return CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN;
  if (d->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR &&
      !engine_of(part(*d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)).supported)
    return CUDNN_STATUS_NOT_SUPPORTED_SHAPE;
  d->final = true;
  return status;
}

cudnnStatus_t cudnnBackendGetAttribute(const cudnnBackendDescriptor_t handle, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t requested, std::int64_t* count,
                                       void* elements) {
  const cudnnStatus_t status = begin("cudnnBackendGetAttribute");
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const descriptor* const d = find(handle);
  if (d == nullptr || !d->final) return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "not finalised");
  const auto reads = [&](cudnnBackendDescriptorType_t of, attribute_name its_name,
                         cudnnBackendAttributeType_t its_type) {
    return d->type == of && name == its_name && type == its_type;
  };
  if (reads(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR)) {
    const auto mode = value<cudnnBackendHeurMode_t>(*d, CUDNN_ATTR_ENGINEHEUR_MODE);
    const auto offered = static_cast<std::int64_t>(of_process().engines[mode].size());
    *count = requested == 0 ? offered : std::min(requested, offered);
    for (std::int64_t k = 0; k < std::min(requested, offered); ++k) {
      descriptor* const result = find(static_cast<cudnnBackendDescriptor_t*>(elements)[k]);
      if (result == nullptr || result->type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) return CUDNN_STATUS_BAD_PARAM;
      *result = {result->type, true, {}, mode, static_cast<int>(k), &part(*d, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)};
    }
    return status;
  }
  if (reads(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR) &&
      requested == 1) {
    descriptor* const result = find(*static_cast<cudnnBackendDescriptor_t*>(elements));
    if (result == nullptr || result->type != CUDNN_BACKEND_ENGINE_DESCRIPTOR) return CUDNN_STATUS_BAD_PARAM;
    *result = {result->type, true, {}, d->mode, d->engine, d->graph};
    *count = 1;
    return status;
  }
  if (reads(CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE)) {
    const auto& notes = engine_of(*d).notes;
    *count = static_cast<std::int64_t>(notes.size());
    std::copy_n(notes.begin(), std::min(requested, *count), static_cast<cudnnBackendNumericalNote_t*>(elements));
    return status;
  }
  if (reads(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64) &&
      requested == 1) {
    *count = 1;
    *static_cast<std::int64_t*>(elements) = engine_of(part(*d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)).workspace;
    return status;
  }
  return refuse(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "no such attribute");
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan_handle,
                                  cudnnBackendDescriptor_t pack_handle) {
  const cudnnStatus_t status = begin("cudnnBackendExecute");
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const descriptor *const plan = find(plan_handle), *const pack = find(pack_handle);
  if (plan == nullptr || pack == nullptr || !plan->final || !pack->final)
    return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "not finalised");
  const descriptor& configuration = part(*plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  const auto* const workspace = value<void*>(*pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  if (engine_of(configuration).workspace != 0 && workspace == nullptr)
    return refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "there is no workspace");
  const auto between = std::make_shared<virtual_memory>();
  std::vector<std::pair<const descriptor*, std::vector<tensor>>> operations;
  for (const void* each : values<void*>(*configuration.graph, CUDNN_ATTR_OPERATIONGRAPH_OPS)) {
    auto& [operation, tensors] = operations.emplace_back(find(each), std::vector<tensor>());
    for (const descriptor* d : tensors_of(*operation)) {
      tensors.emplace_back(*d, *pack, *between);
      if (!tensors.back().has_aligned_address())
        return refuse(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER, "no aligned pointer");
    }
  }
  const descriptor& first = *operations.front().first;
  const bool convolution = is_convolution(first);
  const cudaStream_t stream = *reinterpret_cast<cudaStream_t*>(handle);
  const auto work = [operations, between] {
    for (const auto& [operation, tensors] : operations) compute(*operation, tensors);
  };
  if (mock_cuda::launch_of_library("cudnnBackendExecute", stream, work) != cudaSuccess)
    return CUDNN_STATUS_EXECUTION_FAILED_CUDART;
  auto& executed = convolution ? of_process().convolutions : of_process().graphs;
  executed.push_back({value<cudnnDataType_t>(*tensors_of(first)[1], CUDNN_ATTR_TENSOR_DATA_TYPE), configuration.engine,
                      configuration.mode, convolution ? factor(first, 1) : 0, workspace, stream});
  return status;
}

}  // extern "C"

}  // namespace devplace::test::mock_cudnn
