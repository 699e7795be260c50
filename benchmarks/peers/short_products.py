#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""devplace's products of float, bf16 and half next to PyTorch's (MKL's and oneDNN's) on the CPU, in one run.

Arguments: the program bench_peers_short_products, rounds (default 15), then numbers of threads (default 1 and 2). All
alternate within a round, and the medians over the rounds are reported.
"""

import statistics
import sys

import torch

from timing import Program, seconds

TYPES = {"float": torch.float32, "bf16": torch.bfloat16, "half": torch.float16}
SIZES = (256, 1024)


def product(dtype, size):
    a, b = torch.full((size, size), 0.5, dtype=dtype), torch.full((size, size), 0.25, dtype=dtype)
    c = torch.empty(size, size, dtype=dtype)
    return lambda: torch.matmul(a, b, out=c)


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    devplace = Program(sys.argv[1])
    print(f"median of {rounds} rounds, GFLOP/s; torch {torch.__version__}")
    for threads in [int(number) for number in sys.argv[3:]] or [1, 2]:
        torch.set_num_threads(threads)
        devplace.seconds(f"threads {threads}")
        calls = {(name, size): product(dtype, size) for name, dtype in TYPES.items() for size in SIZES}
        times = {work: ([], []) for work in calls}
        for _ in range(rounds):
            for (name, size), call in calls.items():
                times[name, size][0].append(devplace.seconds(f"{name} {size}"))
                times[name, size][1].append(seconds(call))
        for (name, size), series in times.items():
            mine, theirs = (2e-9 * size**3 / statistics.median(values) for values in series)
            print(
                f"{threads} thread(s)  {name:5} {size:5} devplace {mine:6.0f}  PyTorch {theirs:6.0f}"
                f"  devplace / PyTorch {mine / theirs:5.2f}"
            )


if __name__ == "__main__":
    main()
