// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

namespace devplace {}
namespace dp = devplace;

#include <devplace/optim/adam.hpp>

static_assert(dp::optim::optimizer_rule<dp::optim::adam>);
constexpr dp::optim::adam rule{.learning_rate = 1e-3f};

#include <devplace/optim/adamw.hpp>

static_assert(dp::optim::optimizer_rule<dp::optim::adamw>);
constexpr dp::optim::adamw rule{.weight_decay = 0.1f};

#include <devplace/optim/clip_norm.hpp>

inline void clip(const dp::optim::clip_arguments<float>& gradients) {
  dp::optim::clip_norm_into<dp::backend::cpu>({1.0f}, gradients);
}

#include <devplace/optim/decay_of_matrices.hpp>

template <class Rule> using decayed = dp::optim::decay_of_matrices<Rule>;

#include <devplace/optim/loss_scaling.hpp>

constexpr dp::optim::loss_scaling scaling{};

#include <devplace/optim/on_host.hpp>

template <class Rule> using hosted = dp::optim::on_host<Rule>;

#include <devplace/optim/optimizer.hpp>

template <class Model, class Rule>
using optimizer_of_first_place = dp::optimizer<Rule, Model, dp::optim::on_first_place>;

#include <devplace/optim/optimizer_concept.hpp>

static_assert(!dp::optim::optimizer_rule<int>);

#include <devplace/optim/optimizer_state.hpp>

template <class Rule> using state = dp::optim::optimizer_state<Rule, float>;

#include <devplace/optim/option_groups.hpp>

template <class Net, class Rule> using groups = dp::optim::option_groups<Net, Rule>;

#include <devplace/optim/option_range.hpp>

inline void require_positive(double rate) { dp::optim::positive.require(rate, "rule", "rate"); }

#include <devplace/optim/plain_sgd.hpp>

static_assert(dp::optim::optimizer_rule<dp::optim::plain_sgd>);
constexpr dp::optim::plain_sgd rule{.learning_rate = 0.1};

#include <devplace/optim/rmsprop.hpp>

static_assert(dp::optim::optimizer_rule<dp::optim::rmsprop>);
constexpr dp::optim::rmsprop rule{.momentum = 0.9f};

#include <devplace/optim/schedule_function.hpp>

const dp::optim::schedule_function halved([](std::int64_t step) { return step < 10 ? 1.0 : 0.5; });

#include <devplace/optim/scheduled.hpp>

static_assert(!dp::optim::rate_schedule<int>);

#include <devplace/optim/schedules.hpp>

const auto warmed_up = dp::optim::linear{.steps = 10}.then(dp::optim::cosine{.steps = 100});

#include <devplace/optim/sgd.hpp>

static_assert(dp::optim::optimizer_rule<dp::optim::sgd>);
constexpr dp::optim::sgd rule{.momentum = 0.9f};
