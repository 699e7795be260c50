// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstddef>
#include <ratio>
#include <utility>
#include <vector>

#include <devplace/all.hpp>
#include <devplace/ops/sorted_elements.hpp>

#include "link/layouts.hpp"

namespace {

namespace dp = devplace;
namespace nn = dp::nn;

template <class T> type_layout layout_of(const char* name) { return {name, sizeof(T), alignof(T)}; }

#define LAYOUT(...) layout_of<__VA_ARGS__>(#__VA_ARGS__)

/// The types that may appear in users' interfaces, for one placement.
template <class Where> void append_layouts(std::vector<type_layout>& table) {
  using net =
      nn::sequential<nn::linear<8, 6>, nn::relu, nn::dropout<std::ratio<1, 4>>, nn::linear<6, 3>, nn::log_softmax>;
  using model = dp::model<net, Where>;
  using batch = dp::batch_placement_t<Where>;
  using output = dp::tensor<float, dp::extents<dp::dyn, 3>, batch>;
  using loss = nn::loss_gradient<float, dp::extents<dp::dyn, 3>, batch>;
  const std::vector<type_layout> mine{
      LAYOUT(dp::tensor<float, dp::extents<>, Where>),
      LAYOUT(dp::tensor<double, dp::extents<2, 3>, Where>),
      LAYOUT(dp::tensor<std::uint8_t, dp::extents<dp::dyn, 28, 28>, Where>),
      LAYOUT(model),
      LAYOUT(dp::model<net, Where, double>),
      LAYOUT(dp::model<net, Where, dp::tf32>),
      LAYOUT(typename dp::model<net, Where, dp::tf32>::gradient_type),
      LAYOUT(dp::matmul_options<dp::tf32>),
      LAYOUT(nn::saved<net, Where, float, batch, output>),
      LAYOUT(loss),
      LAYOUT(nn::loss_value<float, batch>),
      LAYOUT(typename model::gradient_type),
      LAYOUT(nn::saved<net, Where, float, Where, nn::detail::nothing>),
      LAYOUT(nn::loss_gradient<float, dp::extents<dp::dyn, 3>, Where>),
      LAYOUT(nn::loss_value<float, Where>),
      LAYOUT(dp::gradients<net, Where, float>),
      LAYOUT(dp::runtime::model_state<float>),
      LAYOUT(dp::optimizer<dp::optim::adam, model>),
      LAYOUT(dp::optimizer<dp::optim::adamw, model>),
      LAYOUT(dp::optimizer<dp::optim::sgd, model>),
      LAYOUT(dp::trainer<model, nn::cross_entropy, dp::optim::adam>),
      LAYOUT(dp::trainer<model, nn::mse, dp::optim::sgd>),
      LAYOUT(dp::step_loss<float, Where>),
      LAYOUT(nn::loss_result<float, dp::extents<dp::dyn, 3>, batch>),
      LAYOUT(nn::forward_result<output, nn::saved<net, Where, float, batch, output>>),
      LAYOUT(output),
      LAYOUT(dp::sorted_elements<output, dp::tensor<std::int64_t, dp::extents<dp::dyn, 3>, batch>>),
      LAYOUT(dp::loader<Where>),
      LAYOUT(typename dp::loader<Where>::batch_type),
  };
  table.insert(table.end(), mine.begin(), mine.end());
}

/// The layouts of the public types in this translation unit.
std::vector<type_layout> measure_layouts() {
  using row = dp::extents<dp::dyn, 4>;
  std::vector<type_layout> table{
      LAYOUT(dp::cpu),
      LAYOUT(dp::pinned),
      LAYOUT(dp::stream<dp::cpu>),
      LAYOUT(dp::pending<void, dp::cuda<0>>),
      LAYOUT(dp::pending<dp::tensor<float, row, dp::on<dp::pinned>>, dp::cuda<0>>),
      LAYOUT(dp::stream<dp::cuda<0>>),
      LAYOUT(dp::stream_scope),
      LAYOUT(dp::event<dp::cuda<0>>),
      LAYOUT(dp::view<float, row, dp::on<dp::pinned>>),
      LAYOUT(dp::cuda<0>),
      LAYOUT(dp::on<dp::cuda<0>>),
      LAYOUT(dp::replicated<0, 1>),
      LAYOUT(dp::memory_usage),
      LAYOUT(dp::memory_purpose),
      LAYOUT(dp::device_attribute),
      LAYOUT(dp::device_information),
      LAYOUT(dp::device_map_entry),
      LAYOUT(dp::detail::memory_block),
      LAYOUT(dp::extents<2, 3>),
      LAYOUT(row),
      LAYOUT(dp::view<float, row, dp::on<dp::cpu>>),
      LAYOUT(dp::view<const float, row, dp::on<dp::cuda<0>>>),
      LAYOUT(dp::view<float, row, dp::here<dp::backend::cuda>>),
      LAYOUT(dp::seed),
      LAYOUT(dp::thread_team_scope),
      LAYOUT(dp::team_region),
      LAYOUT(dp::builtin_thread_team),
      LAYOUT(nn::linear<784, 256>),
      LAYOUT(nn::cross_entropy),
      LAYOUT(nn::mse),
      LAYOUT(nn::parameter),
      LAYOUT(nn::parameter_shape),
      LAYOUT(nn::initialization),
      LAYOUT(nn::random_key),
      LAYOUT(nn::gradient_check),
      LAYOUT(dp::cross_entropy_options<float>),
      LAYOUT(dp::matmul_options<float>),
      LAYOUT(dp::dropout_key),
      LAYOUT(dp::matrix_engine_info),
      LAYOUT(dp::serial_team),
      LAYOUT(dp::tensor<float, dp::extents<2>, dp::partial<dp::reduction::sum, 0, 1>>),
      LAYOUT(decltype(-std::declval<const dp::tensor<float, row, dp::replicated<0, 1>>&>() * 2.0f)),
      LAYOUT(dp::distributed_transposed<dp::tensor<float, row, dp::sharded<dp::axis<0>, 0, 1>>>),
      LAYOUT(dp::tensor<float, row, dp::sharded<dp::axis<0>, 0, 1, 2>>),
      LAYOUT(dp::tensor<double, dp::extents<5, 3>, dp::sharded<dp::axis<1>, 0, 1>>),
      LAYOUT(dp::split::rule),
      LAYOUT(dp::split::sizes<3>),
      LAYOUT(dp::optim::sgd),
      LAYOUT(dp::optim::adam),
      LAYOUT(dp::optim::adamw),
      LAYOUT(dp::optim::clip_norm),
      LAYOUT(dp::optim::one_cycle),
      LAYOUT(dp::optim::scheduled<dp::optim::adam, dp::optim::schedule_function>),
      LAYOUT(dp::gradient_norms),
      LAYOUT(dp::unread_gradient_norms<dp::cuda<0>>),
      LAYOUT(dp::early_stopping_state),
      LAYOUT(dp::byte_scale<float>),
      LAYOUT(dp::optim::clip_arguments<float>),
      LAYOUT(dp::optim::step_arguments<float>),
      LAYOUT(dp::image_set),
      LAYOUT(dp::labelled_images),
      LAYOUT(dp::loader_options),
      LAYOUT(dp::sampler),
      LAYOUT(dp::progress),
      LAYOUT(dp::progress_options),
      LAYOUT(dp::error),
      LAYOUT(dp::shape_error),
      LAYOUT(dp::argument_error),
      LAYOUT(dp::placement_unavailable),
      LAYOUT(dp::out_of_memory),
      LAYOUT(dp::device_lost),
      LAYOUT(dp::file_error),
  };
  append_layouts<dp::on<dp::cpu>>(table);
  append_layouts<dp::on<dp::cuda<0>>>(table);
  append_layouts<dp::replicated<0, 1>>(table);
  return table;
}

#undef LAYOUT

/// Defined once in each translation unit of the test.
struct report_layouts {
  explicit report_layouts(const char* unit) { layout_tables().push_back({unit, measure_layouts()}); }
};

}  // namespace
