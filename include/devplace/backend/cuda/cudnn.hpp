// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Component devplace::cudnn.
#if !__has_include(<cudnn_graph.h>)
  #error \
      "devplace: component cudnn needs cuDNN 9 or newer. Link devplace::cudnn, found by find_package(devplace COMPONENTS cudnn); NVIDIA's packages are libcudnn9-dev-cuda-13 and nvidia-cudnn-cu13."
  #include <devplace/see_the_error_above>
#endif

#include <cudnn_graph.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <devplace/backend/cuda/queue.hpp>

namespace devplace::detail {

inline const char* cudnn_remedy(cudnnStatus_t status) {
  if (CUDNN_STATUS_CATEGORY(static_cast<int>(status)) == 1000)  // not initialised, or an incompatible library
    return "All libraries of cuDNN must be of one version, for this driver and CUDA Toolkit; see LD_LIBRARY_PATH.";
  return "CUDNN_LOGLEVEL_DBG=3 and CUDNN_LOGDEST_DBG=stderr in the environment make cuDNN log details; if an earlier "
         "kernel failed, DEVPLACE_SYNC_LAUNCH=1 names it. Without component cudnn, cuBLASLt computes convolutions, and "
         "devplace's own kernels compute attention.";
}

/// Throws the exception for a failed cuDNN call on behalf of `operation`; device_lost if the device is lost.
[[noreturn]] inline void throw_cudnn_error(cudnnStatus_t status, const char* call, int ordinal,
                                           const std::string& operation) {
  throw_if_device_lost(call, ordinal);
  std::array<char, 512> last{};
  cudnnGetLastErrorString(last.data(), last.size() - 1);
  std::string sentence = joined({call, " on ", place_name(backend::cuda{}, ordinal), " failed for ", operation, ": ",
                                 cudnnGetErrorString(status), " (", static_cast<int>(status), ")"});
  if (last[0] != '\0') sentence.append("; cuDNN's last error is: ").append(last.data());
  sentence.append(". ");
  if (status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
      status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED)
    throw out_of_memory(
        sentence + "cuDNN could not allocate its own memory; use a smaller batch or free tensors that are not needed.");
  throw error(sentence + cudnn_remedy(status) + last_launch_text(ordinal));
}

/// The operation that calls cuDNN, for error messages. Pass the status of every call to check() or offers().
class cudnn_caller {
 public:
  /// `key` is the key of the convolution or attention and must outlive the object.
  template <class Key>
  cudnn_caller(int where, const Key& key)
      : ordinal(where),
        key_(&key),
        text_([](const void* pointer) { return to_string(*static_cast<const Key*>(pointer)); }) {}

  int ordinal;

  void check(cudnnStatus_t status, const char* call) const {
    if (status != CUDNN_STATUS_SUCCESS) [[unlikely]]
      throw_cudnn_error(status, call, ordinal, text_(key_));
  }
  /// Returns false if cuDNN does not support the request; throws on other errors.
  bool offers(cudnnStatus_t status, const char* call) const {
    if (CUDNN_STATUS_CATEGORY(static_cast<int>(status)) == CUDNN_STATUS_NOT_SUPPORTED) return false;
    check(status, call);
    return true;
  }

 private:
  const void* key_;
  std::string (*text_)(const void*);
};

constexpr cudnnBackendAttributeType_t cudnn_type_of(std::int64_t) { return CUDNN_TYPE_INT64; }
constexpr cudnnBackendAttributeType_t cudnn_type_of(float) { return CUDNN_TYPE_FLOAT; }
constexpr cudnnBackendAttributeType_t cudnn_type_of(double) { return CUDNN_TYPE_DOUBLE; }
constexpr cudnnBackendAttributeType_t cudnn_type_of(bool) { return CUDNN_TYPE_BOOLEAN; }
constexpr cudnnBackendAttributeType_t cudnn_type_of(void*) { return CUDNN_TYPE_VOID_PTR; }
constexpr cudnnBackendAttributeType_t cudnn_type_of(cudnnHandle_t) { return CUDNN_TYPE_HANDLE; }
constexpr cudnnBackendAttributeType_t cudnn_type_of(cudnnDataType_t) { return CUDNN_TYPE_DATA_TYPE; }
constexpr cudnnBackendAttributeType_t cudnn_type_of(cudnnConvolutionMode_t) { return CUDNN_TYPE_CONVOLUTION_MODE; }
constexpr cudnnBackendAttributeType_t cudnn_type_of(cudnnBackendHeurMode_t) { return CUDNN_TYPE_HEUR_MODE; }
constexpr cudnnBackendAttributeType_t cudnn_type_of(cudnnPointwiseMode_t) { return CUDNN_TYPE_POINTWISE_MODE; }
constexpr cudnnBackendAttributeType_t cudnn_type_of(cudnnReduceTensorOp_t) {
  return CUDNN_TYPE_REDUCTION_OPERATOR_TYPE;
}

/// A descriptor of cuDNN's graph API. First its attributes are set; after finalize() it can be read or used by other
/// descriptors.
class cudnn_descriptor {
 public:
  cudnn_descriptor() = default;
  cudnn_descriptor(cudnnBackendDescriptorType_t type, const cudnn_caller& caller) {
    cudnnBackendDescriptor_t created = nullptr;
    caller.check(cudnnBackendCreateDescriptor(type, &created), "cudnnBackendCreateDescriptor");
    handle_.reset(created);
  }

  cudnnBackendDescriptor_t get() const { return handle_.get(); }
  explicit operator bool() const { return handle_ != nullptr; }

  /// Sets an attribute to a number, or to the elements of an array.
  template <class T> void set(cudnnBackendAttributeName_t name, const T& value, const cudnn_caller& caller) {
    if constexpr (requires { value.data(); })
      set(name, cudnn_type_of(typename T::value_type{}), value.size(), value.data(), caller);
    else
      set(name, cudnn_type_of(T{}), 1, &value, caller);
  }
  void set(cudnnBackendAttributeName_t name, const cudnn_descriptor& other, const cudnn_caller& caller) {
    set_all(name, std::array{other.get()}, caller);
  }
  void set_all(cudnnBackendAttributeName_t name, std::span<const cudnnBackendDescriptor_t> others,
               const cudnn_caller& caller) {
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, others.size(), others.data(), caller);
  }

  /// Returns false if cuDNN does not support the described operation.
  bool finalize(const cudnn_caller& caller) {
    return caller.offers(cudnnBackendFinalize(get()), "cudnnBackendFinalize");
  }

  /// Copies as many elements of the attribute to `values` as fit; returns the attribute's number of elements.
  std::size_t read(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, auto& values,
                   const cudnn_caller& caller) const {
    std::int64_t count = 0;
    caller.check(cudnnBackendGetAttribute(get(), name, type, static_cast<std::int64_t>(values.size()), &count,
                                          values.empty() ? nullptr : values.data()),
                 "cudnnBackendGetAttribute");
    return static_cast<std::size_t>(std::max<std::int64_t>(count, 0));
  }

 private:
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::size_t count, const void* values,
           const cudnn_caller& caller) {
    caller.check(cudnnBackendSetAttribute(get(), name, type, static_cast<std::int64_t>(count), values),
                 "cudnnBackendSetAttribute");
  }

  struct deleter {
    void operator()(cudnnBackendDescriptor_t handle) const { static_cast<void>(cudnnBackendDestroyDescriptor(handle)); }
  };
  std::unique_ptr<void, deleter> handle_;
};

}  // namespace devplace::detail
