# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collects the arrays of fixtures and stores each group's arrays in one archive beside this file, <group>.npz."""

import pathlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent
groups = {}


def write(name, values):
    """Adds the tensor or array `<group>/<name in the archive>`. Scalars get the shape [1]: every array has an axis."""
    values = values.detach().numpy() if hasattr(values, "detach") else np.asarray(values)
    values = np.ascontiguousarray(np.atleast_1d(values))
    assert values.dtype in (np.float64, np.float32, np.int64, np.int32), (name, values.dtype)
    group, member = name.split("/", 1)
    members = groups.setdefault(group, {})
    assert member not in members, name
    members[member] = values.astype(values.dtype.newbyteorder("<"))


def save():
    """Stores all groups, with the arrays in the order of their names and without compression."""
    for group, members in groups.items():
        path = ROOT / f"{group}.npz"
        np.savez(path, **dict(sorted(members.items())))
        print(f"{path.name}: {len(members)} arrays, {path.stat().st_size / 1e6:.2f} MB")
