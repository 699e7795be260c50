// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models in shares, and what needs whole models or other placements.
#include <array>
#include <cstdint>

#include <devplace/fully_sharded.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/predictor.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/trainer.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;

using net = nn::sequential<nn::linear<6, 3>, nn::linear<3, 3>>;
using shares = dp::fully_sharded<0, 1>;
using replicas = dp::replicated<0, 1>;
using parts = dp::sharded<dp::axis<0>, 0, 1>;
template <class Where> using samples = dp::tensor<float, dp::extents<dp::dyn, 6>, Where>;
template <class Where> using labels = dp::tensor<std::int64_t, dp::extents<dp::dyn>, Where>;

/// Adds a parameter, which it reads in the optimizer's type.
template <bool Declares> struct shift {
  template <class In> using output = In;
  static constexpr bool reads_masters = Declares;
  static constexpr std::array parameters{nn::parameter{"shift", {3}, nn::init::constant(0)}};
  static void forward(const auto& c) { c.output = c.input + c.template master_parameter<0>(); }
  static void backward(const auto& c) {
    c.template add_gradient<0>(dp::sum(c.output_gradient, dp::axis<0>{}));
    c.input_gradient = c.output_gradient * 1;
  }
};

template <class Case, class... X> void in_a_template(const Case& f, X&&... x) { f(x...); }

/// An engine whose communicator knows all processes itself.
struct of_all_processes : collective::direct {
  static constexpr bool spans_processes = true;
};

using in_groups = dp::model<net, dp::across<dp::cuda<0>, dp::mesh<dp::replicas<dp::dyn>, dp::shares<8>>>>;
template <std::size_t Count>
constexpr std::size_t planned_in_groups =
    dp::memory_plan<in_groups, dp::batch<64>, dp::optim::sgd, collective::gather_units<>, dp::processes<Count>>::bytes;

void work(dp::model<net, shares>& model, dp::model<net, replicas>& of_replicas, in_groups& groups,
          const samples<parts>& x, const labels<parts>& y) {
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}};
  step(x, y);
  dp::trainer{of_replicas, nn::cross_entropy{}, dp::optim::sgd{}}(x, y);
  static_cast<void>(model.predict(x));
  static_cast<void>(dp::predictor<net, dp::cuda<0>>{model, dp::batch<8>{}});
  static_assert(dp::memory_plan<dp::model<net, shares>, dp::batch<8>, dp::optim::sgd>::bytes > 0);
  static_assert(planned_in_groups<16> > 0);
  dp::trainer{groups, nn::cross_entropy{}, dp::optim::sgd{}};
  static_cast<void>(dp::model<nn::sequential<nn::linear<6, 3>, shift<true>>, replicas>{dp::seed{1}}.forward(x));
#if defined(PARAMETER_OF_SHARES)  // expect: devplace: a model in shares has no whole parameters and no gradients
  in_a_template([](auto& m) { static_cast<void>(m.template parameter<0>()); }, model);
#endif
#if defined(EACH_PARAMETER_OF_SHARES)  // expect: devplace: a model in shares has no whole parameters and no gradients
  in_a_template([](auto& m) { m.for_each_parameter([](const auto&, auto) {}); }, model);
#endif
#if defined(FORWARD_OF_SHARES)  // expect: devplace: a model in shares has no whole parameters.*train it by a trainer
  in_a_template([](auto& m, const auto& batch) { static_cast<void>(m.forward(batch)); }, model, x);
#endif
#if defined(ALL_REDUCE_OF_SHARES)  // expect: devplace: trainer: collective::gather_units is the policy of models in
  dp::trainer{model, nn::cross_entropy{}, dp::optim::sgd{}, collective::all_reduce<collective::ring>{}};
#endif
#if defined(UNITS_OF_REPLICAS)  // expect: devplace: trainer: collective::gather_units is the policy.*fully_sharded<0,
                                // 1>
  dp::trainer{of_replicas, nn::cross_entropy{}, dp::optim::sgd{}, collective::gather_units<>{}};
#endif
#if defined(OPTIMIZER_OF_SHARES)  // expect: devplace: optimizer: a model in shares is trained by a trainer
  dp::optimizer{model, dp::optim::sgd{}};
#endif
#if defined(PREDICTOR_IN_SHARES)  // expect: devplace: predictor: the model is in shares
  dp::predictor{model, dp::batch<8>{}};
#endif
#if defined(COPIES_OF_SHARES)  // expect: devplace: check_replicas: the places of a model in shares
  dp::check_replicas(model);
#endif
#if defined(MESH_OF_ANOTHER_SIZE)  // expect: devplace: spread: a mesh has the axis shares<Count>
  dp::model<net, dp::spread<dp::mesh<dp::shares<3>>, 0, 1>>{dp::seed{1}};
#endif
#if defined(MESH_OF_REPLICAS_ALONE)  // expect: devplace: spread: a mesh has the axis shares<Count>
  dp::model<net, dp::spread<dp::mesh<dp::replicas<2>>, 0, 1>>{dp::seed{1}};
#endif
#if defined(REPLICAS_IN_SHARES_OF_PROCESSES)  // expect: devplace: across: so far the processes divide the batch
  dp::model<net, dp::across<replicas, dp::mesh<dp::shares<dp::dyn>>>>{dp::seed{1}};
#endif
#if defined(GROUPS_OF_NO_PROCESSES)  // expect: devplace: across: so far the processes divide.*mesh<replicas<dyn>,
                                     // shares<8>>
  dp::model<net, dp::across<dp::cuda<0>, dp::mesh<dp::replicas<dp::dyn>, dp::shares<0>>>>{dp::seed{1}};
#endif
#if defined(ENGINE_OF_ALL_PROCESSES)  // expect: devplace: trainer: the mesh divides the processes into groups
  in_a_template(
      [](auto& m) {
        dp::trainer{m, nn::cross_entropy{}, dp::optim::sgd{}, collective::gather_units<of_all_processes>{}};
      },
      groups);
#endif
#if defined(WIRE_BETWEEN_GROUPS)  // expect: devplace: trainer: collective::wire rounds the gradients of models whose
  in_a_template(
      [](auto& m) {
        dp::trainer{m, nn::cross_entropy{}, dp::optim::sgd{}, collective::gather_units<collective::wire<dp::bf16>>{}};
      },
      groups);
#endif
#if defined(PLAN_OF_A_PART_OF_A_GROUP)  // expect: devplace: memory_plan: this mesh of processes needs a multiple
  static_assert(planned_in_groups<12> > 0);
#endif
#if defined(UNITS_WITHOUT_BYTES)  // expect: devplace: shares: a unit has at least one byte of parameters
  dp::model<net, dp::spread<dp::mesh<dp::shares<2, 0>>, 0, 1>>{dp::seed{1}};
#endif
#if defined(PLAN_OF_ANOTHER_POLICY)  // expect: devplace: memory_plan: the policy of a model in shares is.*gather_units
  static_cast<void>(dp::memory_plan<dp::model<net, dp::fully_sharded<0, 1, 2>>, dp::batch<8>, dp::optim::sgd,
                                    collective::sharded_all_reduce<>>::bytes);
#endif
#if defined(UNDECLARED_MASTERS)  // expect: devplace: a layer that reads c.master_parameter<I>\(\) declares static
  dp::model<nn::sequential<nn::linear<6, 3>, shift<false>>, shares> undeclared{dp::seed{1}};
  in_a_template([](auto& m, const auto& batch) { static_cast<void>(m.predict(batch)); }, undeclared, x);
#endif
#if defined(TENSOR_IN_SHARES)  // expect: devplace: tensor: only models lie in shares.*sharded<axis<0>
  dp::tensor<float, dp::extents<4, 6>, shares>{};
#endif
#if defined(BATCH_OF_ANOTHER_PLACE)  // expect: devplace: the batch does not lie where
  in_a_template([](auto& m, const auto& batch) { static_cast<void>(m.predict(batch)); }, model,
                samples<dp::sharded<dp::axis<0>, 1, 0>>(dp::extents<dp::dyn, 6>{2}));
#endif
}
