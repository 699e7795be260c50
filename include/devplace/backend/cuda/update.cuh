// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/backend/cuda/kernel_launch.cuh>
#include <devplace/backend/cuda/kernels/groups.hpp>
#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/runtime/step_record.hpp>
#include <devplace/runtime/update.hpp>

namespace devplace::detail {

/// Number of elements that a thread updates together: 16 bytes of the rounded parameters, if any, or of the unrounded.
template <class T, class Working>
inline constexpr unsigned width_of_update = width_of_sizes(sizeof(Working), sizeof(T));
template <class T> inline constexpr unsigned width_of_update<T, void> = widest_access<T>;

/// Updates n elements by an optimizer's rule: `groups` groups of `width` elements with wide accesses, the rest one by
/// one. After all blocks have read the numbers of this step, the last block writes the numbers of the next step.
template <class Rule, class T, std::size_t Arrays, class Update = runtime::update<Rule, T, Arrays>>
struct update_kernel {
  static constexpr unsigned threads = 256;
  static constexpr unsigned width = width_of_update<T, typename Update::working_type>;

  static constexpr unsigned least_blocks = 3;  // because Adam in double needs 70 registers

  /// Enough to fill a GPU several times over. Limited because every block takes a ticket at the end.
  static constexpr std::size_t most_blocks = 2048;

  std::size_t n;
  std::size_t groups;
  Update update;

  std::size_t blocks() const {
    const std::size_t rounds = groups + (n - groups * width);  // each is the work of one thread
    const std::size_t all = divided_up(rounds, threads);
    return all < most_blocks ? all : most_blocks;
  }

  template <class Thread> DEVPLACE_DEVICE void operator()(Thread& t) const {
    if (update.source.skipped()) return;  // equal for all threads
    const auto formulas = update.formulas();
    const T factor = update.source.factor();
    const std::size_t first = std::size_t{t.block_index()} * threads + t.thread_index();
    const std::size_t stride = std::size_t{t.grid_size()} * threads;
    for (std::size_t i = first; i < groups; i += stride)
      several(t, formulas.at(i * width), factor, i * width, std::make_index_sequence<Arrays>{});
    for (std::size_t i = groups * width + first; i < n; i += stride) update.element(formulas.at(i), factor, i);
    if (is_last_block(t, &update.steps->ticket, t.grid_size()) && t.thread_index() == 0) update.advance();
  }

 private:
  /// Updates elements [i, i + width): a pack of each array; the formula is evaluated per element in registers.
  template <class Thread, class Formula, std::size_t... Array>
  DEVPLACE_DEVICE void several(const Thread& t, const Formula& formula, T factor, std::size_t i,
                               std::index_sequence<Array...>) const {
    const pack<T, width> gradients = t.template load<T, width>(update.source.gradients + i);
    pack<T, width> x[] = {t.template load<T, width>(update.arrays[Array] + i)...};
    DEVPLACE_DEVICE_UNROLL
    for (unsigned k = 0; k < width; ++k)
      formula(runtime::element_arithmetic<T>{factor}, gradients.value[k], x[Array].value[k]...);
    (t.store(update.arrays[Array] + i, x[Array]), ...);
    using working_type = typename Update::working_type;
    if constexpr (!std::is_void_v<working_type>) {
      const auto rounded = [&x](unsigned k) { return static_cast<working_type>(x[0].value[k]); };
      t.store(update.working.data + i, pack_of<working_type, width>(rounded));
    }
  }
};

template <template <class, class, std::size_t, class> class Update, class Rule, class T, std::size_t Arrays,
          class Working>
auto make_update_kernel(std::size_t n, const Update<Rule, T, Arrays, Working>& update) {
  using kernel = update_kernel<Rule, T, Arrays, Update<Rule, T, Arrays, Working>>;
  bool wide = is_aligned<kernel::width>(update.source.gradients);
  for (const T* const array : update.arrays) wide = wide && is_aligned<kernel::width>(array);
  if constexpr (!std::is_void_v<Working>) wide = wide && is_aligned<kernel::width>(update.working.data);
  return kernel{n, wide ? n / kernel::width : 0, update};
}

}  // namespace devplace::detail

namespace devplace {

template <> struct implementation<backend::cuda, op::update> {
  template <class Update> static void run(int ordinal, std::size_t n, const Update& update) {
    const auto kernel = detail::make_update_kernel(n, update);
    detail::kernel_launch{ordinal}(kernel.blocks(), kernel);
  }
};

}  // namespace devplace
