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

# In Fortran order: element [i, j, k] of the cube is 100 i + 10 j + k.
cube = 100 * np.arange(3)[:, None, None] + 10 * np.arange(4)[:, None] + np.arange(2)
fortran = {
    "matrix": np.arange(12, dtype=np.float64).reshape(4, 3).T,
    "cube": np.asfortranarray(cube.astype(">i4")),
    "reversed_axes": np.arange(24, dtype=np.float32).reshape(2, 3, 4).transpose(2, 1, 0),
}
np.savez(folder / "fortran.npz", **fortran)
np.savez_compressed(folder / "fortran_compressed.npz", **fortran)
np.save(folder / "fortran.npy", fortran["cube"])
