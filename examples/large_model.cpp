// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Models that do not fit on one device (docs/larger_models.md):
//   large_model [picture.svg]
// The first part plans the memory of a GPT-2 small at compile time, on one place and on several, and draws it. The
// second part trains a small transformer on four devices of which each stores a quarter, and on four with a whole copy,
// and compares all bits. DEVPLACE_SIMULATED_MEMORY=2304KiB gives simulated devices too little memory for the copies.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include <devplace/all.hpp>
#include <devplace/attention.hpp>
#include <devplace/fully_sharded.hpp>

namespace dp = devplace;
namespace nn = dp::nn;
namespace collective = dp::collective;
using namespace dp::literals;

namespace {

template <std::size_t Width, std::size_t Heads>
using block = nn::sequential<
    nn::residual<nn::layer_norm<Width>, nn::multi_head_attention<Width, Heads, nn::causal>>,
    nn::residual<nn::layer_norm<Width>, nn::linear<Width, 4 * Width>, nn::gelu, nn::linear<4 * Width, Width>>>;

/// A transformer of these blocks over `Context` tokens.
template <std::size_t Vocabulary, std::size_t Context, std::size_t Width, class... Blocks>
using transformer =
    nn::sequential<nn::input<Context>, nn::embedding<Vocabulary, Width>, nn::positional_embedding<Context, Width>,
                   Blocks..., nn::layer_norm<Width>, nn::linear<Width, Vocabulary>>;

// GPT-2 small: 12 blocks.
template <class Block>
using gpt2_of =
    transformer<50257, 1024, 768, Block, Block, Block, Block, Block, Block, Block, Block, Block, Block, Block, Block>;
using gpt2_kept = gpt2_of<block<768, 12>>;
using gpt2 = gpt2_of<nn::recomputed<block<768, 12>>>;

/// What one place stores in a training of a batch of 8 by Adam, in bytes.
struct memory {
  const char* name;
  std::size_t parameters, gradients, state, activations, all;

  /// The rest: whole units, gathered for their layers, with their gradients, and some sums.
  std::size_t units() const { return all - parameters - gradients - state - activations; }
};
template <class Net, class Where, class Policy = collective::all_reduce<>, class Rule = dp::optim::adam>
constexpr memory planned(const char* name) {
  using plan = dp::memory_plan<dp::model<Net, Where>, dp::batch<8>, Rule, Policy>;
  return {name, plan::parameters, plan::gradients, plan::optimizer_state, plan::activations, plan::bytes};
}

using four_copies = dp::replicated<0, 1, 2, 3>;
using four_shares = dp::fully_sharded<0, 1, 2, 3>;
using four_kept = dp::spread<dp::mesh<dp::shares<4, (25 << 20), dp::gathered::kept>>, 0, 1, 2, 3>;
using host_adam = dp::optim::on_host<dp::optim::adam>;
constexpr memory plans[] = {
    planned<gpt2_kept, dp::cuda<0>>("1 place, without recomputed"),
    planned<gpt2, dp::cuda<0>>("1 place"),
    planned<gpt2, dp::cuda<0>, collective::all_reduce<>, host_adam>("1 place, on_host"),
    planned<gpt2, dp::replicated<0, 1>, collective::sharded_all_reduce<>>("2, sharded_all_reduce"),
    planned<gpt2, dp::fully_sharded<0, 1>>("2, fully_sharded"),
    planned<gpt2, four_copies>("4, replicated"),
    planned<gpt2, four_copies, collective::sharded_all_reduce<>>("4, sharded_all_reduce"),
    planned<gpt2, four_kept>("4, gathered::kept"),
    planned<gpt2, four_shares>("4, fully_sharded"),
    planned<gpt2, four_shares, collective::gather_units<>, host_adam>("4, fully_sharded, on_host"),
    planned<gpt2, dp::fully_sharded<0, 1, 2, 3, 4, 5, 6, 7>>("8, fully_sharded"),
};

std::size_t mib(std::size_t bytes) { return (bytes + (1 << 19)) >> 20; }

void print_plans() {
  std::printf("GPT-2 small, %zu parameters, 8 sequences over all places, Adam: MiB on each place\n",
              dp::model<gpt2, dp::cuda<0>>::parameter_count());
  std::printf("%-27s  parameters  gradients  state  activations  units   all\n", "places");
  for (const memory& m : plans)
    std::printf("%-27s  %10zu  %9zu  %5zu  %11zu  %5zu  %4zu\n", m.name, mib(m.parameters), mib(m.gradients),
                mib(m.state), mib(m.activations), mib(m.units()), mib(m.all));
  constexpr dp::step_traffic<dp::model<gpt2, four_copies>, collective::all_reduce<>> copies;
  constexpr dp::step_traffic<dp::model<gpt2, four_shares>, collective::gather_units<>> shares;
  constexpr dp::step_traffic<dp::model<gpt2, four_kept>, collective::gather_units<>> kept;
  std::printf("A step of 4 places moves %zu MiB with replicated, %zu with fully_sharded, %zu with gathered::kept.\n",
              mib(copies.bytes), mib(shares.bytes), mib(kept.bytes));
}

/// Writes a bar for each plan, as SVG.
void draw_plans(const std::string& path) {
  constexpr int left = 200, bar = 22, distance = 30, top = 44;
  const auto width = [](std::size_t bytes) { return static_cast<int>(mib(bytes) * 600 / mib(plans[0].all)); };
  const char* const names[] = {"parameters", "gradients", "Adam's state", "gathered units", "activations"};
  const char* const colours[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#bbbbbb"};  // Okabe and Ito
  const int height = top + static_cast<int>(std::size(plans)) * distance + 8;
  std::string text = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 880 " + std::to_string(height) +
                     "' width='880' font-family='sans-serif' font-size='13'>\n"
                     "<title>Memory of each place that trains GPT-2 small</title>\n"
                     "<rect width='100%' height='100%' fill='white'/>\n";
  const auto rectangle = [&](int x, int y, int wide, const char* colour) {
    text += "<rect x='" + std::to_string(x) + "' y='" + std::to_string(y) + "' width='" + std::to_string(wide) +
            "' height='" + std::to_string(bar) + "' fill='" + colour + "'/>\n";
  };
  const auto write = [&](int x, int y, const std::string& words) {
    text += "<text x='" + std::to_string(x) + "' y='" + std::to_string(y + 16) + "'>" + words + "</text>\n";
  };
  for (int i = 0; i != 5; ++i) {
    rectangle(left + 135 * i, 8, bar, colours[i]);
    write(left + 135 * i + bar + 5, 8, names[i]);
  }
  int y = top;
  for (const memory& m : plans) {
    write(8, y, m.name);
    int x = left, i = 0;
    for (const std::size_t bytes : {m.parameters, m.gradients, m.state, m.units(), m.activations}) {
      rectangle(x, y, width(bytes), colours[i++]);
      x += width(bytes);
    }
    write(x + 6, y, std::to_string(mib(m.all)) + " MiB");
    y += distance;
  }
  std::ofstream(path) << text << "</svg>\n";
}

// The small transformer: sequences count modulo 32 in steps that the network has to find out.
constexpr std::size_t tokens = 32, context = 16, sequences = 16;
using small_block = nn::recomputed<block<64, 4>>;
using net = transformer<tokens, context, 64, small_block, small_block, small_block, small_block>;

using where = dp::spread<dp::mesh<dp::shares<4, (64 << 10)>>, 0, 1, 2, 3>;  // units of at least 64 KiB
template <class Where> using plan = dp::memory_plan<dp::model<net, Where>, dp::batch<sequences>, dp::optim::adam>;
static_assert(plan<where>::bytes < 2304_KiB, "a place must have enough memory");
static_assert(plan<four_copies>::bytes > 2304_KiB && 100 * plan<where>::bytes < 45 * plan<dp::cuda<0>>::bytes);

struct training {
  double first_loss = 0, last_loss = 0;
  std::vector<float> parameters;  // none if the memory was too small
};

template <class Where> training train() {
  dp::tensor<std::int32_t, dp::extents<dp::dyn, context>, dp::cpu> samples(dp::extents<dp::dyn, context>{sequences});
  auto next = dp::zeros_like(samples);
  for (std::size_t i = 0; i < sequences; ++i)
    for (std::size_t k = 0; k < context; ++k) {
      samples(i, k) = static_cast<std::int32_t>((7 * i + k * (i % 4 + 1)) % tokens);
      next(i, k) = static_cast<std::int32_t>((7 * i + (k + 1) * (i % 4 + 1)) % tokens);
    }
  const auto x = dp::to_batch<Where>(samples), targets = dp::to_batch<Where>(next);
  const std::size_t before = dp::memory_statistics<dp::cuda<0>>().allocated;
  dp::reset_peak_memory<dp::cuda<0>>();

  training result;
  try {
    dp::model<net, Where> model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 2e-3}};
    result.first_loss = step(x, targets).item();
    for (int i = 1; i < 20; ++i) result.last_loss = step(x, targets).item();
    const std::size_t used = dp::memory_statistics<dp::cuda<0>>().peak - before;
    std::printf("%s: planned %zu bytes, used %zu\n", dp::placement_name<Where>().c_str(), plan<Where>::bytes, used);
    result.parameters = step.state().parameters;
  } catch (const dp::out_of_memory&) {
    std::printf("%s: planned %zu bytes, out of memory\n", dp::placement_name<Where>().c_str(), plan<Where>::bytes);
  }
  return result;
}

/// Trains in shares and with copies; returns whether the loss falls and the parameters have the same bits.
template <class Shares, class Copies> bool compare() {
  std::printf("%s", dp::describe_units<dp::model<net, Shares>>().c_str());
  const training shares = train<Shares>(), copies = train<Copies>();
  std::printf("loss %.1f, in step 20 %.1f\n", shares.first_loss, shares.last_loss);
  if (shares.parameters.empty() || !(shares.last_loss < shares.first_loss / 2)) return false;
  if (copies.parameters.empty()) return true;
  const std::size_t bytes = copies.parameters.size() * sizeof(float);
  const bool same = shares.parameters.size() == copies.parameters.size() && shares.last_loss == copies.last_loss &&
                    std::memcmp(shares.parameters.data(), copies.parameters.data(), bytes) == 0;
  std::printf("%s bits with copies\n", same ? "the same" : "OTHER");
  return same;
}

}  // namespace

int main(int argc, char** argv) try {
  print_plans();
  if (argc > 1) draw_plans(argv[1]);
  // Skipped if no component provides cuda places or there are fewer than four devices.
  const bool right = dp::first_available<where, dp::cpu>([](auto on) {
    if constexpr (dp::stores_shares<decltype(on)>) return compare<decltype(on), four_copies>();
    std::printf("There are no four devices, so nothing was trained.\n");
    return true;
  });
  return right ? 0 : 1;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 2;
}
