// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random trainings on simulated devices, each first undisturbed and then with a failure at a random point: on a device,
// in a call on the host, or of an allocation. Every result but an exception must be bitwise equal to the undisturbed
// training. Arguments: number of trainings (default 150), first seed (default 1).

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include <devplace/all.hpp>

#include "support/host_values.hpp"
#include "support/replaced_new.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace {

namespace dp = devplace;
namespace nn = dp::nn;
namespace collective = dp::collective;
using dp::test::distribute;

enum class fault { none, on_device, on_host, allocation };

/// The next failure, and the number of calls of possible_failure() until then.
fault pending = fault::none;
int calls_until = 0;

/// A kernel that throws.
struct failing_kernel {
  void operator()(std::size_t) const { throw std::runtime_error("an injected failure."); }
};

/// Called by layers and the rule while work for device `ordinal` is enqueued.
void possible_failure(int ordinal) {
  if (pending == fault::none || calls_until-- > 0) return;
  const fault now = std::exchange(pending, fault::none);
  if (now == fault::on_device) dp::detail::for_each_index<dp::backend::cuda>(ordinal, 1, 1, failing_kernel{});
  if (now == fault::on_host) throw std::runtime_error("an injected exception.");
  if (now == fault::allocation) support::until_bad_alloc = 0;
}

/// An identity layer whose calls may fail.
struct risky {
  template <class In> using output = In;
  static void forward(const auto& c) {
    possible_failure(c.input.ordinal());
    c.output = c.input * 1;
  }
  static void backward(const auto& c) {
    possible_failure(c.input_gradient.ordinal());
    c.input_gradient = c.output_gradient * 1;
  }
};

/// Subtracts gradients; may fail before or after that.
struct risky_rule {
  static constexpr std::size_t state_arenas = 0;
  void validate() const {}
  template <class Backend, class T> void step(const dp::optim::step_arguments<T>& a) const {
    possible_failure(a.ordinal);
    dp::detail::for_each_index<Backend>(a.ordinal, a.n, a.n, descent<T>{a.parameters, a.gradients, a.divisor});
    possible_failure(a.ordinal);
  }
  template <class T> struct descent {
    T* parameters;
    const T* gradients;
    const T* divisor;
    DEVPLACE_HD void operator()(std::size_t i) const {
      parameters[i] -= gradients[i] / (divisor == nullptr || *divisor == 0 ? T{16} : *divisor * 16);
    }
  };
};

using net = nn::sequential<nn::input<6>, risky, nn::linear<6, 8>, nn::relu, risky, nn::linear<8, 3>>;
using result = std::vector<float>;

/// A training whose operations are drawn from a seed; `operate` runs operation `i` and returns its result.
template <class Where, class Policy> class training {
  using model_type = dp::model<net, Where>;

 public:
  explicit training(unsigned seed) : seed_(seed) {
    model_ = std::make_unique<model_type>(dp::seed{seed});
    step_ = std::make_unique<trainer_type>(*model_, nn::cross_entropy{}, risky_rule{}, Policy{});
  }

  result operate(int i) {
    std::mt19937 random(seed_ * 1000 + static_cast<unsigned>(i));
    const std::size_t rows = random() % 9;
    const auto x = distribute<Where>(dp::test::integer_samples<float, 6>(rows));
    const unsigned choice = random() % 8;
    if (choice == 0) return {static_cast<float>(step_->mean_loss())};
    if (choice == 1) return parameters();
    if (choice == 2) return dp::test::values_of(dp::detail::local_part(model_->predict(x), 0));
    if (!loss_) loss_.emplace((*step_)(x, distribute<Where>(dp::test::square_labels(rows, 3))));
    const float value = choice > 5 ? loss_->item() : 0.0f;  // if item() throws, the step is not repeated
    loss_.reset();
    support::until_bad_alloc = -1;
    return {value};
  }

  /// The parameters of all replicas.
  result parameters() const {
    result all;
    for (std::size_t k = 0; k < dp::local_place_count<Where>; ++k)
      for (const float value : dp::test::parameters_of(*model_, k)) all.push_back(value);
    return all;
  }

 private:
  using trainer_type = dp::trainer<model_type, nn::cross_entropy, risky_rule, Policy>;
  unsigned seed_;
  std::unique_ptr<model_type> model_;
  std::unique_ptr<trainer_type> step_;
  std::optional<typename trainer_type::loss_type> loss_;  // set if the current operation has made a step
};

bool equal_bits(const result& a, const result& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

struct tally {
  int loud = 0, unnoticed = 0, wrong = 0;
};

/// Clears failures that no operation has reported.
void clear_devices() {
  pending = fault::none;
  support::until_bad_alloc = -1;
  for (int ordinal = 0; ordinal < 3; ++ordinal)
    static_cast<void>(dp::detail::events_of<dp::backend::cuda>().drain(ordinal));
}

template <class Where, class Policy> void try_failure(unsigned seed, tally& count) {
  constexpr int operations = 12;
  std::vector<result> expected;
  {
    training<Where, Policy> undisturbed(seed);
    for (int i = 0; i < operations; ++i) expected.push_back(undisturbed.operate(i));
    expected.push_back(undisturbed.parameters());
  }
  std::mt19937 random(seed);
  bool loud = false;
  int i = -1;
  try {
    pending = std::array{fault::on_device, fault::on_host, fault::allocation}[random() % 3];
    calls_until = static_cast<int>(random() % 100);
    if (pending == fault::allocation && random() % 2 == 0) {  // anywhere, not only in passes and updates
      pending = fault::none;
      support::until_bad_alloc = static_cast<long>(random() % 200);
    }
    training<Where, Policy> disturbed(seed);
    for (i = 0; i <= operations; ++i) {
      const auto operate = [&] { return i < operations ? disturbed.operate(i) : disturbed.parameters(); };
      result got;
      try {
        got = operate();
      } catch (const std::exception&) {
        loud = true;
        support::until_bad_alloc = -1;
        got = operate();  // continues, or throws because the model is unusable
      }
      if (equal_bits(got, expected[static_cast<std::size_t>(i)])) continue;
      ++count.wrong;
      std::printf("seed %u: operation %d of a training on %zu places gives other bits\n", seed, i,
                  dp::local_place_count<Where>);
      break;
    }
  } catch (const std::exception&) {
    loud = true;
  }
  clear_devices();
  ++(loud ? count.loud : count.unnoticed);
}

}  // namespace

int main(int argc, char** argv) {
  const int trainings = argc > 1 ? std::atoi(argv[1]) : 150;
  const unsigned first = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
  ::setenv("DEVPLACE_SIMULATED_DEVICES", "3", 1);
  tally count;
  for (unsigned seed = first; seed < first + static_cast<unsigned>(trainings); ++seed) {
    if (seed % 4 == 0) try_failure<dp::cuda<1>, collective::all_reduce<>>(seed, count);
    if (seed % 4 == 1) try_failure<dp::replicated<0, 1, 2>, collective::all_reduce<>>(seed, count);
    if (seed % 4 == 2) try_failure<dp::replicated<2, 0>, collective::scatter_gather>(seed, count);
    if (seed % 4 == 3) try_failure<dp::replicated<1, 2, 0>, collective::sharded_all_reduce<>>(seed, count);
  }
  std::printf("%d trainings: %d failures were reported, %d had no effect, %d results were silently wrong\n", trainings,
              count.loud, count.unnoticed, count.wrong);
  return count.wrong == 0 && count.loud > trainings / 4 ? 0 : 1;
}
