#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A data-parallel training step on the CPUs of this host: devplace next to DistributedDataParallel with Gloo.

Argument: the program bench_train_processes. Run it by a Python that has PyTorch. Both train 784-256-10 with Adam (in
PyTorch fused, gradients as views of the buckets, set_to_none), one thread and an equal batch for each process. The
programs alternate. Reports the median over the rounds, in microseconds.
"""

import argparse
import statistics
import subprocess
import time

from processes import output_of_rank_0


def ddp(batch, rounds):
    """Runs one process of PyTorch, with the launcher's environment."""
    import torch
    import torch.distributed as dist
    from torch import nn

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(2)
    net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    net = nn.parallel.DistributedDataParallel(net, gradient_as_bucket_view=True, static_graph=True)
    rule = torch.optim.Adam(net.parameters(), fused=True)
    images, labels = torch.rand(batch, 784), torch.arange(batch) % 10

    def seconds_of(steps):
        dist.barrier()
        begin = time.perf_counter()
        for _ in range(steps):
            rule.zero_grad(set_to_none=True)
            nn.functional.cross_entropy(net(images), labels).backward()
            rule.step()
        slowest = torch.tensor((time.perf_counter() - begin) / steps, dtype=torch.float64)
        dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
        return slowest.item()

    seconds_of(20)
    steps = 1 + int(0.5 / seconds_of(5))
    measured = [seconds_of(steps) for _ in range(rounds)]
    if dist.get_rank() == 0:
        print(statistics.median(measured) * 1e6)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="bench_train_processes")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--batches", type=int, nargs="+", default=[64, 1024], help="samples of each process")
    parser.add_argument("--rounds", type=int, default=5, help="how often the programs alternate")
    parser.add_argument("--inner", type=int, default=3, help="rounds of each program")
    parser.add_argument("--ddp", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ddp:
        return ddp(options.ddp, options.inner)
    if options.program is None:
        parser.error("give the path of bench_train_processes")
    print(f"{options.processes} processes, microseconds of a step\n   batch    devplace         DDP   DDP/devplace")
    for batch in options.batches:
        ours, theirs = [], []
        for _ in range(options.rounds):
            command = [options.program, str(options.processes), str(batch), str(options.inner)]
            ours.append(float(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout))
            theirs.append(float(output_of_rank_0(options.processes, __file__, "--ddp", batch, "--inner", options.inner)))
        a, b = statistics.median(ours), statistics.median(theirs)
        print(f"{batch:>8}{a:>12.1f}{b:>12.1f}{b / a:>15.2f}")


if __name__ == "__main__":
    main()
