#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The network of examples/cnn.cpp in devplace and in PyTorch on the CPU, in one run with equal threads.

Arguments: the program bench_peers_cnn, rounds (default 9), then numbers of threads (default 1 and 2). All alternate
within a round, and the medians over the rounds are reported. PyTorch is eager with its fused Adam, and has images both
in its default memory format and in channels_last; the ratio is that of the faster one.
"""

import statistics
import sys

import torch
from torch import nn
from torch.nn import functional

from timing import Program, seconds

FORMATS = {"default": torch.contiguous_format, "channels_last": torch.channels_last}


def conv(inputs, outputs, stride=1):
    return nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)


class Residual(nn.Module):
    """Adds the shortcut to the layers' result and applies a ReLU."""

    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.layers = nn.Sequential(
            conv(inputs, outputs, stride),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
            conv(outputs, outputs),
            nn.BatchNorm2d(outputs),
        )
        self.shortcut = nn.Identity()
        if stride != 1:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        return functional.relu(self.layers(x).add_(self.shortcut(x)), inplace=True)


def network(rows, train, memory_format):
    net = nn.Sequential(
        conv(1, 16),
        nn.BatchNorm2d(16),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        Residual(16, 16),
        Residual(16, 32, 2),
        Residual(32, 32),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, 10),
    ).to(memory_format=memory_format)
    optimizer = torch.optim.Adam(net.parameters(), fused=True)
    x, labels = torch.rand(rows, 1, 28, 28).to(memory_format=memory_format), torch.arange(rows) % 10

    def step():
        optimizer.zero_grad()
        functional.cross_entropy(net(x), labels).backward()
        optimizer.step()

    def predict():
        with torch.no_grad():
            net(x)

    net.train(train)
    return step if train else predict


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    devplace = Program(sys.argv[1])
    questions = [f"{kind} {rows}" for kind in ("step", "predict") for rows in (64, 512)]
    print(f"median of {rounds} rounds, microseconds; torch {torch.__version__}")
    for threads in [int(number) for number in sys.argv[3:]] or [1, 2]:
        torch.set_num_threads(threads)
        devplace.seconds(f"threads {threads}")
        peers = {
            question: [network(int(question.split()[1]), question.startswith("step"), f) for f in FORMATS.values()]
            for question in questions
        }
        times = {question: [[] for _ in range(1 + len(FORMATS))] for question in questions}
        for _ in range(rounds):
            for question, calls in peers.items():
                times[question][0].append(devplace.seconds(question))
                for series, call in zip(times[question][1:], calls):
                    series.append(seconds(call))
        for question, series in times.items():
            mine, *theirs = (statistics.median(values) * 1e6 for values in series)
            columns = "  ".join(f"PyTorch {name} {value:8.0f}" for name, value in zip(FORMATS, theirs))
            print(
                f"{threads} thread(s)  {question:12} devplace {mine:8.0f}  {columns}"
                f"  PyTorch / devplace {min(theirs) / mine:5.2f}"
            )


if __name__ == "__main__":
    main()
