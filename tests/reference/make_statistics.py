# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the fixtures of reductions and cumulative sums that NumPy computes, statistics.npz, beside this file."""

import itertools

import numpy as np

import archives

SUBSETS = [axes for count in (1, 2, 3) for axes in itertools.combinations(range(3), count)]


def write(name, values):
    """Adds an array with its elements in C order, so that readers need not know its rank."""
    archives.write(name, np.asarray(values).ravel())


def logsumexp(x, axes):
    for axis in sorted(axes, reverse=True):
        x = np.logaddexp.reduce(x, axis=axis)
    return x


REDUCTIONS = {
    "prod": lambda x, axes: np.prod(x, axis=axes),
    "norm1": lambda x, axes: np.sum(np.abs(x), axis=axes),
    "norm2": lambda x, axes: np.sqrt(np.sum(np.square(x), axis=axes)),
    "norm_infinite": lambda x, axes: np.max(np.abs(x), axis=axes),
    "var0": lambda x, axes: np.var(x, axis=axes),
    "var1": lambda x, axes: np.var(x, axis=axes, ddof=1),
    "std0": lambda x, axes: np.std(x, axis=axes),
    "std1": lambda x, axes: np.std(x, axis=axes, ddof=1),
    "logsumexp": logsumexp,
}
COUNTS = {
    "any": lambda x, axes: np.any(x, axis=axes),
    "all": lambda x, axes: np.all(x, axis=axes),
    "count_nonzero": lambda x, axes: np.count_nonzero(x, axis=axes),
}


def name_of(axes):
    return "".join(map(str, axes))


def write_counts(case, x):
    for name, function in COUNTS.items():
        for axes in SUBSETS:
            write(f"statistics/{case}/{name}{name_of(axes)}", np.asarray(function(x, axes)).astype(np.int64))


def write_floats(case, x):
    """x is float32; results are computed in the widest type and rounded to each type."""
    for folder, dtype in (("f64", np.float64), ("f32", np.float32)):
        write(f"statistics/{case}/{folder}/x", x.astype(dtype))
        for name, function in REDUCTIONS.items():
            for axes in SUBSETS:
                values = function(x.astype(np.longdouble), axes)
                write(f"statistics/{case}/{folder}/{name}{name_of(axes)}", np.asarray(values).astype(dtype))
        for axis in range(3):
            sums, products = np.cumsum(x.astype(np.longdouble), axis), np.cumprod(x.astype(np.longdouble), axis)
            write(f"statistics/{case}/{folder}/cumsum{axis}", sums.astype(dtype))
            write(f"statistics/{case}/{folder}/cumprod{axis}", products.astype(dtype))
    write_counts(case, x)


def write_integers(case, x):
    write(f"statistics/{case}/x", x)
    wide = x.astype(np.int64)
    for axes in SUBSETS:
        write(f"statistics/{case}/prod{name_of(axes)}", np.prod(wide, axis=axes))
    for axis in range(3):
        write(f"statistics/{case}/cumsum{axis}", np.cumsum(wide, axis))
        write(f"statistics/{case}/cumprod{axis}", np.cumprod(wide, axis))
    write_counts(case, x)


def make_statistics():
    random = np.random.default_rng(41)
    x = random.standard_normal((3, 4, 5)).astype(np.float32)
    x[1, :, 2], x[2, 3, 4] = 0, -0.0
    write_floats("normal", x)
    write_floats("large_mean", (x + np.float32(4096)).astype(np.float32))
    write_floats("large", (x * np.float32(300)).astype(np.float32))  # exp overflows in both types
    special = x.copy()
    special[0, 0] = [np.nan, np.inf, -np.inf, -0.0, 1]
    special[0, 1] = [-np.inf] * 5
    special[1, 0] = [np.inf, 1, 2, 3, 4]
    special[2, 2] = [-0.0, 0, -0.0, 0, 0]
    write_floats("special", special)
    integers = random.integers(-4, 5, (3, 4, 5))
    integers[1, :, 2] = 3
    write_integers("int64", integers)
    wrapping = integers.astype(np.int32)
    wrapping[0, 0, 0], wrapping[2, 3, 4] = 2**31 - 1, -(2**31)
    write_integers("int32", wrapping)


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        make_statistics()
    archives.save()
