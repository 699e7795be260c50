// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// network.safetensors in tests/reference/safetensors is a state_dict of PyTorch: element j of its entry i is 100 i + j,
// where the entries are 0.weight, 0.bias, 1.weight, 1.bias, 1.running_mean, 1.running_var, 1.num_batches_tracked,
// 2.weight and 2.bias.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <devplace/io/parameters.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/named.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/parallel/check_replicas.hpp>

#include "support/catch.hpp"
#include "support/reference.hpp"
#include "support/replicas.hpp"
#include "support/temporary_folder.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using devplace::test::parameters_of;
using devplace::test::reference_path;
using support::temporary_folder;

namespace {

using kept_net = nn::sequential<nn::linear<3, 4>, nn::batch_norm<4>, nn::linear<4, 2>>;
using kept_model = dp::model<kept_net, dp::on<dp::cpu>>;

/// The fixture's parameters, in devplace's order.
std::vector<float> pytorch_parameters() {
  std::vector<float> result;
  const auto append = [&](std::size_t entry, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      result.push_back(static_cast<float>(100 * entry + i));
  };
  append(0, 12);
  append(1, 4);
  append(2, 4);
  append(3, 4);
  append(7, 8);
  append(8, 2);
  return result;
}

/// What load_parameters throws, whole; the model must not change.
std::string failure_of_load(kept_model& model, const std::string& path,
                            const std::vector<dp::parameter_rename>& renames = {}) {
  const std::vector<float> before = parameters_of(model);
  try {
    dp::load_parameters(model, path, renames);
  } catch (const dp::file_error& error) {
    CHECK(parameters_of(model) == before);
    return error.what();
  }
  return "loaded without an error";
}

}  // namespace

TEST_CASE("parameters and buffers of a PyTorch state_dict are loaded, and saved under its names", "[io]") {
  const temporary_folder folder;
  const std::string path = reference_path("safetensors/network.safetensors");
  const dp::safetensors_file pytorch(path);
  const auto save_and_compare = [&](const auto& model) {
    dp::save_parameters(model, folder.file("x"));
    const dp::safetensors_file saved(folder.file("x"));
    CHECK(saved.metadata() == dp::safetensors_metadata{{"format", "pt"}});
    CHECK(saved.tensors().size() + 1 == pytorch.tensors().size());  // without num_batches_tracked
    for (const dp::safetensors_entry& entry : saved.tensors()) {
      INFO(entry.name);
      const dp::safetensors_entry* const expected = pytorch.find(entry.name);
      REQUIRE(expected != nullptr);
      CHECK((entry.dtype == expected->dtype && entry.extents == expected->extents));
      std::vector<char> a(entry.bytes), b(expected->bytes);
      saved.read_elements(entry, a.data());
      pytorch.read_elements(*expected, b.data());
      CHECK(a == b);
    }
  };
  SECTION("on the CPU") {
    kept_model model{dp::seed{1}};
    dp::load_parameters(model, path);
    CHECK(parameters_of(model) == pytorch_parameters());
    CHECK(model.parameter<0>()(1, 0) == 3);
    save_and_compare(model);
  }
  SECTION("on several devices") {
    dp::model<kept_net, dp::replicated<2, 0>> model{dp::seed{1}};
    dp::load_parameters(model, path);
    CHECK(parameters_of(model) == pytorch_parameters());
    dp::check_replicas(model);
    save_and_compare(model);
  }
  SECTION("in mixed precision: the master parameters") {
    dp::model<kept_net, dp::on<dp::cpu>, dp::mixed<dp::bf16>> model{dp::seed{1}};
    dp::load_parameters(model, path);
    CHECK(parameters_of(model) == pytorch_parameters());
    save_and_compare(model);
  }
}

TEST_CASE("load_parameters lists every name that does not fit, and leaves the model unchanged", "[io]") {
  const temporary_folder folder;
  const std::string path = folder.file("x");
  kept_model model{dp::seed{1}};
  const dp::tensor<float, dp::extents<3, 4>, dp::on<dp::cpu>> swapped{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
  const dp::tensor<double, dp::extents<4>, dp::on<dp::cpu>> wide{1, 2, 3, 4};
  const dp::tensor<float, dp::extents<4>, dp::on<dp::cpu>> four{1, 2, 3, 4};
  const dp::tensor<float, dp::extents<2, 4>, dp::on<dp::cpu>> last{{1, 2, 3, 4}, {5, 6, 7, 8}};
  const dp::tensor<std::int64_t, dp::extents<1>, dp::on<dp::cpu>> count{1};
  dp::write_safetensors(path, {{"0.weight", swapped},
                               {"0.bias", wide},
                               {"1.weight", four},
                               {"1.bias", four},
                               {"1.running_mean", four},
                               {"1.num_batches_tracked", count},
                               {"2.weight", last},
                               {"head\n", four}});
  CHECK(failure_of_load(model, path) ==
        "devplace: load_parameters: '" + path +
            "' does not fit the model, which was left unchanged: \"0.weight\" is F32 of shape 3x4 instead of F32 of "
            "shape 4x3; \"0.bias\" is F64 of shape 4 instead of F32 of shape 4; \"2.bias\" is missing; "
            "\"1.running_var\" is missing; \"1.num_batches_tracked\" is not in the model; \"head\\n\" is not in the "
            "model. Give a file of the same network and precision, renames for its names, or use nn::named.");
  CHECK(failure_of_load(model, folder.write("x", std::string("text"))).find("has 4 bytes") != std::string::npos);
}

TEST_CASE("load_parameters takes a table of renames", "[io]") {
  const std::string path = reference_path("safetensors/network.safetensors");  // 0., 1. and 2. with PyTorch's names
  using named_net = nn::sequential<nn::named<"body", nn::sequential<nn::linear<3, 4>, nn::batch_norm<4>>>,
                                   nn::named<"head", nn::linear<4, 2>>>;
  dp::model<named_net, dp::on<dp::cpu>> named{dp::seed{1}};
  dp::load_parameters(named, path, {{"2.weight", "head.weight"}, {"2.bias", "head.bias"}, {"", "body."}});
  CHECK(parameters_of(named) == pytorch_parameters());
}

TEST_CASE("renames that apply to nothing, or give two tensors one name, are listed with the other differences",
          "[io]") {
  const std::string path = reference_path("safetensors/network.safetensors");
  kept_model model{dp::seed{1}};
  CHECK(failure_of_load(
            model, path,
            {{"0.weight", "2.bias"}, {"1.bias", "fc.bias"}, {"fc.weight", "0.weight"}, {"fc.", ""}, {"2", "fc"}}) ==
        "devplace: load_parameters: '" + path +
            "' does not fit the model, which was left unchanged: \"0.weight\", renamed to \"2.bias\", and \"2.bias\" "
            "get the same name; the rename of \"fc.weight\" applies to no name in the file; the rename of \"fc.\" "
            "applies to no name in the file; the rename of \"2\" applies to no name in the file, of which some begin "
            "with \"2.\"; \"0.weight\" is missing; \"1.bias\" is missing; \"0.weight\", renamed to \"2.bias\", is F32 "
            "of shape 4x3 instead of F32 of shape 2; \"2.bias\" is not in the model; "
            "\"1.bias\", renamed to \"fc.bias\", is not in the model. Give a file of the same network and precision, "
            "renames for its names, or use nn::named.");
}
