// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/backend/cpu/detail/convolution_kernels.hpp>
#include <devplace/backend/cpu/detail/gemm_split.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/base/parallel_ranges.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/convolution.hpp>

// Convolutions always use the built-in engine, even if matrix products use a CBLAS library: a library needs a whole
// matrix, and the patches of a convolution are never stored as a matrix.

namespace devplace::detail {

/// Adds the gradients of the later chunks to the first chunk's gradient, in order.
template <class T> struct chunk_adder {
  T* to;
  const T* chunks;
  std::size_t count;
  std::size_t size;

  void range(std::size_t begin, std::size_t end) const {
    for (std::size_t chunk = 0; chunk < count; ++chunk) {
      const T* const from = chunks + chunk * size;
      for (std::size_t i = begin; i < end; ++i) to[i] += from[i];
    }
  }
};

/// Returns the convolution `s` with rows as long as possible, because the loops compute along rows. An image of one
/// column becomes one row; a whole plane becomes one row if the window has one tap. Elements stay where they are.
DEVPLACE_COMPILABLE() convolution_shape with_long_rows(const convolution_shape& s) {
  if (s.columns.in == 1 && s.columns.out == 1 && (s.rows.in != 1 || s.rows.out != 1))
    return with_long_rows({s.samples, s.groups, s.channels, s.outputs, s.columns, s.rows, true});
  const auto reads_all = [](const window_axis& a) { return a.size == 1 && a.stride == 1 && a.padding == 0; };
  if (!reads_all(s.rows) || !reads_all(s.columns) || s.plane() > 4096) return s;
  return {s.samples, s.groups, s.channels, s.outputs, {1, 1, 1, 1, 0, 1}, {s.plane(), s.plane(), 1, 1, 0, 1}};
}
DEVPLACE_COMPILED(convolution_shape with_long_rows(const convolution_shape&))

/// Converts a convolution's 16-bit weights and bias to float. Returns {weights, bias}.
template <class T, class Arguments>
std::pair<const computed_t<T>*, const computed_t<T>*> wide_parameters(const Arguments& g,
                                                                      [[maybe_unused]] std::size_t biases,
                                                                      [[maybe_unused]] cpu_isa isa) {
  if constexpr (std::is_same_v<T, computed_t<T>>) {
    return {g.weight, g.bias};
  } else {
    const auto widen = [&](float* to, const T* from, std::size_t count) {
      parallel_ranges(count, 16384, [&](std::size_t begin, std::size_t end) {
        convert_elements(to + begin, from + begin, end - begin, isa);
      });
      return to;
    };
    const float* const weight = widen(g.floats.parameters, g.weight, g.shape.weights());
    return {weight, g.bias == nullptr ? nullptr : widen(g.floats.parameters + g.shape.weights(), g.bias, biases)};
  }
}

/// If d.is_faster, runs a depthwise convolution or its input gradient; returns whether it did. `rows`: number of rows
/// per group of a sample; a task computes a segment of these rows.
template <class T, class Arguments, class Compute>
bool convolve_depthwise_on_cpu(const Arguments& g, const convolution_kernels<T>& kernels, std::size_t rows,
                               const Compute& compute) {
  const depthwise_convolution d = kernels.depthwise_of(g.shape);
  const convolution_shape& s = g.shape;
  if (!d.is_faster) return false;
  parallel_ranges(s.samples * s.groups * divided_up(rows, d.rows),
                  tasks_per_thread(s.outputs * s.depth() * d.rows * s.columns.out),
                  [&](std::size_t begin, std::size_t end) { (kernels.*compute)(g, d, begin, end); });
  return true;
}

/// Runs a direct convolution if it is faster, otherwise one by products.
template <class T>
void convolve_on_cpu(const convolution_arguments<T, computed_t<T>>& g, bool mirrored,
                     const convolution_kernels<T>& kernels) {
  if (const direct_convolution d = kernels.direct_of(g.shape); d.is_faster) {
    const convolution_shape& s = g.shape;
    return parallel_ranges(
        s.groups * s.samples * s.rows.out, tasks_per_thread(s.outputs * s.depth() * s.columns.out),
        [&](std::size_t begin, std::size_t end) { kernels.convolve_rows(g, mirrored, d, begin, end); });
  }
  const std::size_t width = 2 * kernels.gemm.lanes;
  const std::size_t panels = g.shape.groups * g.shape.samples * divided_up(g.shape.pixels(), width);
  if (panels == 0) return;
  const std::size_t m = g.shape.outputs, n = panels * width;
  const gemm_split split = split_product(m, n, g.shape.depth(), kernels.gemm.tile_rows, width,
                                         static_cast<std::size_t>(thread_count()), width / 4);
  for_each_part(m, n, kernels.gemm.tile_rows, width, split, [&](const gemm_range& range) {
    kernels.convolve_range(g, mirrored, range.row_begin, range.row_end, range.column_begin / width,
                           range.column_end / width);
  });
}

}  // namespace devplace::detail

namespace devplace {

/// Threads compute different samples, pixels or channels of the output.
template <> struct implementation<backend::cpu, op::convolution> {
  template <class T>
  static void run(int, const detail::convolution_arguments<T>& g, detail::cpu_isa isa = detail::current_isa()) {
    using namespace detail;
    const convolution_kernels<T> kernels = convolution_kernels_of<T>(isa);
    const auto [weight, bias] = wide_parameters<T>(g, g.shape.groups * g.shape.outputs, isa);
    const convolution_arguments<T, computed_t<T>> wide{
        with_long_rows(g.shape), g.x, weight, bias, g.y, g.epilogue, g.math, g.floats};
    if (!convolve_depthwise_on_cpu(wide, kernels, wide.shape.rows.out, &convolution_kernels<T>::convolve_depthwise))
      convolve_on_cpu(wide, false, kernels);
  }
};

/// Threads compute different samples, pixels or channels.
template <> struct implementation<backend::cpu, op::convolution_input_gradient> {
  template <class T>
  static void run(int, const detail::convolution_input_gradient_arguments<T>& arguments,
                  detail::cpu_isa isa = detail::current_isa()) {
    using namespace detail;
    const convolution_kernels<T> kernels = convolution_kernels_of<T>(isa);
    const convolution_shape s = with_long_rows(arguments.shape);
    const auto [weight, bias] = wide_parameters<T>(arguments, s.groups * s.channels, isa);
    const convolution_input_gradient_arguments<T, computed_t<T>> g{
        s, arguments.dy, weight, bias, arguments.dx, arguments.math, arguments.floats};
    if (convolve_depthwise_on_cpu(g, kernels, depthwise_convolution::rows_of_input(s),
                                  &convolution_kernels<T>::convolve_back_depthwise))
      return;
    if (s.rows.has_mirror() && s.columns.has_mirror()) {
      const convolution_shape back{s.samples,       s.groups,           s.outputs,      s.channels,
                                   s.rows.mirror(), s.columns.mirror(), s.columns_first};
      return convolve_on_cpu<T>({back, g.dy, g.weight, g.bias, g.dx, epilogue::none, g.math, g.floats}, true, kernels);
    }
    constexpr std::size_t most = convolution_block_rows<computed_t<T>>;
    const std::size_t together = s.taps() < most ? most / s.taps() : 1;
    const std::size_t blocks = detail::divided_up(s.channels, together);
    const std::size_t work = s.depth() / blocks * s.outputs * s.pixels();
    parallel_indices(s.samples * s.groups * blocks, tasks_per_thread(work), [&](std::size_t task) {
      const std::size_t block = task % blocks;
      kernels.convolve_back_range(g, task / blocks % s.groups, task / blocks / s.groups,
                                  part_begin(s.channels, blocks, block), part_begin(s.channels, blocks, block + 1));
    });
  }
};

/// Threads compute different chunks of samples (convolution_chunk) or columns of the weight.
template <> struct implementation<backend::cpu, op::convolution_weight_gradient> {
  template <class T>
  static void run(int, detail::convolution_weight_gradient_arguments<T> g,
                  detail::cpu_isa isa = detail::current_isa()) {
    using namespace detail;
    using sum_type = computed_t<T>;
    const convolution_kernels<T> kernels = convolution_kernels_of<T>(isa);
    g.shape = with_long_rows(g.shape);
    const convolution_shape& s = g.shape;
    const std::size_t chunk = convolution_chunk(s), weights = s.weights();
    const std::size_t chunks = s.samples <= chunk ? 1 : detail::divided_up(s.samples, chunk);
    // Calls compute(sum, block) for blocks of the weight's columns.
    const auto for_blocks = [&](std::size_t blocks, const auto& compute) {
      const std::size_t work = s.outputs * s.depth() / blocks * s.pixels() * smaller(s.samples, chunk);
      parallel_indices(chunks * s.groups * blocks, tasks_per_thread(work), [&](std::size_t task) {
        const std::size_t group = task / blocks % s.groups, part = task / blocks / s.groups;
        sum_type* const sum = part == 0 ? g.dweight : g.scratch + (part - 1) * weights;
        compute(weight_sum<sum_type>{group, part * chunk, smaller((part + 1) * chunk, s.samples),
                                     sum + group * s.outputs * s.depth(), part == 0 ? g.beta : 0},
                task % blocks);
      });
    };
    if (const depthwise_convolution depthwise = kernels.depthwise_of(s); depthwise.is_faster) {
      for_blocks(1, [&](const auto& sum, std::size_t) { kernels.convolve_weight_depthwise(g, depthwise, sum); });
    } else if (const direct_convolution d = kernels.direct_of(s); d.gradient_is_faster) {
      const std::size_t blocks = detail::divided_up(s.channels, d.channels);
      for_blocks(blocks, [&](const auto& sum, std::size_t block) {
        const std::size_t c0 = block * d.channels;
        kernels.convolve_weight_rows(g, d, sum, c0, smaller(d.channels, s.channels - c0));
      });
    } else {
      const std::size_t width = 2 * kernels.gemm.lanes, panels = detail::divided_up(s.depth(), width);
      const std::size_t blocks = detail::divided_up(panels, convolution_weight_columns<sum_type> / width);
      for_blocks(blocks, [&](const auto& sum, std::size_t block) {
        kernels.convolve_weight_range(g, sum, part_begin(panels, blocks, block) * width,
                                      smaller(part_begin(panels, blocks, block + 1) * width, s.depth()));
      });
    }
    if (chunks > 1)
      implementation<backend::cpu, op::for_each>::run(0, weights, 16384 / chunks + 1,
                                                      chunk_adder<sum_type>{g.dweight, g.scratch, chunks - 1, weights});
  }
};

/// Sums the elements of each plane in T (in float if they have 16 bits), then adds the sums of the samples' planes in
/// double.
template <> struct implementation<backend::cpu, op::convolution_bias_gradient> {
  template <class T>
  static void run(int, const detail::convolution_bias_gradient_arguments<T>& g,
                  detail::cpu_isa isa = detail::current_isa()) {
    using namespace detail;
    const auto sum_of = convolution_kernels_of<T>(isa).sum_run;
    parallel_indices(g.channels, 16384 / (g.samples * g.plane + 1) + 1, [&](std::size_t c) {
      double sum = 0;
      for (std::size_t n = 0; n < g.samples; ++n)
        sum += static_cast<double>(sum_of(g.x + (n * g.channels + c) * g.plane, g.plane));
      g.sums[c] = static_cast<computed_t<T>>(sum) + (g.beta == 0 ? 0 : g.beta * g.sums[c]);
    });
  }
};

}  // namespace devplace
