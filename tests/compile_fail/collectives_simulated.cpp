// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>
#include <utility>
#include <vector>

#include <devplace/ops/creation.hpp>
#include <devplace/parallel/all_gather.hpp>
#include <devplace/parallel/all_reduce.hpp>
#include <devplace/parallel/broadcast.hpp>
#include <devplace/parallel/gather.hpp>
#include <devplace/parallel/reduce_scatter.hpp>
#include <devplace/parallel/reduce_to_place.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/item.hpp>

namespace dp = devplace;

template <class Where, class T = float> using matrix = dp::tensor<T, dp::extents<6, 4>, Where>;
using on_cpu = dp::on<dp::cpu>;
using on_0 = dp::on<dp::cuda<0>>;
using copies_type = dp::replicated<0, 1>;
using rows = dp::sharded<dp::axis<0>, 0, 1>;
using sum_of = dp::partial<dp::reduction::sum, 0, 1>;
using mean_of = dp::partial<dp::reduction::mean, 0, 1>;

// Passes x to a case. See compile_fail.cmake.
template <class Case, class... X> void in_a_template(const Case& f, X&&... x) { f(x...); }

void collectives(matrix<on_cpu>& whole, matrix<copies_type>& copies, matrix<rows>& parts, matrix<sum_of>& summands,
                 matrix<mean_of, std::int32_t>& means) {
  dp::gather<on_cpu>(dp::scatter<rows>(whole, dp::split::sizes{2, 4}));
  dp::broadcast<copies_type>(whole);
  dp::all_gather(parts);
  dp::all_reduce(summands);
  dp::reduce<on_0>(summands);
  dp::reduce_scatter<rows>(summands);
  dp::to<on_cpu>(copies.local(dp::cuda<1>{}));
  dp::copy(copies.only_on(dp::cuda<1>{}), whole);
  dp::copy(summands.only_on(0), copies.local(0));
  dp::item(copies.local(dp::cuda<1>{})[0].slice(0, 1));
  matrix<rows> other = parts.clone();
  static_cast<void>(means);
#if defined(ALL_REDUCE_OF_COPIES)  // expect: devplace: all_reduce: every place has the whole value already.*multiply
  dp::all_reduce(copies);
#endif
#if defined(ALL_REDUCE_TWICE)  // expect: devplace: all_reduce: every place has the whole value already
  dp::all_reduce(dp::all_reduce(summands));
#endif
#if defined(ALL_REDUCE_OF_PARTS)  // expect: devplace: all_reduce: the places have parts, not summands.*all_gather
  dp::all_reduce(std::move(parts));
#endif
#if defined(ALL_REDUCE_OF_ONE_PLACE)  // expect: devplace: all_reduce: the value is whole, on one place
  dp::all_reduce(whole);
#endif
#if defined(MEAN_OF_INTEGERS)  // expect: devplace: a mean over places is defined for floating-point elements
  dp::all_reduce(means);
#endif
#if defined(WRITE_ONE_COPY)  // expect: devplace: copy: the destination's elements are const.*only_on
  dp::copy(copies.local(0), whole);
#endif
#if defined(SUMMAND_COPIED)  // expect: devplace: one place's summand is not the value
  dp::copy(whole, summands.local(0));
#endif
#if defined(SUMMAND_WRITTEN)  // expect: devplace: one place's summand is not the value
  dp::copy(summands.local(0), whole);
#endif
#if defined(SUMMAND_MOVED)  // expect: devplace: one place's summand is not the value
  auto a = dp::to<on_cpu>(summands.local(0));
#endif
#if defined(SUMMAND_OPERAND)  // expect: devplace: one place's summand is not the value
  parts.local(0) -= 0.1f * summands.local(0);
#endif
#if defined(SUMMAND_SUBTRACTED)  // expect: devplace: one place's summand is not the value
  parts.local(0) -= summands.local(0);
#endif
#if defined(SUMMAND_PLUS_SUMMAND)  // expect: devplace: one place's summand is not the value
  auto a = summands.local(0) + summands.local(1);
#endif
#if defined(SUMMAND_REDUCED)  // expect: (devplace: sum: |use of deleted function|no matching function)
  auto a = dp::sum(summands.local(0), dp::axis<0>{});
#endif
#if defined(SUMMAND_ELEMENT)  // expect: devplace: the host cannot reach this summand's elements
  auto a = summands.local(0)(0, 0);
#endif
#if defined(LOCAL_OF_TEMPORARY)  // expect: devplace: a view of a temporary tensor would outlive its
  auto part = dp::all_reduce(summands).local(0);
#endif
#if defined(PART_ON_A_PLACE_OF_TEMPORARY)  // expect: devplace: a view of a temporary tensor would outlive
  auto part = dp::all_reduce(summands).local<dp::cuda<0>>();
#endif
#if defined(REDUCE_OF_COPIES)  // expect: devplace: reduce: every place has the whole value already
  dp::reduce<on_0>(copies);
#endif
#if defined(REDUCE_OF_PARTS)  // expect: devplace: reduce: the places have parts, not summands.*gather
  dp::reduce<on_0>(parts);
#endif
#if defined(REDUCE_TO_SEVERAL)  // expect: devplace: reduce: the result lies on one place.*all_reduce
  dp::reduce<copies_type>(summands);
#endif
#if defined(REDUCE_SCATTER_OF_COPIES)  // expect: devplace: reduce_scatter: every place has the whole value already
  dp::reduce_scatter<rows>(copies);
#endif
#if defined(REDUCE_SCATTER_OF_PARTS)  // expect: devplace: reduce_scatter: the value is split already
  dp::reduce_scatter<rows>(parts);
#endif
#if defined(REDUCE_SCATTER_TO_OTHER_PLACES)  // expect: devplace: reduce_scatter: the result.s places are not the
                                             // summands
  dp::reduce_scatter<dp::sharded<dp::axis<0>, 0, 2>>(summands);
#endif
#if defined(REDUCE_SCATTER_IN_OTHER_ORDER)  // expect: devplace: reduce_scatter: the result.s places are not the
                                            // summands
  dp::reduce_scatter<dp::sharded<dp::axis<0>, 1, 0>>(summands);
#endif
#if defined(REDUCE_SCATTER_TO_COPIES)  // expect: devplace: reduce_scatter: the result is sharded.*all_reduce
  dp::reduce_scatter<copies_type>(summands);
#endif
#if defined(TO_HOST_OF_SUMMANDS)  // expect: devplace: to_host: the places have summands, not the value.*reduce<cpu>
  dp::to_host(summands);
#endif
#if defined(GATHER_OF_SUMMANDS)  // expect: devplace: gather: the places have summands, not parts.*reduce
  dp::gather<on_cpu>(summands);
#endif
#if defined(GATHER_OF_COPIES)  // expect: devplace: gather: every place has the whole value already
  dp::gather<on_cpu>(copies);
#endif
#if defined(GATHER_OF_ONE_PLACE)  // expect: devplace: gather: the value is on one place already
  dp::gather<on_0>(whole);
#endif
#if defined(ALL_GATHER_OF_SUMMANDS)  // expect: devplace: all_gather: the places have summands, not parts.*all_reduce
  dp::all_gather(summands);
#endif
#if defined(ALL_GATHER_OF_COPIES)  // expect: devplace: all_gather: every place has the whole value already
  dp::all_gather(copies);
#endif
#if defined(SCATTER_TO_SUMMANDS)  // expect: devplace: scatter: the result must be sharded
  dp::scatter<sum_of>(whole);
#endif
#if defined(SCATTER_TO_COPIES)  // expect: devplace: scatter: the result must be sharded.*broadcast
  dp::scatter<copies_type>(whole);
#endif
#if defined(SCATTER_OF_COPIES)  // expect: devplace: scatter: the value lies over several places already
  dp::scatter<rows>(copies);
#endif
#if defined(SCATTER_OF_AN_AXIS_THAT_IS_NOT_THERE)  // expect: devplace: scatter: the tensor does not have the axis
  dp::scatter<dp::sharded<dp::axis<2>, 0, 1>>(whole);
#endif
#if defined(SIZES_FOR_OTHER_PLACES)  // expect: devplace: scatter: split::sizes must have one size for each
  dp::scatter<rows>(whole, dp::split::sizes{2, 2, 2});
#endif
#if defined(BROADCAST_TO_PARTS)  // expect: devplace: broadcast: the result must be replicated.*scatter
  dp::broadcast<rows>(whole);
#endif
#if defined(BROADCAST_OF_COPIES)  // expect: devplace: broadcast: the value lies over several places already
  dp::broadcast<copies_type>(copies);
#endif
#if defined(TO_OF_COPIES)  // expect: devplace: to: every place has a copy
  dp::to<on_cpu>(copies);
#endif
#if defined(TO_OF_PARTS)  // expect: devplace: to: the places have parts
  dp::to<on_cpu>(parts);
#endif
#if defined(TO_OF_SUMMANDS)  // expect: devplace: to: the places have summands
  dp::to<on_cpu>(summands);
#endif
#if defined(TO_SEVERAL_PLACES)  // expect: devplace: to: the result lies on one place
  dp::to<copies_type>(whole);
#endif
#if defined(ITEM_OF_COPIES)  // expect: devplace: item: every place has a copy
  dp::item(copies);
#endif
#if defined(ITEM_OF_PARTS)  // expect: devplace: item: the places have parts
  dp::item(parts);
#endif
#if defined(ITEM_OF_SUMMANDS)  // expect: devplace: item: the places have summands
  dp::item(summands);
#endif
#if defined(COPY_TO_PARTS)  // expect: devplace: copy: give tensors or views on one place
  dp::copy(parts, whole);
#endif
#if defined(COPY_FROM_COPIES)  // expect: devplace: copy: give tensors or views on one place
  dp::copy(whole, copies);
#endif
#if defined(PART_OF_A_PLACE_THAT_HAS_NONE)  // expect: devplace: local: the tensor has no part on this place
  parts.local(dp::cuda<2>{});
#endif
#if defined(COPY_CONSTRUCTED)  // expect: deleted (function|constructor|operator|member)
  matrix<rows> copied = parts;
#endif
#if defined(COPY_ASSIGNED)  // expect: deleted (function|constructor|operator|member)
  other = parts;
#endif
#if defined(FULL_SUMMANDS)  // expect: devplace: full: the value of a partial tensor is the reduction of its summands
  dp::full<float, sum_of>(dp::extents<6, 4>{}, 1);
#endif
#if defined(RANDOM_SUMMANDS)  // expect: devplace: random numbers as summands would add up to another distribution
  in_a_template([](auto size) { dp::uniform<float, sum_of>(size, dp::seed{1}); }, dp::extents<6, 4>{});
#endif
#if defined(GATHER_WITHOUT_PLACE)  // expect: devplace: gather: the result lies on one place, as in gather<on<cpu>>
  auto whole_again = dp::gather(parts);
#endif
#if defined(SCATTER_WITHOUT_PLACEMENT)  // expect: devplace: scatter: the result must be sharded, as in scatter<sharded
  auto split = dp::scatter(whole);
#endif
#if defined(BROADCAST_WITHOUT_PLACEMENT)  // expect: devplace: broadcast: the result must be replicated
  auto all = dp::broadcast(whole);
#endif
#if defined(REDUCE_WITHOUT_PLACE)  // expect: devplace: reduce: the result lies on one place, as in reduce<on<cuda<0>>>
  auto reduced = dp::reduce(summands);
#endif
#if defined(REDUCE_SCATTER_WITHOUT_PLACEMENT)  // expect: devplace: reduce_scatter: the result is sharded, as in
  auto reduced = dp::reduce_scatter(summands);
#endif
#if defined(SCATTER_INTO_A_NUMBER)  // expect: devplace: scatter: the second argument is a rule
  auto split = dp::scatter<rows>(whole, 2);
#endif
#if defined(PARTS_OF_LIST)  // expect: devplace: a tensor over several places is made of
  dp::tensor<float, dp::extents<4>, rows> list{1, 2, 3, 4};
#endif
#if defined(TO_WITHOUT_PLACE)  // expect: devplace: to: name the place in angle brackets
  auto moved = dp::to(whole);
#endif
#if defined(TO_BY_NAME)  // expect: devplace: to: name the place in angle brackets
  auto moved = dp::to(whole, "cuda:0");
#endif
#if defined(TO_A_NUMBER)  // expect: devplace: to: a number is not a place
  auto moved = dp::to<0>(whole);
#endif
#if defined(TO_OF_A_VECTOR)  // expect: devplace: to: the argument is not a tensor, view, expression or model
  auto moved = dp::to<on_0>(std::vector<float>(3));
#endif
#if defined(SYNCHRONIZE_NOTHING)  // expect: devplace: synchronize: name the place to wait for
  dp::synchronize();
#endif
#if defined(TRIM_NOTHING)  // expect: devplace: trim_memory: name the place whose cache is freed
  dp::trim_memory();
#endif
#if defined(ROWS_OF_PARTS)  // expect: devplace: a tensor over several places has no rows to loop over
  for (auto row : dp::rows(parts)) static_cast<void>(row);
#endif
#if defined(LOOP_OVER_PARTS)  // expect: devplace: the host cannot reach these elements in a loop or algorithm
  for (const float element : parts) static_cast<void>(element);
#endif
#if defined(LOOP_OVER_COPIES)  // expect: devplace: the host cannot reach these elements in a loop or algorithm
  for (auto element : copies) static_cast<void>(element);
#endif
#if defined(PEAK_OF_NOTHING)  // expect: devplace: reset_peak_memory: name the place
  dp::reset_peak_memory();
#endif
#if defined(STATISTICS_OF_NOTHING)  // expect: devplace: memory_statistics: name the place
  dp::memory_statistics();
#endif
}
