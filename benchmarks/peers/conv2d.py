#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""devplace's convolutions next to PyTorch's on the CPU, in one run with equal threads.

Arguments: the program bench_nn_conv2d, threads (default 1), rounds (default 9). The two alternate within a round, and
the median over the rounds is reported. PyTorch is eager, with its default settings.
"""

import torch
from torch import nn

from timing import command_line, compare

BATCH = 64
LAYERS = {"conv1": (1, 16, 28, 3), "conv2": (16, 32, 14, 3), "conv3": (32, 64, 14, 3), "pointwise": (64, 64, 14, 1)}


def layer(name, backward):
    inputs, outputs, size, kernel = LAYERS[name]
    conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2)
    x = torch.randn(BATCH, inputs, size, size, requires_grad=inputs > 1)
    dy = torch.randn(BATCH, outputs, size, size)

    def forward():
        with torch.no_grad():
            conv(x)

    def both():
        conv.zero_grad()
        x.grad = None
        conv(x).backward(dy)

    return both if backward else forward


def main():
    program, threads, rounds = command_line(rounds=9)
    torch.set_num_threads(threads)
    items = {f"{kind} {name}": layer(name, kind == "both") for name in LAYERS for kind in ("forward", "both")}
    compare(f"{threads} thread(s), batch {BATCH}; torch {torch.__version__}", program, items, rounds)


if __name__ == "__main__":
    main()
