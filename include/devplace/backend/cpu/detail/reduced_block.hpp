// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/backend/cpu/detail/float_reductions.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/reduced_inputs.hpp>

// The loops of a reduction, for run_range.
namespace devplace::detail {

template <class Source, class Reducer>
struct reduction_plan;  // ops/detail/reduction_plan.hpp, which includes this file

/// Whether float_reductions.hpp has loops for a reduction.
template <class Source, class Reducer> inline constexpr bool reduces_floats = false;
template <class Reducer>
inline constexpr bool reduces_floats<element_source<float>, Reducer> =
    requires { Reducer::adds_values; } || requires { Reducer::largest; };

/// Groups of results that are computed together. A group is one result if the reduced elements are contiguous (inner =
/// 1), otherwise a tile of adjacent results. Groups are numbered by outer index, then by tile.
struct reduced_groups {
  static constexpr std::size_t tile = 64;    // adjacent results of a group
  static constexpr std::size_t lanes = 32;   // accumulators of a group with one result
  static constexpr std::size_t chain = 128;  // elements that one accumulator takes before it is merged

  std::size_t outer, inner;

  std::size_t tiles() const { return divided_up(inner, tile); }
  std::size_t count() const { return outer * tiles(); }
  std::size_t width() const { return inner < tile ? inner : tile; }
  /// Returns the number of elements along the axis that are reduced without halving the range.
  std::size_t block() const { return inner == 1 ? lanes * chain : chain; }

  std::size_t first_column(std::size_t group) const { return group % tiles() * tile; }
  std::size_t columns(std::size_t group) const {
    const std::size_t rest = inner - first_column(group);
    return rest < tile ? rest : tile;
  }

  template <class Reducer, class Accumulator>
  void store(const Reducer& reducer, const Accumulator* results, std::size_t group) const {
    const std::size_t first = group / tiles() * inner + first_column(group);
    for (std::size_t i = 0; i < columns(group); ++i) reducer.store(first + i, results[i]);
  }
};

/// Reduces positions `begin` to `end` - 1 of each group of a range.
template <class Source, class Reducer> struct reduced_block {
  using accumulator = typename Reducer::accumulator;
  static constexpr bool computes_little = requires { requires Source::computes_little; };
  static constexpr std::size_t lanes = reduced_groups::lanes, tile = reduced_groups::tile;
  static constexpr std::size_t short_lanes = 8;    // for few elements, so that merging takes less time than adding
  static constexpr std::size_t few_elements = 15;  // groups of up to this many elements are reduced faster side by side

  const reduction_plan<Source, Reducer>& plan;
  const reduced_groups& groups;
  std::size_t begin, end;
  accumulator* results;  ///< results of the range's only group; null: the plan's reducer stores the results

  /// Reduces groups from the first one by the functions of float_reductions.hpp. Returns their number, which may be 0.
  [[gnu::noinline, DEVPLACE_FOR_SIZE]] std::size_t reduced_floats(std::size_t first, std::size_t last) const {
    accumulator stored[tile];
    accumulator* const to = results == nullptr ? stored : results;
    const std::size_t outer = first / groups.tiles(), count = end - begin;
    const float* const x = plan.source.data + (outer * plan.count + begin) * plan.inner + groups.first_column(first);
    std::size_t n = 1;
    bool done = false;
    if (plan.inner == 1) {
      n = last - first < tile ? last - first : tile;
      if constexpr (requires { Reducer::largest; }) {
        done = extrema_of_floats<Reducer::largest>(to, x, count, n);
      } else {
        sums_of_floats(to, x, count, n);
        done = true;
      }
    } else if constexpr (requires { Reducer::adds_values; }) {
      done = groups.columns(first) == tile && column_sums_of_floats(to, x, plan.inner, count);
    }
    if (!done) return 0;
    if (results == nullptr && plan.inner != 1) groups.store(plan.reducer, to, first);
    if (results == nullptr && plan.inner == 1)  // groups.store() divides, which takes as long as adding some rows
      for (std::size_t i = 0; i < n; ++i) plan.reducer.store(first + i, to[i]);
    return n;
  }

  void range(std::size_t first, std::size_t last) const {
    const Source source = plan.source;  // a local copy, which no store can alias
    if constexpr (!reduces_all<Source, Reducer>)
      if (plan.inner == 1 && plan.count <= few_elements && results == nullptr) return short_rows(source, first, last);
    for (std::size_t group = first; group != last; ++group) {
      if (reduces_only_along<Source, Reducer> || plan.inner == 1) {
        const accumulator result = along_memory(elements_of_result(source, group), group * plan.count);
        if (results == nullptr)
          plan.reducer.store(group, result);
        else
          *results = result;
      } else if constexpr (!reduces_only_along<Source, Reducer>) {
        accumulator stored[tile];
        across_memory(source, results == nullptr ? stored : results, group);
        if (results == nullptr) groups.store(plan.reducer, stored, group);
      }
    }
  }

 private:
  /// Reduces groups of one result each, a tile at a time.
  void short_rows(const Source& source, std::size_t first, std::size_t last) const {
    constexpr bool of_lines = requires { requires Source::has_only_runs; };
    if constexpr (of_lines) {  // finding a line takes longer than adding its elements
      while (first != last) {
        const auto row = elements_of_result(source, first);
        std::size_t joined = 1;
        if constexpr (requires { source.joined_results(first); }) joined = source.joined_results(first);
        for (const std::size_t next = first + std::min(joined, last - first); first != next; ++first) {
          accumulator sum = Reducer::identity();
          for (std::size_t k = 0; k != plan.count; ++k) Reducer::add(sum, row(first * plan.count + k), k);
          plan.reducer.store(first, sum);
        }
      }
    } else {
      for (std::size_t n; first != last; first += n) {
        accumulator sums[tile];
        n = last - first < tile ? last - first : tile;
        for (std::size_t i = 0; i < n; ++i) sums[i] = Reducer::identity();
        for (std::size_t k = 0; k != plan.count; ++k)
          for (std::size_t i = 0; i < n; ++i)
            Reducer::add(sums[i], elements_of_result(source, first + i)((first + i) * plan.count + k), k);
        for (std::size_t i = 0; i < n; ++i) plan.reducer.store(first + i, sums[i]);
      }
    }
  }

  template <class Elements> accumulator along_memory(const Elements& source, std::size_t base) const {
    if constexpr (requires { typename Reducer::value_reducer; })
      return position_of(source, base, in_lanes<typename Reducer::value_reducer>(source, base));
    else
      return in_lanes<Reducer>(source, base);
  }

  template <class Of, class Elements>
  typename Of::accumulator in_lanes(const Elements& source, std::size_t base) const {
    // The order of integers does not change their sum, so a source that computes little needs one loop.
    if (computes_little && std::is_integral_v<typename Of::accumulator>) return in_lanes<Of, short_lanes>(source, base);
    // Longer sums of floats are computed by reduced_floats.
    if constexpr (reduces_floats<Elements, Of> && requires { Of::adds_values; })
      return in_lanes<Of, short_lanes>(source, base);
    else
      return end - begin < 2 * lanes ? in_lanes<Of, short_lanes>(source, base) : in_lanes<Of, lanes>(source, base);
  }

  template <class Of, std::size_t Lanes, class Elements>
  typename Of::accumulator in_lanes(const Elements& source, std::size_t base) const {
    typename Of::accumulator sums[Lanes];
    for (std::size_t lane = 0; lane < Lanes; ++lane) sums[lane] = Of::identity();
    std::size_t k = begin;
    for (; k + Lanes <= end; k += Lanes) {
      for (std::size_t lane = 0; lane < Lanes; ++lane) Of::add(sums[lane], source(base + k + lane), k + lane);
    }
    for (std::size_t lane = 0; k < end; ++k, ++lane) Of::add(sums[lane], source(base + k), k);
    // Integer lanes pass through memory: otherwise g++ 12.2 with -O3 adds across iterations and loses elements.
    if constexpr (!std::is_floating_point_v<typename Of::accumulator>) __asm__("" : "+m"(sums));
    merge_halves<Of, Lanes / 2>(sums);
    return sums[0];
  }

  /// Merges the halves recursively. The length is a constant, so that compilers keep the lanes in registers.
  template <class Of, std::size_t Half> static void merge_halves(typename Of::accumulator* sums) {
    for (std::size_t lane = 0; lane < Half; ++lane) Of::merge(sums[lane], sums[lane + Half]);
    if constexpr (Half != 1) merge_halves<Of, Half / 2>(sums);
  }

  /// Returns the first position of a value, which may be NaN.
  template <class Elements, class Value>
  accumulator position_of(const Elements& source, std::size_t base, Value value) const {
    const auto is_it = [&](std::size_t k) {
      const auto x = static_cast<Value>(source(base + k));
      return static_cast<unsigned>(x == value) | static_cast<unsigned>(x != x);
    };
    std::size_t k = begin;
    for (unsigned found = 0; k + lanes <= end; k += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) found += is_it(k + lane);
      if (found != 0) break;
    }
    while (k != end && is_it(k) == 0) ++k;
    accumulator result = Reducer::identity();
    if (k != end) Reducer::add(result, source(base + k), k);
    return result;
  }

  void across_memory(const Source& source, accumulator* to, std::size_t group) const {
    const std::size_t n = groups.columns(group), first = groups.first_column(group);
    const std::size_t outer = group / groups.tiles(), base = outer * plan.count * plan.inner + first;
    const auto element = [&](std::size_t k, std::size_t i) {
      return elements_of_result(source, outer * plan.inner + first + i)(base + k * plan.inner + i);
    };
    if constexpr (requires { typename Reducer::value_reducer; })
      positions_across(element, to, n);
    else
      values_across(element, to, n);
  }

  template <class Element> void values_across(const Element& element, accumulator* to, std::size_t n) const {
    accumulator sums[tile];
    for (std::size_t i = 0; i < tile; ++i) sums[i] = Reducer::identity();
    if (n == tile) {
      for (std::size_t k = begin; k != end; ++k) {
        for (std::size_t i = 0; i < tile; ++i) Reducer::add(sums[i], element(k, i), k);
      }
    } else {
      for (std::size_t k = begin; k != end; ++k) {
        for (std::size_t i = 0; i < n; ++i) Reducer::add(sums[i], element(k, i), k);
      }
    }
    for (std::size_t i = 0; i < n; ++i) to[i] = sums[i];
  }

  /// Keeps values and positions in arrays of their own, so that compilers vectorise the loop over columns.
  template <class Element> void positions_across(const Element& element, accumulator* to, std::size_t n) const {
    using value_type = decltype(accumulator::value);
    value_type values[tile] = {};
    std::int32_t positions[tile] = {};
    for (std::size_t i = 0; i < n; ++i) values[i] = element(begin, i);
    for (std::size_t k = begin + 1; k != end; ++k) {
      const auto position = static_cast<std::int32_t>(k - begin);
      for (std::size_t i = 0; i < n; ++i) {
        const value_type x = element(k, i);
        const bool better = Reducer::precedes(x, values[i]);
        values[i] = better ? x : values[i];
        positions[i] = better ? position : positions[i];
      }
    }
    for (std::size_t i = 0; i < n; ++i) to[i] = {values[i], static_cast<std::int64_t>(begin) + positions[i]};
  }
};

}  // namespace devplace::detail
