#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""devplace's elementwise functions next to PyTorch's on the CPU, by instruction set, in one run with equal threads.

Arguments: the program bench_peers_elementwise, threads (default 1), rounds (default 9). All alternate within a round.
Reports the median over the rounds, in nanoseconds per element of 32768 floats in the second-level cache. PyTorch is
eager, with its default settings, and writes into a tensor where its function can. `add` shows the time of loads and
stores alone.
"""

import statistics
import sys

import torch
from torch.nn import functional

from timing import Program, seconds

SETS = ("generic", "avx2", "avx512")


def functions():
    x = torch.randn(128, 256)
    positive, y = x.abs(), torch.empty(128, 256)

    def of_short(name, dtype):
        a, b, short = x.to(dtype), positive.to(dtype), y.to(dtype)
        return {
            f"add_{name}": lambda: torch.add(a, b, out=short),
            f"exp_{name}": lambda: torch.exp(a, out=short),
            f"to_{name}": lambda: short.copy_(x),
            f"from_{name}": lambda: y.copy_(a),
        }

    return {
        "add": lambda: torch.add(x, positive, out=y),
        "exp": lambda: torch.exp(x, out=y),
        "expm1": lambda: torch.expm1(x, out=y),
        "log": lambda: torch.log(positive, out=y),
        "tanh": lambda: torch.tanh(x, out=y),
        "sigmoid": lambda: torch.sigmoid(x, out=y),
        "erf": lambda: torch.erf(x, out=y),
        "gelu": lambda: functional.gelu(x),
        "gelu_tanh": lambda: functional.gelu(x, approximate="tanh"),
        "silu": lambda: functional.silu(x),
        "softplus": lambda: functional.softplus(x),
        "leaky_relu": lambda: functional.leaky_relu(x),
        "elu": lambda: functional.elu(x),
        "softmax": lambda: torch.softmax(x, 1),
        **of_short("bf16", torch.bfloat16),
        **of_short("half", torch.half),
    }


def main():
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 9
    torch.set_num_threads(threads)
    programs = [Program(sys.argv[1], environment={"DEVPLACE_CPU_ISA": isa}) for isa in SETS]
    for program in programs:
        program.seconds(f"threads {threads}")
    items = functions()
    times = {name: [[] for _ in range(len(SETS) + 1)] for name in items}
    for _ in range(rounds):
        for name, call in items.items():
            for taken, program in zip(times[name], programs):
                taken.append(program.seconds(f"of {name}"))
            times[name][-1].append(seconds(call))
    print(f"{threads} thread(s), median of {rounds} rounds, ns per element; torch {torch.__version__}", end=", ")
    print(torch.backends.cpu.get_cpu_capability())
    print(" " * 10 + "".join(f"{isa:>9}" for isa in SETS) + f"{'PyTorch':>9}  PyTorch / {SETS[-1]}")
    slower = []
    for name, of in times.items():
        medians = [statistics.median(taken) * 1e9 / 32768 for taken in of]
        ratio = medians[-1] / medians[-2]
        if ratio < 1:
            slower.append(name)
        print(f"{name:10}" + "".join(f"{value:9.2f}" for value in medians) + f"{ratio:10.2f}")
    print("below 1.0:", ", ".join(slower) or "none")


if __name__ == "__main__":
    main()
