# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes samplers/distributed.txt beside this file: lists of torch.utils.data.DistributedSampler.

    fixtures-env/bin/python tests/reference/make_distributed_sampler.py

make_fixtures.py says how to make the environment; README.md describes the file.
"""

import pathlib
import string

import torch
from torch.utils.data import DistributedSampler

INDICES = string.digits + string.ascii_lowercase + string.ascii_uppercase + "+-"
SEED = 7


def lists(samples, ranks, shuffle, drop_last):
    """One list for each rank, of one character for each index, joined by commas."""
    words = []
    for rank in range(ranks):
        sampler = DistributedSampler(range(samples), ranks, rank, shuffle, SEED, drop_last)
        sampler.set_epoch(samples % 5)
        words.append("".join(INDICES[i] for i in sampler))
    return ",".join(words)


def main():
    path = pathlib.Path(__file__).resolve().parent / "samplers/distributed.txt"
    path.parent.mkdir(exist_ok=True)
    lines = []
    for samples in range(1, 65):
        for ranks in range(1, 10):
            for shuffle in (False, True):
                for drop_last in (False, True):
                    lines.append(
                        f"{samples} {ranks} {int(shuffle)} {int(drop_last)} {lists(samples, ranks, shuffle, drop_last)}\n"
                    )
    path.write_text("".join(lines))
    large = DistributedSampler(range(100003), 3, 1, True, 2**40 + 5)
    large.set_epoch(2)
    print(f"torch {torch.__version__}, {len(lines)} lines; of 100003:", list(large)[:4], list(large)[-2:])


if __name__ == "__main__":
    main()
