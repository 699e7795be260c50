// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/base/joined.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/parallel/bucket_plan.hpp>
#include <devplace/parallel/share.hpp>
#include <devplace/parallel/unit.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/place/spread.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace {

namespace parallel {

/// Numbers of elements of units.
struct unit_sizes {
  std::size_t trained = 0;  ///< of trained parameters
  std::size_t all = 0;      ///< of all parameters
  std::size_t masters = 0;  ///< of unit::masters
};

namespace detail {

/// The units of a network on `Where`: as many links as have at least the placement's number of bytes of parameters. A
/// link without parameters belongs to the unit before, and so does a link whose parameters the link before reads. A
/// link with more bytes is divided into slices of its rows if it can compute from some of them.
template <class Net, class Where, class P> struct network_units {
 private:
  static constexpr bool on_devices = !std::is_same_v<placement_backend_t<Where>, backend::cpu>;
  /// Whether layers read parameters in two types.
  static constexpr bool has_masters =
      !std::is_same_v<typename precision_traits<P>::parameter, typename precision_traits<P>::working>;
  static constexpr auto links = runtime::network_plan<Net>::template links_for<placement_backend_t<Where>>;
  static constexpr std::size_t element_bytes = sizeof(typename precision_traits<P>::parameter);
  static constexpr std::size_t unit_bytes = placement_traits<Where>::unit_bytes;
  /// The slices of a link, of at least 1 MiB, because smaller ones take longer to gather than their bytes.
  static constexpr row_slices slices_of(std::size_t i) {
    const bool is_alone = !links[i].joined && (i + 1 == links.size() || !links[i + 1].joined);
    return {links[i], is_alone, std::max(unit_bytes, std::size_t{1} << 20), element_bytes};
  }
  static constexpr std::size_t most_units = [] {
    std::size_t sum = 0;
    for (std::size_t i = 0; i != links.size(); ++i) sum += slices_of(i).count;
    return sum;
  }();
  struct unit_list {
    std::array<unit, most_units> units{};
    std::size_t count = 0;
    constexpr unit_list() {
      std::size_t trained = 0, frozen = 0, reductions = 0;  // of the links before
      for (std::size_t i = 0; i != links.size(); ++i) {
        const runtime::link& link = links[i];
        const row_slices slices = slices_of(i);
        const unit& last = units[count == 0 ? 0 : count - 1];
        const bool full = (last.trained.count + last.frozen.count) * element_bytes >= unit_bytes;
        if (slices.count != 1) {
          for (std::size_t s = slices.count; s-- != 0;)
            units[count++] = slices.slice(
                s,
                {{i, i + 1}, {trained, link.parameters}, {frozen, link.frozen}, 0, reductions, link.read_in_backward});
        } else {
          if (count == 0 || ((full || last.is_slice()) && !link.joined && link.parameters + link.frozen != 0))
            units[count++] = {{i, i}, {trained, 0}, {frozen, 0}, 0, reductions};
          unit& own = units[count - 1];
          own.links.last = i + 1;
          own.trained.count += link.parameters;
          own.frozen.count += link.frozen;
          own.reductions += link.reductions;
          own.read_in_backward = own.read_in_backward || link.read_in_backward;
        }
        trained += link.parameters;
        frozen += link.frozen;
        reductions += link.reductions;
      }
      units[count - 1].links.last = runtime::link_range{}.last;
      if constexpr (has_masters)
        visit_masters([&](std::size_t u, std::size_t first, std::size_t elements) {
          bucket& own = units[u].masters;
          if (own.count == 0) own = {first, 0};
          const std::size_t begin = std::min(own.first, first);
          own = {begin, std::max(own.first + own.count, first + elements) - begin};
        });
    }
    constexpr void visit_masters(const auto& f) const {
      runtime::network_plan<Net>::visit_masters([&](std::size_t first, std::size_t elements, bool frozen) {
        for (std::size_t u = count; u-- != 0;) {
          const bucket& part = frozen ? units[u].frozen : units[u].trained;
          if (first < part.first || first >= part.first + part.count) continue;
          return f(u, first - part.first + (frozen ? units[u].trained.count : 0), elements);
        }
      });
    }
  };
  static constexpr unit_list list{};

  /// The sum of the sizes of the first `count` of `slots` slots, each of the size of its largest unit.
  static constexpr unit_sizes sum_of_slots(std::size_t count, std::size_t slots) {
    unit_sizes sum;
    for (std::size_t slot = 0; slot != count; ++slot) {
      unit_sizes most;
      for (std::size_t u = slot; u < list.count; u += slots) {
        const unit& own = list.units[u];
        most.trained = std::max(most.trained, own.trained.count);
        most.all = std::max(most.all, own.trained.count + own.frozen.count);
        most.masters = std::max(most.masters, own.masters.count);
      }
      sum = {sum.trained + most.trained, sum.all + most.all, sum.masters + most.masters};
    }
    return sum;
  }
  /// The sizes of the first slots for gradients and for parameters.
  static constexpr unit_sizes first_of_slots(std::size_t gradients, std::size_t parameters) {
    const unit_sizes of_parameters = sum_of_slots(parameters, parameter_slots);
    return {sum_of_slots(gradients, gradient_slots).trained, of_parameters.all, of_parameters.masters};
  }

 public:
  static constexpr std::size_t size = list.count;
  static constexpr unit at(std::size_t index) { return list.units[index]; }
  /// Whether there are slices; the largest number of elements behind the rows of a layer in slices; and, if activations
  /// have 16 bits, the largest number of layer_rows::sums.
  ///@{
  static constexpr bool has_slices = most_units != links.size();
  static constexpr std::size_t most_behind = [] {
    std::size_t most = 0;
    for (std::size_t u = 0; u != size; ++u) most = std::max(most, list.units[u].behind);
    return most;
  }();
  static constexpr std::size_t row_sums = [] {
    std::size_t most = 0;
    if (!std::is_same_v<element_of_t<P>, typename precision_traits<P>::accumulator>)
      for (std::size_t i = 0; i != links.size(); ++i)
        if (slices_of(i).count != 1) most = std::max(most, links[i].rows.sums);
    return most;
  }();
  ///@}
  /// Number of units whose parameters, or gradients, a place has at a time: on devices the next unit is gathered, and
  /// the gradients of the last one are reduced, while a unit computes.
  ///@{
  static constexpr std::size_t gradient_slots = size != 1 && on_devices ? 2 : 1;
  static constexpr std::size_t parameter_slots = placement_traits<Where>::keeps_units ? size : gradient_slots;
  ///@}
  /// Whether the places gather the parameters of unit `u` for backward again: unless they stay in memory from forward
  /// on, or backward does not read them.
  static constexpr bool gathered_again(std::size_t u) {
    return u + parameter_slots < size && list.units[u].read_in_backward;
  }
  /// Where each unit begins in the memory for units. Units `slot`, `slot + slots`, `slot + 2 slots` and so on share a
  /// slot.
  static constexpr std::array<unit_sizes, size> begins_of_slots = [] {
    std::array<unit_sizes, size> begins{};
    for (std::size_t u = 0; u != size; ++u) begins[u] = first_of_slots(u % gradient_slots, u % parameter_slots);
    return begins;
  }();
  /// The sizes of the memory for units.
  static constexpr unit_sizes in_slots = first_of_slots(gradient_slots, parameter_slots);
  /// The largest number of elements, and of trained elements, of a unit.
  ///@{
  static constexpr std::size_t largest = sum_of_slots(1, 1).all;
  static constexpr std::size_t largest_trained = sum_of_slots(1, 1).trained;
  ///@}
  /// Calls f(u, first, count) for elements of the gathered unit u that a layer reads in the optimizer's type.
  static constexpr void visit_masters(const auto& f) {
    if constexpr (has_masters) list.visit_masters(f);
  }
};

}  // namespace detail

/// A place's share of a unit.
struct share_of_unit {
  std::size_t at;  ///< its first element in the place's arenas
  bucket whole;    ///< its elements in the arenas of a whole model
};

/// The shares of the participants of a model on `Where`. In a place's arenas follow the shares of all units' trained
/// parameters, and then those of their frozen parameters.
template <class Net, class Where, class P> class unit_shares {
 public:
  /// The units of the network.
  using units = detail::network_units<Net, Where, P>;

  /// Number of trained and of frozen elements in the shares of participant `rank`. The first participant has most.
  ///@{
  static constexpr std::size_t trained(std::size_t participants, std::size_t rank) {
    return sum_of_shares(&unit::trained, participants, rank);
  }
  static constexpr std::size_t frozen(std::size_t participants, std::size_t rank) {
    return sum_of_shares(&unit::frozen, participants, rank);
  }
  std::size_t trained(std::size_t rank) const { return at_[units::size * row_ + rank]; }
  std::size_t frozen(std::size_t rank) const { return at_[2 * units::size * row_ + rank] - trained(rank); }
  ///@}

  /// For `participants` participants. Allocates.
  explicit unit_shares(std::size_t participants)
      : row_(participants + 1), begins_(2 * units::size * row_), at_(begins_.size() + row_) {
    for (std::size_t i = 0; i != 2 * units::size; ++i) {
      const unit of = units::at(i % units::size);
      const std::size_t count = (i < units::size ? of.trained : of.frozen).count;
      for (std::size_t rank = 0; rank != row_; ++rank)
        begins_[i * row_ + rank] = share_begin(count, participants, rank);
      for (std::size_t rank = 0; rank != participants; ++rank)
        at_[(i + 1) * row_ + rank] = at_[i * row_ + rank] + size_of_share(count, participants, rank);
    }
  }

  /// The boundaries of the participants' shares of unit `u`, counted from the unit's first element.
  ///@{
  std::span<const std::size_t> trained_begins(std::size_t u) const { return {begins_.data() + u * row_, row_}; }
  std::span<const std::size_t> frozen_begins(std::size_t u) const { return trained_begins(units::size + u); }
  ///@}
  /// Participant `rank`'s share of unit `u`; the frozen parameters of a whole model follow all trained ones.
  ///@{
  share_of_unit trained_share(std::size_t u, std::size_t rank) const {
    return share(u, rank, units::at(u).trained.first);
  }
  share_of_unit frozen_share(std::size_t u, std::size_t rank) const {
    return share(units::size + u, rank, runtime::network_plan<Net>::parameter_elements + units::at(u).frozen.first);
  }
  ///@}

 private:
  share_of_unit share(std::size_t i, std::size_t rank, std::size_t first) const {
    const std::size_t* const begins = begins_.data() + i * row_;
    return {at_[i * row_ + rank], {first + begins[rank], begins[rank + 1] - begins[rank]}};
  }
  static constexpr std::size_t sum_of_shares(bucket unit::* part, std::size_t participants, std::size_t rank) {
    std::size_t sum = 0;
    for (std::size_t u = 0; u != units::size; ++u) sum += size_of_share((units::at(u).*part).count, participants, rank);
    return sum;
  }
  static constexpr std::size_t size_of_share(std::size_t count, std::size_t participants, std::size_t rank) {
    return share_begin(count, participants, rank + 1) - share_begin(count, participants, rank);
  }

  std::size_t row_;
  // Rows for the trained parameters of each unit, and then for the frozen parameters of each unit.
  std::vector<std::size_t> begins_;  ///< boundaries of the shares
  std::vector<std::size_t> at_;  ///< where the shares begin in the participants' arenas; the last row: where they end
};

}  // namespace parallel

/// Lists the units in which the places of a model in shares gather its parameters, in the order of a forward pass. The
/// units depend on the types alone. `size` is the number of units, `at(i)` the i-th unit, `largest` the number of
/// elements of the largest one.
template <class Model> struct unit_plan;

/// The plan of a `model<Net, Where, P>`.
template <class Net, stores_shares Where, class P>
struct unit_plan<model<Net, Where, P>> : parallel::detail::network_units<Net, Where, P> {};

/// Describes the units, one per line: `unit 0: 0.weight to 0.bias, 803840 bytes`, and slices of a layer as `unit 2:
/// 2.weight, rows 0 to 511, 2097152 bytes`.
template <class Model> std::string describe_units() {
  using plan = unit_plan<Model>;
  using network = typename Model::network_type;
  std::string text;
  for (std::size_t u = 0; u != plan::size; ++u) {
    const parallel::unit unit = plan::at(u);
    const std::size_t frozen = runtime::network_plan<network>::parameter_elements + unit.frozen.first;
    text += devplace::detail::joined(
        {"unit ", u, ": ", parallel::detail::names_in<network>({unit.trained, {frozen, unit.frozen.count}})});
    if (unit.is_slice())
      text += unit.rows.last == runtime::row_range{}.last
                  ? devplace::detail::joined({", rows from ", unit.rows.first, " on"})
                  : devplace::detail::joined({", rows ", unit.rows.first, " to ", unit.rows.last - 1});
    text += devplace::detail::joined(
        {", ", (unit.trained.count + unit.frozen.count) * sizeof(typename Model::value_type), " bytes\n"});
  }
  return text;
}

}  // namespace devplace
