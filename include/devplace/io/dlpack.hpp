// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/base/host_memory.hpp>
#include <devplace/config.hpp>
#include <devplace/io/detail/dlpack_abi.hpp>
#include <devplace/io/detail/dlpack_checks.hpp>
#include <devplace/io/stored_shape.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/place/availability.hpp>
#include <devplace/place/device_map.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/detail/as_view.hpp>
#include <devplace/tensor/tensor.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace {

/// The stream on which the consumer of a tensor on a cuda place works: the argument of Python's
/// `__dlpack__(stream=...)`, or a cudaStream_t as a number. 0 and 1 are CUDA's legacy default stream, which PyTorch
/// uses by default; 2 is the default stream of each thread.
struct dlpack_consumer {
  std::uintptr_t stream = 1;  ///< must exist until the consumer gives the tensor back
};

namespace detail {

/// A tensor for a consumer, with the owner of its memory.
template <class Managed, class Owner, std::size_t Rank> struct exported_dlpack {
  Managed managed{};
  std::array<std::int64_t, Rank + 1> shape{},
      strides{};  // One element more than the rank, because even a scalar's arrays need an address.
  Owner owner;

  explicit exported_dlpack(Owner&& value) : owner(std::move(value)) {}
  static void destroy(Managed* managed) noexcept { delete static_cast<exported_dlpack*>(managed->context); }
};

inline namespace DEVPLACE_CONFIGURATION {

/// Returns DLPack's device of a place. Memory of simulated devices is not CUDA's: other libraries would pass its
/// addresses to the GPU's driver.
template <class P> dlpack::device dlpack_device() {
  using backend_type = backend_of_t<P>;
  if constexpr (std::is_same_v<backend_type, backend::cpu>) {
    return {dlpack::device_type::cpu, 0};
  } else if constexpr (std::is_same_v<backend_type, backend::pinned>) {
    return {dlpack::device_type::cuda_host, 0};
  } else {
    require_available<on<P>>();
    constexpr bool simulated = configuration::cuda == cuda_support::simulated;
    return {simulated ? dlpack::device_type::extension : dlpack::device_type::cuda,
            device_map::of_process().visible(place_traits<P>::ordinal)};
  }
}

template <class P> inline constexpr bool in_device_memory = !in_host_memory<backend_of_t<P>>;

template <class Managed, class T, class Extents, class P, class Layout, class Owner>
auto export_dlpack(const view<T, Extents, P, Layout>& x, Owner&& owner) try {
  constexpr bool versioned = std::is_same_v<Managed, dlpack::managed_tensor_versioned>, constant = std::is_const_v<T>;
  static_assert(versioned || !constant,
                "devplace: to_dlpack_unversioned: DLPack's struct from before version 1.0 cannot say that elements may "
                "only be read; use to_dlpack, or give a view of elements that are not const.");
  using exported = exported_dlpack<Managed, std::remove_cvref_t<Owner>, Extents::rank>;
  if constexpr (in_device_memory<P>) synchronize<backend_of_t<P>>(place_traits<P>::ordinal);
  const dlpack::device device = dlpack_device<P>();
  auto holder = std::make_unique<exported>(std::forward<Owner>(owner));
  for (std::size_t axis = 0; axis != Extents::rank; ++axis) {
    holder->shape[axis] = static_cast<std::int64_t>(x.extents().extent(axis));
    holder->strides[axis] = x.stride(axis);
  }
  Managed& managed = holder->managed;
  managed.context = holder.get();
  managed.deleter = &exported::destroy;
  if constexpr (versioned) {
    managed.version = {1, 0};
    managed.flags = constant ? dlpack::read_only : 0;
  }
  managed.tensor = {const_cast<std::remove_const_t<T>*>(raw_data(x)),
                    device,
                    static_cast<std::int32_t>(Extents::rank),
                    dlpack_type(*dtype_of<std::remove_const_t<T>>),
                    holder->shape.data(),
                    holder->strides.data(),
                    0};
  return std::unique_ptr<Managed, dlpack::give_back>(&holder.release()->managed);
} catch (const std::bad_alloc&) {
  fail_without_memory("the tensor of to_dlpack");
}

template <class Managed, class X>
std::unique_ptr<Managed, dlpack::give_back> export_dlpack(X&& x, [[maybe_unused]] dlpack_consumer consumer) {
  constexpr bool is_given_away = requires { requires is_tensor<X> && single_place<typename X::placement_type>; };
  static_assert(is_given_away,
                "devplace: to_dlpack: the consumer keeps the memory; pass a tensor on one place as an rvalue, "
                "to_dlpack(std::move(x)), or a view and the owner of its memory, such as a std::shared_ptr.");
  if constexpr (is_given_away) {
    if constexpr (in_device_memory<typename X::placement_type>) {
      constexpr std::uintptr_t legacy = 1;  // stream 0 by another name: null stands for the place's own stream
      block_access::block(x).record_stream(reinterpret_cast<void*>(consumer.stream == 0 ? legacy : consumer.stream));
    }
    const auto elements = x.view();
    return export_dlpack<Managed>(elements, std::move(x));
  } else {
    return {};
  }
}

template <class Extents> struct imported_dlpack {
  void* data;
  Extents extents;
  std::array<std::ptrdiff_t, Extents::rank> strides;
};

template <class T, class Extents, class P, bool RowMajor, class Managed>
imported_dlpack<Extents> import_dlpack(const Managed* managed, const char* operation) {
  constexpr std::size_t rank = Extents::rank;
  if (managed == nullptr)
    throw argument_error(std::string(operation) +
                         ": the handle is empty; it was given away, or made of a null pointer.");
  bool read_only = false;
  if constexpr (std::is_same_v<Managed, dlpack::managed_tensor_versioned>) {
    dlpack_checks::check_version(managed->version, operation);
    read_only = (managed->flags & dlpack::read_only) != 0;
  }
  using value_type = std::remove_const_t<T>;
  std::array<std::size_t, rank> sizes{};
  std::array<std::ptrdiff_t, rank> strides{};
  const dlpack_request request{operation,           dtype_of<value_type>,
                               dlpack_device<P>(),  place_name(backend_of_t<P>{}, place_traits<P>::ordinal),
                               alignof(value_type), static_sizes<Extents>,
                               !std::is_const_v<T>, RowMajor};
  void* const data = dlpack_checks(managed->tensor, request).run(read_only, sizes, strides);
  return {data, fitting_extents<Extents>(sizes), strides};
}

/// Gives memory back to its producer after the device's pending work, because the producer does not know this work.
/// Ignores errors, since the device may be gone at the end of the process.
template <class P, class Managed> void give_back_dlpack(const block_record& block) noexcept {
  const std::unique_ptr<Managed, dlpack::give_back> handle(static_cast<Managed*>(block.owner));
  if constexpr (in_device_memory<P>) try {
      synchronize<backend_of_t<P>>(block.ordinal);
    } catch (...) {
    }
}

template <class T, class Extents, class P> constexpr bool may_be_imported() {
  constexpr bool is_type = is_element<std::remove_const_t<T>>, is_shape = extents_like<Extents>;
  constexpr bool is_place = place<P> && !std::is_same_v<P, shared_memory>;
  static_assert(is_type && is_shape,
                "devplace: from_dlpack, view_dlpack: the element type and extents are the template arguments, and then "
                "the place unless it is the cpu, as in from_dlpack<float, extents<dyn, 3>, on<cuda<0>>>(handle).");
  static_assert(is_place,
                "devplace: from_dlpack, view_dlpack: memory of another library lies on one place, cpu, pinned or "
                "cuda<I>; to<Where>(x) brings it to other placements.");
  return is_type && is_shape && is_place;
}

}  // namespace DEVPLACE_CONFIGURATION
}  // namespace detail
}  // namespace devplace

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Gives a tensor to another library, without copying elements: `PyCapsule_New(to_dlpack(std::move(x)).release(),
/// "dltensor_versioned", destructor)`. The consumer frees the tensor by the handle's deleter, at any time and on any
/// thread, even after all other objects of the program are destroyed.
///
/// A tensor on a cuda place gets the device number of CUDA's runtime, whatever the place's ordinal. The call waits for
/// the place's work, so that the consumer may use any stream at once. When the consumer gives the tensor back, the
/// memory is freed after all work that is enqueued on `consumer.stream` at that time. Memory of simulated devices is
/// DLPack's `kDLExtDev`, which other libraries refuse.
template <class X> dlpack_handle to_dlpack(X&& x, dlpack_consumer consumer = {}) {
  return detail::export_dlpack<dlpack::managed_tensor_versioned>(std::forward<X>(x), consumer);
}

/// Shares a view, which may have strides, with another library. `owner` (a std::shared_ptr or any other value) keeps
/// the view's memory alive and is stored until the consumer gives the tensor back. Views of const elements are
/// read-only for the consumer. On a cuda place, `owner` may be destroyed while work of the consumer is pending.
template <class T, extents_like Extents, single_place P, view_layout Layout, class Owner>
dlpack_handle to_dlpack(const view<T, Extents, P, Layout>& x, Owner owner) {
  return detail::export_dlpack<dlpack::managed_tensor_versioned>(x, std::move(owner));
}

/// Like to_dlpack, for consumers from before DLPack 1.0, such as NumPy 1: in Python a capsule named `dltensor`.
///@{
template <class X> dlpack_unversioned_handle to_dlpack_unversioned(X&& x, dlpack_consumer consumer = {}) {
  return detail::export_dlpack<dlpack::managed_tensor>(std::forward<X>(x), consumer);
}
template <class T, extents_like Extents, single_place P, view_layout Layout, class Owner>
dlpack_unversioned_handle to_dlpack_unversioned(const view<T, Extents, P, Layout>& x, Owner owner) {
  return detail::export_dlpack<dlpack::managed_tensor>(x, std::move(owner));
}
///@}

/// Makes a tensor of another library's memory, without copying elements:
/// `from_dlpack<float, extents<dyn, 3>, on<cuda<0>>>(dlpack_handle(pointer))`; the default place is the cpu. The
/// tensor's destructor waits for the work of its cuda place and then calls the producer's deleter. Work of the producer
/// on a device must be complete, or ordered before the place's current stream: pass
/// `stream<cuda<0>>::current().native_handle()` to Python's `__dlpack__(stream=...)`.
///
/// The elements must be `T`, row-major, aligned, on the place's device (on<cpu> also takes pinned memory) and writable,
/// with the rank and the static extents of `Extents`. DLPack's major version must be 1. Otherwise throws argument_error
/// or shape_error, with the difference and the fix, and calls the producer's deleter.
template <class T = void, class Extents = void, class P = on<cpu>, class Managed>
auto from_dlpack(std::unique_ptr<Managed, dlpack::give_back> handle) {
  constexpr bool imported = detail::may_be_imported<T, Extents, P>(), changeable = !imported || !std::is_const_v<T>;
  static_assert(changeable,
                "devplace: from_dlpack: tensors have no const elements; use view_dlpack<const float, ...>(handle), "
                "which also takes elements that may only be read.");
  if constexpr (imported && changeable) {
    const auto found = detail::import_dlpack<T, Extents, P, true>(handle.get(), "from_dlpack");
    detail::block_record record{found.data, found.extents.size() * sizeof(T), place_traits<P>::ordinal,
                                memory_purpose::tensors, &detail::give_back_dlpack<P, Managed>};
    record.owner = handle.release();
    return detail::block_access::make<tensor<T, Extents, P>>(detail::memory_block(std::move(record)), found.extents);
  } else {
    return 0;
  }
}

/// Returns a view of another library's memory, valid until the handle's destruction: `view_dlpack<const float,
/// extents<dyn, 3>>(handle)`. Like from_dlpack, except that the elements may have strides, and may be
/// read-only for a view of const elements. The layout `row_major` requires row-major elements.
template <class T = void, class Extents = void, class P = on<cpu>, class Layout = strided, class Handle>
  requires std::is_same_v<typename std::remove_cvref_t<Handle>::deleter_type, dlpack::give_back>
auto view_dlpack([[maybe_unused]] Handle&& handle DEVPLACE_LIFETIMEBOUND) {
  constexpr bool is_variable = std::is_lvalue_reference_v<Handle>;
  static_assert(is_variable,
                "devplace: view_dlpack: the view refers to the handle's memory; keep the handle in a variable.");
  if constexpr (is_variable && detail::may_be_imported<T, Extents, P>()) {
    constexpr bool packed = std::is_same_v<Layout, row_major>;
    static_assert(packed || std::is_same_v<Layout, strided>,
                  "devplace: view_dlpack: the layout is strided or row_major.");
    const auto found = detail::import_dlpack<T, Extents, P, packed>(handle.get(), "view_dlpack");
    if constexpr (packed)
      return view<T, Extents, P>(static_cast<T*>(found.data), found.extents);
    else
      return view<T, Extents, P, strided>(static_cast<T*>(found.data), found.extents, found.strides);
  } else {
    return 0;
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
