// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Not a standalone header, and without #pragma once: update_loops.hpp includes it once per instruction set, inside its
// own namespace, with DEVPLACE_OPTIM_TARGET defined as the attribute that selects the instruction set,
// DEVPLACE_OPTIM_ROOT as the instruction for square roots (empty: scalar ones) and `vector_bytes`. The attribute must
// be on the function that contains the vector operations, and cannot depend on a template argument. The arithmetic is
// that of `element` in runtime/update_formulas.hpp, which processes the elements after the last whole vector.

/// The correctly rounded square root of every lane. Written as an instruction because neither compiler vectorises
/// std::sqrt, which may set errno.
template <class T>
DEVPLACE_OPTIM_TARGET inline void take_root(typename vector_of<T, vector_bytes>::type& x) {
#if defined(DEVPLACE_OPTIM_ROOT)
  if constexpr (sizeof(T) == sizeof(float))
    __asm__(DEVPLACE_OPTIM_ROOT "ps %1, %0" : "=x"(x) : "x"(x));
  else
    __asm__(DEVPLACE_OPTIM_ROOT "pd %1, %0" : "=x"(x) : "x"(x));
#else
  for (std::size_t lane = 0; lane < vector_bytes / sizeof(T); ++lane)
    x[lane] = std::sqrt(x[lane]);
#endif
}

/// A formula without a vectorised form, element by element.
template <class Numbers>
DEVPLACE_OPTIM_TARGET inline void update(const Numbers& numbers, std::size_t begin, std::size_t end) {
  const Numbers u = numbers;
  const auto factor = u.source.factor();
  for (std::size_t i = begin; i < end; ++i)
    u.element(i, factor);
}

template <class T>
DEVPLACE_OPTIM_TARGET inline void update(const runtime::adam_numbers<T>& numbers, std::size_t begin, std::size_t end) {
  using vector = typename vector_of<T, vector_bytes>::type;
  using stored = typename vector_of<T, vector_bytes>::unaligned;
  constexpr std::size_t lanes = vector_bytes / sizeof(T);
  const runtime::adam_numbers<T> u = numbers;  // a local copy that no store can alias
  const T factor = u.source.factor();
  const std::size_t whole = begin + (end - begin) / lanes * lanes;
  for (std::size_t i = begin; i < whole; i += lanes) {
    vector parameter = *reinterpret_cast<const stored*>(u.parameters + i);
    vector gradient = *reinterpret_cast<const stored*>(u.source.gradients + i);
    vector first = *reinterpret_cast<const stored*>(u.first_moments + i);
    vector second = *reinterpret_cast<const stored*>(u.second_moments + i);
    gradient = gradient * factor + u.by.l2 * parameter;
    first = u.by.beta1 * first + u.by.rest1 * gradient;
    second = u.by.beta2 * second + u.by.rest2 * gradient * gradient;
    *reinterpret_cast<stored*>(u.first_moments + i) = first;
    *reinterpret_cast<stored*>(u.second_moments + i) = second;
    take_root<T>(second);
    const vector denominator = second * u.by.root_scale + u.by.epsilon;
    parameter = parameter * u.by.kept - u.by.step_size * first / denominator;
    *reinterpret_cast<stored*>(u.parameters + i) = parameter;
  }
  for (std::size_t i = whole; i < end; ++i)
    u.element(i, factor);
}

template <class T, bool Momentum>
DEVPLACE_OPTIM_TARGET inline void update(const runtime::sgd_numbers<T, Momentum>& numbers, std::size_t begin,
                                         std::size_t end) {
  using vector = typename vector_of<T, vector_bytes>::type;
  using stored = typename vector_of<T, vector_bytes>::unaligned;
  constexpr std::size_t lanes = vector_bytes / sizeof(T);
  const runtime::sgd_numbers<T, Momentum> u = numbers;
  const T factor = u.source.factor();
  const std::size_t whole = begin + (end - begin) / lanes * lanes;
  for (std::size_t i = begin; i < whole; i += lanes) {
    vector parameter = *reinterpret_cast<const stored*>(u.parameters + i);
    vector gradient = *reinterpret_cast<const stored*>(u.source.gradients + i);
    gradient = gradient * factor + u.by.l2 * parameter;
    if constexpr (Momentum) {
      vector momentum = *reinterpret_cast<const stored*>(u.momenta + i);
      momentum = u.by.kept * momentum + u.by.added * gradient;
      *reinterpret_cast<stored*>(u.momenta + i) = momentum;
      gradient = u.by.direct * gradient + u.by.inertial * momentum;
    }
    parameter = parameter - u.by.learning_rate * gradient;
    *reinterpret_cast<stored*>(u.parameters + i) = parameter;
  }
  for (std::size_t i = whole; i < end; ++i)
    u.element(i, factor);
}

/// sums[lane] += values[lane]^2 for `count` lanes. The inner loop has a constant length, which lets the compilers
/// vectorise it, including the conversion.
template <class T>
DEVPLACE_OPTIM_TARGET inline void add_squares(double* __restrict sums, const T* __restrict values, std::size_t count) {
  constexpr std::size_t tile = 64;
  std::size_t first = 0;
  for (; first + tile <= count; first += tile) {
    for (std::size_t lane = 0; lane < tile; ++lane) {
      const double value = static_cast<double>(values[first + lane]);
      sums[first + lane] += value * value;
    }
  }
  for (; first < count; ++first) {
    const double value = static_cast<double>(values[first]);
    sums[first] += value * value;
  }
}
