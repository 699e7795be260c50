// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>

// The C structs of DLPack 1.x (https://dmlc.github.io/dlpack/latest/c_api.html), and the unversioned struct of older
// NumPy. Debian's libdlpack-dev 0.6 has no versioned struct. reinterpret_cast converts pointers to and from dlpack.h's
// structs.

namespace devplace::dlpack {

/// The version of the struct, not of a library. Consumers accept every minor version of a known major version.
struct version {
  std::uint32_t major;
  std::uint32_t minor;
};

/// Kinds of memory (`DLDeviceType`). devplace throws for other kinds; the message has the kind's number.
enum class device_type : std::int32_t {
  cpu = 1,           ///< host memory
  cuda = 2,          ///< GPU memory; `id` is the CUDA runtime's number
  cuda_host = 3,     ///< pinned host memory
  extension = 12,    ///< here: memory of simulated devices
  cuda_managed = 13  ///< CUDA's managed memory
};

struct device {
  device_type type;
  std::int32_t id;
};

/// Kinds of elements (`DLDataTypeCode`).
enum class type_code : std::uint8_t {
  integer = 0,
  unsigned_integer = 1,
  floating = 2,
  opaque = 3,
  bfloat = 4,
  complex = 5,
  boolean = 6
};

/// An element: `lanes` numbers of `bits` bits each.
struct data_type {
  type_code code;
  std::uint8_t bits;
  std::uint16_t lanes;

  friend bool operator==(const data_type&, const data_type&) = default;
};

/// Elements in memory. Strides count elements; null means row-major.
struct tensor {
  void* data;
  dlpack::device device;
  std::int32_t rank;
  data_type type;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

/// `DLManagedTensorVersioned`, in Python a capsule named `dltensor_versioned`.
struct managed_tensor_versioned {
  dlpack::version version;
  void* context;
  void (*deleter)(managed_tensor_versioned*);
  std::uint64_t flags;
  dlpack::tensor tensor;
};

/// `DLManagedTensor`, in Python a capsule named `dltensor`.
struct managed_tensor {
  dlpack::tensor tensor;
  void* context;
  void (*deleter)(managed_tensor*);
};

/// Bit of managed_tensor_versioned::flags: the consumer must not write the elements.
inline constexpr std::uint64_t read_only = 1;

/// Deleter that returns the memory to its producer.
struct give_back {
  template <class Managed> void operator()(Managed* managed) const noexcept {
    if (managed->deleter != nullptr) managed->deleter(managed);
  }
};

}  // namespace devplace::dlpack

namespace devplace {

/// Owns a tensor exchanged by DLPack; the destructor calls the producer's deleter. `release()` returns the pointer for
/// a capsule; construct a handle from a capsule's pointer.
///@{
using dlpack_handle = std::unique_ptr<dlpack::managed_tensor_versioned, dlpack::give_back>;
using dlpack_unversioned_handle = std::unique_ptr<dlpack::managed_tensor, dlpack::give_back>;
///@}

}  // namespace devplace
