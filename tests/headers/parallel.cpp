// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

namespace devplace {}
namespace dp = devplace;

#include <devplace/parallel/across_processes.hpp>

using sums = dp::parallel::across_processes<dp::backend::cpu, dp::parallel::summation::by_rank>;
static_assert(dp::parallel::communicator<sums>);

#include <devplace/parallel/all_gather.hpp>

inline auto gather(const dp::tensor<float, dp::extents<2, 3>, dp::sharded_on<dp::axis<0>, dp::cpu>>& x) {
  return dp::all_gather(x);
}

#include <devplace/parallel/all_reduce.hpp>

inline auto sum(const dp::tensor<float, dp::extents<2, 3>, dp::partial_on<dp::reduction::sum, dp::cpu>>& x) {
  return dp::all_reduce(x);
}

#include <devplace/parallel/broadcast.hpp>

inline auto copy(const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& x) {
  return dp::broadcast<dp::replicated_on<dp::cpu>>(x);
}

#include <devplace/parallel/broadcast_parameters.hpp>

template <class Model> void broadcast(Model& model) { dp::broadcast_parameters(model); }

#include <devplace/parallel/bucket_plan.hpp>

template <class Model, class Policy> std::string describe() { return dp::describe_buckets<Model, Policy>(); }

#include <devplace/parallel/bucket_reduction.hpp>

static_assert(std::is_empty_v<dp::parallel::no_bucket_reduction>);

#include <devplace/parallel/bucket_shares.hpp>

template <class Net, class Policy> using shares = dp::parallel::bucket_shares<Net, float, Policy>;

#include <devplace/parallel/check_replicas.hpp>

template <class Model> void check(const Model& model) { dp::check_replicas(model); }

#include <devplace/parallel/communicator.hpp>

static_assert(!dp::parallel::communicator<int>);

#include <devplace/parallel/direct.hpp>

static_assert(dp::parallel::communicator<dp::parallel::direct<dp::backend::cpu>>);

#include <devplace/parallel/equal_replicas.hpp>

template <class Replica> void sum(const Replica& replica, std::uint64_t* result) {
  dp::parallel::sum_parameters<dp::backend::cpu>(replica, 0, 1, result);
}

#include <devplace/parallel/exchange.hpp>

template <class T> void fill_ghost_rows(dp::field<T, dp::dextents<1>, dp::cpu, dp::halo<1>>& x) {
  static_cast<void>(dp::exchange(x, dp::edge::periodic));
}

#include <devplace/parallel/fibers.hpp>

static_assert(dp::parallel::mesh_axes<dp::spread_on<dp::mesh<dp::shares<1>>, dp::cpu>>::shares == 1);

#include <devplace/parallel/field.hpp>

inline std::size_t cells_of(const dp::field<float, dp::dextents<2>, dp::cpu>& x) { return x.size(); }

#include <devplace/parallel/field_files.hpp>

template <class Field> void save(const Field& x) { dp::write_npy("x.npy", x); }

#include <devplace/parallel/field_reduce.hpp>

template <class F> double sum_of(const F& f, const dp::field<float, dp::dextents<2>, dp::cpu>& x) {
  return dp::exact_sum(f, x) + dp::parallel_reduce(f, x);
}

#include <devplace/parallel/fingerprint.hpp>

const dp::parallel::fingerprint empty;

#include <devplace/parallel/gather.hpp>

inline auto gather(const dp::tensor<float, dp::extents<2, 3>, dp::sharded_on<dp::axis<0>, dp::cpu>>& x) {
  return dp::gather<dp::on<dp::cpu>>(x);
}

#include <devplace/parallel/hierarchical.hpp>

static_assert(dp::parallel::communicator<dp::parallel::hierarchical<dp::backend::cpu>>);

#include <devplace/parallel/model_in_parts.hpp>

template <class Net> using in_parts = dp::model<Net, dp::in_parts<dp::axis<2>, 0, 1>>;

#include <devplace/parallel/neighbourhood.hpp>

inline float above(const dp::neighbourhood<float, dp::halo<1>, 2>& x) { return x(-1, 0); }

#include <devplace/parallel/parallel_apply.hpp>

template <class Models, class Inputs> auto apply(const Models& models, const Inputs& inputs) {
  return dp::parallel_apply(models, inputs);
}

#include <devplace/parallel/policy.hpp>

static_assert(dp::collective_policy<dp::collective::ring_all_reduce>);

#include <devplace/parallel/reduce_scatter.hpp>

inline auto sum(const dp::tensor<float, dp::extents<2, 3>, dp::partial_on<dp::reduction::sum, dp::cpu>>& x) {
  return dp::reduce_scatter<dp::sharded_on<dp::axis<0>, dp::cpu>>(x);
}

#include <devplace/parallel/reduce_to_place.hpp>

inline auto sum(const dp::tensor<float, dp::extents<2, 3>, dp::partial_on<dp::reduction::sum, dp::cpu>>& x) {
  return dp::reduce<dp::on<dp::cpu>>(x);
}

#include <devplace/parallel/replicate.hpp>

template <class Model> auto copies(const Model& model) { return dp::replicate<dp::replicated_on<dp::cpu>>(model); }

#include <devplace/parallel/ring.hpp>

static_assert(dp::parallel::communicator<dp::parallel::ring<dp::backend::cpu>>);

#include <devplace/parallel/row_halos.hpp>

template <class Backend> void exchange(dp::parallel::row_halos<Backend>& halos) { halos.exchange(halos.requested()); }

#include <devplace/parallel/scatter.hpp>

inline auto parts(const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& x) {
  return dp::scatter<dp::sharded_on<dp::axis<0>, dp::cpu>>(x);
}

#include <devplace/parallel/sharded_arenas.hpp>

template <class Net> using arenas = dp::parallel::sharded_arenas<Net, dp::fully_sharded_on<dp::cpu>, float>;

#include <devplace/parallel/sharded_model.hpp>

template <class Net> using in_shares = dp::model<Net, dp::fully_sharded_on<dp::cpu>>;

#include <devplace/parallel/sharded_state.hpp>

template <class Net> using state = dp::parallel::sharded_state<Net, dp::fully_sharded_on<dp::cpu>, float>;

#include <devplace/parallel/sharded_step_traffic.hpp>

template <class Net>
using traffic = dp::step_traffic<dp::model<Net, dp::fully_sharded_on<dp::cpu>>, dp::collective::gather_units<>>;

#include <devplace/parallel/share.hpp>

static_assert(dp::parallel::share_begin(10, 2, 1) > 0);

#include <devplace/parallel/stencil.hpp>

template <class Field, class F> void step(Field& out, const F& f, Field& in) {
  dp::stencil(out, f, dp::exchange(in, dp::edge::mirrored));
}

#include <devplace/parallel/step_traffic.hpp>

template <class Model, class Policy> using traffic = dp::step_traffic<Model, Policy>;

#include <devplace/parallel/synchronize.hpp>

template <class Gradients> auto sum(Gradients&& gradients) {
  return dp::synchronize<dp::collective::ring_all_reduce>(std::move(gradients));
}

#include <devplace/parallel/to_batch.hpp>

inline auto parts(const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& x) {
  return dp::to_host(dp::to_batch<dp::replicated_on<dp::cpu>>(x));
}

#include <devplace/parallel/unit.hpp>

constexpr dp::parallel::unit all_layers;
static_assert(dp::parallel::detail::row_slices({2000, 0, 0, false, true, {1000, 2, 0}}, true, 2048, 4).count > 1);

#include <devplace/parallel/unit_plan.hpp>

template <class Net> using units = dp::unit_plan<dp::model<Net, dp::fully_sharded_on<dp::cpu>>>;

#include <devplace/parallel/wire.hpp>

static_assert(dp::collective_policy<dp::collective::all_reduce<dp::collective::wire<>>>);
