// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Losses on a simulated device agree with PyTorch as on the CPU.

#include <devplace/nn/bce_with_logits.hpp>
#include <devplace/nn/kl_div.hpp>
#include <devplace/nn/l1.hpp>
#include <devplace/nn/nll.hpp>
#include <devplace/nn/smooth_l1.hpp>

#include "support/loss_fixture.hpp"

namespace nn = devplace::nn;
using device = devplace::on<devplace::cuda<1>>;
using devplace::test::compare_loss_in_all;

TEST_CASE("losses on a simulated device agree with PyTorch", "[nn][simulated]") {
  compare_loss_in_all<device>(nn::l1{}, "l1");
  compare_loss_in_all<device>(nn::smooth_l1{.beta = 0.25}, "smooth_l1_beta");
  compare_loss_in_all<device>(nn::kl_div{.log_target = true}, "kl_div_log_target");
  compare_loss_in_all<device>(nn::bce_with_logits{.pos_weight = {0.5, 2, 3}, .weights = {1.5, 0.25, 0}},
                              "bce_with_logits_weights");
  compare_loss_in_all<device>(nn::nll{.class_weights = {0.5, 2, 1.25}}, "nll_weight");
}
