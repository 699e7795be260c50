// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Not part of all.hpp: programs that keep checkpoints of a training include it, or train/checkpoints.hpp.

#include <cstddef>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/host_memory.hpp>
#include <devplace/base/type_text.hpp>
#include <devplace/config.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/parameters.hpp>
#include <devplace/io/safetensors.hpp>
#include <devplace/optim/option_groups.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/tensor/precision.hpp>
#include <devplace/train/detail/checkpoint_extras.hpp>
#include <devplace/train/detail/checkpoint_text.hpp>
#include <devplace/train/trainer.hpp>
#include <devplace/train/training_state.hpp>

namespace devplace {

/// The position of a training: `batches.epoch(at.epoch, at.batch)` yields the next batches.
struct training_position {
  int epoch = 0;          ///< counted from 0
  std::size_t batch = 0;  ///< number of the epoch's batches that were trained

  /// Whether epoch and batch are equal.
  friend bool operator==(const training_position&, const training_position&) = default;
};

}  // namespace devplace

namespace devplace::train::detail {

inline constexpr const char* checkpoint_version = "1";

/// Whether X has checkpoints; fails to compile if not.
template <class X> consteval bool has_checkpoints() {
  constexpr bool is_trainer = requires { typename X::model_type::placement_type; };
  static_assert(is_trainer,
                "devplace: checkpoint: checkpoints are made of a trainer and loaded into one: save_checkpoint(step, "
                "{epoch, batch}, path); for the parameters alone use save_parameters(model, path) and "
                "load_parameters(model, path).");
  if constexpr (is_trainer) {
    constexpr bool in_own_memory = !std::is_same_v<typename X::model_type::placement_type, shared_memory>;
    static_assert(in_own_memory,
                  "devplace: checkpoint: the model is in shared memory, where other processes change it meanwhile and "
                  "have optimizers of their own; keep its parameters by save_parameters.");
    return in_own_memory;
  }
  return false;
}

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

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Writes a checkpoint from the result of an earlier `step.state()`. The trainer only provides types and is not read;
/// the call waits for no other process. Therefore a child of fork() or another thread can write while the training
/// continues. Call this overload in one process. A child of fork() can read `extras` only on the CPU.
template <class Net, class Where, class P, class Loss, class Rule, class Policy, std::size_t Batches, class... Extras>
DEVPLACE_CONFIGURED void save_checkpoint(const trainer<model<Net, Where, P>, Loss, Rule, Policy, accumulate<Batches>>&,
                                         train::training_state<Rule, typename precision_traits<P>::parameter> state,
                                         const training_position& at, const std::string& path, Extras&... extras) try {
  train::detail::require_fit<Net>(state, "save_checkpoint");
  auto tensors = train::detail::tensors_of<Net>(state);
  safetensors_metadata metadata = train::detail::metadata_of<P>(state, at);
  [[maybe_unused]] train::detail::checkpoint_extras more;
  (more.save(extras, tensors, metadata), ...);
  metadata.emplace_back("checksum", train::detail::checksum_of(metadata, tensors));
  std::vector<detail::safetensors_source> sources;
  for (const auto& [entry, data] : tensors) sources.push_back({entry, data});
  detail::write_safetensors_file(path, "save_checkpoint", sources, metadata);
} catch (const std::bad_alloc&) {
  detail::fail_without_memory("the checkpoint");
}

/// Writes the whole state of a training to a file: parameters and buffers; the optimizer's state, steps and
/// hyperparameters; in mixed<half> the loss scale and its counts; the model's seed and passes, which key random layers;
/// the mean loss and the position. Options of the loss, of clipping and of the loader are not stored. The file does not
/// depend on placement and policy; the state is copied to the host first. The format is safetensors, with parameters
/// under their names (docs/files.md). The new file replaces an old one only when it is complete and on the disk, so a
/// killed program leaves a complete file. Waits for the places. All processes call save_checkpoint, and the first
/// process writes. Only the first process throws exceptions; they end the other processes like every failure of a
/// process (docs/processes.md). Throws file_error, failures of the places, and error between the batches of one
/// accumulation.
///
/// `extras` are further objects with state, such as moving_average and early_stopping. Classes of your own need a
/// member `for_checkpoint(of_model, of_number)`. It calls of_model(m) for each model of the object and of_number(name,
/// number) for each number; `m` and `number` are references to members. A class that remembers the model's number of
/// updates also needs a member `follow(updates)`.
template <class Trainer, class... Extras>
DEVPLACE_CONFIGURED void save_checkpoint(Trainer& step, const training_position& at, const std::string& path,
                                         Extras&... extras) try {
  if constexpr (train::detail::has_checkpoints<Trainer>()) {
    auto whole = step.state();
    if (!spans_processes<typename Trainer::model_type::placement_type> || is_main_process())
      save_checkpoint(step, std::move(whole), at, path, extras...);
  }
} catch (const std::bad_alloc&) {
  detail::fail_without_memory("the checkpoint");
}

/// Restores a training from a file of save_checkpoint, on any placement and with any policy, and returns its position.
/// With the same placement, policy, batches and program, further steps have the bits of an uninterrupted training.
/// Throws file_error if the file is damaged (every byte is checked), or with all differences if network, precision or
/// optimizer differ. (optim::plain_sgd takes checkpoints of optim::sgd without momentum.) After file_error the training
/// is unchanged. All processes call load_checkpoint, and each reads the file. `extras` are the objects given to
/// save_checkpoint, in the same order.
template <class Net, class Where, class P, class Loss, class Rule, class Policy, std::size_t Batches, class... Extras>
DEVPLACE_CONFIGURED training_position
load_checkpoint(trainer<model<Net, Where, P>, Loss, Rule, Policy, accumulate<Batches>>& step, const std::string& path,
                Extras&... extras) try {
  static_cast<void>(train::detail::has_checkpoints<std::remove_cvref_t<decltype(step)>>());
  const safetensors_file file(path);
  const train::detail::checkpoint_texts texts(file.metadata(), path);
  using T = typename precision_traits<P>::parameter;
  auto whole = train::detail::empty_training<Net, Rule, T>(step.optimizer().rule());
  train::detail::checkpoint_extras more;
  const auto read = [&](auto& state) {
    return train::detail::read_checkpoint<Net, P>(state, file, texts, path, more, extras...);
  };
  training_position at;
  bool continues = false;
  if constexpr (train::detail::continues_a_rule<Rule>) {
    using other = typename Rule::continued_rule;
    const std::string* const saved = texts.find("optimizer");
    continues = saved != nullptr && *saved == detail::type_text<other>();
    if (continues) {
      auto from = train::detail::empty_training<Net, other, T>({});
      at = read(from);
      whole = train::detail::continued<Rule>(std::move(from), path);
    }
  }
  if (!continues) at = read(whole);
  step.restore(whole);
  (more.load(extras, texts, step.model_updates()), ...);
  return at;
} catch (const std::bad_alloc&) {
  detail::fail_without_memory("the checkpoint");
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
