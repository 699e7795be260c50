# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the fixtures of ops/math.hpp, elementwise.npz, by NumPy 2.4.6 on x86, whose long double has 64 bits."""

import numpy as np

from archives import save, write

rng = np.random.default_rng(31)
np.seterr(all="ignore")
TYPES = {"f64": np.float64, "f32": np.float32}
INEXACT = ["sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "exp2", "log2", "log10", "log1p"]
EXACT = ["floor", "ceil", "rint", "trunc", "sign", "isnan", "isinf", "isfinite", "logical_not"]
LOGIC = ["logical_and", "logical_or", "logical_xor"]


def accurate(name, function, *x):
    """Writes a result with more digits than its type has: as f64, and for operands in f64 also the rest after it."""
    y = function(*(value.astype(np.longdouble) for value in x))
    high = y.astype(np.float64)
    write(f"elementwise/{name}", high)
    if x[0].dtype == np.float64:
        write(f"elementwise/{name}_rest", np.where(np.isfinite(high), y - high, 0).astype(np.float64))


def exact(name, y):
    write(f"elementwise/{name}", y.astype(np.int32) if y.dtype in (np.bool_, np.uint8) else y)


for key, dtype in TYPES.items():
    limits = np.finfo(dtype)
    special = [np.nan, np.inf, 0.0, limits.smallest_subnormal, limits.tiny, limits.max, 1.0, 0.5, 1.5, 2.5, 3.5,
               1 - limits.epsneg, 0.5 - limits.epsneg / 4, 1 / limits.eps - 0.5, 1e5, 1e10, 1e22, 8.5]
    special = np.array(special, dtype)
    special = np.concatenate([special, -special])
    x = np.concatenate([special, rng.uniform(-1, 1, 40), rng.normal(0, 10, 40),
                        rng.choice([-1, 1], 44) * 10.0 ** rng.uniform(-30, 30, 44)]).astype(dtype)
    write(f"elementwise/{key}/x", x)
    for name in INEXACT:
        accurate(f"{key}/{name}", getattr(np, name), x)
    for name in EXACT:
        exact(f"{key}/{name}", getattr(np, name)(x))

    some = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 2.5, -3, limits.max, limits.smallest_subnormal], dtype)
    a, b = (np.concatenate([side.ravel(), rng.normal(0, 4, 60)]).astype(dtype) for side in np.meshgrid(some, some))
    write(f"elementwise/{key}/a", a)
    write(f"elementwise/{key}/b", b)
    for name in ["arctan2", "hypot"]:
        accurate(f"{key}/{name}", getattr(np, name), a, b)
    for name in ["fmod", "remainder", *LOGIC]:
        exact(f"{key}/{name}", getattr(np, name)(a, b))
    exact(f"{key}/clip", np.clip(x, dtype(-0.75), dtype(2)))
    exact(f"{key}/clip_crossed", np.clip(x, dtype(2), dtype(-0.75)))
    exact(f"{key}/clip_by", np.clip(a, b, b[::-1]))

for key, dtype in {"i64": np.int64, "i32": np.int32, "u8": np.uint8}.items():
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    some = np.array([low, low + 1, high, high - 1, 0, 1, 2, 7, 100] + ([] if low == 0 else [-1, -2, -7]), dtype)
    a, b = (side.ravel() for side in np.meshgrid(some, some))
    exact(f"{key}/a", a)
    exact(f"{key}/b", b)
    for name in ["fmod", "remainder", *LOGIC]:
        exact(f"{key}/{name}", getattr(np, name)(a, b))
    exact(f"{key}/sign", np.sign(a))
    exact(f"{key}/clip", np.clip(a, dtype(1), dtype(7)))

save()
