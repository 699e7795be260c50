#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The work of networks_bench.cpp in PyTorch with fused optimizers: eager, or with `compiled` by torch.compile."""

import os
import sys

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from timing import answer_questions, once, quantile, seconds

NETWORKS = {
    "mlp": ([784, 256, 10], nn.ReLU),
    "tanh": ([28, 300, 300, 300, 300, 300, 1], nn.Tanh),
    "wide": ([1024, 1024, 1024, 1024, 1024], nn.GELU),
}
COMPILED = "compiled" in sys.argv


def model_of(sizes, activation):
    layers = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        layers += [nn.Linear(inputs, outputs), activation()]
    return nn.Sequential(*layers[:-1])


def optimizer_of(what, model):
    if what == "sgd":
        return torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, fused=True)
    return torch.optim.Adam(model.parameters(), fused=True)


def epoch(sizes, activation, batch):
    """Times an epoch over data in memory of MNIST's size.

    index_select takes the rows of a batch, 0.02 s per epoch. A DataLoader of a TensorDataset took 0.2 s, one with a
    BatchSampler 0.1 s, and with a worker the epoch took twice the time.
    """
    images, labels = torch.randint(256, (60_000, 784), dtype=torch.uint8), torch.arange(60_000) % 10
    model = model_of(sizes, activation)
    optimizer = optimizer_of("adam", model)

    def loss_of(images, labels):
        return F.cross_entropy(model(images.float().div_(255)), labels)

    forward = torch.compile(loss_of, dynamic=False) if COMPILED else loss_of

    def train(order):
        for chosen in order.split(batch):
            optimizer.zero_grad()
            forward(images.index_select(0, chosen), labels.index_select(0, chosen)).backward()
            optimizer.step()

    train(torch.arange(20 * batch + len(images) % batch))  # warm-up; the last batch is smaller as in an epoch
    return once(lambda: train(torch.randperm(len(images))))


def answer(what, of):
    if what == "threads":
        torch.set_num_threads(int(of))
        return 0
    name, batch = of.split("/")
    sizes, activation = NETWORKS[name]
    batch, classes = int(batch), sizes[-1]
    if what == "epoch":
        return epoch(sizes, activation, batch)
    model = model_of(sizes, activation)
    x = torch.rand(batch, sizes[0])
    if what in ("p50", "p99"):
        predict = torch.compile(model) if COMPILED else model
        with torch.inference_mode():
            return quantile(0.5 if what == "p50" else 0.99, lambda: predict(x))
    targets = torch.arange(batch) % classes if classes > 1 else torch.rand(batch, 1)
    loss = F.cross_entropy if classes > 1 else F.binary_cross_entropy_with_logits
    optimizer = optimizer_of(what, model)

    def loss_of(x, targets):
        return loss(model(x), targets)

    forward = torch.compile(loss_of) if COMPILED else loss_of

    def step():
        optimizer.zero_grad()
        forward(x, targets).backward()
        optimizer.step()

    return once(step) if what == "once" else seconds(step)


answer_questions(answer)
