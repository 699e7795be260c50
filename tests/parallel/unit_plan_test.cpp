// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The units in which the places of a model in shares gather its parameters are constants that cover the network once,
// and the places' shares cover each unit once.

#include <cstddef>
#include <ratio>
#include <string>
#include <vector>

#include <devplace/fully_sharded.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/embedding.hpp>
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/named.hpp>
#include <devplace/nn/recomputed.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/parallel/sharded_model.hpp>
#include <devplace/parallel/unit_plan.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::parallel::bucket;
using dp::runtime::link_range, dp::runtime::row_range;

namespace {

template <std::size_t UnitBytes> using alone = dp::spread_on<dp::mesh<dp::shares<1, UnitBytes>>, dp::cpu>;
template <class Net, std::size_t UnitBytes, class P = float>
using plan = dp::unit_plan<dp::model<Net, alone<UnitBytes>, P>>;

constexpr bool equal(const bucket& b, std::size_t first, std::size_t count) {
  return b.first == first && b.count == count;
}
constexpr link_range all_links{};

// 784-256-10: layers of 200,960 and of 2,570 parameters, padded to 2,576.
using mnist = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;
static_assert(plan<mnist, 25 << 20>::size == 1 && plan<mnist, 25 << 20>::largest == 203536);
static_assert(plan<mnist, 25 << 20>::at(0).links == all_links &&
              equal(plan<mnist, 25 << 20>::at(0).trained, 0, 203536));
static_assert(plan<mnist, 1>::size == 2 && plan<mnist, 1>::largest == 200960);
static_assert(plan<mnist, 1>::at(0).links == link_range{0, 2} && equal(plan<mnist, 1>::at(0).trained, 0, 200960));
static_assert(plan<mnist, 1>::at(1).links.first == 2 && equal(plan<mnist, 1>::at(1).trained, 200960, 2576));
// A unit is full with exactly the number of bytes.
static_assert(plan<mnist, 4 * 200960>::size == 2 && plan<mnist, 4 * 200960 + 1>::size == 1);
static_assert(plan<mnist, 8 * 200960, double>::size == 2 && plan<mnist, 4 * 200960, dp::mixed<dp::bf16>>::size == 2);
// The default is 25 MiB, and the units depend on neither the number of places nor their kind.
static_assert(dp::unit_plan<dp::model<mnist, dp::fully_sharded_on<dp::cpu>>>::size == 1);
static_assert(dp::unit_plan<dp::model<mnist, dp::across<dp::cpu, dp::mesh<dp::shares<dp::dyn, 1>>>>>::size == 2);

/// A linear layer whose backward also computes the gradient of the input of the layer behind its relu, as on GPUs.
struct joining : nn::linear<6, 8> {
  template <class After, class Backend> static constexpr std::size_t outputs_after_relu = 5;
};
// The third layer belongs to the unit of the first one, whose pass reads its parameters.
using joined = nn::sequential<joining, nn::relu, nn::linear<8, 5>, nn::linear<5, 3>>;
static_assert(plan<joined, 1>::size == 2 && plan<joined, 1>::at(0).links == link_range{0, 3});
using not_joined = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 5>, nn::linear<5, 3>>;
static_assert(plan<not_joined, 1>::size == 3 && plan<not_joined, 1>::at(0).links == link_range{0, 2});

// Backward reads no parameters of the first layers, whose input needs no gradient, unless a layer needs them for more.
template <class... Layers> using from_six = plan<nn::sequential<nn::input<6>, Layers...>, 1>;
static_assert(!plan<not_joined, 1>::at(0).read_in_backward && plan<not_joined, 1>::at(1).read_in_backward &&
              plan<not_joined, 1>::at(2).read_in_backward);
static_assert(plan<joined, 1>::at(0).read_in_backward);
static_assert(!plan<not_joined, 1>::gathered_again(0) && plan<not_joined, 1>::gathered_again(1) &&
              !plan<not_joined, 1>::gathered_again(2));  // the last one stays
static_assert(!from_six<nn::frozen<nn::linear<6, 8>>, nn::linear<8, 8>, nn::linear<8, 3>>::at(0).read_in_backward &&
              !from_six<nn::frozen<nn::linear<6, 8>>, nn::linear<8, 8>, nn::linear<8, 3>>::at(1).read_in_backward &&
              from_six<nn::frozen<nn::linear<6, 8>>, nn::linear<8, 8>, nn::linear<8, 3>>::at(2).read_in_backward);
static_assert(from_six<nn::linear<6, 8>, nn::frozen<nn::linear<8, 8>>, nn::linear<8, 3>>::at(1).read_in_backward);
static_assert(!from_six<nn::sequential<nn::tanh, nn::linear<6, 8>>, nn::linear<8, 3>>::at(0).read_in_backward &&
              from_six<nn::sequential<nn::tanh, nn::linear<6, 8>>, nn::linear<8, 3>>::at(1).read_in_backward);
static_assert(from_six<nn::layer_norm<6>, nn::linear<6, 3>>::at(0).read_in_backward &&
              from_six<nn::recomputed<nn::linear<6, 8>>, nn::linear<8, 3>>::at(0).read_in_backward &&
              from_six<nn::residual<nn::linear<6, 6>>, nn::linear<6, 3>>::at(0).read_in_backward);
/// A layer that does not say what backward reads.
struct unknown : nn::linear<6, 8> {
  static constexpr bool backward_reads_for_input = false;
};
static_assert(from_six<unknown, nn::linear<8, 3>>::at(0).read_in_backward);

// A residual is one link; layers of nested sequentials are links of their own.
using nested =
    nn::sequential<nn::linear<6, 8>, nn::sequential<nn::tanh, nn::linear<8, 8>, nn::sequential<nn::linear<8, 4>>>,
                   nn::residual<nn::linear<4, 4>, nn::linear<4, 4>>, nn::linear<4, 3>>;
static_assert(plan<nested, 1>::size == 5);
static_assert(plan<nested, 1>::at(0).links == link_range{0, 2} && plan<nested, 1>::at(1).links == link_range{2, 3} &&
              plan<nested, 1>::at(2).links == link_range{3, 4} && plan<nested, 1>::at(3).links == link_range{4, 5});

// A network that is no sequential is one unit.
using one_layer = nn::linear<6, 8>;
static_assert(plan<one_layer, 1>::size == 1 && plan<one_layer, 1>::at(0).links == all_links &&
              plan<one_layer, 1>::largest == 64);
using residual = nn::residual<nn::linear<6, 6>, nn::linear<6, 6>>;
static_assert(plan<residual, 1>::size == 1 && plan<residual, 1>::largest == 2 * 64);
using without_parameters = nn::sequential<nn::linear<6, 6>, nn::relu, nn::tanh>;
static_assert(plan<without_parameters, 1>::size == 1);

// Frozen parameters lie behind the trained ones of their unit when they are gathered.
using with_frozen = nn::sequential<nn::linear<6, 8>, nn::frozen<nn::linear<8, 8>>, nn::frozen<nn::linear<8, 8>>,
                                   nn::layer_norm<8>, nn::linear<8, 3>>;
static_assert(plan<with_frozen, 1>::size == 5);
static_assert(plan<with_frozen, 1>::at(1).trained.count == 0 && equal(plan<with_frozen, 1>::at(1).frozen, 0, 80));
static_assert(equal(plan<with_frozen, 1>::at(2).frozen, 80, 80));
static_assert(plan<with_frozen, 600>::size == 2 && plan<with_frozen, 600>::at(0).links == link_range{0, 3});
static_assert(equal(plan<with_frozen, 600>::at(0).trained, 0, 64) &&
              equal(plan<with_frozen, 600>::at(0).frozen, 0, 160));
static_assert(plan<with_frozen, 600>::largest == 64 + 160 && plan<with_frozen, 600>::largest_trained == 80);

// In mixed precision a unit also has the parameters that layers read in the optimizer's type.
using in_bf16 = dp::mixed<dp::bf16>;
static_assert(plan<with_frozen, 1>::in_slots.masters == 0 && plan<with_frozen, 1, in_bf16>::in_slots.masters == 32);
static_assert(equal(plan<with_frozen, 1, in_bf16>::at(3).masters, 0, 32) &&
              plan<with_frozen, 1, in_bf16>::at(0).masters.count == 0);
static_assert(plan<with_frozen, 1 << 20, in_bf16>::at(0).masters.first == 64);

// Layers that reduce numbers over the places.
using synchronised =
    nn::sequential<nn::linear<6, 8>, nn::batch_norm<8, nn::over_all_places>, nn::linear<8, 8>,
                   nn::batch_norm<8, nn::over_all_places>, nn::relu, nn::batch_norm<8, nn::over_all_places>>;
constexpr std::size_t stops = dp::runtime::network_plan<
    nn::sequential<nn::linear<6, 8>, nn::batch_norm<8, nn::over_all_places>>>::reductions_per_pass;
static_assert(stops > 0);
static_assert(plan<synchronised, 200>::at(1).reductions + plan<synchronised, 200>::at(0).reductions +
                  plan<synchronised, 200>::at(2).reductions ==
              3 * stops);

// A layer of more than UnitBytes, and of more than 1 MiB, is divided into slices of whole rows, from the last to the
// first. Layers without parameters belong to the slice with the first rows.
using with_slices =
    nn::sequential<nn::input<3>, nn::embedding<8301, 100>, nn::tanh, nn::flatten, nn::linear<300, 1777>, nn::tanh,
                   nn::layer_norm<1777>, nn::frozen<nn::linear<1777, 700, false>>, nn::linear<700, 3>>;
using slices = plan<with_slices, 1>;
static_assert(slices::has_slices && slices::size == 1 + 4 + 4 + 1 + 5 + 1);
static_assert(slices::at(0).links == link_range{0, 1} && !slices::at(0).is_slice());
static_assert(slices::at(1).links == link_range{1, 2} && slices::at(1).rows == row_range{7680} &&
              equal(slices::at(1).trained, 768000, 62112) && slices::at(1).behind == 0);
static_assert(slices::at(4).links == link_range{1, 4} && slices::at(4).rows == row_range{0, 2560} &&
              equal(slices::at(4).trained, 0, 256000));
static_assert(slices::at(5).links == link_range{4, 5} && slices::at(5).rows == row_range{1536} &&
              equal(slices::at(5).trained, 830112 + 460800, 241 * 300 + 4 + 1792) && slices::at(5).behind == 1792);
static_assert(slices::at(8).links == link_range{4, 6} && slices::at(8).rows == row_range{0, 512});
// Rows of 7,108 bytes: slices of up to 147 of them are multiples of 16.
static_assert(slices::at(10).trained.count == 0 && slices::at(10).rows == row_range{4 * 144} &&
              equal(slices::at(10).frozen, 4 * 144 * 1777, 124 * 1777 + 4));
static_assert(slices::most_behind == 1792 && slices::row_sums == 0 && plan<with_slices, 1, in_bf16>::row_sums == 1777);
static_assert(slices::largest == 256000 && plan<with_slices, (3 << 20)>::size == 1 + 2 + 1 + 2 + 1);
// With fewer bytes than UnitBytes layers are whole, and a slice has at least 16 rows, also the last one.
static_assert(!plan<with_slices, (25 << 20)>::has_slices);
static_assert(plan<nn::linear<100000, 40>, 1>::size == 2 && plan<nn::linear<100000, 40>, 1>::at(0).rows.first == 16 &&
              !plan<nn::linear<100000, 31>, 1>::has_slices);
// Layers that others compute, or that stay together with others, are whole.
template <class Layer> using whole = plan<nn::sequential<nn::linear<6, 600>, Layer, nn::linear<600, 3>>, 1>;
static_assert(whole<nn::linear<600, 600>>::has_slices && whole<nn::named<"large", nn::linear<600, 600>>>::has_slices);
static_assert(!whole<nn::sequential<nn::linear<600, 600>, nn::relu>>::has_slices);
static_assert(!whole<nn::recomputed<nn::linear<600, 600>>>::has_slices);
static_assert(!whole<nn::residual<nn::linear<600, 600>>>::has_slices);

using deep = nn::sequential<
    nn::linear<6, 8>, nn::batch_norm<8, nn::over_all_places>, nn::dropout<std::ratio<1, 5>>, nn::relu,
    nn::frozen<nn::linear<8, 40>>, nn::recomputed<nn::sequential<nn::linear<40, 8>, nn::layer_norm<8>>>,
    nn::sequential<nn::residual<nn::linear<8, 8>>, nn::frozen<nn::layer_norm<8>>, nn::tanh, nn::linear<8, 8>>,
    nn::batch_norm<8, nn::over_all_places>, nn::linear<8, 3>>;

/// Checks that the places' shares cover each unit once.
template <class Net, class P, std::size_t UnitBytes> void check_shares() {
  using network = dp::runtime::network_plan<Net>;
  using checked = plan<Net, UnitBytes, P>;
  for (std::size_t n = 1; n != 10; ++n) {
    const dp::parallel::unit_shares<Net, alone<UnitBytes>, P> shares(n);
    using shares_type = dp::parallel::unit_shares<Net, alone<UnitBytes>, P>;
    std::vector<int> owners(network::arena_elements);
    for (std::size_t rank = 0; rank != n; ++rank) {
      CHECK(shares_type::trained(n, rank) <= shares_type::trained(n, 0));
      CHECK(shares_type::frozen(n, rank) <= shares_type::frozen(n, 0));
      std::size_t at = 0;
      const auto own = [&](const dp::parallel::share_of_unit& share) {
        CHECK(share.at == at);
        at += share.whole.count;
        for (std::size_t i = 0; i != share.whole.count; ++i) ++owners.at(share.whole.first + i);
      };
      for (std::size_t u = 0; u != checked::size; ++u) own(shares.trained_share(u, rank));
      CHECK(at == shares_type::trained(n, rank));
      for (std::size_t u = 0; u != checked::size; ++u) own(shares.frozen_share(u, rank));
      CHECK(at == shares_type::trained(n, rank) + shares_type::frozen(n, rank));
    }
    CHECK((owners == std::vector<int>(network::arena_elements, 1)));
  }
}

/// Checks the units of a network on `Where` against its links.
template <class Net, class P, std::size_t UnitBytes> void check_units() {
  using network = dp::runtime::network_plan<Net>;
  using checked = plan<Net, UnitBytes, P>;
  constexpr auto& links = network::template links_for<dp::backend::cpu>;
  constexpr std::size_t element = sizeof(typename dp::precision_traits<P>::parameter);
  INFO(checked::size << " units of at least " << UnitBytes << " bytes");
  std::size_t link = 0, trained = 0, frozen = 0, reductions = 0;
  for (std::size_t u = 0; u != checked::size; ++u) {
    const dp::parallel::unit unit = checked::at(u);
    CHECK(unit.links.first == link);
    const bool last = u + 1 == checked::size;
    CHECK((unit.links.last > link && (last || unit.links.last < links.size())));
    CHECK((unit.trained.first == trained && unit.frozen.first == frozen && unit.before == reductions));
    CHECK_FALSE(links[link].joined);
    CHECK((u == 0 || links[link].parameters + links[link].frozen != 0));
    std::size_t own = 0;
    for (; link != (last ? links.size() : unit.links.last); ++link) {
      // A full unit ends before the next parameters.
      if (links[link].parameters + links[link].frozen != 0 && !links[link].joined) CHECK((own == 0 || own < UnitBytes));
      own += (links[link].parameters + links[link].frozen) * element;
      trained += links[link].parameters;
      frozen += links[link].frozen;
      reductions += links[link].reductions;
    }
    CHECK((last || own >= UnitBytes));
    CHECK((unit.trained.first + unit.trained.count == trained && unit.frozen.first + unit.frozen.count == frozen));
    CHECK(unit.before + unit.reductions == reductions);
    CHECK(unit.trained.count + unit.frozen.count <= checked::largest);
    CHECK(unit.trained.count <= checked::largest_trained);
  }
  CHECK(trained == network::parameter_elements);
  CHECK(frozen == network::frozen_elements);
  CHECK(reductions == network::reductions_per_pass);

  check_shares<Net, P, UnitBytes>();
}
template <class Net, class P = float> void check_all_units() {
  check_units<Net, P, 1>();
  check_units<Net, P, 300>();
  check_units<Net, P, 700>();
  check_units<Net, P, 1500>();
  check_units<Net, P, 100000>();
}

}  // namespace

TEST_CASE("units and shares cover a network once", "[parallel]") {
  check_all_units<mnist>();
  check_all_units<joined>();
  check_all_units<nested>();
  check_all_units<residual>();
  check_all_units<with_frozen, in_bf16>();
  check_all_units<synchronised>();
  check_all_units<deep>();
  check_all_units<deep, double>();
}

TEST_CASE("shares cover the slices of layers once", "[parallel]") {
  check_shares<with_slices, float, 1>();
  check_shares<with_slices, in_bf16, (2 << 20)>();
}

TEST_CASE("units are described by the names of their parameters", "[parallel]") {
  CHECK(dp::describe_units<dp::model<mnist, alone<1>>>() ==
        "unit 0: 0.weight to 0.bias, 803840 bytes\nunit 1: 2.weight to 2.bias, 10304 bytes\n");
  CHECK(dp::describe_units<dp::model<mnist, alone<(1 << 20)>>>() == "unit 0: 0.weight to 2.bias, 814144 bytes\n");
  CHECK(dp::describe_units<dp::model<with_frozen, alone<600>>>() ==
        "unit 0: 0.weight to 2.bias, 896 bytes\nunit 1: 3.weight to 4.bias, 320 bytes\n");
  using named = nn::sequential<nn::linear<6, 8, false>, nn::named<"head", nn::sequential<nn::linear<8, 3, false>>>>;
  CHECK(dp::describe_units<dp::model<named, alone<1>, double>>() ==
        "unit 0: 0.weight, 384 bytes\nunit 1: head.0.weight, 256 bytes\n");
  CHECK(dp::describe_units<dp::model<nn::sequential<nn::linear<6, 300>, nn::frozen<nn::linear<300, 1777>>, nn::tanh>,
                                     alone<(3 << 19)>>>() ==
        "unit 0: 0.weight to 0.bias, 8448 bytes\n"
        "unit 1: 1.weight to 1.bias, rows from 1024 on, 910784 bytes\n"
        "unit 2: 1.weight, rows 0 to 1023, 1228800 bytes\n");
  CHECK(dp::describe_units<dp::model<nn::sequential<nn::input<6>, nn::relu>, alone<1>>>() ==
        "unit 0: no parameter, 0 bytes\n");
}
