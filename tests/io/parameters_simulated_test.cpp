// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// network.safetensors in tests/reference/safetensors is a state_dict of PyTorch: element j of entry i is 100 i + j. The
// entries are 0.weight, 0.bias, 1.weight, 1.bias, 1.running_mean, 1.running_var, 1.num_batches_tracked, 2.weight and
// 2.bias.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/io/parameters.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/named.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/train/read_predictor.hpp>

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
    for (std::size_t i = 0; i < count; ++i) result.push_back(static_cast<float>(100 * entry + i));
  };
  append(0, 12);
  append(1, 4);
  append(2, 4);
  append(3, 4);
  append(7, 8);
  append(8, 2);
  return result;
}

/// The whole message of load_parameters; checks that the model does not change.
std::string failure_of_load(kept_model& model, const std::string& path,
                            const std::vector<dp::parameter_rename>& renames = {}) {
  const std::vector<float> before = parameters_of(model);
  try {
    dp::load_parameters(model, path, {.renames = renames});
  } catch (const dp::file_error& error) {
    CHECK(parameters_of(model) == before);
    return error.what();
  }
  return "loaded without an error";
}

/// A safetensors file with this header and data given in hexadecimal digits.
std::string file_of_bytes(const std::string& header, const std::string& digits) {
  std::string file;
  for (std::size_t i = 0; i < 8; ++i) file += static_cast<char>(header.size() >> (8 * i) & 255);
  file += header;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    i = digits.find_first_not_of(' ', i);
    file += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return file;
}

}  // namespace

TEST_CASE("parameters and buffers of a PyTorch state_dict are loaded, and saved under the same names", "[io]") {
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

TEST_CASE("load_parameters lists every mismatched name, and leaves the model unchanged", "[io]") {
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
            "model. Give a file of the same network and precision, set renames for its names, or use nn::named; "
            "{.convert "
            "= true} converts other floating-point types, and {.ignore_others = true} leaves out tensors that are not "
            "in the model.");
  CHECK(failure_of_load(model, folder.write("x", std::string("text"))).find("has 4 bytes") != std::string::npos);
}

TEST_CASE("load_parameters converts other floating-point types to the nearest numbers on request", "[io]") {
  const temporary_folder folder;
  // 0.weight: 1, -2, 2^-24 and 65504 in F16. 0.bias: -2.5 and 3 * 2^126 in BF16. 1.weight: 1 + 2^-24 and 1 + 3 * 2^-24
  // in F64, both ties between floats. 1.bias: -1e300 in F64. The others: 0.1 and 3 in F64, 2 and 0.25 in F32.
  using bytes_of_net = nn::sequential<nn::linear<2, 2>, nn::linear<2, 1>, nn::batch_norm<1>>;
  const std::string path = folder.write(
      "x", file_of_bytes(R"({"0.weight":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]},)"
                         R"("0.bias":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]},)"
                         R"("1.weight":{"dtype":"F64","shape":[1,2],"data_offsets":[12,28]},)"
                         R"("1.bias":{"dtype":"F64","shape":[1],"data_offsets":[28,36]},)"
                         R"("2.weight":{"dtype":"F64","shape":[1],"data_offsets":[36,44]},)"
                         R"("2.bias":{"dtype":"F64","shape":[1],"data_offsets":[44,52]},)"
                         R"("2.running_mean":{"dtype":"F32","shape":[1],"data_offsets":[52,56]},)"
                         R"("2.running_var":{"dtype":"F32","shape":[1],"data_offsets":[56,60]},)"
                         R"("2.num_batches_tracked":{"dtype":"I64","shape":[],"data_offsets":[60,68]}})",
                         "003C 00C0 0100 FF7B  20C0 407F  000000100000F03F 000000300000F03F  9C7500883CE437FE"
                         "9A9999999999B93F 0000000000000840  00000040 0000803E  0500000000000000"));
  const auto check = [&]<class Where, class P>(Where, P) {
    dp::model<bytes_of_net, Where, P> model{dp::seed{1}};
    using T = typename decltype(model)::value_type;
    CHECK_THROWS_WITH(dp::load_parameters(model, path), Catch::Matchers::ContainsSubstring("{.convert = true}"));
    dp::load_parameters(model, path, {.convert = true});
    dp::check_replicas(model);
    const bool exact = std::is_same_v<T, double>;
    const double low = exact ? 1 + 0x1p-24 : 1, high = exact ? 1 + 0x3p-24 : 1 + 0x1p-22;
    const double huge = exact ? -1e300 : -std::numeric_limits<double>::infinity();
    const std::vector<T> expected{1,
                                  -2,
                                  static_cast<T>(0x1p-24),
                                  65504,
                                  -2.5,
                                  static_cast<T>(0x3p126),
                                  static_cast<T>(low),
                                  static_cast<T>(high),
                                  static_cast<T>(huge),
                                  static_cast<T>(0.1),
                                  3};
    CHECK(parameters_of(model) == expected);
    const auto here = dp::to<dp::on<dp::cpu>>(model);
    const T* const buffers = here.state().replicas[0].buffer_data();
    CHECK((buffers[0] == 2 && buffers[16] == 0.25));
  };
  check(dp::on<dp::cpu>{}, float{});
  check(dp::on<dp::cpu>{}, double{});
  check(dp::replicated<2, 0>{}, float{});
  check(dp::on<dp::cpu>{}, dp::mixed<dp::half>{});
  const auto p = dp::read_predictor<bytes_of_net, dp::on<dp::cpu>, double>(path, dp::batch<4>{}, {.convert = true});
  CHECK(p.as_model().parameter<0>()(1, 0) == 0x1p-24);
}

TEST_CASE("load_parameters rejects integers and other shapes, also when it converts", "[io]") {
  const temporary_folder folder;
  const dp::tensor<double, dp::extents<4, 2>, dp::on<dp::cpu>> swapped(dp::extents<4, 2>{});
  const dp::tensor<std::int32_t, dp::extents<2>, dp::on<dp::cpu>> integers{1, 2};
  dp::write_safetensors(folder.file("x"), {{"weight", swapped}, {"bias", integers}});
  dp::model<nn::linear<4, 2>, dp::on<dp::cpu>> model{dp::seed{1}};
  CHECK_THROWS_WITH(dp::load_parameters(model, folder.file("x"), {.convert = true}),
                    Catch::Matchers::ContainsSubstring("\"weight\" is F64 of shape 4x2 instead of") &&
                        Catch::Matchers::ContainsSubstring("\"bias\" is I32 of shape 2 instead of F32 of shape 2"));
}

TEST_CASE("load_parameters ignores tensors that the model lacks on request", "[io]") {
  const std::string path = reference_path("safetensors/network.safetensors");
  dp::model<nn::sequential<nn::linear<3, 4>>, dp::on<dp::cpu>> part{dp::seed{1}};
  CHECK_THROWS_WITH(dp::load_parameters(part, path), Catch::Matchers::ContainsSubstring("{.ignore_others = true}"));
  dp::load_parameters(part, path, {.ignore_others = true});
  const std::vector<float> all = pytorch_parameters();
  CHECK(parameters_of(part) == std::vector<float>(all.begin(), all.begin() + 16));
  dp::model<nn::sequential<nn::linear<4, 2>>, dp::on<dp::cpu>> last{dp::seed{1}};
  dp::load_parameters(last, path, {.ignore_others = true, .renames = {{"0.", "first."}, {"2.", "0."}}});
  CHECK(parameters_of(last) == std::vector<float>(all.end() - 10, all.end()));
  CHECK_THROWS_WITH(dp::load_parameters(last, path, {.ignore_others = true}),
                    Catch::Matchers::ContainsSubstring("is F32 of shape 4x3 instead of F32 of shape 2x4"));
  dp::model<nn::sequential<nn::linear<3, 4>, nn::linear<4, 4>>, dp::on<dp::cpu>> other{dp::seed{1}};
  CHECK_THROWS_WITH(dp::load_parameters(other, path, {.ignore_others = true}),
                    Catch::Matchers::ContainsSubstring("\"1.weight\" is F32 of shape 4 instead of F32 of shape 4x4"));
}

TEST_CASE("load_parameters takes a table of renames", "[io]") {
  const std::string path = reference_path("safetensors/network.safetensors");  // 0., 1. and 2. with PyTorch's names
  using named_net = nn::sequential<nn::named<"body", nn::sequential<nn::linear<3, 4>, nn::batch_norm<4>>>,
                                   nn::named<"head", nn::linear<4, 2>>>;
  dp::model<named_net, dp::on<dp::cpu>> named{dp::seed{1}};
  dp::load_parameters(named, path, {.renames = {{"2.weight", "head.weight"}, {"2.bias", "head.bias"}, {"", "body."}}});
  CHECK(parameters_of(named) == pytorch_parameters());
}

TEST_CASE("unused renames and renames that give two tensors one name are listed with other differences", "[io]") {
  const std::string path = reference_path("safetensors/network.safetensors");
  kept_model model{dp::seed{1}};
  CHECK(failure_of_load(
            model, path,
            {{"0.weight", "2.bias"}, {"1.bias", "fc.bias"}, {"fc.weight", "0.weight"}, {"fc.", ""}, {"2", "fc"}}) ==
        "devplace: load_parameters: '" + path +
            "' does not fit the model, which was left unchanged: \"0.weight\", renamed to \"2.bias\", and \"2.bias\" "
            "get the same name; the rename of \"fc.weight\" applies to no name in the file; the rename of \"fc.\" "
            "applies to no name in the file; the rename of \"2\" applies to no name in the file; some names begin "
            "with \"2.\"; \"0.weight\" is missing; \"1.bias\" is missing; \"0.weight\", renamed to \"2.bias\", is F32 "
            "of shape 4x3 instead of F32 of shape 2; \"2.bias\" is not in the model; "
            "\"1.bias\", renamed to \"fc.bias\", is not in the model. Give a file of the same network and precision, "
            "set renames for its names, or use nn::named; {.convert = true} converts other floating-point types, and "
            "{.ignore_others = true} leaves out tensors that are not in the model.");
}
