// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Not part of all.hpp: programs that keep checkpoints of a training include it.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/train/checkpoint.hpp>
#include <devplace/train/detail/checkpoint_folder.hpp>
#include <devplace/train/detail/named_options.hpp>

namespace devplace {

/// Options of checkpoints.
struct checkpoints_options {
  std::size_t keep = 3;  ///< number of checkpoints to keep, at least 1; keep 2 or more in case one is damaged
};

/// The checkpoints of one training in a folder; keeps the newest ones:
/// ```
/// const dp::checkpoints saved{"run7", {.keep = 3}};
/// dp::training_position at = saved.resume(step);
/// for (; at.epoch < epochs; at = {at.epoch + 1, 0}) {
///   if (at.batch == 0) step.reset_mean_loss();
///   for (const auto& [images, labels] : batches.epoch(at.epoch, at.batch)) {
///     step(images, labels);
///     if (++at.batch % 100 == 0) saved.save(step, at);
///   }
/// }
/// ```
/// A program that was killed and started again continues from the newest checkpoint and gives the bits of an
/// uninterrupted run. Only one training at a time may use a folder.
class checkpoints {
 public:
  /// Makes the folder if it does not exist. Throws file_error, and argument_error if `keep` is 0.
  template <class Options = checkpoints_options>
  explicit checkpoints(const std::string& folder, const Options& options = {})
      : folder_(folder), keep_(train::detail::named_options<checkpoints_options>(options).keep) {
    if (keep_ == 0) throw argument_error("checkpoints: the option keep is 0; keep at least 1, as in {.keep = 3}.");
  }

  /// Returns the checkpoints' paths, the newest first, for load_checkpoint.
  std::vector<std::string> paths() const { return folder_.paths(); }

  /// Writes a checkpoint as save_checkpoint does, then removes all but the `keep` newest. The folder never has more
  /// than `keep` + 1 checkpoints, even after programs were killed.
  template <class Trainer, class... Extras>
  DEVPLACE_CONFIGURED void save(Trainer& step, const training_position& at, Extras&... extras) const {
    if constexpr (train::detail::has_checkpoints<Trainer>()) {
      const bool writes = !spans_processes<typename Trainer::model_type::placement_type> || is_main_process();
      if (writes) folder_.keep(keep_);  // a killed program may have left one checkpoint too many
      save_checkpoint(step, at, folder_.next_path(), extras...);
      if (writes) folder_.keep(keep_);
    }
  }

  /// Restores the training from the newest checkpoint, as load_checkpoint does, and returns its position. Without a
  /// checkpoint, changes nothing and returns the start. Throws file_error if the newest checkpoint is damaged or does
  /// not fit the training; the message names the previous checkpoint.
  template <class Trainer, class... Extras>
  [[nodiscard]] DEVPLACE_CONFIGURED training_position resume(Trainer& step, Extras&... extras) const {
    if constexpr (train::detail::has_checkpoints<Trainer>()) {
      const std::vector<std::string> all = paths();
      if (all.empty()) return {};
      try {
        return load_checkpoint(step, all[0], extras...);
      } catch (const file_error& failure) {
        if (all.size() == 1) throw;
        constexpr std::size_t prefix = std::string_view("devplace: ").size();
        throw file_error(
            {std::string(failure.what()).substr(prefix), " The previous checkpoint is ", detail::in_quotes(all[1]),
             ": to resume from it, move the newest checkpoint away, or give the previous path to load_checkpoint."});
      }
    } else {
      return {};
    }
  }

 private:
  train::detail::checkpoint_folder folder_;
  std::size_t keep_;
};

}  // namespace devplace
