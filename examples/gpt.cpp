// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A small GPT learns a text character by character, and then writes. It draws each character with a temperature, from
// the five most probable ones. The text has sentences "the <adjective> <noun> <verb> the <noun>." Four of five written
// words must be words of the text. (transformer.cpp is a larger one, with the text of files and a comparison.)
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include <devplace/all.hpp>
#include <devplace/attention.hpp>
#include <devplace/sorting.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

namespace {

constexpr std::string_view alphabet = "abcdefghijklmnopqrstuvwxyz .";
constexpr std::size_t characters = alphabet.size(), context = 16, width = 24;

using block = nn::sequential<
    nn::residual<nn::layer_norm<width>, nn::multi_head_attention<width, 4, nn::causal>>,
    nn::residual<nn::layer_norm<width>, nn::linear<width, 4 * width>, nn::gelu, nn::linear<4 * width, width>>>;
using gpt =
    nn::sequential<nn::input<context>, nn::embedding<characters, width>, nn::positional_embedding<context, width>,
                   block, block, nn::layer_norm<width>, nn::linear<width, characters>>;

std::string write_text(std::size_t sentences) {
  constexpr std::array adjectives{"old", "wild", "small", "green"}, nouns{"fox", "river", "dog", "tree"},
      verbs{"sees", "likes", "follows", "hears"};
  const auto choice = dp::uniform<float, dp::cpu>(dp::extents{sentences, std::size_t{4}}, dp::seed{1}, 0.0f, 4.0f);
  std::string text;
  for (const auto row : dp::rows(choice)) {
    const auto pick = [&](const auto& words, std::size_t k) {
      return std::string(words[static_cast<std::size_t>(row(k))]);
    };
    text +=
        "the " + pick(adjectives, 0) + ' ' + pick(nouns, 1) + ' ' + pick(verbs, 2) + " the " + pick(nouns, 3) + ". ";
  }
  return text;
}

using tokens = dp::tensor<std::int32_t, dp::extents<dp::dyn, context>, dp::cpu>;

// Characters from `text`, shifted by `shift`, in windows that begin at every fifth character.
tokens windows(const std::string& text, std::size_t shift) {
  tokens result{dp::extents<dp::dyn, context>{(text.size() - context) / 5}};
  for (std::size_t i = 0; i < result.extent(0); ++i)
    for (std::size_t k = 0; k < context; ++k)
      result(i, k) = static_cast<std::int32_t>(alphabet.find(text[5 * i + k + shift]));
  return result;
}

template <class Model> std::string generate(const Model& model, std::string text, std::size_t length) {
  tokens last{dp::extents<dp::dyn, context>{1}};
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t k = 0; k < context; ++k)
      last(0, k) = static_cast<std::int32_t>(alphabet.find(text[text.size() - context + k]));
    const auto logits = model.predict(last);
    const auto next =
        dp::categorical(logits[0].slice(context - 1, context), dp::seed{i}, {.temperature = 0.7, .top_k = 5});
    text += alphabet[static_cast<std::size_t>(next(0))];
  }
  return text.substr(context);
}

}  // namespace

int main() {
  const std::string text = write_text(100);
  dp::model<gpt, dp::cpu> model{dp::seed{2}};
  auto batches = dp::make_loader<dp::cpu>(windows(text, 0), windows(text, 1), {.batch = 16, .shuffle = dp::seed{3}});
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::decay_of_matrices{dp::optim::adamw{.learning_rate = 1e-2}}};
  step.clip({.max_norm = 1});
  for (int epoch = 0; epoch < 4; ++epoch) {
    step.reset_mean_loss();
    for (const auto& [x, y] : batches.epoch(epoch)) step(x, y);
    std::printf("epoch %d: %.3f bits per character\n", epoch, step.mean_loss() / std::log(2.0));
  }

  const std::string written = generate(model, text.substr(0, context), 200);
  std::puts(written.c_str());
  std::set<std::string> known;
  std::istringstream of_text(text),
      of_model(written.substr(written.find(' ') + 1, written.rfind(' ') - written.find(' ')));
  for (std::string word; of_text >> word;) known.insert(word);
  int right = 0, all = 0;
  for (std::string word; of_model >> word; ++all) right += known.count(word) != 0;
  std::printf("%d of %d words are words of the text\n", right, all);
  return right >= 0.8 * all && all > 20 ? 0 : 1;
}
