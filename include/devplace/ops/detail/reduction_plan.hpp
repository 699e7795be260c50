// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/place/backend.hpp>

namespace devplace::op {

/// `run(ordinal, reduction_plan)`: reduces along the middle axis of outer x count x inner elements. The bits of results
/// do not depend on the number of threads.
struct reduce {};

}  // namespace devplace::op

namespace devplace::detail {

/// Elements outer x count x inner, reduced along `count` to outer x inner results. Element (o, k, i) is `source((o *
/// count + k) * inner + i)`, result (o, i) goes to `reducer.store(o * inner + i, accumulator)`.
///
/// A source may provide `of_result(o * inner + i)`, a functor for the elements of one result; with `has_only_runs` it
/// may provide `joined_results(o)`, the number of results from one on whose elements the functor has. On GPUs with
/// inner 1, the source's elements may be in runs of n = `run_length()`: element k of result o then has the index
/// (k / n * outer + o) * n + k % n.
///
/// To save code, a source that is used only with inner 1 can declare a static member `has_only_runs`. A source that is
/// used only for single results can declare `reduces_all`, as a reducer can.
template <class Source, class Reducer> struct reduction_plan {
  std::size_t outer;
  std::size_t count;
  std::size_t inner;
  Source source;
  Reducer reducer;
};
template <class Source, class Reducer>
reduction_plan(std::size_t, std::size_t, std::size_t, Source, Reducer) -> reduction_plan<Source, Reducer>;

/// Reduces on a backend's device, in the order of its current stream.
template <class Backend, class Source, class Reducer>
void reduce(int ordinal, const reduction_plan<Source, Reducer>& plan) {
  if (plan.outer != 0 && plan.inner != 0) dispatch<op::reduce, Backend>(ordinal, plan);
}

}  // namespace devplace::detail

#include <devplace/backend/cpu/reduce.hpp>
#include DEVPLACE_BACKENDS(reduce)
