// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Files, messages and printed text do not depend on the locale: neither on std::locale::global, which formats numbers
// in streams, nor on setlocale, which affects printf, strtod and isalnum.

#include <clocale>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <locale>
#include <map>
#include <sstream>
#include <string>

#include <devplace/data/sample_steps.hpp>
#include <devplace/io/chart.hpp>
#include <devplace/io/csv.hpp>
#include <devplace/io/npy.hpp>
#include <devplace/io/parameters.hpp>
#include <devplace/memory/report.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/smooth_l1.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/loss_scaling.hpp>
#include <devplace/optim/option_range.hpp>
#include <devplace/optim/schedules.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/parallel/step_traffic.hpp>
#include <devplace/place/device_info.hpp>
#include <devplace/process/control/detail/watched_process.hpp>
#include <devplace/tensor/print.hpp>
#include <devplace/train/checkpoint.hpp>
#include <devplace/train/detail/progress_text.hpp>
#include <devplace/train/early_stopping.hpp>
#include <devplace/train/moving_average.hpp>
#include <devplace/train/summary.hpp>
#include <devplace/train/trainer.hpp>
#include <devplace/train/training_log.hpp>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using Catch::Matchers::ContainsSubstring;
using dp::cpu;

namespace {

using net = nn::sequential<nn::linear<40, 50>>;
using on_cpu = dp::on<cpu>;
using texts = std::map<std::string, std::string>;

/// A locale that writes 1.234.567,5.
class with_commas final : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

template <class F> std::string message_of(const F& f) {
  try {
    f();
  } catch (const dp::error& refusal) {
    return refusal.what();
  }
  return "nothing was thrown";
}

template <class... X> std::string printed(const X&... x) {
  std::ostringstream out;  // takes the global locale
  ((out << x << '\n'), ...);
  return out.str();
}

/// The contents of every kind of file that the library writes, by name.
texts written() {
  const support::temporary_folder folder;
  dp::training_log log{folder.file("training.csv"), {"step", "loss", "rate"}};
  log.append({{"step", 1234567}, {"loss", 1234.5}, {"rate", 1e-9}});
  log.append({{"step", 2345678.5}, {"loss", 0.25}});
  dp::write_training_chart(folder.file("training.csv"), folder.file("training.svg"), {"loss", "rate"});
  dp::write_npy(folder.file("x.npy"), dp::full<double, cpu>(dp::extents<1234, 2>{}, 0.5));
  dp::write_safetensors(folder.file("x.safetensors"), {{"x", dp::full<float, cpu>(dp::extents<1234, 2>{}, 0.5F)}},
                        {{"name", "1234.5"}});
  dp::model<net, on_cpu> model{dp::seed{1}};
  dp::save_parameters(model, folder.file("model.safetensors"));
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 1.5e-3F}};
  const auto x = dp::uniform<float, cpu>(dp::extents<dp::dyn, 40>{3}, dp::seed{1});
  step(x, dp::full<std::int64_t, cpu>(dp::extents<dp::dyn>{3}, 2));
  dp::moving_average average{model, {.decay = 0.75}};
  dp::early_stopping stopping{model, {.min_delta = 1e-9}};
  stopping(1234.5, model);
  dp::save_checkpoint(step, {1234, 5678}, folder.file("checkpoint"), average, stopping);
  texts all;
  for (const std::string& name : folder.names()) all[name] = support::contents(folder.file(name));
  return all;
}

/// Text that the library prints to streams, and text made by printf or std::to_chars.
texts shown() {
  const dp::tensor<double, dp::extents<2>, on_cpu> numbers{1234567.5, 1e-9};
  const dp::step_traffic<dp::model<net, dp::replicated<0, 1>>, dp::collective::all_reduce<>> traffic;
  dp::memory_usage usage;
  usage.allocated = 1234567;
  usage.allocations = 1234567;
  dp::device_information device;
  device.units = 1234;
  device.memory_total = device.memory_free = std::size_t{1234567} << 20;
  texts all{{"tensor", printed(numbers)},
            {"extents and place", printed(numbers.extents(), dp::cpu{}, on_cpu{})},
            {"step_traffic", printed(traffic)},
            {"memory_usage", printed(usage)},
            {"device_information", printed(device)},
            {"value_text", dp::parallel::detail::value_text(1234.5F) + dp::parallel::detail::value_text(1e-9)},
            {"seconds_text", dp::parallel::detail::seconds_text(1234.5)}};
  std::ostringstream tables;
  dp::summary<net>(tables, dp::batch<1234>{});
  all["summary"] = tables.str();
  all["progress"] = dp::detail::progress_text(
      {.epoch = 1, .epochs = 2, .share = 0.5, .loss = 0.125, .rate = 1234567.0, .left = 12.5});
  return all;
}

/// Messages with numbers, by option.
texts messages() {
  const support::temporary_folder folder;
  dp::tensor<float, dp::extents<2>, on_cpu> x{0, 0};
  return {
      {"sgd", message_of([] { dp::optim::validate(dp::optim::sgd{.learning_rate = -1e-9F}); })},
      {"adam", message_of([] { dp::optim::validate(dp::optim::adam{.beta1 = -1e-9F}); })},
      {"one_cycle", message_of([] { dp::optim::validate(dp::optim::one_cycle{.steps = 9, .rise = -1e-9}); })},
      {"loss_scaling", message_of([] { dp::optim::validate(dp::optim::loss_scaling{.growth_factor = 1e-9}); })},
      {"moving_average", message_of([] { dp::optim::validate(dp::moving_average_options{.decay = -1e-9}); })},
      {"early_stopping", message_of([] { dp::optim::validate(dp::early_stopping_options{.min_delta = -1e-9}); })},
      {"smooth_l1", message_of([] { nn::smooth_l1{.beta = -1e-9}.bind<float, dp::backend::cpu>(0); })},
      {"cross_entropy",
       message_of([] { nn::cross_entropy{.label_smoothing = -1e-9}.bind<float, dp::backend::cpu>(0); })},
      {"uniform", message_of([&] { dp::uniform_into(x, dp::seed{1}, 0, 1e-9F, 0); })},
      {"normal", message_of([&] { dp::normal_into(x, dp::seed{1}, 0, 0, -1e-9F); })},
      {"dropout", message_of([&] { dp::dropout_into(x, x, -1e-9, {}); })},
      {"arange", message_of([] { static_cast<void>(dp::arange<double, cpu>(1e-9, 1, -0.0)); })},
      {"horizontal_flip", message_of([] { dp::horizontal_flip{.probability = -1e-9}.check(1, 2, 3); })},
      {"mixup", message_of([] { dp::mixup{.alpha = -1e-9}.check(1, 2, 3); })},
      {"read_csv", message_of([&] {
         static_cast<void>(
             dp::read_csv<int, dp::extents<dp::dyn>>(folder.write("x.csv", std::string("a\n1\n")), {.missing = 1e-9}));
       })},
  };
}

void check_all_equal(const texts& expected, const texts& found) {
  CHECK(expected.size() == found.size());
  for (const auto& [name, text] : expected) {
    INFO(name);
    CHECK(found.at(name) == text);
  }
}

/// Numbers that the library reads from text.
void check_reading() {
  const support::temporary_folder folder;
  const auto x = dp::read_csv<double, dp::extents<dp::dyn>>(folder.write("x.csv", std::string("a\n1234.5\n1e-9\n")));
  CHECK(x(0) == 1234.5);
  CHECK(x(1) == 1e-9);
  const std::string log = folder.write("log.csv", std::string("step,loss\n1234.5,1e-9\n"));
  CHECK(dp::read_training_log(log)["loss"].at(0) == 1e-9);
}

/// Compares all texts between `change` and `restore` with the texts in the locale C.
template <class Change, class Restore> void check_locale(const Change& change, const Restore& restore) {
  const texts files = written(), prints = shown(), sentences = messages();
  change();
  const texts other_files = written(), other_prints = shown(), other_sentences = messages();
  check_reading();
  restore();
  check_all_equal(files, other_files);
  check_all_equal(prints, other_prints);
  check_all_equal(sentences, other_sentences);
}

}  // namespace

TEST_CASE("messages show small numbers", "[train]") {
  for (const auto& [name, text] : messages()) {
    INFO(text);
    CHECK_THAT(text, ContainsSubstring("1e-09"));
    CHECK_THAT(text, !ContainsSubstring("0.000000"));
  }
}

TEST_CASE("files, printed text and messages are independent of std::locale::global", "[train]") {
  const std::locale before;
  check_locale(
      [] {
        std::locale::global(std::locale(std::locale::classic(), new with_commas));
        REQUIRE(printed(1234.5) == "1.234,5\n");
      },
      [&] { std::locale::global(before); });
}

TEST_CASE("files, printed text and messages are independent of setlocale", "[train]") {
  const support::temporary_folder folder;
  const std::string compile =
      "localedef -i de_DE -f UTF-8 '" + folder.file("de_DE.UTF-8") + "' >'" + folder.file("output") + "' 2>&1";
  if (std::system(compile.c_str()) != 0) DEVPLACE_SKIP("localedef has no sources (Debian's package locales)");
  REQUIRE(::setenv("LOCPATH", folder.path().c_str(), 1) == 0);
  check_locale(
      [] {
        REQUIRE(std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr);
        char text[16];
        std::snprintf(text, sizeof text, "%.1f", 0.5);
        REQUIRE(std::string(text) == "0,5");
      },
      [] { std::setlocale(LC_ALL, "C"); });
}
