// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <devplace/config.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/detail/index_rows.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/parallel/detail/field_layout.hpp>
#include <devplace/parallel/detail/layer_messages.hpp>
#include <devplace/parallel/detail/ranks.hpp>
#include <devplace/place/halo.hpp>
#include <devplace/process/process_group.hpp>

namespace devplace::parallel::detail {

/// Copies a box of elements, or fills it with a value if `from` is null.
template <class T, std::size_t Rank> struct box_copy {
  static constexpr bool computes_little = true;
  T* to;
  const T* from;
  T value;
  std::size_t sizes[Rank];
  std::ptrdiff_t to_strides[Rank], from_strides[Rank];

  DEVPLACE_HD void operator()(std::size_t i) const {
    std::size_t index[Rank];
    devplace::detail::split_index(i, sizes, index);
    to[offset_of(index, to_strides)] = from == nullptr ? value : from[offset_of(index, from_strides)];
  }
  void range(std::size_t begin, std::size_t end) const {
    devplace::detail::for_rows(sizes, begin, end, [this](const std::size_t* index, std::size_t n) {
      T* const row = to + offset_of(index, to_strides);
      const std::ptrdiff_t step = to_strides[Rank - 1], count = static_cast<std::ptrdiff_t>(n);
      if (from == nullptr) {
        for (std::ptrdiff_t k = 0; k != count; ++k) row[k * step] = value;
      } else {
        const T* const source = from + offset_of(index, from_strides);
        for (std::ptrdiff_t k = 0; k != count; ++k) row[k * step] = source[k * from_strides[Rank - 1]];
      }
    });
  }
};

/// Fills the ghost rows of a field's parts in this process. The axes follow each other in ascending order, and the
/// ghost rows of an axis have the whole width of the arrays, with the ghost rows of the axes before. So corners are
/// filled too, and their values do not depend on which axes are divided.
///
/// The layers of an axis that is divided come from the neighbours: within the process from device to device on side
/// streams, between processes by messages. Layers of axis 0 are contiguous; those of other axes are packed and
/// unpacked.
template <class T, class Backend, std::size_t Rank> class ghost_layers {
 public:
  ghost_layers(const field_layout<Rank>& layout, std::span<const int> ordinals, std::span<T* const> memory,
               std::shared_ptr<transport> between)
      : layout_(layout),
        memory_(memory.begin(), memory.end()),
        devices_(ordinals, [](std::span<const int>) { return false; }) {
    for (std::size_t k = 0; k != ordinals.size(); ++k) parts_.push_back(layout.part(k));
    for (std::size_t axis = 0; axis != Rank; ++axis) {
      if (!divided(axis)) continue;
      for (std::size_t k = 0; axis != 0 && k != ordinals.size(); ++k)
        packed_[axis].push_back(devplace::detail::allocate<Backend>(ordinals[k], 4 * layer_size(k, axis) * sizeof(T),
                                                                    memory_purpose::workspace));
      if (!layout.crosses_processes(axis, places())) continue;
      messages_[axis] = layer_messages<Backend>(places(), between, layout.largest_layer(axis) * sizeof(T));
      for (std::size_t k = 0; k != places(); ++k)
        for (const bool high : {false, true}) {
          const std::size_t own = layout.members.first + k, other = layout.neighbour(own, axis, high);
          if (!is_here(other))
            messages_[axis].add(k, ordinals[k], own, other, places(), high, outgoing(k, axis, high),
                                incoming(k, axis, high), layer_size(k, axis) * sizeof(T));
        }
    }
  }
  ghost_layers& operator=(ghost_layers&&) = delete;
  ~ghost_layers() {
    try {
      devices_.streams().join();  // of an exchange that an exception has interrupted
    } catch (...) {               // the next use of the failed device reports the failure
    }
    for (auto& messages : messages_) messages.wait_for_copies();
  }

  /// Starts an exchange: fills the layers of the axes before the first divided one, and sends the layers of that one.
  /// Until finish(), the ghost rows must not be read and the owned rows not be written.
  template <class... Edge> void start(const Edge&... edges) {
    finish();
    if constexpr (sizeof...(Edge) == 1)
      edges_.fill(edges...);
    else
      edges_ = {edges...};
    open_ = true;
    for (axis_ = 0; axis_ != Rank && !divided(axis_); ++axis_) fill_edges(axis_);
    if (axis_ != Rank) begin_divided(axis_);
  }
  /// Ends the exchange that was started, if any. On devices, later work of the current streams follows it.
  void finish() {
    if (!std::exchange(open_, false)) return;
    for (bool begun = true; axis_ != Rank; ++axis_) {
      if (!divided(axis_)) {
        fill_edges(axis_);
        continue;
      }
      if (!std::exchange(begun, false)) begin_divided(axis_);
      end_divided(axis_);
    }
  }

 private:
  std::size_t places() const { return parts_.size(); }
  bool divided(std::size_t axis) const { return layout_.parts[axis] > 1 && layout_.width[axis] != 0; }
  bool is_here(std::size_t participant) const {
    return participant - layout_.members.first < places();  // wraps around for participants before the first
  }
  /// Whether a layer comes from another place. At a fixed or mirrored edge of this exchange it does not.
  bool is_filled_here(std::size_t k, std::size_t axis, bool high) const {
    return edges_[axis].kind != edge::kind::periodic && layout_.at_edge(k, axis, high);
  }

  std::size_t layer_size(std::size_t k, std::size_t axis) const {
    return parts_[k].padded_size() / parts_[k].padded(axis) * layout_.width[axis];
  }
  /// Address of index `first` along an axis, ghost rows included, and of index 0 along the others.
  T* layer(std::size_t k, std::size_t axis, std::size_t first) const {
    return memory_[k] + static_cast<std::ptrdiff_t>(first) * parts_[k].strides()[axis];
  }
  T* ghosts(std::size_t k, std::size_t axis, bool high) const {
    return layer(k, axis, high ? layout_.width[axis] + parts_[k].size[axis] : 0);
  }
  T* owned(std::size_t k, std::size_t axis, bool high) const {
    return layer(k, axis, high ? parts_[k].size[axis] : layout_.width[axis]);
  }
  /// The contiguous memory of layers that go to a neighbour or have come from one.
  ///@{
  T* outgoing(std::size_t k, std::size_t axis, bool high) const {
    return axis == 0 ? owned(k, 0, high) : packed(k, axis, high ? 1 : 0);
  }
  T* incoming(std::size_t k, std::size_t axis, bool high) const {
    return axis == 0 ? ghosts(k, 0, high) : packed(k, axis, high ? 3 : 2);
  }
  T* packed(std::size_t k, std::size_t axis, std::size_t which) const {
    return static_cast<T*>(packed_[axis][k].data()) + which * layer_size(k, axis);
  }
  ///@}

  /// Copies layers within place k. `from` null: fills them.
  void copy_layer(std::size_t k, std::size_t axis, T* to, const strides_of<Rank>& to_strides, const T* from,
                  const strides_of<Rank>& from_strides, double value = 0) {
    box_copy<T, Rank> copy{to, from, static_cast<T>(value), {}, {}, {}};
    for (std::size_t a = 0; a != Rank; ++a) {
      copy.sizes[a] = a == axis ? layout_.width[a] : parts_[k].padded(a);
      copy.to_strides[a] = to_strides[a];
      copy.from_strides[a] = from_strides[a];
    }
    devplace::detail::for_each_index<Backend>(devices_.ordinal(static_cast<int>(k)), layer_size(k, axis), 16384, copy);
  }
  strides_of<Rank> packed_strides(std::size_t k, std::size_t axis) const {
    field_part<Rank> box = parts_[k];
    for (std::size_t a = 0; a != Rank; ++a) {
      box.size[a] = a == axis ? box.width[a] : box.padded(a);
      box.width[a] = 0;
    }
    return box.strides();
  }

  /// Fills the layers at the edges of the whole field, and those of axes that are not divided.
  void fill_edges(std::size_t axis) {
    const std::size_t w = layout_.width[axis];
    if (w == 0 || (divided(axis) && edges_[axis].kind == edge::kind::periodic)) return;
    for (std::size_t k = 0; k != places(); ++k)
      for (const bool high : {false, true}) {
        const auto strides = parts_[k].strides();
        auto reversed = strides;
        reversed[axis] = -reversed[axis];
        if (is_filled_here(k, axis, high) && edges_[axis].kind == edge::kind::fixed)
          copy_layer(k, axis, ghosts(k, axis, high), strides, nullptr, strides,
                     high ? edges_[axis].high : edges_[axis].low);
        else if (is_filled_here(k, axis, high))
          copy_layer(k, axis, ghosts(k, axis, high), strides,
                     layer(k, axis, (high ? parts_[k].size[axis] + w : 2 * w) - 1), reversed);
        else if (layout_.parts[axis] == 1)
          copy_layer(k, axis, ghosts(k, axis, high), strides, owned(k, axis, !high), strides);
      }
  }

  // Rank is compared, too, since g++ -O2 warns about a second axis of fields with one.
  void begin_divided(std::size_t axis) {
    fill_edges(axis);
    for (std::size_t k = 0; Rank != 1 && axis != 0 && k != places(); ++k)
      for (const bool high : {false, true})
        if (!is_filled_here(k, axis, high))
          copy_layer(k, axis, outgoing(k, axis, high), packed_strides(k, axis), owned(k, axis, high),
                     parts_[k].strides());
    if (places() > 1) copy_between_places(axis);
    messages_[axis].start([&](std::size_t k, bool high) { return !is_filled_here(k, axis, high); });
  }
  void copy_between_places(std::size_t axis) {
    auto& streams = devices_.streams();
    for (std::size_t k = 0; k != places(); ++k) streams.mark(k);
    streams.claim();
    streams.run([&] {
      devices_.fence();
      for (std::size_t k = 0; k != places(); ++k)
        for (const bool high : {false, true}) {
          const std::size_t from = layout_.neighbour(layout_.members.first + k, axis, high) - layout_.members.first;
          if (is_filled_here(k, axis, high) || from >= places()) continue;
          devices_.copy(static_cast<int>(k), incoming(k, axis, high), static_cast<int>(from),
                        outgoing(from, axis, !high), layer_size(k, axis) * sizeof(T));
        }
      devices_.fence();
    });
  }
  void end_divided(std::size_t axis) {
    if (places() > 1) devices_.streams().join();
    messages_[axis].finish();
    for (std::size_t k = 0; Rank != 1 && axis != 0 && k != places(); ++k)
      for (const bool high : {false, true})
        if (!is_filled_here(k, axis, high))
          copy_layer(k, axis, ghosts(k, axis, high), parts_[k].strides(), incoming(k, axis, high),
                     packed_strides(k, axis));
  }

  field_layout<Rank> layout_;
  std::vector<T*> memory_;
  std::vector<field_part<Rank>> parts_;
  rank_devices<Backend> devices_;
  std::array<std::vector<devplace::detail::memory_block>, Rank> packed_;
  std::array<layer_messages<Backend>, Rank> messages_;
  std::array<edge::rule, Rank> edges_{};
  std::size_t axis_ = 0;  ///< the axis whose layers are on their way
  bool open_ = false;
};

}  // namespace devplace::parallel::detail
