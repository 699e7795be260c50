// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/mock_cudnn/mock_cudnn.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <devplace/tensor/dtype.hpp>

namespace devplace::test::mock_cudnn {

namespace {

struct attribute {
  cudnnBackendAttributeType_t type;
  std::vector<unsigned char> bytes;
};

struct descriptor {
  cudnnBackendDescriptorType_t type;
  bool final = false;
  std::map<cudnnBackendAttributeName_t, attribute> attributes;
  // For engines, their configurations, and plans.
  int engine = -1;
  cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
};

struct planned_failure {
  cudnnStatus_t status;
  int calls_left;
};

struct library {
  std::set<const void*> handles;
  std::map<const void*, std::unique_ptr<descriptor>> descriptors;
  std::map<const void*, cudaStream_t> streams;
  std::map<cudnnBackendHeurMode_t, std::vector<engine>> engines{{CUDNN_HEUR_MODE_A, {engine{{}, 0, true}}}};
  std::map<std::string, planned_failure> failures;
  std::vector<std::string> calls;
  std::vector<convolution> convolutions;
  std::vector<graph> graphs;
  std::string last_error;
};

library& of_process() {
  static library& one = *new library;
  return one;
}

cudnnStatus_t begin(const std::string& function) {
  library& l = of_process();
  l.calls.push_back(function);
  const auto planned = l.failures.find(function);
  if (planned == l.failures.end() || --planned->second.calls_left != 0) return CUDNN_STATUS_SUCCESS;
  const cudnnStatus_t status = planned->second.status;
  l.failures.erase(planned);
  return status;
}

std::size_t size_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return 8;
    case CUDNN_TYPE_BOOLEAN:
      return 1;
    default:
      return 4;
  }
}

/// The attributes that a descriptor needs before it is finalised: type and number of elements, 0 for any number. Some
/// attributes are optional.
struct rule {
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  std::size_t count;
  bool optional = false;
};
std::vector<rule> rules_of(cudnnBackendDescriptorType_t type) {
  const auto operation = [](int first) {
    const auto at = [first](int k) { return static_cast<cudnnBackendAttributeName_t>(first + k); };
    // A factor may be float or double.
    return std::vector<rule>{{at(0), CUDNN_TYPE_FLOAT, 1},
                             {at(1), CUDNN_TYPE_FLOAT, 1},
                             {at(2), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1},
                             {at(3), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1},
                             {at(4), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1},
                             {at(5), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1}};
  };
  switch (type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
      return {{CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1},
              {CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4},
              {CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4},
              {CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1},
              {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1},
              {CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, true},
              {CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, true}};
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
      return {{CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1},
              {CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1},
              {CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, true}};
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
      return {{CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1},
              {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1},
              {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1},
              {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true},
              {CUDNN_ATTR_OPERATION_POINTWISE_TDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true}};
    case CUDNN_BACKEND_REDUCTION_DESCRIPTOR:
      return {{CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1},
              {CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1}};
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
      return {{CUDNN_ATTR_OPERATION_REDUCTION_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1},
              {CUDNN_ATTR_OPERATION_REDUCTION_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1},
              {CUDNN_ATTR_OPERATION_REDUCTION_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1}};
    case CUDNN_BACKEND_MATMUL_DESCRIPTOR:
      return {{CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1}};
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      return {{CUDNN_ATTR_OPERATION_MATMUL_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1},
              {CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1},
              {CUDNN_ATTR_OPERATION_MATMUL_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1},
              {CUDNN_ATTR_OPERATION_MATMUL_CDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1}};
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
      return {{CUDNN_ATTR_OPERATION_RESHAPE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1},
              {CUDNN_ATTR_OPERATION_RESHAPE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1}};
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
      return {{CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1},
              {CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1},
              {CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1},
              {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2},
              {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2},
              {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2},
              {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2}};
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
      return operation(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
      return operation(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
      return operation(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA);
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      return {{CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1},
              {CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0}};
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      return {{CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1},
              {CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1}};
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      return {{CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1},
              {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1}};
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      return {{CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 0},
              {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 0},
              {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1}};
    default:
      return {};  // filled by the library
  }
}

cudnnStatus_t refuse(cudnnStatus_t status, const std::string& why) {
  of_process().last_error = why;
  return status;
}

descriptor* find(const void* handle) {
  const auto found = of_process().descriptors.find(handle);
  return found == of_process().descriptors.end() ? nullptr : found->second.get();
}

template <class T> std::vector<T> values(const descriptor& d, cudnnBackendAttributeName_t name) {
  const std::vector<unsigned char>& bytes = d.attributes.at(name).bytes;
  std::vector<T> result(bytes.size() / sizeof(T));
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}
template <class T> T value(const descriptor& d, cudnnBackendAttributeName_t name) { return values<T>(d, name).at(0); }
const descriptor& part(const descriptor& d, cudnnBackendAttributeName_t name) { return *find(value<void*>(d, name)); }

double factor(const descriptor& operation, cudnnBackendAttributeName_t name) {
  return operation.attributes.at(name).type == CUDNN_TYPE_DOUBLE ? value<double>(operation, name)
                                                                 : static_cast<double>(value<float>(operation, name));
}

/// The attributes of an operation. The attributes of each kind of operation have consecutive numbers.
struct names {
  cudnnBackendAttributeName_t x, weight, y, windows, alpha, beta;
};
names names_of(cudnnBackendDescriptorType_t operation) {
  if (operation == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR)
    return {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
  if (operation == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR)
    return {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
  return {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
}

bool is_operation(cudnnBackendDescriptorType_t type) {
  return type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR ||
         type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR ||
         type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR;
}

/// Checks the extents of an operation's tensors, as cuDNN does when the operation is finalised.
bool fits(const descriptor& operation) {
  const names of = names_of(operation.type);
  const auto extents = [&](cudnnBackendAttributeName_t name) {
    return values<std::int64_t>(part(operation, name), CUDNN_ATTR_TENSOR_DIMENSIONS);
  };
  const auto x = extents(of.x), w = extents(of.weight), y = extents(of.y);
  const descriptor& windows = part(operation, of.windows);
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

/// Returns whether there are engines for an operation: tensors have one type, and products are summed in it or in
/// float.
bool is_supported(const descriptor& operation) {
  const names of = names_of(operation.type);
  const auto type_of = [&](cudnnBackendAttributeName_t name) {
    return value<cudnnDataType_t>(part(operation, name), CUDNN_ATTR_TENSOR_DATA_TYPE);
  };
  const cudnnDataType_t type = type_of(of.x);
  return type_of(of.weight) == type && type_of(of.y) == type &&
         value<cudnnDataType_t>(part(operation, of.windows), CUDNN_ATTR_CONVOLUTION_COMP_TYPE) ==
             (type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
}

/// A tensor of the operation and the data of its number in the variant pack.
template <class T> struct tensor {
  std::vector<std::int64_t> extents, strides;
  T* data;

  tensor(const descriptor& d, const descriptor& pack)
      : extents(values<std::int64_t>(d, CUDNN_ATTR_TENSOR_DIMENSIONS)),
        strides(values<std::int64_t>(d, CUDNN_ATTR_TENSOR_STRIDES)) {
    const auto ids = values<std::int64_t>(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const auto pointers = values<void*>(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    const auto at = std::find(ids.begin(), ids.end(), value<std::int64_t>(d, CUDNN_ATTR_TENSOR_UNIQUE_ID));
    data = static_cast<T*>(pointers.at(static_cast<std::size_t>(at - ids.begin())));
  }
  std::size_t offset(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) const {
    return static_cast<std::size_t>(a * strides[0] + b * strides[1] + c * strides[2] + d * strides[3]);
  }
  std::size_t size() const { return static_cast<std::size_t>(extents[0] * strides[0]); }
};

/// Computes an operation by its attributes.
template <class T> void compute(const descriptor& operation, const descriptor& pack) {
  const names of = names_of(operation.type);
  const tensor<T> x(part(operation, of.x), pack), w(part(operation, of.weight), pack), y(part(operation, of.y), pack);
  const descriptor& windows = part(operation, of.windows);
  const auto padding = values<std::int64_t>(windows, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  const auto stride = values<std::int64_t>(windows, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  const auto dilation = values<std::int64_t>(windows, CUDNN_ATTR_CONVOLUTION_DILATIONS);
  const bool forward = operation.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
  const bool back = operation.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR;
  const tensor<T>& result = forward ? y : back ? x : w;
  std::vector<double> sums(result.size());
  const std::int64_t outputs_of_group = w.extents[0] / (x.extents[1] / w.extents[1]);
  for (std::int64_t n = 0; n < y.extents[0]; ++n)
    for (std::int64_t k = 0; k < y.extents[1]; ++k)
      for (std::int64_t p = 0; p < y.extents[2]; ++p)
        for (std::int64_t q = 0; q < y.extents[3]; ++q)
          for (std::int64_t c = 0; c < w.extents[1]; ++c)
            for (std::int64_t r = 0; r < w.extents[2]; ++r)
              for (std::int64_t s = 0; s < w.extents[3]; ++s) {
                const std::int64_t h = p * stride[0] + r * dilation[0] - padding[0];
                const std::int64_t v = q * stride[1] + s * dilation[1] - padding[1];
                if (h < 0 || v < 0 || h >= x.extents[2] || v >= x.extents[3]) continue;
                const std::size_t in = x.offset(n, k / outputs_of_group * w.extents[1] + c, h, v);
                const std::size_t by = w.offset(k, c, r, s), out = y.offset(n, k, p, q);
                if (forward)
                  sums[out] += static_cast<double>(x.data[in]) * static_cast<double>(w.data[by]);
                else if (back)
                  sums[in] += static_cast<double>(y.data[out]) * static_cast<double>(w.data[by]);
                else
                  sums[by] += static_cast<double>(y.data[out]) * static_cast<double>(x.data[in]);
              }
  const double alpha = factor(operation, of.alpha), beta = factor(operation, of.beta);
  for (std::size_t i = 0; i < sums.size(); ++i)
    result.data[i] = static_cast<T>(static_cast<devplace::detail::computed_t<T>>(
        alpha * sums[i] + (beta == 0 ? 0. : beta * static_cast<double>(result.data[i]))));
}

#include "support/mock_cudnn/graph_body.hpp"

/// Returns the first operation of an operation graph, at the end of the chain that leads to it.
const descriptor& operation_of(const descriptor& configuration_or_graph) {
  return part(configuration_or_graph, CUDNN_ATTR_OPERATIONGRAPH_OPS);
}

const std::vector<engine>& engines_of(cudnnBackendHeurMode_t mode) { return of_process().engines[mode]; }

void keep(descriptor& d, cudnnBackendAttributeName_t name, const void* pointer) {
  attribute& a = d.attributes[name];
  a.type = CUDNN_TYPE_BACKEND_DESCRIPTOR;
  a.bytes.resize(sizeof pointer);
  std::memcpy(a.bytes.data(), &pointer, sizeof pointer);
}

}  // namespace

void offer(cudnnBackendHeurMode_t mode, std::vector<engine> engines) {
  of_process().engines[mode] = std::move(engines);
}
void fail(const std::string& function, cudnnStatus_t status, int nth) {
  of_process().failures[function] = {status, nth};
}
void set_last_error(const std::string& text) { of_process().last_error = text; }
const std::vector<std::string>& calls() { return of_process().calls; }
void clear_calls() { of_process().calls.clear(); }
const std::vector<convolution>& convolutions() { return of_process().convolutions; }
const std::vector<graph>& graphs() { return of_process().graphs; }
std::size_t live_handles() { return of_process().handles.size(); }
std::size_t live_descriptors() { return of_process().descriptors.size(); }

}  // namespace devplace::test::mock_cudnn

namespace mock = devplace::test::mock_cudnn;

extern "C" {

const char* cudnnGetErrorString(cudnnStatus_t status) {
  return status == CUDNN_STATUS_BAD_PARAM          ? "CUDNN_STATUS_BAD_PARAM"
         : status == CUDNN_STATUS_EXECUTION_FAILED ? "CUDNN_STATUS_EXECUTION_FAILED"
                                                   : "a status of the mock";
}

void cudnnGetLastErrorString(char* message, std::size_t size) {
  const std::string& text = mock::of_process().last_error;
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(message, text.data(), length);
  message[length] = '\0';
}

std::size_t cudnnGetVersion(void) { return CUDNN_VERSION; }

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  const cudnnStatus_t status = mock::begin("cudnnCreate");
  if (status != CUDNN_STATUS_SUCCESS) return status;
  *handle = reinterpret_cast<cudnnHandle_t>(new int);
  mock::of_process().handles.insert(*handle);
  return status;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  const cudnnStatus_t status = mock::begin("cudnnSetStream");
  if (status == CUDNN_STATUS_SUCCESS) mock::of_process().streams[handle] = stream;
  return status;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* created) {
  const cudnnStatus_t status = mock::begin("cudnnBackendCreateDescriptor");
  if (status != CUDNN_STATUS_SUCCESS) return status;
  auto mine = std::make_unique<mock::descriptor>();
  mine->type = type;
  *created = mine.get();
  mock::of_process().descriptors.emplace(*created, std::move(mine));
  return status;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t handle) {
  const cudnnStatus_t status = mock::begin("cudnnBackendDestroyDescriptor");
  return mock::of_process().descriptors.erase(handle) == 1 ? status : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t handle, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count, const void* elements) {
  const cudnnStatus_t status = mock::begin("cudnnBackendSetAttribute");
  if (status != CUDNN_STATUS_SUCCESS) return status;
  mock::descriptor* const d = mock::find(handle);
  if (d == nullptr || d->final || elements == nullptr)
    return mock::refuse(CUDNN_STATUS_BAD_PARAM, "the descriptor is finalised");
  const auto rules = mock::rules_of(d->type);
  const bool allowed = std::any_of(rules.begin(), rules.end(), [&](const mock::rule& r) {
    const bool type_fits = r.type == type || (r.type == CUDNN_TYPE_FLOAT && type == CUDNN_TYPE_DOUBLE);
    return r.name == name && type_fits && (r.count == 0 || static_cast<std::int64_t>(r.count) == count);
  });
  if (!allowed) return mock::refuse(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "no such attribute");
  for (std::int64_t k = 0; type == CUDNN_TYPE_BACKEND_DESCRIPTOR && k < count; ++k) {
    const mock::descriptor* const other = mock::find(static_cast<const cudnnBackendDescriptor_t*>(elements)[k]);
    if (other == nullptr || !other->final)
      return mock::refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "the attribute's descriptor is not finalised");
  }
  mock::attribute& a = d->attributes[name];
  a.type = type;
  a.bytes.resize(static_cast<std::size_t>(count) * mock::size_of(type));
  std::memcpy(a.bytes.data(), elements, a.bytes.size());
  return status;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t handle) {
  const cudnnStatus_t status = mock::begin("cudnnBackendFinalize");
  if (status != CUDNN_STATUS_SUCCESS) return status;
  mock::descriptor* const d = mock::find(handle);
  if (d == nullptr || d->final) return CUDNN_STATUS_BAD_PARAM;
  for (const mock::rule& r : mock::rules_of(d->type))
    if (!r.optional && d->attributes.count(r.name) == 0)
      return mock::refuse(CUDNN_STATUS_BAD_PARAM, "an attribute is not set");
  const bool fits =
      mock::is_of_graph(d->type) ? mock::graph_operation_fits(*d) : !mock::is_operation(d->type) || mock::fits(*d);
  if (!fits) return mock::refuse(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "the extents do not match");
  if (d->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)
    d->mode = mock::value<cudnnBackendHeurMode_t>(*d, CUDNN_ATTR_ENGINEHEUR_MODE);
  if (d->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR && mock::is_operation(mock::operation_of(*d).type) &&
      !mock::is_supported(mock::operation_of(*d)))
    return CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN;
  if (d->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
    const mock::descriptor& configuration = mock::part(*d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    d->engine = configuration.engine, d->mode = configuration.mode;
    if (!mock::engines_of(d->mode)[static_cast<std::size_t>(d->engine)].supported)
      return CUDNN_STATUS_NOT_SUPPORTED_SHAPE;
  }
  d->final = true;
  return status;
}

cudnnStatus_t cudnnBackendGetAttribute(const cudnnBackendDescriptor_t handle, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t requested, std::int64_t* count,
                                       void* elements) {
  const cudnnStatus_t status = mock::begin("cudnnBackendGetAttribute");
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const mock::descriptor* const d = mock::find(handle);
  if (d == nullptr || !d->final) return mock::refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "not finalised");
  const auto engine = [&]() -> const mock::engine& {
    return mock::engines_of(d->mode)[static_cast<std::size_t>(d->engine)];
  };
  if (d->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR && name == CUDNN_ATTR_ENGINEHEUR_RESULTS &&
      type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    const auto offered = static_cast<std::int64_t>(mock::engines_of(d->mode).size());
    *count = requested == 0 ? offered : std::min(requested, offered);
    for (std::int64_t k = 0; k < std::min(requested, offered); ++k) {
      mock::descriptor* const result = mock::find(static_cast<cudnnBackendDescriptor_t*>(elements)[k]);
      if (result == nullptr || result->type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) return CUDNN_STATUS_BAD_PARAM;
      result->engine = static_cast<int>(k), result->mode = d->mode, result->final = true;
      mock::keep(*result, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
                 mock::value<void*>(*d, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH));
    }
    return status;
  }
  if (d->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR && name == CUDNN_ATTR_ENGINECFG_ENGINE &&
      type == CUDNN_TYPE_BACKEND_DESCRIPTOR && requested == 1) {
    mock::descriptor* const result = mock::find(*static_cast<cudnnBackendDescriptor_t*>(elements));
    if (result == nullptr || result->type != CUDNN_BACKEND_ENGINE_DESCRIPTOR) return CUDNN_STATUS_BAD_PARAM;
    result->engine = d->engine, result->mode = d->mode, result->final = true;
    *count = 1;
    return status;
  }
  if (d->type == CUDNN_BACKEND_ENGINE_DESCRIPTOR && name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE &&
      type == CUDNN_TYPE_NUMERICAL_NOTE) {
    *count = static_cast<std::int64_t>(engine().notes.size());
    std::copy_n(engine().notes.begin(), std::min(requested, *count),
                static_cast<cudnnBackendNumericalNote_t*>(elements));
    return status;
  }
  if (d->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR && name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE &&
      type == CUDNN_TYPE_INT64 && requested == 1) {
    *count = 1;
    *static_cast<std::int64_t*>(elements) = engine().workspace;
    return status;
  }
  return mock::refuse(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "no such attribute");
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan_handle,
                                  cudnnBackendDescriptor_t pack_handle) {
  const cudnnStatus_t status = mock::begin("cudnnBackendExecute");
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const mock::descriptor *const plan = mock::find(plan_handle), *const pack = mock::find(pack_handle);
  if (plan == nullptr || pack == nullptr || !plan->final || !pack->final)
    return mock::refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "not finalised");
  const mock::engine& engine = mock::engines_of(plan->mode)[static_cast<std::size_t>(plan->engine)];
  const auto* const workspace = mock::value<void*>(*pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  if (engine.workspace != 0 && workspace == nullptr)
    return mock::refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "there is no workspace");
  const mock::descriptor& configuration = mock::part(*plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  const mock::descriptor& operation = mock::operation_of(mock::part(configuration, CUDNN_ATTR_ENGINE_OPERATION_GRAPH));
  const cudaStream_t stream = mock::of_process().streams[handle];
  if (mock::is_of_graph(operation.type)) {
    const mock::descriptor& graph = mock::part(configuration, CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
    mock::graph_values all(*pack);
    const auto operations = mock::values<void*>(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS);
    for (const void* each : operations)
      for (const mock::descriptor* t : mock::tensors_of(*mock::find(each)))
        if (!all.has_place(*t)) return mock::refuse(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER, "no aligned pointer");
    const auto work = [operations, copy = *pack] {
      mock::graph_values values(copy);
      for (const void* each : operations) mock::compute(*mock::find(each), values);
    };
    if (devplace::test::mock_cuda::launch_of_library("cudnnBackendExecute", stream, work) != cudaSuccess)
      return CUDNN_STATUS_EXECUTION_FAILED_CUDART;
    mock::of_process().graphs.push_back({operations.size(), plan->engine, plan->mode, workspace, stream});
    return status;
  }
  const mock::names of = mock::names_of(operation.type);
  for (const auto name : {of.x, of.weight, of.y}) {
    const mock::descriptor& d = mock::part(operation, name);
    const mock::tensor<unsigned char> t(d, *pack);
    const auto alignment = mock::value<std::int64_t>(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
    if (reinterpret_cast<std::uintptr_t>(t.data) % static_cast<std::uintptr_t>(alignment) != 0)
      return mock::refuse(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER, "a pointer is not aligned");
  }
  const auto type = mock::value<cudnnDataType_t>(mock::part(operation, of.x), CUDNN_ATTR_TENSOR_DATA_TYPE);
  const auto compute = type == CUDNN_DATA_DOUBLE     ? mock::compute<double>
                       : type == CUDNN_DATA_BFLOAT16 ? mock::compute<devplace::bf16>
                       : type == CUDNN_DATA_HALF     ? mock::compute<devplace::half>
                                                     : mock::compute<float>;
  const auto work = [compute, &operation, copy = *pack] { compute(operation, copy); };
  if (devplace::test::mock_cuda::launch_of_library("cudnnBackendExecute", stream, work) != cudaSuccess)
    return CUDNN_STATUS_EXECUTION_FAILED_CUDART;
  mock::of_process().convolutions.push_back(
      {operation.type, type, plan->engine, plan->mode, mock::factor(operation, of.beta), workspace, stream});
  return status;
}

}  // extern "C"
