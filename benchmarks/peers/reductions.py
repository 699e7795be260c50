#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reductions, sorts and a transposed copy next to PyTorch's on the CPU, in one run with equal threads.

Arguments: the program bench_peers_reductions, threads (default 1), rounds (default 5). Reports times as layers.py does.
PyTorch is eager in inference_mode. torch.sort computes the positions too; they are not asked of devplace.
"""

import torch

from timing import command_line, compare

REDUCED = ("64x64", "256x256", "1024x256", "2048x784")
SORTED = ("1x1000000", "256x1024", "4096x64")


def work():
    torch.manual_seed(1)
    result = {}
    for name in REDUCED:
        x = torch.randn(*map(int, name.split("x")))
        for kind, function in {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "argmax": torch.argmax}.items():
            result[f"{kind}_of_rows {name}"] = lambda x=x, function=function: function(x, 1)
            result[f"{kind}_of_columns {name}"] = lambda x=x, function=function: function(x, 0)
            result[f"{kind} {name}"] = lambda x=x, function=function: function(x)
    for name in SORTED:
        x = torch.randn(*map(int, name.split("x")))
        result[f"sort {name}"] = lambda x=x: torch.sort(x)
        result[f"argsort {name}"] = lambda x=x: torch.argsort(x)
    result["sort_of_int64 1x1000000"] = lambda x=torch.randint(0, 1 << 62, (1, 1000000)): torch.sort(x)
    x, y = torch.randn(1024, 256), torch.empty(256, 1024)
    result["transposed_copy 1024x256"] = lambda: y.copy_(x.T)
    return result


def main():
    program, threads, rounds = command_line(rounds=5)
    torch.set_num_threads(threads)
    with torch.inference_mode():
        compare(f"{threads} thread(s); torch {torch.__version__}", program, work(), rounds)


if __name__ == "__main__":
    main()
