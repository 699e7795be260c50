# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes tests/reference/npz by NumPy 2.4.6."""

import pathlib

import numpy as np

folder = pathlib.Path(__file__).parent / "npz"
folder.mkdir(exist_ok=True)
arrays = {
    "images": np.arange(600, dtype=np.float32).reshape(10, 60) / 8,
    "labels": np.arange(10, dtype=np.int64) % 3,
    "scalar": np.float64(2.5),
    "empty": np.zeros((0, 4), np.uint8),
    "flags": np.array([True, False]),
}
np.savez(folder / "stored.npz", np.array([7], np.int32), **arrays)
np.savez_compressed(folder / "compressed.npz", **arrays)
