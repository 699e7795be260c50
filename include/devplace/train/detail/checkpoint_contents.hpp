// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/joined.hpp>
#include <devplace/base/type_text.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/parameters.hpp>
#include <devplace/io/renamed_tensors.hpp>
#include <devplace/io/safetensors.hpp>
#include <devplace/optim/option_groups.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/tensor/precision.hpp>
#include <devplace/train/detail/checkpoint_extras.hpp>
#include <devplace/train/detail/checkpoint_text.hpp>
#include <devplace/train/training_state.hpp>

// The tensors and numbers of a checkpoint, written from and read to the state of a training.
namespace devplace::train::detail {

inline constexpr const char* checkpoint_version = "1";

/// Returns a state with the sizes of this training, to be filled.
template <class Net, class Rule, class T> training_state<Rule, T> empty_training(const Rule& rule) {
  using plan = runtime::network_plan<Net>;
  const std::vector<std::byte> memory(optim::option_groups<Net, Rule>::count * optim::step_memory_bytes);
  training_state<Rule, T> whole{0, 0, {}, {}, {rule, 0, {}, memory, memory}, {}, {}, {}};
  whole.parameters.resize(plan::arena_elements);
  whole.buffers.resize(plan::buffer_elements);
  whole.optimizer.arenas.assign(Rule::state_arenas, std::vector<T>(plan::parameter_elements));
  return whole;
}

/// Lists the tensors of a checkpoint: parameters and buffers with save_parameters' names, and the optimizer's state as
/// `optimizer/0/fc1.weight`.
template <class Net, class Rule, class T> std::vector<checkpoint_tensor> tensors_of(training_state<Rule, T>& whole) {
  std::vector<checkpoint_tensor> result;
  const auto kept = devplace::detail::kept_parameters<Net, T>();
  for (const devplace::detail::kept_parameter& parameter : kept)
    result.push_back({parameter.entry, parameter.in(whole.parameters.data(), whole.buffers.data())});
  for (std::size_t i = 0; i < whole.optimizer.arenas.size(); ++i)
    for (const devplace::detail::kept_parameter& parameter : kept) {
      if (parameter.is_buffer || parameter.at >= runtime::network_plan<Net>::parameter_elements)
        continue;  // frozen: no state
      result.push_back({parameter.entry, whole.optimizer.arenas[i].data() + parameter.at});
      result.back().entry.name = devplace::detail::joined({"optimizer/", i, "/", parameter.entry.name});
    }
  const auto append = [&](const char* name, std::vector<std::byte>& bytes) {
    result.push_back({{name, "U8", {bytes.size()}, 0, bytes.size()}, bytes.data()});
  };
  append("optimizer/step_memory", whole.optimizer.step_memory);
  append("optimizer/sent", whole.optimizer.sent);
  return result;
}

/// Computes a checkpoint's checksum over its tensors and the rest of its metadata.
inline std::string checksum_of(const safetensors_metadata& metadata, const std::vector<checkpoint_tensor>& tensors) {
  checksum sum;
  for (const auto& [key, value] : metadata) {
    if (key == "checksum") continue;
    sum.add(key);
    sum.add(value);
  }
  for (const auto& [entry, data] : tensors) sum.add(data, entry.bytes);
  return sum.text();
}

template <class P, class Rule, class T>
safetensors_metadata metadata_of(const training_state<Rule, T>& whole, const training_position& at) {
  safetensors_metadata result{{"format", "pt"},
                              {"checkpoint", checkpoint_version},
                              {"precision", devplace::detail::type_text<P>()},
                              {"optimizer", devplace::detail::type_text<Rule>()},
                              {"epoch", exact_text(at.epoch)},
                              {"batch", exact_text(at.batch)},
                              {"seed", exact_text(whole.seed)},
                              {"passes", exact_text(whole.passes)},
                              {"optimizer.steps", exact_text(whole.optimizer.steps)}};
  add_options(result, "optimizer.", whole.optimizer.rule);
  std::string losses;
  for (const double sum : whole.losses) losses.append(losses.empty() ? "" : " ").append(exact_text(sum));
  result.emplace_back("losses", losses);
  if constexpr (scales_losses<P>) {
    result.emplace_back("scaler.scale", exact_text(whole.scaler.scale));
    result.emplace_back("scaler.growth_tracker", exact_text(whole.scaler.growth_tracker));
    result.emplace_back("scaler.skipped_steps", exact_text(whole.scaler.skipped_steps));
    add_options(result, "scaler.", whole.scaling);
  }
  return result;
}

/// Reads the numbers of a checkpoint. Throws file_error.
template <class P, class Rule, class T>
training_position read_numbers(training_state<Rule, T>& whole, const checkpoint_texts& from) {
  whole.seed = from.number<std::uint64_t>("seed");
  whole.passes = from.number<std::uint64_t>("passes");
  whole.optimizer.steps = from.number<std::int64_t>("optimizer.steps");
  set_options(whole.optimizer.rule, "optimizer.", from);
  whole.losses = from.numbers("losses");
  if (whole.losses.size() % 2 != 0) from.fail("has a sum of losses without its weights");
  if constexpr (scales_losses<P>) {
    whole.scaler = {from.number<double>("scaler.scale"), from.number<std::int64_t>("scaler.growth_tracker"),
                    from.number<std::int64_t>("scaler.skipped_steps")};
    set_options(whole.scaling, "scaler.", from);
  }
  return {from.number<int>("epoch"), from.number<std::size_t>("batch")};
}

/// Throws file_error with all differences unless the file is a checkpoint of a training with these tensors.
template <class P, class Rule>
void check_fit(const safetensors_file& file, const checkpoint_texts& texts,
               const std::vector<checkpoint_tensor>& wanted, const std::string& path) {
  const std::string* const version = texts.find("checkpoint");
  if (version == nullptr)
    throw file_error({"load_checkpoint: ", devplace::detail::in_quotes(path),
                      " is no checkpoint of a training; read parameters alone by load_parameters."});
  if (*version != checkpoint_version)
    throw file_error({"load_checkpoint: ", devplace::detail::in_quotes(path), " has version ", *version,
                      " of the format of checkpoints, and this version of devplace reads version ", checkpoint_version,
                      ". Use the version of devplace that wrote the file, or read the file's parameters alone by "
                      "load_parameters."});
  devplace::detail::renamed_tensors tensors(file);
  const auto compare = [&](const char* key, const std::string& own) {
    if (texts.text(key) != own)
      tensors.append(devplace::detail::joined({key, " is ", texts.text(key), " instead of ", own}));
  };
  compare("precision", devplace::detail::type_text<P>());
  compare("optimizer", devplace::detail::type_text<Rule>());
  for (const checkpoint_tensor& tensor : wanted) tensors.require(tensor.entry);
  tensors.refuse_others("training", [](const safetensors_entry&) { return false; });
  if (!tensors.differences().empty())
    throw file_error({"load_checkpoint: ", devplace::detail::in_quotes(path),
                      " does not fit the training, which was left unchanged: ", tensors.differences(),
                      ". Make a model and a trainer of the saved types, or load parameters alone by load_parameters."});
}

/// Reads a checkpoint of a training with optimizer `Rule` and the objects `extras`.
template <class Net, class P, class Rule, class... Extras>
training_position read_checkpoint(training_state<Rule, typename precision_traits<P>::parameter>& whole,
                                  const safetensors_file& file, const checkpoint_texts& texts, const std::string& path,
                                  checkpoint_extras& more, Extras&... extras) {
  auto tensors = tensors_of<Net>(whole);
  (more.expect(extras, tensors), ...);
  check_fit<P, Rule>(file, texts, tensors, path);
  for (const auto& [entry, data] : tensors) file.read_elements(*file.find(entry.name), data);
  if (checksum_of(file.metadata(), tensors) != texts.text("checksum"))
    texts.fail("does not have the contents that were written");
  const training_position at = read_numbers<P>(whole, texts);
  (more.check(extras, texts), ...);
  return at;
}

/// Whether trainings with a rule also continue from checkpoints of another rule, whose state they do not need.
template <class Rule>
concept continues_a_rule = requires { typename Rule::continued_rule; };

/// Returns the state of a training by `From` as the state of one by `Rule`.
template <class Rule, class From, class T>
training_state<Rule, T> continued(training_state<From, T>&& from, const std::string& path) {
  const auto rule = Rule::continuing(from.optimizer.rule);
  if (!rule)
    throw file_error({"load_checkpoint: ", devplace::detail::in_quotes(path),
                      " is of an optimizer with momentum, and plain_sgd has none; use optim::sgd."});
  return {from.seed,
          from.passes,
          std::move(from.parameters),
          std::move(from.buffers),
          {*rule, from.optimizer.steps, {}, std::move(from.optimizer.step_memory), std::move(from.optimizer.sent)},
          std::move(from.losses),
          from.scaling,
          from.scaler};
}

}  // namespace devplace::train::detail
