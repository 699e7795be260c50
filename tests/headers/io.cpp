// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

namespace devplace {}
namespace dp = devplace;

#include <devplace/io/chart.hpp>

inline void draw(const std::string& path) {
  dp::write_chart(path, "epoch", {{.title = "loss", .curves = {{.name = "train", .y = {1, 0.5}}}}});
}

#include <devplace/io/csv.hpp>

inline auto read(const std::string& path) {
  return dp::read_csv<float, dp::extents<dp::dyn, 3>>(path, {.delimiter = ';'});
}

#include <devplace/io/csv_options.hpp>

const dp::csv_options options{.columns = {"x", 1}};

#include <devplace/io/dlpack.hpp>

inline float round_trip(dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>&& x) {
  return dp::from_dlpack<float, dp::extents<2, 3>>(dp::to_dlpack(std::move(x)))(0, 0);
}

#include <devplace/io/file_text.hpp>

const std::string name = dp::detail::in_quotes("x.npy") + dp::detail::byte_word(8);

#include <devplace/io/input_file.hpp>

inline std::size_t read(const std::string& path, char* to) {
  return dp::detail::input_file(path, "read", false).read(to, 8);
}

#include <devplace/io/npy.hpp>

inline void copy(const std::string& path) { dp::write_npy(path, dp::read_npy<float, dp::extents<dp::dyn, 3>>(path)); }

#include <devplace/io/npz.hpp>

inline auto read(const std::string& path) { return dp::npz_file(path).read<float, dp::extents<2, 3>>("x"); }

#include <devplace/io/output_file.hpp>

inline void write(const std::string& path) { dp::detail::output_file(path, "write").write("x", 1); }

#include <devplace/io/parameters.hpp>

template <class Model> void copy(Model& model, const std::string& path) {
  dp::save_parameters(model, path);
  dp::load_parameters(model, path);
}

#include <devplace/io/read_array.hpp>

inline void check(const dp::detail::stored_array& array) {
  dp::detail::check_elements(array, {8, true}, {"read_npy", "x.npy"});
}

#include <devplace/io/renamed_tensors.hpp>

const std::string name = dp::parameter_rename{"old.", "new."}.applied_to("old.weight");

#include <devplace/io/safetensors.hpp>

inline auto copy(const std::string& path, const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& x) {
  dp::write_safetensors(path, {{"x", x}});
  return dp::safetensors_file(path).read<float, dp::extents<2, 3>>("x");
}

#include <devplace/io/stored_shape.hpp>

inline bool fits(std::span<const std::size_t> extents) { return dp::detail::stored_bytes(extents, 4).has_value(); }
