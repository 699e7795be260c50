# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the fixtures of branches, branches.npz, beside this file; see make_fixtures.py."""

import torch
from torch.nn import functional

from archives import save
from make_fixtures import gradients, record


def case(name, function, x, **parameters):
    """x and parameters are extents."""
    inputs = {"x": torch.randn(x), **{key: torch.randn(extents) * 0.5 for key, extents in parameters.items()}}
    dy = torch.randn(function(**inputs).shape)
    record(f"branches/{name}", lambda dtype: gradients(function, inputs, dy, dtype))


def make_branches():
    torch.manual_seed(21)
    linear, convolution = functional.linear, functional.conv2d

    def projected(x, w0, b0, w1, b1, ws, bs):
        return linear(torch.relu(linear(x, w0, b0)), w1, b1) + linear(x, ws, bs)

    case("projected", projected, (5, 6), w0=(8, 6), b0=(8,), w1=(3, 8), b1=(3,), ws=(3, 6), bs=(3,))

    # Results that are kept, that are not, and the input itself, first, second and last.
    def summed(x, w0, b0, w1, b1, w2, b2):
        first = x + torch.tanh(linear(x, w0, b0)) + linear(x, w1, b1)
        return torch.tanh(first) + (linear(first, w2, b2) + first)

    case("summed", summed, (5, 6), w0=(6, 6), b0=(6,), w1=(6, 6), b1=(6,), w2=(6, 6), b2=(6,))

    def joined(x, w0, b0, w1, b1):
        narrow = torch.relu(convolution(x, w0, b0))
        wide = convolution(x, w1, b1, padding=1)
        channels = torch.cat([narrow, x, wide], 1)
        return torch.cat([channels, torch.tanh(channels)], 3)

    case("joined", joined, (3, 2, 4, 5), w0=(3, 2, 1, 1), b0=(3,), w1=(2, 2, 3, 3), b1=(2,))


if __name__ == "__main__":
    make_branches()
    save()
