// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/place/placement.hpp>

namespace devplace {

/// An address in the memory of a device, which the host cannot reach: `data()` of a tensor or view on `cuda<I>`. Has
/// the arithmetic and comparisons of a `T*`. The host can neither dereference it nor pass it as a `T*`, for example to
/// std::memcpy. `get()` is the address for kernels and libraries. In code for every placement, use
/// `std::to_address(x.data())`, the device's or the host's address.
template <class T> class device_pointer {
 public:
  /// The types of an iterator, so that a standard algorithm fails only with the error of operator*.
  ///@{
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::remove_const_t<T>;
  using element_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = device_pointer;
  using reference = T&;
  ///@}

  /// Null.
  constexpr device_pointer(std::nullptr_t = nullptr) {}
  /// Takes an address that a library or an allocation on the device returned.
  DEVPLACE_HD constexpr explicit device_pointer(T* address) : address_(address) {}
  /// Adds const to the elements.
  template <class U>
    requires(!std::is_same_v<U, T> && std::is_same_v<const U, T>)
  DEVPLACE_HD constexpr device_pointer(const device_pointer<U>& other) : address_(other.get()) {}

  /// The address, for kernels and libraries; only the device can dereference it.
  DEVPLACE_HD constexpr T* get() const { return address_; }
  /// Whether the address is not null.
  DEVPLACE_HD constexpr explicit operator bool() const { return address_ != nullptr; }

  /// Arithmetic and comparisons of a `T*`.
  ///@{
  DEVPLACE_HD constexpr device_pointer& operator+=(std::ptrdiff_t n) {
    address_ += n;
    return *this;
  }
  DEVPLACE_HD constexpr device_pointer& operator-=(std::ptrdiff_t n) { return *this += -n; }
  DEVPLACE_HD constexpr device_pointer& operator++() { return *this += 1; }
  DEVPLACE_HD constexpr device_pointer& operator--() { return *this += -1; }
  DEVPLACE_HD constexpr device_pointer operator++(int) { return (*this += 1) - 1; }
  DEVPLACE_HD constexpr device_pointer operator--(int) { return (*this += -1) + 1; }
  DEVPLACE_HD friend constexpr device_pointer operator+(device_pointer p, std::ptrdiff_t n) { return p += n; }
  DEVPLACE_HD friend constexpr device_pointer operator+(std::ptrdiff_t n, device_pointer p) { return p += n; }
  DEVPLACE_HD friend constexpr device_pointer operator-(device_pointer p, std::ptrdiff_t n) { return p += -n; }
  DEVPLACE_HD friend constexpr std::ptrdiff_t operator-(device_pointer a, device_pointer b) {
    return a.address_ - b.address_;
  }
  DEVPLACE_HD friend constexpr bool operator==(device_pointer, device_pointer) = default;
  DEVPLACE_HD friend constexpr auto operator<=>(device_pointer, device_pointer) = default;
  ///@}

  /// Does not compile, because the host cannot reach the elements. The operators are not templates, so that an
  /// algorithm that uses several gives one error.
  ///@{
  T& operator*() const {
    constexpr bool reachable = sizeof(T) == 0;
    static_assert(reachable,
                  "devplace: the host cannot reach a device's memory; get() is the address for kernels and "
                  "libraries, and to<cpu>(x) copies the elements to the host.");
    return *address_;
  }
  T* operator->() const { return &**this; }
  T& operator[](std::ptrdiff_t n) const { return *(*this + n); }
  ///@}

 private:
  T* address_ = nullptr;
};

namespace detail {

/// The result of `data()` on a placement. Views on `here<Backend>`, which layers, losses and operations use, return a
/// `T*` on every backend.
template <class T, class Where>
using data_pointer = std::conditional_t<place<Where> && !host_accessible<Where>, device_pointer<T>, T*>;

/// The address of a tensor's or view's elements, also in memory that the host cannot reach.
template <class X> constexpr auto* raw_data(X&& x) { return std::to_address(x.data()); }

inline bool share_memory(const void* a, std::size_t n, const void* b, std::size_t m) {
  const auto x = reinterpret_cast<std::uintptr_t>(a), y = reinterpret_cast<std::uintptr_t>(b);
  return n != 0 && m != 0 && x < y + m && y < x + n;
}

}  // namespace detail
}  // namespace devplace

/// @cond Doxygen cannot resolve this specialisation.
// `std::to_address(x.data())` is a `T*` on every placement.
template <class T> struct std::pointer_traits<devplace::device_pointer<T>> {
  using pointer = devplace::device_pointer<T>;
  using element_type = T;
  using difference_type = std::ptrdiff_t;
  static constexpr T* to_address(pointer p) { return p.get(); }
};
/// @endcond
