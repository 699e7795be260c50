#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""devplace next to PyTorch on one GPU, in one run.

Both alternate within a round, and the median over the rounds is reported. PyTorch works in three ways: eager (with the
fused Adam), with torch.compile, and as a manually captured CUDA graph. Strict float means no TF32 on either side.
Memory-bound work is also given as a share of the copy bandwidth measured in the same run. Without PyTorch the table has
only devplace's column; --device cpu and --quick test the program without a GPU.
"""

import argparse
import json
import statistics
import sys
import time

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    torch = None

from timing import Program

ROUNDS = 5
COPY_BYTES = 1 << 30


class Pytorch:
    """PyTorch's work: the functions to be timed, made once per item."""

    def __init__(self, device):
        self.device = torch.device(device)
        self.on_gpu = self.device.type == "cuda"

    def wait(self):
        if self.on_gpu:
            torch.cuda.synchronize()

    def seconds(self, call, at_least):
        """Times consecutive calls with one wait at the end, like devplace::bench::time_on."""
        for _ in range(3):
            call()
        self.wait()
        calls = 1
        while True:
            begin = time.perf_counter()
            for _ in range(calls):
                call()
            self.wait()
            taken = time.perf_counter() - begin
            if taken >= at_least:
                return taken / calls
            calls *= 2

    def step(self, precision, batch):
        torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
        x = torch.rand(batch, 784, device=self.device)
        y = torch.arange(batch, device=self.device) % 10

        def made(capturable):
            net = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
            net.to(self.device)
            options = {"fused": True, "capturable": True} if capturable else {"fused": True}
            return net, torch.optim.Adam(net.parameters(), **options)

        def eager():
            net, optimizer = made(False)

            def call():
                optimizer.zero_grad(set_to_none=True)
                F.cross_entropy(net(x), y).backward()
                optimizer.step()

            return call

        def compiled():
            net, optimizer = made(False)
            loss = torch.compile(lambda a, b: F.cross_entropy(net(a), b), mode="reduce-overhead")

            def call():
                if self.on_gpu:
                    torch.compiler.cudagraph_mark_step_begin()
                optimizer.zero_grad(set_to_none=True)
                loss(x, y).backward()
                optimizer.step()

            return call

        def graph():
            net, optimizer = made(True)

            def work():
                optimizer.zero_grad(set_to_none=True)
                F.cross_entropy(net(x), y).backward()
                optimizer.step()

            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(3):
                    work()
            torch.cuda.current_stream().wait_stream(side)
            captured = torch.cuda.CUDAGraph()
            optimizer.zero_grad(set_to_none=True)
            with torch.cuda.graph(captured):
                work()
            return captured.replay

        return self.ways(eager, compiled, graph)

    def softmax(self, rows, columns):
        x = torch.rand(rows, columns, device=self.device)
        return self.ways(lambda: lambda: torch.softmax(x, 1),
                         lambda: self.partial(torch.compile(lambda a: torch.softmax(a, 1)), x))

    def cross_entropy(self, rows, classes):
        x = torch.rand(rows, classes, device=self.device, requires_grad=True)
        y = torch.arange(rows, device=self.device) % classes

        def both_ways(function):
            def call():
                x.grad = None
                function(x, y).backward()

            return call

        def summed(a, b):
            return F.cross_entropy(a, b, reduction="sum")

        return self.ways(lambda: both_ways(summed), lambda: both_ways(torch.compile(summed)))

    def adam(self, parameters):
        weights = torch.zeros(parameters, device=self.device, requires_grad=True)
        weights.grad = torch.zeros_like(weights)
        return self.ways(lambda: torch.optim.Adam([weights], fused=True).step)

    def copy(self, size):
        source = torch.zeros(size // 4, device=self.device)
        target = torch.empty_like(source)
        return self.ways(lambda: lambda: target.copy_(source))

    def ways(self, eager, compiled=None, graph=None):
        return {"eager": eager, "compile": compiled, "graph": graph if self.on_gpu else None}

    @staticmethod
    def partial(function, argument):
        return lambda: function(argument)


def measure(question, devplace, pytorch, deadline, at_least):
    """Returns median seconds by column. Omits, with the reason, ways that PyTorch does not support here."""
    kind, *arguments = question.split()
    numbers = [int(a) for a in arguments if a.isdigit()]
    ways, reasons = {}, {}
    if pytorch:
        made = getattr(pytorch, kind)(*(["tf32" if "tf32" in arguments else "float"] if kind == "step" else []), *numbers)
        for name, make in made.items():
            if make is None:
                continue
            if name == "compile" and time.monotonic() > deadline:
                reasons[name] = "no time was left"
                continue
            try:
                ways[name] = make()
                ways[name]()
                pytorch.wait()
            except Exception as problem:  # whatever PyTorch, Triton or the driver throws
                ways.pop(name, None)
                reasons[name] = str(problem).splitlines()[0][:100] if str(problem) else type(problem).__name__
    times = {"devplace": [], **{name: [] for name in ways}}
    for _ in range(ROUNDS):
        times["devplace"].append(devplace.seconds(question))
        for name, call in ways.items():
            times[name].append(pytorch.seconds(call, at_least))
    return {name: statistics.median(values) for name, values in times.items()}, reasons


def moved_bytes(question):
    """Returns the minimum number of bytes read and written; None for work that is not purely memory-bound."""
    kind, *numbers = question.split()
    if kind == "step":
        return None
    numbers = [int(n) for n in numbers]
    if kind == "copy":
        return 2 * numbers[0]
    if kind == "adam":
        return 28 * numbers[0]  # reads parameter, gradient and two moments, writes all but the gradient
    return 2 * 4 * numbers[0] * numbers[1]


def questions(quick):
    copied, elements, parameters = (1 << 20, 1 << 12, 10_000) if quick else (COPY_BYTES, 1 << 27, 10_000_000)
    yield f"copy {copied}"
    for precision in ("float", "tf32"):
        for batch in (64,) if quick else (64, 1024, 65536):
            yield f"step {precision} {batch}"
    for kind in ("softmax", "cross_entropy"):
        for classes in (10, 1000, 50_000)[: 2 if quick else 3]:
            yield f"{kind} {elements // classes} {classes}"
    yield f"adam {parameters}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program", help="devplace's side: bench_peers_gpu_cuda in the build's folder benchmarks")
    arguments.add_argument("--json", metavar="FILE", help="write the table to this file as well")
    arguments.add_argument("--minutes", type=float, default=3, help="after these torch.compile is left out (3)")
    arguments.add_argument("--device", default="cuda", help="PyTorch's device (cuda)")
    arguments.add_argument("--quick", action="store_true", help="small sizes, to see whether everything works")
    given = arguments.parse_args()
    deadline = time.monotonic() + 60 * given.minutes
    devplace = Program(given.program)
    pytorch = Pytorch(given.device) if torch else None
    names = ["devplace"] + (["eager", "compile", "graph"] if torch else [])
    print("PyTorch " + (torch.__version__ if torch else "is not installed: no column of it") + "; microseconds, medians of "
          f"{ROUNDS} alternating rounds")
    print(f"{'work':28}" + "".join(f"{name:>12}" for name in names) + f"{'best/devplace':>15}{'of copy rate':>14}")
    rows, bandwidth = [], None
    for question in questions(given.quick):
        seconds, reasons = measure(question, devplace, pytorch, deadline, 0.002 if given.quick else 0.05)
        moved = moved_bytes(question)
        if question.startswith("copy"):
            bandwidth = max(moved / s for s in seconds.values())
        others = [s for name, s in seconds.items() if name != "devplace"]
        row = {"work": question, "seconds": seconds, "left_out": reasons,
               "best_peer_by_devplace": min(others) / seconds["devplace"] if others else None,
               "share_of_copy_bandwidth": moved / seconds["devplace"] / bandwidth if moved else None}
        rows.append(row)
        cells = "".join(f"{seconds[n] * 1e6:12.1f}" if n in seconds else f"{'-':>12}" for n in names)
        ratio, share = row["best_peer_by_devplace"], row["share_of_copy_bandwidth"]
        print(f"{question:28}{cells}" + (f"{ratio:15.2f}" if ratio else f"{'-':>15}")
              + (f"{share:14.2f}" if share else f"{'-':>14}"), flush=True)
        for name, reason in reasons.items():
            print(f"{'':28}{name} left out: {reason}")
    print(f"copy bandwidth {bandwidth / 1e9:.0f} GB/s, read and written")
    if given.json:
        with open(given.json, "w") as file:
            json.dump({"pytorch": torch.__version__ if torch else None, "copy_bandwidth": bandwidth, "rows": rows}, file,
                      indent=1)


if __name__ == "__main__":
    main()
