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

#include <devplace/base/host_memory.hpp>
#include <devplace/base/type_text.hpp>
#include <devplace/config.hpp>
#include <devplace/io/safetensors.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/tensor/precision.hpp>
#include <devplace/train/detail/checkpoint_contents.hpp>
#include <devplace/train/trainer.hpp>
#include <devplace/train/training_state.hpp>

namespace devplace::train::detail {

/// Whether X has checkpoints; fails to compile if not.
template <class X> consteval bool has_checkpoints() {
  constexpr bool is_trainer = requires { typename X::model_type::placement_type; };
  constexpr bool in_own_memory =
      !requires { requires std::is_same_v<typename X::model_type::placement_type, shared_memory>; };
  static_assert(is_trainer,
                "devplace: checkpoint: checkpoints are made of a trainer and loaded into one: save_checkpoint(step, "
                "{epoch, batch}, path); for the parameters alone use save_parameters(model, path) and "
                "load_parameters(model, path).");
  static_assert(in_own_memory,
                "devplace: checkpoint: the model is in shared memory, where other processes change it meanwhile and "
                "have optimizers of their own; keep its parameters by save_parameters.");
  return is_trainer && in_own_memory;
}

/// Writes a checkpoint from a training's state, in a process that `writes`. Other processes take part in copies of
/// `extras` to the host, of which they have shares.
template <class Net, class P, class State, class... Extras>
DEVPLACE_CONFIGURED void write_checkpoint(State state, const training_position& at, const std::string& path,
                                          bool writes, Extras&... extras) {
  require_fit<Net>(state, "save_checkpoint");
  auto tensors = tensors_of<Net>(state);
  safetensors_metadata metadata = metadata_of<P>(state, at);
  [[maybe_unused]] checkpoint_extras more;
  (more.save(extras, tensors, metadata), ...);
  if (!writes) return;
  metadata.emplace_back("checksum", checksum_of(metadata, tensors));
  std::vector<devplace::detail::safetensors_source> sources;
  for (const auto& [entry, data] : tensors) sources.push_back({entry, data});
  devplace::detail::write_safetensors_file(path, "save_checkpoint", sources, metadata);
}

}  // namespace devplace::train::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Writes a checkpoint from the result of an earlier `step.state()`. The trainer only provides types and is not read;
/// the call waits for no other process. Therefore a child of fork() or another thread can write while the training
/// continues. Call this overload in one process. A child of fork() can read `extras` only on the CPU, and `extras` in
/// shares over processes need the other overload, which all processes call.
template <class Net, class Where, class P, class Loss, class Rule, class Policy, std::size_t Batches, class... Extras>
void save_checkpoint(const trainer<model<Net, Where, P>, Loss, Rule, Policy, accumulate<Batches>>&,
                     train::training_state<optim::saved_rule_t<Rule>, typename precision_traits<P>::parameter> state,
                     const training_position& at, const std::string& path, Extras&... extras) try {
  train::detail::write_checkpoint<Net, P>(std::move(state), at, path, true, extras...);
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
void save_checkpoint(Trainer& step, const training_position& at, const std::string& path, Extras&... extras) try {
  if constexpr (train::detail::has_checkpoints<Trainer>()) {
    using model_type = typename Trainer::model_type;
    using placement_type = typename model_type::placement_type;
    auto whole = step.state();
    const bool writes = !spans_processes<placement_type> || is_main_process();
    if (writes || stores_shares<placement_type>)
      train::detail::write_checkpoint<typename model_type::network_type, typename model_type::precision_type>(
          std::move(whole), at, path, writes, extras...);
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
training_position load_checkpoint(trainer<model<Net, Where, P>, Loss, Rule, Policy, accumulate<Batches>>& step,
                                  const std::string& path, Extras&... extras) try {
  static_cast<void>(train::detail::has_checkpoints<std::remove_cvref_t<decltype(step)>>());
  const safetensors_file file(path);
  const train::detail::checkpoint_texts texts(file.metadata(), path);
  using T = typename precision_traits<P>::parameter;
  using saved_rule = optim::saved_rule_t<Rule>;
  auto whole = train::detail::empty_training<Net, saved_rule, T>(step.optimizer().rule());
  train::detail::checkpoint_extras more;
  const auto read = [&](auto& state) {
    return train::detail::read_checkpoint<Net, P>(state, file, texts, path, more, extras...);
  };
  training_position at;
  bool continues = false;
  if constexpr (train::detail::continues_a_rule<saved_rule>) {
    using other = typename saved_rule::continued_rule;
    const std::string* const saved = texts.find("optimizer");
    continues = saved != nullptr && *saved == detail::type_text<other>();
    if (continues) {
      auto from = train::detail::empty_training<Net, other, T>({});
      at = read(from);
      whole = train::detail::continued<saved_rule>(std::move(from), path);
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
