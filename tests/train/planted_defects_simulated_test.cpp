// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Defects planted in the training of models in shares and of recomputed layers: each of them must change parameters.
// The tests that compare bits with those of replicated models, or of layers that are not recomputed, would otherwise
// prove nothing.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ratio>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/fully_sharded.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/recomputed.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/nine_devices.hpp"
#include "support/catch.hpp"
#include "support/labelled_samples.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;

namespace {

enum class defect : unsigned char {
  none,
  unit_not_gathered,
  unit_gathered_once,  // for forward, and not for backward
  gradients_not_reduced,
  gradients_reduced_twice,
  later_gradients_not_reduced,
  later_gradients_reduced_twice,
  sums_not_reduced,
  norm_of_each_share,
  norm_counted_twice,
};

/// Engine that connects places by `direct`, but for a defect.
template <defect Defect> struct defective {
  template <class Backend> class communicator {
   public:
    explicit communicator(std::span<const int> ordinals) : work_(ordinals) {}
    int size() const { return work_.size(); }
    int first_rank() const { return work_.first_rank(); }
    int local_count() const { return work_.local_count(); }
    template <class T> void reduce(std::span<T* const> buffers, std::size_t count, dp::reduction op, int root) {
      work_.reduce(buffers, count, op, root);
    }
    template <class T> void broadcast(std::span<T* const> buffers, std::size_t count, int root) {
      work_.broadcast(buffers, count, root);
    }
    template <class T> void all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
      // 4 units: gathers 0 to 3 of a step are those of forward. The last two units stay until backward.
      const std::size_t call = gathers_++ % 6;
      if (Defect == defect::unit_not_gathered && call == 1) return;
      if (Defect == defect::unit_gathered_once && call == 4) return;
      work_.all_gather(buffers, begins);
    }
    template <class T>
    void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, dp::reduction op) {
      const std::size_t call = reductions_++ % 4;
      if (Defect == defect::gradients_not_reduced && call == 0) return;
      if (Defect == defect::later_gradients_not_reduced && call == 2) return;
      work_.reduce_scatter(buffers, begins, op);
      if ((Defect == defect::gradients_reduced_twice && call == 0) ||
          (Defect == defect::later_gradients_reduced_twice && call == 2)) {
        work_.all_gather(buffers, begins);
        work_.reduce_scatter(buffers, begins, op);
      }
    }
    template <class T> void all_reduce(std::span<T* const> buffers, std::size_t count, dp::reduction op) {
      constexpr bool of_norm = std::is_same_v<T, std::int64_t>;
      if (Defect == defect::sums_not_reduced && !of_norm) return;
      if (Defect == defect::norm_of_each_share && of_norm) return;
      work_.all_reduce(buffers, count, op);
      if (Defect == defect::norm_counted_twice && of_norm) work_.all_reduce(buffers, count, op);
    }

   private:
    dp::parallel::direct<Backend> work_;
    std::size_t gathers_ = 0, reductions_ = 0;
  };
  static constexpr std::string_view name = "defective";
  template <std::same_as<dp::backend::cuda> Backend>
  communicator<Backend> connect(std::span<const int> ordinals) const {
    return communicator<Backend>(ordinals);
  }
  static constexpr std::size_t workspace_bytes(std::size_t, std::size_t, std::size_t) { return 0; }
};

struct mask_functor {
  float* to;
  const float* from;
  std::size_t first_sample;
  DEVPLACE_HD void operator()(std::size_t i) const { to[i] = (i / 8 + first_sample) % 2 == 0 ? from[i] : 0; }
};
/// A layer that drops every second sample: of the batch, or with the defect of each place's part of the batch.
template <bool OfBatch> struct mask {
  template <class In> using output = In;
  static constexpr nn::keep keeps = nn::keep::nothing;
  static void forward(const auto& c) { apply(c, c.output, c.input); }
  static void backward(const auto& c) { apply(c, c.input_gradient, c.output_gradient); }
  template <class Call> static void apply(const Call& c, const auto& to, const auto& from) {
    dp::detail::for_each_index<typename Call::backend_type>(
        c.ordinal(), to.size(), 4096, mask_functor{to.data(), from.data(), OfBatch ? c.key.first_sample : 0});
  }
};

/// A layer that drops every second sample, from the first or the second on, as the number of the pass says, or with the
/// defect the number of calls of forward. Backward drops those of the last forward.
template <bool OfPass> struct changing_mask {
  template <class In> using output = In;
  static constexpr nn::keep keeps = nn::keep::nothing;
  static void forward(const auto& c) { mask<true>::apply(at(c, OfPass ? c.key.step : ++calls), c.output, c.input); }
  static void backward(const auto& c) {
    mask<true>::apply(at(c, OfPass ? c.key.step : calls), c.input_gradient, c.output_gradient);
  }
  static inline std::size_t calls = 0;

 private:
  /// Stands for the call `c` with another first sample.
  template <class Call> struct shifted_call {
    using backend_type = typename Call::backend_type;
    int place;
    struct {
      std::size_t first_sample;
    } key;
    int ordinal() const { return place; }
  };
  template <class Call> static shifted_call<Call> at(const Call& c, std::size_t first_sample) {
    return {c.ordinal(), {first_sample}};
  }
};

template <class Mask>
using net_with = nn::sequential<nn::linear<6, 8>, nn::relu, Mask, nn::linear<8, 8>, nn::linear<8, 8>, nn::linear<8, 3>>;
using net = net_with<nn::dropout<std::ratio<1, 5>>>;
using three = dp::spread<dp::mesh<dp::shares<3, 1>>, 0, 1, 2>;

template <class Net, class Where, class Policy> std::vector<float> train(const Policy& policy) {
  dp::model<Net, Where> model{dp::seed{9}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.01}, policy};
  step.clip({.max_norm = 0.05});
  for (const std::size_t rows : std::vector<std::size_t>{7, 12, 33})
    step(dp::to_batch<Where>(dp::test::integer_samples<float, 6>(rows)),
         dp::to_batch<Where>(dp::test::square_labels(rows, 3)));
  return step.state().parameters;
}
template <defect Defect, class Net = net> std::vector<float> train_with() {
  return train<Net, three>(collective::gather_units<defective<Defect>>{});
}

/// A linear layer with a defect in its passes through slices of its rows.
enum class slice_defect : unsigned char { none, left_out_in_forward, left_out_in_backward, twice_in_backward };
template <slice_defect Defect> struct sliced : nn::linear<256, 2048> {
  using layer = nn::linear<256, 2048>;
  static void forward_rows(const auto& c) {
    if (Defect == slice_defect::left_out_in_forward && c.rows().first != 0) return;
    layer::forward_rows(c);
  }
  static void backward_rows(const auto& c) {
    if (Defect == slice_defect::left_out_in_backward && c.rows().first == 0) return;
    layer::backward_rows(c);
    if (Defect == slice_defect::twice_in_backward && c.rows().first != 0) layer::backward_rows(c);
  }
};
/// Four units, of which two are slices of the second layer.
template <slice_defect Defect = slice_defect::none>
using net_in_slices = nn::sequential<nn::linear<6, 256>, nn::relu, sliced<Defect>, nn::tanh, nn::linear<2048, 3>>;

}  // namespace

TEST_CASE("a collective that is left out or doubled changes the parameters of models in shares", "[train]") {
  const auto expected = train<net, dp::replicated<0, 1, 2>>(collective::all_reduce<>{});
  CHECK((train_with<defect::none>() == expected));
  CHECK((train_with<defect::unit_not_gathered>() != expected));
  CHECK((train_with<defect::unit_gathered_once>() != expected));
  CHECK((train_with<defect::gradients_not_reduced>() != expected));
  CHECK((train_with<defect::gradients_reduced_twice>() != expected));
  CHECK((train_with<defect::sums_not_reduced>() != expected));
  CHECK((train_with<defect::norm_of_each_share>() != expected));
  CHECK((train_with<defect::norm_counted_twice>() != expected));
}

TEST_CASE("a slice of a layer that is left out or doubled changes the parameters of models in shares", "[train]") {
  using plan = dp::unit_plan<dp::model<net_in_slices<>, three>>;
  STATIC_REQUIRE(plan::size == 4);
  STATIC_REQUIRE((plan::at(1).is_slice() && plan::at(2).is_slice()));
  const auto expected = train<net_in_slices<>, dp::replicated<0, 1, 2>>(collective::all_reduce<>{});
  CHECK((train_with<defect::none, net_in_slices<>>() == expected));
  CHECK((train_with<defect::unit_not_gathered, net_in_slices<>>() != expected));
  CHECK((train_with<defect::unit_gathered_once, net_in_slices<>>() != expected));
  CHECK((train_with<defect::later_gradients_not_reduced, net_in_slices<>>() != expected));
  CHECK((train_with<defect::later_gradients_reduced_twice, net_in_slices<>>() != expected));
  constexpr collective::gather_units<> policy;
  CHECK((train<net_in_slices<slice_defect::left_out_in_forward>, three>(policy) != expected));
  CHECK((train<net_in_slices<slice_defect::left_out_in_backward>, three>(policy) != expected));
  CHECK((train<net_in_slices<slice_defect::twice_in_backward>, three>(policy) != expected));
}

TEST_CASE("a mask that ignores the place changes the parameters of models in shares", "[train]") {
  constexpr collective::gather_units<> policy;
  const auto expected = train<net_with<mask<true>>, dp::replicated<0, 1, 2>>(collective::all_reduce<>{});
  CHECK((train<net_with<mask<true>>, three>(policy) == expected));
  CHECK((train<net_with<mask<false>>, three>(policy) != expected));
}

TEST_CASE("a mask that changes in the second forward of recomputed layers changes the parameters", "[train]") {
  const auto trained = []<class Mask>(Mask) {
    return std::pair{train<net_with<nn::sequential<nn::linear<8, 8>, Mask>>, dp::cuda<0>>(collective::all_reduce<>{}),
                     train<net_with<nn::recomputed<nn::linear<8, 8>, Mask>>, dp::cuda<0>>(collective::all_reduce<>{})};
  };
  const auto [kept, recomputed] = trained(changing_mask<true>{});
  CHECK((kept == recomputed));
  const auto [kept_with_defect, recomputed_with_defect] = trained(changing_mask<false>{});
  CHECK((kept_with_defect != recomputed_with_defect));
}
