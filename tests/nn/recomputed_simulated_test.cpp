// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nn::recomputed on several places and in several processes: the same bits as without it.

#include "nn/recomputed_training.hpp"

#include <stdexcept>

#include <devplace/process/process_group.hpp>
#include <devplace/tensor/bf16.hpp>

#include "support/catch.hpp"
#include "support/thread_processes.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using host = dp::on<dp::cpu>;
template <template <class...> class Group> using joint_images_of = dp::test::images_of<Group, nn::over_all_places>;

/// Rows on the first place of a batch of 12 on the places of `Where`.
template <class Where, class Plain, class Recomputed, class P = float> void compare() {
  const auto plain = dp::test::train<Plain, Where, P>(), recomputed = dp::test::train<Recomputed, Where, P>();
  CHECK(recomputed.same_bits(plain));
  CHECK(plain.moves());
  CHECK(plain.peak == plain.planned);
  CHECK(recomputed.peak == recomputed.planned);
  CHECK(recomputed.peak < plain.peak);
  CHECK(recomputed.allocations == 0);
}

}  // namespace

TEMPLATE_TEST_CASE("recomputed layers have the same bits on several devices", "[nn]", (dp::on<dp::cuda<1>>),
                   (dp::replicated<0, 1>), (dp::replicated<2, 0, 1>)) {
  compare<TestType, dp::test::mlp_of<nn::sequential>, dp::test::mlp_of<nn::recomputed>>();
  compare<TestType, dp::test::text_of<nn::sequential>, dp::test::text_of<nn::recomputed>>();
}

TEST_CASE("recomputed layers have the same bits on several devices in mixed precision, and in branches", "[nn]") {
  using three = dp::replicated<0, 1, 2>;
  compare<three, dp::test::images_of<nn::sequential>, dp::test::images_of<nn::recomputed>, dp::mixed<dp::bf16>>();
  const auto plain = dp::test::train<dp::test::branches_of<nn::sequential>, three>();
  const auto recomputed = dp::test::train<dp::test::branches_of<nn::recomputed>, three>();
  CHECK(recomputed.same_bits(plain));
  CHECK(recomputed.peak == recomputed.planned);
}

TEST_CASE("a recomputed batch_norm over all places has the same bits on devices and in processes", "[nn]") {
  using plain = joint_images_of<nn::sequential>;
  using recomputed = joint_images_of<nn::recomputed>;
  const auto expected = dp::test::train<plain, host>();
  CHECK(expected.moves());
  CHECK(dp::test::train<recomputed, host>().same_bits(expected));
  compare<dp::replicated<2, 0, 1>, plain, recomputed>();
  CHECK_NOTHROW(dp::test::in_processes(3, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    if (!dp::test::train<recomputed, dp::across<host>>().same_bits(dp::test::train<plain, dp::across<host>>()))
      throw std::logic_error("other bits");
  }));
}
