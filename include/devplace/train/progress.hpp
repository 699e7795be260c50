// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <type_traits>

#include <devplace/base/clock.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/train/detail/progress_text.hpp>

namespace devplace {

/// Destination and frequency of progress lines.
struct progress_options {
  std::size_t samples = 0;                         ///< samples of an epoch, for a program without a loader
  std::FILE* stream = stdout;                      ///< null: prints nothing and reads no loss
  double terminal_interval = 0.1;                  ///< seconds between updates of the line on a terminal
  double file_interval = 30;                       ///< seconds between lines in files, besides one per epoch
  double (*clock)() = &detail::monotonic_seconds;  ///< seconds of a monotonic clock
};

/// Prints the progress of a training: epoch, share done, loss, samples per second and time left. On a terminal rewrites
/// one line per epoch; elsewhere (a file, a pipe) prints plain lines, one per epoch and more in long epochs.
/// ```
/// dp::progress progress{epochs, batches};
/// for (int epoch = 0; epoch < epochs; ++epoch)
///   for (const auto& [images, labels] : batches.epoch(epoch)) {
///     step(images, labels);
///     progress.update(epoch, images.extent(0), [&] { return step.mean_loss(); });
///   }
/// ```
/// In a process_scope only process 0 prints.
///
/// Reads a loss, which waits for the device, only when a line is printed. Samples per second count the current epoch
/// only; the time left is estimated from all the time so far, including time between epochs.
class progress {
 public:
  /// For epochs of a loader's samples or of `options.samples`: `progress{5, batches}`, `progress{5, {.samples =
  /// 60'000}}`. Starts the clock.
  ///@{
  template <class Batches = progress_options>
  explicit progress(int epoch_count, const Batches& batches = {}, progress_options options = {})
      : progress(epoch_count, (options.samples = samples_of(batches), options)) {}
  progress(int epoch_count, const progress_options& options)
      : options_(options),
        terminal_(options.stream != nullptr && detail::is_terminal(options.stream)),
        epochs_(epoch_count),
        samples_(options.samples),
        start_(options.clock()),
        written_(start_) {
    if (!is_main_process()) options_.stream = nullptr;
  }
  ///@}
  progress& operator=(progress&&) = delete;
  /// Ends a line that is being rewritten, so that later output starts on a new line.
  ~progress() {
    if (!line_open_) return;
    std::fputc('\n', options_.stream);
    std::fflush(options_.stream);
  }

  /// Reports that `samples` more samples of epoch `epoch`, counted from 0, were passed to the step. `loss()` is called
  /// when a line is due; its exceptions propagate.
  template <class Loss> void update(int epoch, std::size_t samples, Loss&& loss) {
    static_assert(std::is_invocable_r_v<double, Loss&>,
                  "devplace: progress takes a function that reads the loss, so that not every batch reads it; write "
                  "[&] { return step.mean_loss(); }.");
    if (options_.stream == nullptr) return;
    if (epoch != epoch_) begin(epoch);
    done_ += samples;
    const bool last = done_ >= samples_ && done_ - samples < samples_;
    const double now = options_.clock();
    if (first_ == 0) {
      first_ = done_;
      first_time_ = now;
    }
    if (!last && now - written_ < (terminal_ ? options_.terminal_interval : options_.file_interval)) return;
    write(static_cast<double>(loss()), last);
  }

 private:
  template <class Batches> static std::size_t samples_of([[maybe_unused]] const Batches& batches) {
    constexpr bool has_samples = requires { batches.samples(); };
    static_assert(has_samples,
                  "devplace: progress: give the number of epochs and the loader, or the samples of an epoch by name: "
                  "progress{5, batches}, progress{5, {.samples = 60'000}}.");
    if constexpr (has_samples)
      return batches.samples();
    else
      return 0;
  }

  void begin(int epoch) {
    if (line_open_) {  // the previous epoch was left early
      std::fputc('\n', options_.stream);
      line_open_ = false;
    }
    epoch_ = epoch;
    done_ = first_ = 0;
  }

  void write(double loss, bool last) {
    const double now = options_.clock();  // reading the loss has waited for the device
    const double share =
        samples_ == 0 || done_ >= samples_ ? 1 : static_cast<double>(done_) / static_cast<double>(samples_);
    const double all = static_cast<double>(epochs_), past = static_cast<double>(epoch_) + share, elapsed = now - start_;
    const double left = past > 0 && past < all ? elapsed * (all - past) / past : 0;
    const std::string text =
        detail::progress_text({epoch_ + 1, epochs_, share, loss, rate(now), elapsed, left, past >= all});
    std::fprintf(options_.stream, terminal_ ? "\r%s\x1b[K%s" : "%s%s", text.c_str(), last || !terminal_ ? "\n" : "");
    std::fflush(options_.stream);
    line_open_ = terminal_ && !last;
    written_ = now;
  }

  /// Returns samples per second, measured from the epoch's first update, to exclude the time between epochs. An epoch
  /// with a single batch uses the time since the start.
  double rate(double now) const {
    if (done_ > first_ && now > first_time_) return static_cast<double>(done_ - first_) / (now - first_time_);
    const double all = static_cast<double>(epoch_) * static_cast<double>(samples_) + static_cast<double>(done_);
    return now > start_ ? all / (now - start_) : 0;
  }

  progress_options options_;
  bool terminal_;
  int epochs_;
  std::size_t samples_;
  double start_;
  double written_;
  int epoch_ = -1;
  std::size_t done_ = 0;   // samples of this epoch
  std::size_t first_ = 0;  // samples of the epoch's first update
  double first_time_ = 0;
  bool line_open_ = false;
};

}  // namespace devplace
