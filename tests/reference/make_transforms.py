# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes transforms.npz, beside this file: images turned by PyTorch."""

import math

import torch
import torch.nn.functional as F

from archives import save, write


def turned(x, degrees):
    height, width = x.shape[-2:]
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    # Coordinates are divided by half of the image's extents.
    theta = [[cosine, -sine * height / width, 0.0], [sine * width / height, cosine, 0.0]]
    grid = F.affine_grid(torch.tensor([theta], dtype=x.dtype), [1, *x.shape], align_corners=False)
    return F.grid_sample(x[None], grid, mode="bilinear", padding_mode="zeros", align_corners=False)[0]


def make_transforms():
    x = torch.sin(torch.arange(70, dtype=torch.float64) * 1.7).reshape(2, 5, 7)
    write("transforms/rotations/x", x)
    write("transforms/rotations/turned25", turned(x, 25))
    write("transforms/rotations/turned_160", turned(x, -160))


if __name__ == "__main__":
    make_transforms()
    save()
