// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>
#include <iostream>
#include <ratio>
#include <utility>
#include <vector>

#include <devplace/nn/bce_with_logits.hpp>
#include <devplace/nn/concat_of.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/elementwise.hpp>
#include <devplace/nn/elu.hpp>
#include <devplace/nn/embedding.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/identity.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/kl_div.hpp>
#include <devplace/nn/l1.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/leaky_relu.hpp>
#include <devplace/nn/learning_rate_times.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/named.hpp>
#include <devplace/nn/nll.hpp>
#include <devplace/nn/predictor.hpp>
#include <devplace/nn/recomputed.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/rms_norm.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/sigmoid.hpp>
#include <devplace/nn/smooth_l1.hpp>
#include <devplace/nn/softmax.hpp>
#include <devplace/nn/softplus.hpp>
#include <devplace/nn/sum_of.hpp>
#include <devplace/ops/math.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/decay_of_matrices.hpp>
#include <devplace/optim/on_host.hpp>
#include <devplace/optim/scheduled.hpp>
#include <devplace/optim/schedules.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/early_stopping.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/moving_average.hpp>
#include <devplace/train/trainer.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;

using on_cpu = dp::on<dp::cpu>;
using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 3>>;
using cpu_model = dp::model<net, on_cpu>;
using samples = dp::tensor<float, dp::extents<dp::dyn, 6>, on_cpu>;
using labels = dp::tensor<std::int64_t, dp::extents<dp::dyn>, on_cpu>;

struct not_a_layer {
  int state = 0;
};

struct takes_integers {
  using input_extents = dp::extents<6>;
  using input_element = std::int32_t;
  template <class In> using output = In;
  static void forward(const auto&) {}
  static void backward(const auto&) {}
};

struct twice_without_a_call {
  template <class In> using output = In;
  static auto forward(const auto& x) { return 2.0f * x; }
  static auto backward(const auto& g) { return g * 2.0f; }
};

struct half_up {
  template <class In> using output = In;
  static void forward(const auto& c) { c.output = dp::floor(c.input + 0.5f); }
};
using without_backward = nn::sequential<nn::linear<6, 8>, nn::residual<nn::relu, half_up>, nn::linear<8, 3>>;

struct returns_from_backward : half_up {
  static int backward(const auto&) { return 0; }
};

struct rule_of_one_group {
  static constexpr std::size_t state_arenas = 0;
  template <class Backend, class T> void step(const dp::optim::step_arguments<T>&) const {}
};

struct rule_of_a_member_list : rule_of_one_group {
  double length = 1;
  void for_each_option(auto&& f) const { f("length", length); }
};

struct rule_without_a_name : rule_of_one_group {
  double length = 1;
  static void for_each_option(auto& self, auto&& f) { f("length", self.length, dp::optim::positive); }
};

struct without_initialisation {
  template <class In> using output = In;
  static constexpr std::array parameters{nn::parameter{"factor", {1}}};
  static void forward(const auto& c) { c.output = c.input * c.template parameter<0>(); }
  static void backward(const auto&) {}
};

struct square_that_keeps_nothing {
  template <class In> using output = In;
  static constexpr nn::keep keeps = nn::keep::nothing;
  static void forward(const auto& c) { c.output = dp::square(c.input); }
  static void backward(const auto& c) { c.input_gradient = 2.0f * c.output_gradient * c.input; }
};

struct reads_another_parameter {
  template <class In> using output = In;
  static constexpr std::array parameters{nn::parameter{"factor", {1}, nn::init::ones()}};
  static void forward(const auto& c) { c.output = c.input * c.template parameter<1>(); }
  static void backward(const auto&) {}
};

struct without_into {
  dp::reduction reduce = dp::reduction::mean;
  template <class T> struct bound {
    void apply(const auto&...) const {}
  };
  template <class T, class Backend> bound<T> bind(int) const { return {}; }
};

// Passes x to a case. See compile_fail.cmake.
template <class Case, class... X> void in_a_template(const Case& f, X&&... x) { f(x...); }

void steps(cpu_model& model, const samples& x, const labels& y) {
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}};
  step(x, y);
  auto [output, saved] = model.forward(x);
  auto [loss, gradient] = nn::cross_entropy{}(output, y);
  dp::optimizer optimizer{model, dp::optim::sgd{}};
  optimizer.step(model, dp::synchronize(model.backward(std::move(saved), gradient)));
  static_cast<void>(dp::optim::linear{.steps = 5}.then(dp::optim::cosine{.steps = 5}).then(dp::optim::constant{}));
#if defined(SCALER_IN_BF16)  // expect: devplace: trainer: this precision has no loss scaling
  dp::model<net, on_cpu, dp::mixed<dp::bf16>> short_model{dp::seed{1}};
  dp::trainer unscaled{short_model, nn::cross_entropy{}, dp::optim::sgd{}};
  unscaled.scaler();
#endif

#if defined(RULE_THAT_CANNOT_SKIP_IN_HALF)  // expect: devplace: trainer: in mixed<half> steps are skipped
  dp::model<net, on_cpu, dp::mixed<dp::half>> half_model{dp::seed{1}};
  dp::trainer cannot_skip{half_model, nn::cross_entropy{}, rule_of_one_group{}};
#endif

#if defined(BATCH_OF_BF16)  // expect: devplace: the batch's element type is not the model's
  dp::model<net, on_cpu, dp::mixed<dp::bf16>> takes_float{dp::seed{1}};
  takes_float.predict(dp::tensor<dp::bf16, dp::extents<2, 6>, on_cpu>{dp::extents<2, 6>{}});
#endif

#if defined(SOFTMAX_BEFORE_CROSS_ENTROPY)  // expect: devplace: trainer: cross_entropy and bce_with_logits take logits
  dp::model<nn::sequential<nn::linear<6, 3>, nn::sequential<nn::relu, nn::softmax>>, on_cpu> twice{dp::seed{1}};
  dp::trainer wrong{twice, nn::cross_entropy{}, dp::optim::sgd{}};
#endif

#if defined(SIGMOID_BEFORE_BCE_WITH_LOGITS)  // expect: devplace: trainer: cross_entropy and bce_with_logits take logits
  dp::model<nn::sequential<nn::linear<6, 3>, nn::sigmoid>, on_cpu> bounded{dp::seed{1}};
  dp::trainer decides{bounded, nn::bce_with_logits{}, dp::optim::sgd{}};
#endif

#if defined(SOFTMAX_BEFORE_NLL)  // expect: devplace: trainer: nll and kl_div take logarithms of probabilities
  dp::model<nn::sequential<nn::linear<6, 3>, nn::softmax>, on_cpu> probabilities{dp::seed{1}};
  dp::trainer classifies{probabilities, nn::nll{}, dp::optim::sgd{}};
#endif

#if defined(LINEAR_BEFORE_NLL)  // expect: devplace: trainer: nll and kl_div take logarithms .* sigmoid or linear
  dp::model<nn::sequential<nn::linear<6, 3>, nn::named<"head", nn::linear<3, 3>>>, on_cpu> any{dp::seed{1}};
  dp::trainer unbounded{any, nn::nll{}, dp::optim::sgd{}};
#endif

#if defined(LABELS_FOR_KL_DIV)  // expect: devplace: loss: the output and the targets have different numbers of axes
  nn::kl_div{}(output, y);
#endif

#if defined(TARGETS_OF_DOUBLE)  // expect: devplace: loss: the targets must have the output's element type
  nn::l1{}(output, dp::tensor<double, dp::extents<dp::dyn, 3>, on_cpu>(dp::extents<dp::dyn, 3>{2}));
#endif

#if defined(TARGETS_OF_OTHER_EXTENTS)  // expect: devplace: loss: the output and the targets must have the same extents
  nn::smooth_l1{}(output, dp::tensor<float, dp::extents<dp::dyn, 4>, on_cpu>(dp::extents<dp::dyn, 4>{2}));
#endif

#if defined(LOSS_OF_SCALARS)  // expect: devplace: the array has no such axis; axes count from 0 to rank - 1
  dp::tensor<float, dp::extents<>, on_cpu> scalar;
  nn::l1{}(scalar, scalar);
#endif

#if defined(CLASS_NUMBERS_FOR_MSE)  // expect: devplace: mse: the operands have different element types.*cross_entropy
  dp::trainer regresses{model, nn::mse{}, dp::optim::sgd{}};
  in_a_template([](auto& trainer, auto&... batch) { trainer(batch...); }, regresses, x, y);
#endif

#if defined(PROBABILITIES_FOR_NLL)  // expect: devplace: nll: labels are class numbers
  nn::nll{}(output, dp::tensor<float, dp::extents<dp::dyn>, on_cpu>(dp::extents<dp::dyn>{2}));
#endif

#if defined(LOSS_WITHOUT_INTO)  // expect: devplace: this loss does not take such an output and such targets
  nn::evaluate_loss(without_into{}, output, y);
#endif

#if defined(LOSS_WITHOUT_INTO_IN_A_TRAINER)  // expect: devplace: this loss does not take such an output
  dp::trainer trains_nothing{model, without_into{}, dp::optim::sgd{}};
  in_a_template([](auto& trainer, auto&... batch) { trainer(batch...); }, trains_nothing, x, y);
#endif

#if defined(NUMBER_BESIDE_THE_SEED)  // expect: (no matching|no instance of constructor)
  {
    cpu_model wrong(dp::seed{1}, 0.1);
  }
#endif

#if defined(NUMBER_BESIDE_THE_RULE)  // expect: (no matching|no instance of constructor)
  {
    dp::optimizer<dp::optim::sgd, cpu_model> wrong(model, dp::optim::sgd{}, 0.1);
  }
#endif

#if defined(NUMBER_BEHIND_A_TRAINER)  // expect: (no matching|no instance of constructor)
  {
    using trainer = dp::trainer<cpu_model, nn::cross_entropy, dp::optim::sgd>;
    trainer wrong(model, nn::cross_entropy{}, dp::optim::sgd{}, dp::collective::all_reduce<>{}, dp::accumulate<1>{},
                  64);
  }
#endif

#if defined(TYPE_GIVEN_TO_A_MEMBER)  // expect: (no matching|no instance|constraints not satisfied)
  {
    model.predict<samples, float>(x);
  }
#endif

#if defined(LAYERS_DO_NOT_FIT)  // expect: devplace: a layer does not take what the layer before it gives
  {
    dp::model<nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<128, 10>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(LAYERS_THAT_DO_NOT_FIT_ARE_NAMED)  // expect: position<2.*linear<128.*expects<.*128.*receives<.*255
  {
    dp::model<nn::sequential<nn::linear<784, 255>, nn::relu, nn::linear<128, 10>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(RESIDUAL_CHANGES_EXTENTS)  // expect: devplace: residual adds its layers' result to its input
  {
    dp::model<nn::residual<nn::linear<4, 5>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(PROJECTION_OF_ANOTHER_SHAPE)  // expect: path<.*position<1.*gives<.*<9.*gives<.*<8
  {
    using block = nn::residual<nn::projected_by<nn::linear<6, 8>>, nn::linear<6, 4>, nn::linear<4, 9>>;
    dp::model<nn::sequential<nn::linear<3, 6>, block>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(MISFIT_IN_A_PROJECTION)  // expect: path<.*position<1.*shortcut.*position<0.*linear<7
  {
    using block = nn::residual<nn::projected_by<nn::linear<7, 8>>, nn::linear<6, 8>>;
    dp::model<nn::sequential<nn::linear<3, 6>, block>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(SUMMANDS_OF_OTHER_EXTENTS)  // expect: devplace: sum_of adds its branches' outputs, so all must have the
                                        // same
  {
    dp::model<nn::sum_of<nn::linear<4, 5>, nn::linear<4, 6>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(PARTS_OF_OTHER_EXTENTS)  // expect: devplace: concat_of joins its branches' outputs along one axis
  {
    using joined = nn::concat_of<dp::axis<2>, nn::identity, nn::sequential<nn::flatten, nn::linear<12, 4>>>;
    dp::model<nn::sequential<nn::input<3, 4>, joined>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(SUM_OF_NOTHING)  // expect: devplace: sum_of and concat_of need at least two branches
  {
    dp::model<nn::sequential<nn::input<4>, nn::sum_of<>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(PARTS_OF_NOTHING)  // expect: devplace: sum_of and concat_of need at least two branches
  {
    dp::model<nn::sequential<nn::input<4>, nn::concat_of<nn::identity>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(PARTS_ALONG_THE_BATCH)  // expect: devplace: concat_of joins the parts of each sample, and axis<0> is the
  {
    using joined = nn::concat_of<dp::axis<0>, nn::identity, nn::identity>;
    dp::model<nn::sequential<nn::input<4>, joined>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(MISFIT_IN_A_BRANCH)  // expect: path<.*position<1.*branch<1.*position<2.*linear<7.*expects<.*7.*receives<.*8
  {
    using main = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<7, 6>>;
    dp::model<nn::sequential<nn::linear<3, 6>, nn::sum_of<nn::identity, main>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(TWO_LAYERS_OF_ONE_NAME)  // expect: devplace: named: two layers of one network have the same name
  {
    using fc = nn::named<"fc", nn::linear<4, 4>>;
    dp::model<nn::sequential<fc, nn::relu, fc>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(NAME_THAT_IS_A_POSITION)  // expect: devplace: named: two layers of one network have the same name
  {
    dp::model<nn::sequential<nn::linear<4, 4>, nn::named<"0", nn::linear<4, 4>>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(NAME_OF_THE_SHORTCUT)  // expect: devplace: residual: one of its layers has the name of its shortcut
  {
    using fc = nn::named<"fc", nn::linear<4, 4>>;
    dp::model<nn::residual<nn::projected_by<fc>, fc>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(EMPTY_NAME)  // expect: devplace: named: names of parameters are the names of layers joined by dots
  {
    dp::model<nn::named<"", nn::linear<4, 4>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(NAME_WITH_A_DOT)  // expect: devplace: named: names of parameters are the names of layers joined by dots
  {
    dp::model<nn::named<"layer1.fc", nn::linear<4, 4>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(TWO_NAMES_OF_ONE_LAYER)  // expect: devplace: named: the layer has a name already
  {
    dp::model<nn::named<"a", nn::named<"b", nn::linear<4, 4>>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(EVERYTHING_IS_FROZEN)  // expect: devplace: optimizer: all parameters of this network are frozen
  {
    dp::model<nn::frozen<net>, on_cpu> still{dp::seed{1}};
    dp::trainer wrong{still, nn::cross_entropy{}, dp::optim::sgd{}};
  }
#endif

#if defined(GRADIENT_OF_A_FROZEN_PARAMETER)  // expect: devplace: gradients: this parameter is frozen
  {
    dp::model<nn::sequential<nn::frozen<nn::linear<6, 8>>, nn::linear<8, 3>>, on_cpu> model{dp::seed{1}};
    auto pass = model.forward(x);
    auto loss = nn::cross_entropy{}(pass.output, y);
    auto gradients = model.backward(std::move(pass.saved), loss.gradient);
    static_cast<void>(gradients.local<0>());
  }
#endif

#if defined(FROZEN_LAYERS)  // expect: devplace: frozen, named and learning_rate_times take one layer or network
  {
    dp::model<nn::frozen<nn::linear<4, 4>, nn::linear<4, 4>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(NAME_OF_TWO_LAYERS)  // expect: devplace: frozen, named and learning_rate_times take one layer or network
  {
    dp::model<nn::named<"x", nn::linear<4, 5>, nn::linear<5, 4>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(RECOMPUTED_WITHOUT_LAYERS)  // expect: devplace: recomputed needs at least one layer
  {
    dp::model<nn::sequential<nn::linear<4, 4>, nn::recomputed<>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(MISFIT_IN_RECOMPUTED)  // expect: position<1.*position<1.*linear<5.*expects<.*<5.*receives<.*<4
  {
    dp::model<nn::sequential<nn::linear<4, 4>, nn::recomputed<nn::relu, nn::linear<5, 4>>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(RATE_OF_TWO_LAYERS)  // expect: devplace: frozen, named and learning_rate_times take one layer or network
  {
    dp::model<nn::learning_rate_times<std::ratio<2>, nn::linear<4, 4>, nn::relu>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(RATE_FACTOR_THAT_IS_NO_RATIO)  // expect: devplace: learning_rate_times: its first argument is a factor
  {
    dp::model<nn::learning_rate_times<double, nn::linear<4, 4>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(RATE_FACTOR_OF_ZERO)  // expect: devplace: learning_rate_times: its first argument is a factor above 0
  {
    dp::model<nn::learning_rate_times<std::ratio<0>, nn::linear<4, 4>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(RULE_WITHOUT_GROUPS)  // expect: devplace: optimizer: parts of the network have learning rates of their own
  {
    dp::model<nn::learning_rate_times<std::ratio<1, 2>, net>, on_cpu> part{dp::seed{1}};
    dp::trainer wrong{part, nn::cross_entropy{}, rule_of_one_group{}};
  }
#endif

#if defined(OPTIONS_OF_A_MEMBER_LIST)  // expect: devplace: for_each_option is static and takes the object
  {
    dp::optimizer wrong{model, rule_of_a_member_list{}};
  }
#endif

#if defined(RANGE_WITHOUT_A_NAME)  // expect: devplace: for_each_option: an option with a range needs the name
  {
    dp::optimizer wrong{model, rule_without_a_name{}};
  }
#endif

#if defined(DECAY_OF_A_RULE_WITHOUT_ANY)  // expect: devplace: decay_of_matrices: the rule has no weight_decay
  {
    dp::optim::decay_of_matrices wrong{rule_of_one_group{}};
  }
#endif

#if defined(ON_HOST_TWICE)  // expect: devplace: on_host: the rule is on the host already
  {
    dp::trainer wrong{model, nn::cross_entropy{}, dp::optim::on_host<dp::optim::on_host<dp::optim::adam>>{}};
  }
#endif

#if defined(ON_HOST_WITHOUT_A_RULE)  // expect: devplace: on_host: its argument is an optimizer's rule
  {
    dp::optim::on_host wrong{dp::optim::linear{.steps = 5}};
  }
#endif

#if defined(SCHEDULE_IN_FRONT_OF_THE_RULE)  // expect: devplace: scheduled: its arguments are an optimizer's rule and
                                            // then
  {
    dp::optim::scheduled wrong{dp::optim::cosine{.steps = 5}, dp::optim::sgd{}};
  }
#endif

#if defined(SCHEDULE_THAT_IS_NONE)  // expect: devplace: scheduled: the argument after the rule is neither a schedule
  {
    dp::trainer wrong{model, nn::cross_entropy{}, dp::optim::scheduled{dp::optim::sgd{}, 0.1}};
  }
#endif

#if defined(SEQUENCE_WITHOUT_A_SCHEDULE)  // expect: devplace: sequence: its arguments are a schedule, its number of
                                          // steps and the next schedule
  {
    static_cast<void>(dp::optim::linear{.steps = 5}.then(0.1));
  }
#endif

#if defined(SEQUENCE_WITHOUT_AN_END)  // expect: devplace: sequence: its last part has no number of steps
  {
    static_cast<void>(
        dp::optim::linear{.steps = 5}.then(dp::optim::step_decay{.every = 3}).then(dp::optim::constant{}));
  }
#endif

#if defined(SCHEDULE_OF_A_RULE_WITHOUT_RATE)  // expect: devplace: scheduled: the rule has no learning_rate
  {
    dp::optim::scheduled wrong{rule_of_one_group{}, dp::optim::cosine{.steps = 5}};
  }
#endif

#if defined(BRANCH_THAT_IS_NO_LAYER)  // expect: devplace: a type in this network is not a layer
  {
    dp::model<nn::sum_of<nn::linear<4, 5>, not_a_layer>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(BRANCHES_OF_OTHER_ELEMENTS)  // expect: devplace: the branches of a sum_of or concat_of take the same input
  {
    dp::model<nn::sum_of<takes_integers, nn::identity>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(MIXED_FLOAT)  // expect: (template constraint failure|constraints? not satisfied)
  {
    dp::model<net, on_cpu, dp::mixed<float>> wrong{dp::seed{1}};
  }
#endif

#if defined(PRECISION_OF_A_MODEL)  // expect: devplace: model: its arguments are a network, a placement and
  {
    dp::model<net, on_cpu, std::int32_t> wrong{dp::seed{1}};
  }
#endif

#if defined(BATCH_FOR_A_TF32_MODEL)  // expect: devplace: the batch's element type is not the model's
  {
    dp::model<net, on_cpu, dp::tf32> fast{dp::seed{1}};
    fast.predict(dp::tensor<double, dp::extents<2, 6>, on_cpu>{dp::extents<2, 6>{}});
  }
#endif

#if defined(SAVED_IN_ANOTHER_PRECISION)  // expect: devplace: backward: its arguments are the data that this model's
                                         // forward saved
  {
    dp::model<net, on_cpu, dp::tf32> fast{dp::seed{1}};
    auto pass = model.forward(x);
    fast.backward(std::move(pass.saved), gradient);
  }
#endif

#if defined(GRADIENT_OF_A_LOSS_DIVIDED)  // expect: devplace: gradients are sums over the samples
  auto by_hand = gradient / 2.0f;
#endif

#if defined(GRADIENTS_DIVIDED)  // expect: devplace: gradients are sums over the samples
  in_a_template([](auto& m, auto& kept, auto& slope) { m.backward(std::move(kept), slope) /= 2.0f; }, model, saved,
                gradient);
#endif

#if defined(UNKNOWN_INPUT)  // expect: devplace: the network's input extents are unknown
  {
    dp::model<nn::sequential<nn::relu>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(NOT_A_LAYER)  // expect: devplace: a type in this network is not a layer
  {
    dp::model<nn::sequential<nn::input<3>, not_a_layer, nn::linear<5, 3>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(LAYER_THAT_RETURNS)  // expect: devplace: a type in this network is not a layer
  {
    dp::model<nn::sequential<nn::input<3>, twice_without_a_call>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(LAYER_WHOSE_BACKWARD_RETURNS)  // expect: devplace: a type in this network is not a layer
  {
    dp::model<nn::sequential<nn::input<3>, returns_from_backward>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(TRAINER_WITHOUT_BACKWARD)  // expect: devplace: a layer of this network has no backward
  {
    dp::model<without_backward, on_cpu> predicts{dp::seed{1}};
    dp::trainer step{predicts, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1}};
    step(x, y);
  }
#endif

#if defined(GRADIENTS_WITHOUT_BACKWARD)  // expect: devplace: a layer of this network has no backward
  nn::check_gradients<without_backward>(dp::seed{1});
#endif

#if defined(GRADIENTS_OF_INDICES)  // expect: devplace: check_gradients: the network's first layer
  nn::check_gradients<nn::sequential<nn::input<3>, nn::embedding<8, 2>>>(dp::seed{1});
#endif

#if defined(MODEL_WITHOUT_BACKWARD)  // expect: devplace: a layer of this network has no backward
  {
    dp::model<without_backward, on_cpu> predicts{dp::seed{1}};
    auto [output, kept] = predicts.forward(x);
    auto [loss_of_it, its_gradient] = nn::cross_entropy{}(output, y);
    predicts.backward_to_input(std::move(kept), its_gradient);
  }
#endif

#if defined(PARAMETER_WITHOUT_INITIALISATION)  // expect: devplace: a type in this network is not a layer
  nn::check_gradients<nn::sequential<nn::input<3>, without_initialisation>>(dp::seed{1});
#endif

#if defined(BACKWARD_READS_WHAT_IS_NOT_KEPT)  // expect: devplace: backward: the layer does not keep this activation
  nn::check_gradients<nn::sequential<nn::input<3>, square_that_keeps_nothing>>(dp::seed{1});
#endif

#if defined(SCOPE_OF_A_TEAM_THAT_ENDS)  // expect: deleted (function|constructor)
  {
    dp::thread_team_scope scope{dp::serial_team{}};
  }
#endif

#if defined(SHARDED_MODEL)  // expect: devplace: a model's placement is on<P> or replicated
  {
    dp::model<net, dp::sharded<dp::axis<0>, 0, 1>> wrong{dp::seed{1}};
  }
#endif

#if defined(BATCH_SAMPLE_SIZE)  // expect: devplace: one sample of the batch has another number of elements
  model.predict(dp::tensor<float, dp::extents<dp::dyn, 5>, on_cpu>(dp::extents<dp::dyn, 5>{2}));
#endif

#if defined(BATCH_ELEMENT_TYPE)  // expect: devplace: the batch's element type is not the model's
  model.predict(dp::tensor<double, dp::extents<dp::dyn, 6>, on_cpu>(dp::extents<dp::dyn, 6>{2}));
#endif

#if defined(BATCH_FOR_A_LAYER_WITH_ELEMENTS_OF_ITS_OWN)  // expect: not the input_element of the network's first layer
  {
    dp::model<nn::sequential<nn::input<6>, takes_integers>, on_cpu> lookup{dp::seed{1}};
    lookup.predict(x);
  }
#endif

#if defined(ELEMENTS_OF_ITS_OWN_BEHIND_OTHERS)  // expect: devplace: a layer requires its own element type
                                                // .input_element
  {
    dp::model<nn::sequential<nn::linear<6, 6>, takes_integers>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(ELEMENTS_OF_ITS_OWN_IN_A_RESIDUAL)  // expect: devplace: residual adds .* so its first layer must take
                                                // activations
  {
    dp::model<nn::residual<takes_integers>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(SAVED_TWICE)  // expect: devplace: backward: it consumes the data that forward saved
  model.backward(saved, gradient);
#endif

#if defined(COPIED_SAVED)  // expect: (deleted|cannot be referenced)
  {
    auto copy = saved;
  }
#endif

#if defined(MODEL_IN_AN_ELEMENT_TYPE)  // expect: devplace: model: its arguments are .* a precision .double, tf32, mixed
  dp::model<net, on_cpu> in_float{dp::seed{1}};
  auto in_bf16 = dp::to<on_cpu, dp::bf16>(in_float);
#endif

#if defined(COPIED_MODEL)  // expect: (deleted|cannot be referenced)
  cpu_model copy = model;
#endif

#if defined(LINEAR_OF_ONE_SIZE)  // expect: devplace: a type in this network is not a layer.* linear<In, Out> needs both
  {
    dp::model<nn::sequential<nn::linear<8>, nn::relu>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(STEP_OF_A_LAYER_THAT_KEEPS_TOO_LITTLE)  // expect: devplace: backward: the layer does not keep this
  {
    dp::model<nn::sequential<nn::linear<6, 3>, square_that_keeps_nothing>, on_cpu> wrong{dp::seed{1}};
    dp::trainer wrong_step{wrong, nn::cross_entropy{}, dp::optim::sgd{}};
    in_a_template([](auto& trainer, auto&... batch) { trainer(batch...); }, wrong_step, x, y);
  }
#endif

#if defined(PARAMETER_THAT_THE_LAYER_LACKS)  // expect: devplace: the layer has no parameter .or buffer. with this index
  {
    dp::model<nn::sequential<nn::linear<6, 3>, reads_another_parameter>, on_cpu> wrong{dp::seed{1}};
    in_a_template([](auto& m, auto& batch) { m.predict(batch); }, wrong, x);
  }
#endif

#if defined(TEMPORARY_MODEL)  // expect: devplace: trainer: a trainer changes its model and refers to it
  {
    dp::trainer wrong{cpu_model{dp::seed{1}}, nn::cross_entropy{}, dp::optim::sgd{}};
  }
#endif

#if defined(INPUT_GRADIENT_OF_INDICES)  // expect: devplace: backward_to_input: the network's first layer takes elements
  {
    dp::model<nn::sequential<takes_integers>, on_cpu> lookup{dp::seed{1}};
    auto [rows, kept] = lookup.forward(dp::tensor<std::int32_t, dp::extents<2, 6>, on_cpu>{dp::extents<2, 6>{}});
    lookup.backward_to_input(std::move(kept), nn::output_gradient(std::move(rows)));
  }
#endif

#if defined(PREDICT_INTO_A_VECTOR)  // expect: devplace: predict_into: the result is a tensor or view to write to
  {
    float results[6];
    model.predict_into(results, x);
  }
#endif

#if defined(PREDICT_INTO_CONST)  // expect: devplace: predict_into: the result's elements are const
  model.predict_into(std::as_const(output), x);
#endif

#if defined(PREDICT_INTO_ANOTHER_TYPE)  // expect: devplace: predict_into: the result's element type is not that of the
  {
    dp::tensor<double, dp::extents<dp::dyn, 3>, on_cpu> wrong(dp::extents<dp::dyn, 3>{2});
    model.predict_into(wrong, x);
  }
#endif

#if defined(PREDICT_INTO_ANOTHER_SIZE)  // expect: devplace: predict_into: the result must be .n, output extents
  {
    dp::tensor<float, dp::extents<dp::dyn, 4>, on_cpu> wrong(dp::extents<dp::dyn, 4>{2});
    model.predict_into(wrong, x);
  }
#endif

#if defined(PREDICT_INTO_TILES_OF_NOTHING)  // expect: devplace: predict_into: a tile has at least one sample
  model.predict_into(output, x, dp::batch<0>{});
#endif

#if defined(MODEL_IN_PINNED_MEMORY)  // expect: devplace: a model cannot lie in pinned memory
  {
    dp::model<net, dp::on<dp::pinned>> nowhere{dp::seed{1}};
  }
#endif

#if defined(MEMORY_PLAN_OF_A_NETWORK)  // expect: devplace: memory_plan: the arguments are a model with its placement
  static_assert(dp::memory_plan<net, dp::batch<64>, dp::optim::sgd>::bytes < 1000);
#endif

#if defined(PREDICTOR_IS_TRAINED)  // expect: devplace: trainer: a predictor has no gradients and is not trained
  {
    dp::trainer wrong{dp::predictor{model, dp::batch<4>{}}, nn::cross_entropy{}, dp::optim::sgd{}};
  }
#endif

#if defined(OPTIMIZER_OF_A_PREDICTOR)  // expect: devplace: optimizer: .* .a predictor has no gradients
  {
    dp::predictor trained{model, dp::batch<4>{}};
    dp::optimizer<dp::optim::sgd, decltype(trained)> wrong{trained};
  }
#endif

#if defined(PREDICTOR_WITHOUT_A_BATCH)  // expect: devplace: predictor: give the model and the largest batch
  {
    dp::predictor wrong{model};
  }
#endif

#if defined(PREDICTOR_FOR_A_NUMBER)  // expect: devplace: predictor: give the model and the largest batch
  {
    dp::predictor wrong{model, 256};
  }
#endif

#if defined(NOT_A_LOSS)  // expect: devplace: trainer: this type is not a loss
  {
    dp::trainer wrong{model, 3.0, dp::optim::sgd{}};
  }
#endif

#if defined(NOT_A_RULE)  // expect: devplace: this type is not an optimizer's rule
  {
    dp::optimizer wrong{model, 3.0};
  }
#endif

#if defined(PARAMETERS_WITHOUT_NAMES)  // expect: devplace: for_each_parameter, for_each_buffer: the function is called
                                       // with
  model.for_each_parameter([](auto x) { x = 0; });
#endif

#if defined(COPY_ASSIGNED_MODEL)  // expect: (deleted|cannot be referenced)
  {
    cpu_model other{dp::seed{2}};
    other = model;
  }
#endif

#if defined(MODEL_WITHOUT_A_SEED)  // expect: (deleted|cannot be referenced)
  {
    cpu_model wrong;
  }
#endif

#if defined(NUMBER_FOR_THE_SEED)  // expect: (deleted|cannot be referenced)
  {
    cpu_model wrong{1};
  }
#endif

#if defined(PARAMETER_BY_NUMBER)  // expect: devplace: parameter: the index is a template argument
  auto first = model.parameter(0);
#endif

#if defined(PARAMETER_BEYOND_THE_LAST)  // expect: devplace: the network has fewer parameters than this index
  auto weight = model.parameter<4>();
#endif

#if defined(VECTOR_AS_A_BATCH)  // expect: devplace: a batch is a tensor or a view of one
  {
    const std::vector<float> row(6);
    auto wrong = model.predict(row);
  }
#endif

#if defined(VECTOR_FORWARD)  // expect: devplace: a batch is a tensor or a view of one
  {
    const std::vector<double> row(6);
    auto [wrong, kept] = model.forward(row);
  }
#endif

#if defined(DOUBLE_BATCH_CALLED)  // expect: devplace: the batch's element type is not the model's
  {
    auto wrong = model(dp::tensor<double, dp::extents<2, 6>, on_cpu>{dp::extents<2, 6>{}});
  }
#endif

#if defined(TARGETS_BEFORE_SAMPLES)  // expect: devplace: trainer: the samples come first and the targets second
  step(y, x);
#endif

#if defined(VECTOR_OF_TARGETS)  // expect: devplace: trainer: the targets are a tensor or a view of one
  step(x, std::vector<int>(4));
#endif

#if defined(LABELS_BEFORE_OUTPUT)  // expect: devplace: a loss takes the network's output first and the targets second
  {
    auto [wrong, slope] = nn::cross_entropy{}(y, output);
  }
#endif

#if defined(VECTOR_OF_LABELS)  // expect: devplace: a loss takes two tensors, views or expressions
  {
    auto [wrong, slope] = nn::cross_entropy{}(output, std::vector<int>(4));
  }
#endif

#if defined(ACCUMULATE_BEFORE_POLICY)  // expect: devplace: trainer: its arguments are a model, a loss and a rule, in
  {
    dp::trainer wrong{model, nn::cross_entropy{}, dp::optim::sgd{}, dp::accumulate<2>{}, dp::collective::all_reduce{}};
  }
#endif

#if defined(LOSS_BEFORE_MODEL)  // expect: devplace: trainer: its arguments are a model, a loss and a rule, in this
                                // order
  {
    dp::trainer wrong{nn::cross_entropy{}, model, dp::optim::sgd{}};
  }
#endif

#if defined(RULE_BEFORE_LOSS)  // expect: devplace: trainer: its arguments are a model, a loss and a rule, in this order
  {
    dp::trainer wrong{model, dp::optim::sgd{}, nn::cross_entropy{}};
  }
#endif

#if defined(NO_RULE)  // expect: devplace: trainer: its arguments are a model, a loss and a rule, in this order
  {
    dp::trainer wrong{model, nn::cross_entropy{}};
  }
#endif

#if defined(NUMBER_FOR_THE_RULE)  // expect: devplace: this type is not an optimizer's rule
  {
    dp::trainer wrong{model, nn::cross_entropy{}, 0.1};
  }
#endif

#if defined(CONST_MODEL)  // expect: devplace: trainer: a trainer changes its model and refers to it
  {
    const cpu_model& fixed = model;
    dp::trainer wrong{fixed, nn::nll{}, dp::optim::sgd{}};
  }
#endif

#if defined(PRINTED_MODEL)  // expect: devplace: a model, trainer, loader or loss cannot be printed
  std::cout << model << std::endl;
#endif

#if defined(PRINTED_TRAINER)  // expect: devplace: a model, trainer, loader or loss cannot be printed
  std::cout << step << std::endl;
#endif

#if defined(PRINTED_OPTIMIZER)  // expect: devplace: a model, trainer, loader or loss cannot be printed
  std::cout << step.optimizer() << std::endl;
#endif

#if defined(PRINTED_LOSS)  // expect: devplace: a model, trainer, loader or loss cannot be printed
  std::cout << step(x, y) << std::endl;
#endif

#if defined(PRINTED_LOSS_VALUE)  // expect: devplace: a model, trainer, loader or loss cannot be printed
  std::cout << loss << std::endl;
#endif

#if defined(LOSSES_ADDED_UP)  // expect: devplace: a loss stays on its places until it is read
  {
    double sum = 0;
    sum += step(x, y);
  }
#endif

#if defined(SYNCHRONIZED_MODEL)  // expect: devplace: synchronize consumes the gradients that backward
  dp::synchronize(model);
#endif

#if defined(MEMORY_PLAN_TOO_LARGE)  // expect: the training must fit beside the solver
  using namespace dp::literals;
  using memory = dp::memory_plan<cpu_model, dp::batch<64>, dp::optim::adam>;
  static_assert(memory::bytes < 1_KiB, "the training must fit beside the solver");
#endif

#if defined(MEMORY_PLAN_WITH_ACCUMULATE)  // expect: devplace: memory_plan: its fourth argument is a collective policy
  static_assert(dp::memory_plan<cpu_model, dp::batch<64>, dp::optim::sgd, dp::accumulate<4>>::bytes < 1'000'000);
#endif

#if defined(SLOPE_OF_ANOTHER_TYPE)  // expect: devplace: leaky_relu takes its slope as a ratio
  {
    dp::model<nn::sequential<nn::linear<6, 3>, nn::leaky_relu<double>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(NEGATIVE_SLOPE)  // expect: devplace: leaky_relu takes its slope as a ratio that is not negative
  {
    dp::model<nn::sequential<nn::linear<6, 3>, nn::leaky_relu<std::ratio<-1, 5>>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(ALPHA_OF_ZERO)  // expect: devplace: elu takes its alpha as a positive ratio
  {
    dp::model<nn::sequential<nn::linear<6, 3>, nn::elu<std::ratio<0>>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(BETA_OF_ZERO)  // expect: devplace: softplus takes beta, positive, and
  {
    dp::model<nn::sequential<nn::linear<6, 3>, nn::softplus<std::ratio<0>>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(FEATURES_OF_A_NORMALIZATION)  // expect: devplace: layer_norm<N> and rms_norm<N> take samples whose last
                                          // axis
  {
    dp::model<nn::sequential<nn::linear<6, 3>, nn::layer_norm<4>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(NO_FEATURES_TO_NORMALIZE)  // expect: devplace: layer_norm<N> and rms_norm<N> need at least one feature
  {
    dp::model<nn::sequential<nn::linear<6, 3>, nn::rms_norm<0>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(EPSILON_OF_ANOTHER_TYPE)  // expect: devplace: rms_norm takes epsilon as a ratio that is not negative
  {
    dp::model<nn::sequential<nn::linear<6, 3>, nn::rms_norm<3, double>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(NEGATIVE_EPSILON)  // expect: devplace: layer_norm takes epsilon as a ratio that is not negative
  {
    dp::model<nn::sequential<nn::linear<6, 3>, nn::layer_norm<3, std::ratio<-1, 9>>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(DROPOUT_OF_ALL)  // expect: devplace: dropout takes its probability .* at least 0 and below 1
  {
    dp::model<nn::sequential<nn::linear<6, 3>, nn::dropout<std::ratio<1>>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(FUNCTION_WITHOUT_DERIVATIVE)  // expect: devplace: elementwise<F>: F is an empty struct whose const call
  {
    struct tripled {
      float operator()(float x) const { return 3 * x; }
    };
    dp::model<nn::sequential<nn::linear<6, 3>, nn::elementwise<tripled>>, on_cpu> wrong{dp::seed{1}};
  }
#endif

#if defined(TARGETS_OF_FLOATS)  // expect: devplace: trainer: cross_entropy and nll take class numbers
                                // sample
  step(x, output);
#endif

#if defined(TRAINER_OF_A_NETWORK)  // expect: devplace: trainer: its arguments are a model, a loss and a rule, in this
  {
    dp::trainer<net> wrong{nn::cross_entropy{}, dp::optim::sgd{}};
  }
#endif

#if defined(AVERAGE_OF_A_TRAINER)  // expect: devplace: moving_average: it averages the parameters of a model
  {
    dp::moving_average wrong{step};
  }
#endif

#if defined(BEST_OF_A_PREDICTOR)  // expect: devplace: early_stopping: it keeps the best parameters of a model
  {
    dp::early_stopping wrong{dp::predictor{model, dp::batch<4>{}}};
  }
#endif
}
