// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include <devplace/process/combine.hpp>
#include <devplace/process/transport.hpp>

namespace devplace::parallel::detail {

class transport_alone final : public transport {
 public:
  transport_alone() : transport(process_ranks{}) {}

  std::string description() const override { return "1 process"; }
  std::size_t portion() const noexcept override { return std::size_t{16} << 20; }

  void start_collect(std::span<std::byte* const> buffers, std::span<const std::size_t>) override {
    for (std::size_t k = 0; k != buffers.size(); ++k) summands_[k] = buffers[k];
    collected_ = {{summands_, buffers.size()}, buffers[0]};
  }
  void start_distribute(const std::byte* part, std::span<std::byte* const> buffers,
                        std::span<const std::size_t> begins) override {
    for (std::byte* const buffer : buffers)
      if (buffer != part && begins.back() != 0) std::memcpy(buffer, part, begins.back());
  }
  bool poll() override { return true; }
  void wait() override {}
  collected summands() noexcept override { return collected_; }
  void barrier() override {}
  std::shared_ptr<transport> split(int, int) override { return std::shared_ptr<transport>(new transport_alone); }

 private:
  const std::byte* summands_[max_ranks] = {};
  collected collected_{};
};

}  // namespace devplace::parallel::detail
