#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The transformer of examples/transformer.cpp in devplace and in PyTorch: equal initial parameters, batches and
learning rates, on the CPU with equal threads.

Arguments: the program bench_nn_transformer, threads (default 1), steps (default 300), seed (default 1). Both take their
steps in turn. Reports the loss curves and the medians of the seconds of a step. PyTorch is eager; its attention is
scaled_dot_product_attention. To measure the noise of the curves, PyTorch takes the steps once more with other last bits
of the parameters: a factor of 1 + 1e-6 before the first step.
"""

import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHARACTERS, CONTEXT, WIDTH, HEADS, BLOCKS, BATCH = 128, 64, 64, 4, 3, 32


class Attention(nn.Module):
    """Causal attention with nn.MultiheadAttention's names of parameters, without the masks that it would make."""

    def __init__(self):
        super().__init__()
        self.in_proj_weight = nn.Parameter(torch.empty(3 * WIDTH, WIDTH))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * WIDTH))
        self.out_proj = nn.Linear(WIDTH, WIDTH)
        nn.init.xavier_uniform_(self.in_proj_weight)
        nn.init.zeros_(self.out_proj.bias)

    def forward(self, x):
        n, length, _ = x.shape
        q, k, v = functional.linear(x, self.in_proj_weight, self.in_proj_bias).chunk(3, -1)
        q, k, v = (part.view(n, length, HEADS, -1).transpose(1, 2) for part in (q, k, v))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out_proj(y.transpose(1, 2).reshape(n, length, WIDTH))


class Position(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(CONTEXT, WIDTH))

    def forward(self, x):
        return x + self.weight


class Residual(nn.Sequential):
    def forward(self, x):
        return x + super().forward(x)


def block():
    return nn.Sequential(
        Residual(nn.LayerNorm(WIDTH), Attention()),
        Residual(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)),
    )


class Peer:
    """The network, its optimizer and the loss of each step so far."""

    def __init__(self, parameters=None, factor=1.0):
        blocks = [block() for _ in range(BLOCKS)]
        # The identity is at the position of devplace's input, so that parameters have the same names.
        self.net = nn.Sequential(
            nn.Identity(), nn.Embedding(CHARACTERS, WIDTH), Position(), *blocks, nn.LayerNorm(WIDTH), nn.Linear(WIDTH, CHARACTERS)
        )
        if parameters is not None:
            self.net.load_state_dict({name: value * factor for name, value in parameters.items()})
        self.optimizer = torch.optim.AdamW(self.net.parameters(), weight_decay=0.01)
        self.losses, self.seconds = [], []

    def step(self, characters, rate):
        self.optimizer.param_groups[0]["lr"] = rate
        begin = time.perf_counter()
        self.optimizer.zero_grad()
        outputs = self.net(characters[:, :-1])
        loss = functional.cross_entropy(outputs.flatten(0, 1), characters[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimizer.step()
        self.losses.append(loss.item())
        self.seconds.append(time.perf_counter() - begin)


class Devplace:
    """The program that takes devplace's steps, one at a time."""

    def __init__(self, program, folder, threads):
        self.process = subprocess.Popen([program, folder, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.losses, self.seconds = [], []

    def step(self, first, rate):
        self.process.stdin.write(f"{first} {BATCH} {rate!r}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if len(answer) != 2:
            sys.exit(f"transformer.py: the program ended with status {self.process.wait()}.")
        self.losses.append(float(answer[0]))
        self.seconds.append(float(answer[1]))


def headers():
    """Returns the text of all headers, as numbers below 128."""
    files = sorted(path for path in (ROOT / "include").rglob("*") if path.is_file())
    text = np.frombuffer(b"".join(path.read_bytes() for path in files), np.uint8).astype(np.int64)
    return np.where(text < CHARACTERS, text, ord("?"))


def main():
    program = sys.argv[1]
    threads, steps, seed = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((2, 1), (3, 300), (4, 1)))
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    text = headers()
    starts = np.random.default_rng(seed).integers(0, len(text) - CONTEXT, steps * BATCH)
    characters = np.stack([text[start : start + CONTEXT + 1] for start in starts])
    start = {name: value.clone() for name, value in Peer().net.state_dict().items()}
    peer, moved = Peer(start), Peer(start, 1 + 1e-6)
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/characters.npy", characters)
        for name, value in start.items():
            np.save(f"{folder}/{name}.npy", value.numpy())
        devplace = Devplace(program, folder, threads)
        batches = torch.from_numpy(characters)
        for i in range(steps):
            rate = 6e-3 * min(1, (i + 1) / (steps // 30 + 1)) * (0.55 + 0.45 * math.cos(math.pi * i / steps))
            devplace.step(i * BATCH, rate)
            for each in (peer, moved):
                each.step(batches[i * BATCH : (i + 1) * BATCH], rate)
    print(f"{threads} thread(s), {steps} steps of {BATCH} x {CONTEXT} characters; torch {torch.__version__}")
    print("bits per character of the training batches, means of tenths of the steps: devplace, PyTorch, PyTorch moved")
    part = max(steps // 10, 1)
    for i in range(0, steps - part + 1, part):
        means = [statistics.mean(each.losses[i : i + part]) / math.log(2) for each in (devplace, peer, moved)]
        print(f"  step {i + part:5}  {means[0]:.4f}  {means[1]:.4f}  {means[2]:.4f}")
    for name, each in (("devplace", devplace), ("PyTorch moved", moved)):
        differences = [abs(a - b) / b for a, b in zip(each.losses, peer.losses)]
        print(f"largest relative difference of a loss to PyTorch, {name}: {max(differences):.1e}, of the first: {differences[0]:.1e}")
    a, b = (statistics.median(each.seconds) * 1e3 for each in (devplace, peer))
    print(f"milliseconds per step, medians: devplace {a:.2f}, PyTorch {b:.2f}, PyTorch / devplace {b / a:.2f}")


if __name__ == "__main__":
    main()
