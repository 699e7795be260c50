// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Included by convolution_kernels.hpp only. Loops that read patches of an image into the matrix engine's panels, and
// add panels to an image, one run of consecutive columns at a time.

/// Copies to[i] = from[i] in vectors; the last vector may overlap the previous one.
template <class T, std::size_t Bytes = vector_bytes>
[[gnu::always_inline]] DEVPLACE_TARGET inline void copy_run(T* __restrict to, const T* __restrict from, std::size_t n) {
  constexpr std::size_t lanes = Bytes / sizeof(T);
  if constexpr (Bytes < 16) {  // at most 3 elements; compilers would turn a loop into a call.
    if (n > 1) to[0] = from[0], to[1] = from[1];
    if (n % 2 != 0) to[n - 1] = from[n - 1];
  } else {
    if (n < lanes) return copy_run<T, Bytes / 2>(to, from, n);
    for (std::size_t i = 0; i + lanes < n; i += lanes) {
      *reinterpret_cast<loaded<T, Bytes>*>(to + i) = *reinterpret_cast<const loaded<T, Bytes>*>(from + i);
      __asm__("");  // else g++ would call memmove for each run, of one or two vectors in small images
    }
    *reinterpret_cast<loaded<T, Bytes>*>(to + n - lanes) = *reinterpret_cast<const loaded<T, Bytes>*>(from + n - lanes);
  }
}

/// Copies and converts elements of a 16-bit type to float or back.
template <class To, class From, std::size_t Lanes = vector_bytes / sizeof(float)>
  requires(!std::is_same_v<To, From>)
[[gnu::always_inline]] DEVPLACE_TARGET inline void copy_run(To* __restrict to, const From* __restrict from,
                                                            std::size_t n) {
  if constexpr (Lanes < 4) {  // at most 3 elements; two or three of the stores may go to one address.
    if (n == 0) return;
    const From some[4] = {from[0], from[n / 2], from[n - 1], from[0]};
    To converted[4];
    convert<4>(converted, some);
    to[0] = converted[0], to[n / 2] = converted[1], to[n - 1] = converted[2];
  } else {
    if (n < Lanes) return copy_run<To, From, Lanes / 2>(to, from, n);
    for (std::size_t i = 0; i + Lanes < n; i += Lanes) convert<Lanes>(to + i, from + i);
    convert<Lanes>(to + n - Lanes, from + n - Lanes);
  }
}

/// Copies every second element of two vectors, from element `Odd` on.
template <std::size_t Bytes, std::size_t Odd, class T>
[[gnu::always_inline]] DEVPLACE_TARGET inline void copy_halves(T* __restrict to, const T* __restrict from) {
  constexpr std::size_t lanes = Bytes / sizeof(T);
  vector<T, Bytes> x = *reinterpret_cast<const loaded<T, Bytes>*>(from);
  const vector<T, Bytes> high = *reinterpret_cast<const loaded<T, Bytes>*>(from + lanes);
  if constexpr (lanes == 8)
    x = __builtin_shufflevector(x, high, Odd, Odd + 2, Odd + 4, Odd + 6, Odd + 8, Odd + 10, Odd + 12, Odd + 14);
  else if constexpr (lanes == 4)
    x = __builtin_shufflevector(x, high, Odd, Odd + 2, Odd + 4, Odd + 6);
  else
    x = __builtin_shufflevector(x, high, Odd, Odd + 2);
  *reinterpret_cast<loaded<T, Bytes>*>(to) = x;
}

/// Copies every second element in vectors; the last vector may overlap the previous one. Reads only between the first
/// element and the last one copied.
template <class T, std::size_t Bytes = smaller(vector_bytes, 32)>
[[gnu::always_inline]] DEVPLACE_TARGET inline void copy_seconds(T* __restrict to, const T* __restrict from,
                                                                std::size_t n) {
  constexpr std::size_t lanes = Bytes / sizeof(T);
  if constexpr (Bytes < 16) {
    for (std::size_t i = 0; i < n; ++i) to[i] = from[2 * i];
  } else {
    if (n <= lanes) return copy_seconds<T, Bytes / 2>(to, from, n);
    for (std::size_t i = 0; i + lanes < n; i += lanes) copy_halves<Bytes, 0>(to + i, from + 2 * i);
    copy_halves<Bytes, 1>(to + n - lanes, from + 2 * (n - lanes) - 1);
  }
}

/// Interleaves two runs: to[2 i] = even[i], to[2 i + 1] = odd[i].
template <class T>
[[gnu::always_inline]] DEVPLACE_TARGET inline void interleave(T* __restrict to, const T* __restrict even,
                                                              const T* __restrict odd, std::size_t n) {
  constexpr std::size_t lanes = 16 / sizeof(T);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const vector<T, 16> a = *reinterpret_cast<const loaded<T, 16>*>(even + i);
    const vector<T, 16> b = *reinterpret_cast<const loaded<T, 16>*>(odd + i);
    if constexpr (lanes == 4) {
      *reinterpret_cast<loaded<T, 16>*>(to + 2 * i) = __builtin_shufflevector(a, b, 0, 4, 1, 5);
      *reinterpret_cast<loaded<T, 16>*>(to + 2 * i + lanes) = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    } else {
      *reinterpret_cast<loaded<T, 16>*>(to + 2 * i) = __builtin_shufflevector(a, b, 0, 2);
      *reinterpret_cast<loaded<T, 16>*>(to + 2 * i + lanes) = __builtin_shufflevector(a, b, 1, 3);
    }
  }
  for (; i < n; ++i) to[2 * i] = even[i], to[2 * i + 1] = odd[i];
}

template <class T, class From>
[[gnu::always_inline]] DEVPLACE_TARGET inline void copy_strided(T* __restrict to, const From* __restrict from,
                                                                std::size_t n, std::size_t stride) {
  if (stride == 1) return copy_run(to, from, n);
  if constexpr (std::is_same_v<T, From>) {
    if (stride == 2) return copy_seconds(to, from, n);
    for (std::size_t i = 0; i < n; ++i) to[i] = from[i * stride];
  } else {
    constexpr std::size_t most = 64;
    From gathered[most];
    for (std::size_t begin = 0; begin < n; begin += most) {
      const std::size_t count = smaller(most, n - begin);
      for (std::size_t i = 0; i < count; ++i) gathered[i] = from[(begin + i) * stride];
      copy_run(to + begin, gathered, count);
    }
  }
}

template <class T, std::size_t Bytes = vector_bytes>
[[gnu::always_inline]] DEVPLACE_TARGET inline void add_run(T* __restrict to, const T* __restrict from, std::size_t n) {
  constexpr std::size_t lanes = Bytes / sizeof(T);
  if constexpr (Bytes < 16) {
    for (std::size_t i = 0; i < n; ++i) to[i] += from[i];
  } else {
    using loaded = typename vector_of<T, Bytes>::unaligned;
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) *reinterpret_cast<loaded*>(to + i) += *reinterpret_cast<const loaded*>(from + i);
    add_run<T, Bytes / 2>(to + i, from + i, n - i);
  }
}

template <class T, std::size_t Bytes = vector_bytes>
[[gnu::always_inline]] DEVPLACE_TARGET inline void fill_run(T* to, T value, std::size_t n) {
  constexpr std::size_t lanes = Bytes / sizeof(T);
  if constexpr (Bytes < 16) {
    if (n > 1) to[0] = value, to[1] = value;
    if (n % 2 != 0) to[n - 1] = value;
  } else {
    if (n < lanes) return fill_run<T, Bytes / 2>(to, value, n);
    const vector<T, Bytes> all = value - vector<T, Bytes>{};
    for (std::size_t i = 0; i + lanes < n; i += lanes) {
      *reinterpret_cast<loaded<T, Bytes>*>(to + i) = all;
      __asm__("");  // else g++ would call memset
    }
    *reinterpret_cast<loaded<T, Bytes>*>(to + n - lanes) = all;
  }
}

/// Packs a panel of patches [depth][width]: row p holds element p0 + p of the patches of pixels [q0, q0 + count).
/// `image` is the first channel of a sample's group. Elements beyond `count` are zeros. The width is that of one or two
/// vectors.
template <class T, class From>
DEVPLACE_TARGET inline void pack_patches(T* target, std::size_t width, const convolution_shape& s, const From* image,
                                         std::size_t q0, std::size_t count, std::size_t p0, std::size_t depth) {
  pixel_run runs[2 * lanes<T>];
  const std::size_t taps = s.taps(), y = q0 / s.columns.out, x = q0 % s.columns.out;
  for (std::size_t tap = 0; tap < taps; ++tap) {
    const std::size_t begin = p0 == 0 ? 0 : p0 > tap ? divided_up(p0 - tap, taps) : 0;
    const std::size_t end = p0 + depth == s.depth() ? s.channels
                            : p0 + depth > tap      ? divided_up(p0 + depth - tap, taps)
                                                    : 0;
    std::size_t read = 0;
    const std::size_t found = find_runs(runs, s, tap, y, x, count, read);
    T* to = target + (begin * taps + tap - p0) * width;
    const From* plane = image + begin * s.plane();
    for (std::size_t c = begin; c < end; ++c, to += taps * width, plane += s.plane()) {
      if (read != width) {
        fill_run(to, T{0}, lanes<T>);
        if (width != lanes<T>) fill_run(to + lanes<T>, T{0}, lanes<T>);
      }
      for (std::size_t r = 0; r < found; ++r)
        copy_strided(to + runs[r].at, plane + runs[r].from, runs[r].n, s.columns.stride);
    }
  }
}

/// Copies element p of the patches of pixels [q0, q0 + count), at most convolution_block_depth, to contiguous memory.
template <class T, class From>
DEVPLACE_TARGET inline void unfold_row(T* target, const convolution_shape& s, const From* image, std::size_t p,
                                       std::size_t q0, std::size_t count) {
  pixel_run runs[convolution_block_depth];
  const std::size_t tap = p % s.taps();
  const From* const plane = image + p / s.taps() * s.plane();
  std::size_t read = 0;
  const std::size_t found = find_runs(runs, s, tap, q0 / s.columns.out, q0 % s.columns.out, count, read);
  if (read != count) fill_run(target, T{0}, count);
  for (std::size_t r = 0; r < found; ++r)
    copy_strided(target + runs[r].at, plane + runs[r].from, runs[r].n, s.columns.stride);
}

/// Adds elements in the layout of unfold_row to the image.
template <class T>
DEVPLACE_TARGET inline void fold_row(const T* source, const convolution_shape& s, T* image, std::size_t p,
                                     std::size_t q0, std::size_t count) {
  pixel_run runs[convolution_block_depth];
  const std::size_t tap = p % s.taps();
  T* const plane = image + p / s.taps() * s.plane();
  std::size_t read = 0;
  const std::size_t found = find_runs(runs, s, tap, q0 / s.columns.out, q0 % s.columns.out, count, read);
  for (std::size_t r = 0; r < found; ++r) {
    T* const to = plane + runs[r].from;
    const T* const from = source + runs[r].at;
    if (s.columns.stride == 1) {
      add_run(to, from, runs[r].n);
    } else {
      for (std::size_t i = 0; i < runs[r].n; ++i) to[i * s.columns.stride] += from[i];
    }
  }
}

/// Returns the sum of n elements; each vector lane adds in ascending order.
template <class T> DEVPLACE_TARGET computed_t<T> sum_run(const T* x, std::size_t n) {
  using sum_type = computed_t<T>;
  vector<sum_type> sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 * lanes<sum_type> <= n; i += 4 * lanes<sum_type>) {
    DEVPLACE_UNROLL
    for (std::size_t j = 0; j < 4; ++j) {
      if constexpr (std::is_same_v<T, sum_type>) {
        sums[j] += *reinterpret_cast<const loaded<sum_type>*>(x + i + j * lanes<sum_type>);
      } else {
        sum_type wide[lanes<sum_type>];
        convert<lanes<sum_type>>(wide, x + i + j * lanes<sum_type>);
        sums[j] += *reinterpret_cast<const loaded<sum_type>*>(wide);
      }
    }
  }
  sum_type of_lanes[4];
  add_lanes<sum_type, vector_bytes>(sums, of_lanes);
  sum_type sum = (of_lanes[0] + of_lanes[1]) + (of_lanes[2] + of_lanes[3]);
  for (; i < n; ++i) sum += static_cast<sum_type>(x[i]);
  return sum;
}
