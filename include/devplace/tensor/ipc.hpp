// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <unistd.h>

#include <devplace/config.hpp>
#include <devplace/memory/detail/exported_memory.hpp>
#include <devplace/memory/detail/named_segment.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/detail/as_view.hpp>
#include <devplace/tensor/shared_tensor.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace {

/// A handle with which another process of this host opens a tensor of a cuda place. Made by exported::handle(); send
/// its bytes by a pipe or by process_group::broadcast.
template <element T, extents_like Extents> struct ipc_handle {
  char name[24];  ///< name of the segment through which the processes communicate; ends with 0
};

namespace detail {

inline constexpr segment_error_texts texts_of_export{"exported"};
inline constexpr segment_error_texts texts_of_open_ipc{
    "open_ipc",
    "the process that exported the tensor has freed it or has ended. Keep its exported<...> until the other "
    "processes have opened it.",
    "Open it on the same GPU, as a tensor of the exported type, with the same version of the program."};

/// Returns the functions that share memory of a cuda place; other places do not compile.
template <class P> constexpr auto ipc_of() {
  constexpr bool on_gpu = std::is_same_v<backend_of_t<P>, backend::device>;
  constexpr bool implemented = provided<backend_of_t<P>, op::ipc>;
  static_assert(on_gpu,
                "devplace: exported, open_ipc: handles are for tensors on a cuda place; host memory is shared by "
                "on<shared_memory>, with create_shared and open_shared.");
  static_assert(!on_gpu || implemented,
                "devplace: exported, open_ipc: a cuda place needs the component cuda; add devplace::cuda (or "
                "devplace::simulated_cuda, which needs no GPU) to target_link_libraries.");
  if constexpr (implemented) return implementation<backend_of_t<P>, op::ipc>{};
}

template <class P, class T, class Extents> DEVPLACE_CONFIGURED std::string exported_text(const Extents& extents) {
  return joined({tensor_text<T>("tensor of a GPU", extents),
                 "device: ", decltype(ipc_of<P>())::device(place_traits<P>::ordinal), "\n"});
}

}  // namespace detail

/// A tensor on a cuda place that other processes of this user on this host can open: `exported out{std::move(x)}`.
template <class Tensor> class exported;

/// Owns the elements in separate memory, in whole pages of 2 MiB, because other processes cannot open memory of pools.
/// The destructor waits until every process that opened the tensor has destroyed it or has ended, and then frees the
/// memory. If this process ends without the destructor, other processes must no longer use the tensor. Move-only.
template <element T, extents_like Extents, single_place P> class exported<tensor<T, Extents, P>> {
 public:
  /// The types of tensor and handle.
  ///@{
  using tensor_type = tensor<T, Extents, P>;
  using handle_type = ipc_handle<T, Extents>;
  ///@}

  /// Enqueues a copy of the elements. Throws out_of_memory if the device or /dev/shm has no memory left.
  DEVPLACE_CONFIGURED explicit exported(tensor_type&& x) : value_(copied(std::move(x), segment_)) {}

  /// The elements; const for a const object.
  ///@{
  auto view() & DEVPLACE_LIFETIMEBOUND { return value_.view(); }
  auto view() const& DEVPLACE_LIFETIMEBOUND { return std::as_const(value_).view(); }
  ///@}

  /// Returns the handle for other processes, and records the work enqueued so far on the current stream. Work that
  /// another process enqueues after it has opened the tensor runs after the work that the last call recorded. The
  /// processes must order later changes themselves. (On simulated devices this function waits for the recorded work.)
  DEVPLACE_CONFIGURED handle_type handle() const {
    if (segment_ == nullptr) throw error("this exported tensor was moved from; use the variable that it was moved to.");
    if constexpr (!std::is_void_v<decltype(detail::ipc_of<P>())>)
      decltype(detail::ipc_of<P>())::record(place_traits<P>::ordinal,
                                            detail::block_access::block(const_cast<tensor_type&>(value_)));
    handle_type result{};
    std::memcpy(result.name, segment_->name().data(), segment_->name().size());
    return result;
  }

 private:
  DEVPLACE_CONFIGURED static tensor_type copied(tensor_type x, std::shared_ptr<detail::named_segment>& segment) {
    using functions = decltype(detail::ipc_of<P>());
    if constexpr (std::is_void_v<functions>) {
      return detail::not_shared<tensor_type>();
    } else {
      constexpr int ordinal = place_traits<P>::ordinal;
      const std::size_t bytes = x.size() * sizeof(T);
      segment = detail::named_segment::create(detail::texts_of_export, detail::exported_name(),
                                              detail::exported_text<P, T>(x.extents()), detail::sizes_of(x.extents()),
                                              functions::message_bytes(bytes));
      auto block = functions::allocate(ordinal, bytes, segment);
      detail::copy_within<backend_of_t<P>>(ordinal, block.data(), detail::block_access::block(x).data(), bytes);
      segment->publish();
      return detail::block_access::make<tensor_type>(std::move(block), x.extents());
    }
  }

  std::shared_ptr<detail::named_segment> segment_;
  tensor_type value_;
};

/// `exported out{std::move(x)}`.
template <class T, class Extents, class P> exported(tensor<T, Extents, P>) -> exported<tensor<T, Extents, P>>;

/// Opens a tensor that another process exported, on P: `auto x = open_ipc<cuda<0>>(handle)`. The result can be read and
/// written. Its destructor waits for this place's work; the exporter does not free the memory earlier. Work on the
/// current stream is ordered after the exporter's work (see exported::handle). The place's device must stay the same in
/// both processes. Throws argument_error, with the first difference, if the type, the extents, the version of devplace
/// or the GPU (by its UUID) differ. Also throws argument_error if the exporter has freed the tensor, or is this
/// process, which can use exported::view() instead.
template <single_place P, element T, extents_like Extents>
[[nodiscard]] DEVPLACE_CONFIGURED tensor<T, Extents, P> open_ipc(const ipc_handle<T, Extents>& handle) {
  using functions = decltype(detail::ipc_of<P>());
  if constexpr (!std::is_void_v<functions>) {
    Extents extents;
    std::string name(handle.name, sizeof handle.name);
    name.resize(name.find_last_not_of('\0') + 1);
    const auto segment =
        detail::named_segment::open(detail::texts_of_open_ipc, name, [&](const detail::named_segment& found) {
          extents = detail::stored_extents<Extents>(found);
          return std::pair{detail::exported_text<P, T>(extents), functions::message_bytes(extents.size() * sizeof(T))};
        });
    if (segment->process() == ::getpid())
      throw argument_error(
          "open_ipc: this process has exported the tensor itself, and CUDA opens memory of other processes only; use "
          "the exported tensor's view().");
    return detail::block_access::make<tensor<T, Extents, P>>(
        functions::open(place_traits<P>::ordinal, extents.size() * sizeof(T), segment), extents);
  } else {
    return detail::not_shared<tensor<T, Extents, P>>();
  }
}

}  // namespace devplace
