// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <utility>

#include <devplace/parallel/group_monitor.hpp>

namespace devplace::parallel::detail {

/// The monitor of a part of the processes, made by split(): the processes are watched, but their calls are not numbered
/// with those of the whole group, because other parts make others.
class monitor_of_part final : public group_monitor {
 public:
  explicit monitor_of_part(std::shared_ptr<group_monitor> whole) : whole_(std::move(whole)) {}

  void enter(const collective_call&) noexcept override {}
  void leave() noexcept override {}
  void check() override { whole_->check(); }
  void explain() override { whole_->explain(); }
  process_options options() const override { return whole_->options(); }

 private:
  std::shared_ptr<group_monitor> whole_;
};

}  // namespace devplace::parallel::detail
