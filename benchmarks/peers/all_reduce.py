#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""All-reduce between processes of this host: devplace by shared memory next to MPI_Allreduce and PyTorch's Gloo.

Argument: the program bench_parallel_all_reduce_processes. Open MPI and MPICH take part if their compilers are installed
(mpicxx.openmpi, mpicxx.mpich, as Debian names them), Gloo if this Python has PyTorch. All sum equal sizes in place,
with one thread per process. The programs alternate. Reports the median over the rounds in microseconds, and the time of
the fastest peer as a multiple of devplace's.
"""

import argparse
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

from processes import output_of_rank_0

SIZES = [1_000, 4_000, 16_000, 64_000, 256_000, 800_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000]


def gloo(rounds):
    """Runs one process of Gloo, with the launcher's environment."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    for size in SIZES:
        values = torch.zeros(size // 4)
        calls = 20_000_000 // (size + 20_000) + 1 if size < 20_000_000 else 1
        times = []
        for _ in range(rounds + 1):
            dist.barrier()
            begin = time.perf_counter()
            for _ in range(calls):
                dist.all_reduce(values)
            slowest = torch.tensor((time.perf_counter() - begin) / calls, dtype=torch.float64)
            dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
            times.append(slowest.item())
        if dist.get_rank() == 0:
            print(size, statistics.median(times[1:]) * 1e6)
    dist.destroy_process_group()


def output(command):
    return subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, check=True).stdout


def times(text):
    """Returns bytes and microseconds of the lines that begin with a number of bytes."""
    rows = [line.split() for line in text.splitlines()]
    return {int(row[0]): float(row[1]) for row in rows if len(row) > 1 and row[0].isdigit() and row[1][0].isdigit()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="bench_parallel_all_reduce_processes")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5, help="how often the programs alternate")
    parser.add_argument("--inner", type=int, default=3, help="rounds of each program")
    parser.add_argument("--gloo", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.gloo:
        return gloo(options.inner)
    if options.program is None:
        parser.error("give the path of bench_parallel_all_reduce_processes")
    n, inner = options.processes, options.inner
    programs = {"devplace": lambda: output([options.program, n, inner])}
    with tempfile.TemporaryDirectory() as folder:
        for name, flags in (("openmpi", ["--allow-run-as-root", "--oversubscribe"]), ("mpich", [])):
            if shutil.which(f"mpicxx.{name}") and shutil.which(f"mpirun.{name}"):
                built = pathlib.Path(folder) / name
                output([f"mpicxx.{name}", "-O3", pathlib.Path(__file__).with_name("all_reduce_mpi.cpp"), "-o", built])
                command = [f"mpirun.{name}", *flags, "-n", n, built, inner]
                programs[name] = lambda command=command: output(command)
        try:
            import torch  # noqa: F401

            programs["gloo"] = lambda: output_of_rank_0(n, __file__, "--gloo", "--inner", inner)
        except ImportError:
            pass
        measured = {name: {size: [] for size in SIZES} for name in programs}
        for _ in range(options.rounds):
            for name, run in programs.items():
                for size, microseconds in times(run()).items():
                    measured[name][size].append(microseconds)
    print(f"{n} processes, microseconds\n" + f"{'bytes':>12}" + "".join(f"{name:>12}" for name in programs) + "  peer/devplace")
    for size in SIZES:
        row = {name: statistics.median(of[size]) for name, of in measured.items()}
        best = min((value for name, value in row.items() if name != "devplace"), default=float("nan"))
        print(f"{size:>12}" + "".join(f"{value:>12.2f}" for value in row.values()) + f"{best / row['devplace']:>15.2f}")


if __name__ == "__main__":
    main()
