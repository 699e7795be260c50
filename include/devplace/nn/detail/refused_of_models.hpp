// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/config.hpp>
#include <devplace/place/detail/refusal.hpp>

namespace devplace {

/// Appear in the compiler's message for a model that is copied or made without a seed, for wrong arguments of its
/// functions, and for what PyTorch's modules have.
///@{
struct USE_to_OF_ITS_PLACE_TO_COPY_A_MODEL_OR_assign;
struct GIVE_A_SEED_AS_IN_seed_1;
struct THE_NETWORK_HAS_FEWER_PARAMETERS;
struct CHOOSE_BY_A_CONSTANT_AS_IN_parameter_0_OR_for_each_parameter;
struct WRITE_model_backward_std_move_saved_gradient;
struct GIVE_THE_SAMPLES_ALONE_AS_IN_model_predict_x;
struct A_MODEL_IS_NO_NUMBER_THE_TRAINER_TAKES_MODEL_AND_RULE;
struct LEAVE_train_AND_eval_OUT;
struct USE_for_each_parameter_OR_parameter_0;
struct USE_to_shared_memory_OF_THE_MODEL;
struct USE_save_parameters_AND_load_parameters;
struct USE_to_cuda_0_OF_THE_MODEL;
///@}

namespace nn::detail {

/// What is refused of models.
template <class FIX = A_MODEL_IS_NO_NUMBER_THE_TRAINER_TAKES_MODEL_AND_RULE>
struct refused_of_models {
  operator double() const DEVPLACE_REFUSED(
      "a model is no number; a rule takes hyperparameters, optim::adam{.learning_rate = 1e-3}, and a trainer takes the "
      "model and the rule: trainer step{model, loss, rule}.");
  template <class FIX_EVAL = LEAVE_train_AND_eval_OUT>
  devplace::detail::refusal eval()
      DEVPLACE_REFUSED("predict computes as after eval(), and a trainer's step as after train(); leave these out.");
  template <class FIX_TRAIN = LEAVE_train_AND_eval_OUT, class... Any>
  devplace::detail::refusal train(const Any&...)
      DEVPLACE_REFUSED("predict computes as after eval(), and a trainer's step as after train(); leave these out.");
  template <class FIX_SHARE = USE_to_shared_memory_OF_THE_MODEL>
  devplace::detail::refusal share_memory() const DEVPLACE_REFUSED(
      "to<shared_memory>(model), of <devplace/shared_memory.hpp>, makes a model whose parameters other processes "
      "have.");
  template <class FIX_PARAMETERS = USE_for_each_parameter_OR_parameter_0>
  devplace::detail::refusal parameters() const DEVPLACE_REFUSED(
      "parameters have different types: model.for_each_parameter(f) calls f(name, view) for all, and "
      "model.parameter<0>() is one; rules take none of them.");
  template <class FIX_SAVE = USE_save_parameters_AND_load_parameters, class... Any>
  devplace::detail::refusal save(const Any&...) const DEVPLACE_REFUSED(
      "save_parameters(model, path), of <devplace/io/parameters.hpp>, writes the parameters to a file.");
  template <class FIX_LOAD = USE_save_parameters_AND_load_parameters, class... Any>
  devplace::detail::refusal load(const Any&...) DEVPLACE_REFUSED(
      "load_parameters(model, path), of <devplace/io/parameters.hpp>, reads the parameters of a file.");
  template <class FIX_CUDA = USE_to_cuda_0_OF_THE_MODEL, class... Any>
  devplace::detail::refusal cuda(const Any&...) const
      DEVPLACE_REFUSED("to<cuda<0>>(model) makes a model with the same parameters on that device.");
};

}  // namespace nn::detail
}  // namespace devplace
