// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A simulated device with little memory: too large an allocation throws an error with numbers; the program continues.

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>

#include <devplace/all.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

namespace {

using gpu = dp::on<dp::cuda<0>>;
using net = nn::sequential<nn::linear<256, 64>, nn::relu, nn::linear<64, 10>>;

int failures = 0;

void check(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  ++failures;
}

dp::memory_usage usage() { return dp::memory_statistics<dp::cuda<0>>(); }

void train(dp::model<net, gpu>& model, int batch) {
  const auto x = dp::zeros<float, gpu>(dp::extents<dp::dyn, 256>{batch});
  auto [output, saved] = model.forward(x);
  static_cast<void>(dp::to<dp::on<dp::cpu>>(output));
}

/// The code of a tile that does not fit, and a smaller tile that does.
void predict_without_exceptions() {
  const dp::model<net, gpu> model{dp::seed{1}};
  const auto samples = dp::zeros<float, gpu>(dp::extents<dp::dyn, 256>{400});
  dp::tensor<float, dp::extents<dp::dyn, 10>, gpu> outputs(dp::extents<dp::dyn, 10>{400});
  check(!model.try_predict_into(outputs, samples, dp::batch<64>{}), "a small tile fits");
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto before = usage();
    check(model.try_predict_into(outputs, samples, dp::batch<4096>{}) == dp::errc::out_of_memory, "the code");
    check(std::string(dp::last_error_message()).find("physical device 1 has 1048576 bytes") != std::string::npos,
          "the text of the code");
    check(usage().allocated <= before.allocated, "a code leaks nothing");
    check(!model.try_predict_into(outputs, samples, dp::batch<64>{}), "a small tile still fits");
  }
  check(dp::error_code_of([] { dp::model<net, dp::cuda<7>>{dp::seed{1}}; }) == std::errc::no_such_device,
        "a device that the map does not have");
}

}  // namespace

int main() {
  ::setenv("DEVPLACE_SIMULATED_MEMORY", "1MiB", 1);
  ::setenv("DEVPLACE_SIMULATED_DEVICES", "2", 1);
  dp::set_device_map({{0, 1}, {1, 1}});  // cuda<0> and cuda<1> share visible device 1
  check(dp::list_devices()[1].memory_total == 1 << 20, "the device's memory");
  {
    dp::model<net, gpu> model{dp::seed{1}};
    const std::size_t parameters = (256 * 64 + 64 + 64 * 10 + 10) * sizeof(float);
    const auto before = usage();
    check(before.of(dp::memory_purpose::parameters) >= parameters, "bytes of the parameters");
    check(before.of(dp::memory_purpose::gradients) == 0, "no gradients before training");
    check(before.of(dp::memory_purpose::optimizer_state) == 0, "no optimizer yet");
    {
      const dp::optimizer adam{model, dp::optim::adam{}};
      check(usage().of(dp::memory_purpose::optimizer_state) >= 2 * parameters, "bytes of the optimizer's state");
    }
    for (int attempt = 0; attempt < 3; ++attempt) {
      try {
        train(model, 900);
        check(false, "a batch that does not fit");
      } catch (const dp::out_of_memory& full) {
        const std::string text = full.what();
        if (attempt == 0) std::puts(text.c_str());
        for (const char* part :
             {"devplace: cuda:0 (simulated, physical device 1)", "bytes are in use by devplace", "parameters 6",
              "physical device 1 has 1048576 bytes (1.0 MiB", "DEVPLACE_SIMULATED_MEMORY", "smaller batch",
              "replicated", "accumulate<k>", "trim_memory"})
          check(text.find(part) != std::string::npos, part);
      }
      check(usage().allocated == before.allocated && usage().by_purpose == before.by_purpose, "nothing leaks");
      train(model, 100);
      check(usage().allocated == before.allocated, "a smaller batch fits");
    }
    check(usage().reserved > usage().allocated, "freed memory is kept");
    check(dp::trim_memory<dp::cuda<0>>() > 0, "the cache is given back");
    check(usage().reserved < usage().allocated + 64 * 8, "and only rounding remains");
    // The two places share the device's memory.
    const auto other = dp::zeros<float, dp::on<dp::cuda<1>>>(dp::extents<200 * 1024>{});
    try {
      train(model, 100);
      check(false, "a batch that fits only without the other place");
    } catch (const dp::out_of_memory&) {
    }
  }
  predict_without_exceptions();
  check(usage().allocated == 0, "everything is given back");
  std::fputs(dp::memory_table().c_str(), stdout);
  return failures == 0 ? 0 : 1;
}
