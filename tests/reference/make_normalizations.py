# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the fixtures of normalisations of channels, normalizations.npz, beside this file; see make_fixtures.py."""

import torch
from torch import nn
from torch.nn import functional

from archives import save, write
from make_fixtures import gradients, record

STEPS = 200
BATCH = 8


def batch_norm(name, x, momentum=0.1, epsilon=1e-5):
    """Two training passes, of which the second is the layer's result, and a prediction with the running statistics."""
    channels = x.shape[1]
    inputs = {"x": x, "weight": torch.randn(channels), "bias": torch.randn(channels)}
    dy = torch.randn(x.shape)

    def compute(dtype):
        mean, variance = torch.zeros(channels, dtype=dtype), torch.ones(channels, dtype=dtype)

        def train(x, weight, bias):
            return functional.batch_norm(x, mean, variance, weight, bias, True, momentum, epsilon)

        values = [value.to(dtype) for value in inputs.values()]
        train(*values)
        result = gradients(train, inputs, dy, dtype)
        predicted = functional.batch_norm(values[0], mean, variance, *values[1:], False, momentum, epsilon)
        return {**result, "running_mean": mean, "running_var": variance, "predicted": predicted}

    record(f"normalizations/{name}", compute)


def make_batch_norms():
    torch.manual_seed(21)
    batch_norm("batch_norm", torch.randn(6, 5) * 3 + 1)
    batch_norm("batch_norm_positions", torch.randn(4, 3, 11) * 2 - 5)
    batch_norm("batch_norm_images", torch.randn(3, 4, 3, 5))
    batch_norm("batch_norm_options", torch.randn(4, 3, 2) * 2**-10, 0.25, 1e-3)


def group_norm(name, groups, x, epsilon=1e-5):
    inputs = {"x": x, "weight": torch.randn(x.shape[1]), "bias": torch.randn(x.shape[1])}
    dy = torch.randn(x.shape)

    def compute(dtype):
        function = lambda x, weight, bias: functional.group_norm(x, groups, weight, bias, epsilon)
        return gradients(function, inputs, dy, dtype)

    record(f"normalizations/{name}", compute)


def make_group_norms():
    torch.manual_seed(22)
    group_norm("group_norm", 2, torch.randn(5, 6) * 3 + 1)
    group_norm("group_norm_images", 3, torch.randn(2, 6, 3, 5) * 2 - 5)
    group_norm("group_norm_options", 1, torch.randn(3, 4, 2) * 2**-10, 1e-3)


class Network(nn.Module):
    """The network of tests/nn/normalization_training_simulated_test.cpp."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.BatchNorm1d(4),
            nn.GroupNorm(2, 4),
            nn.Flatten(),
            nn.Linear(16, 8),
            nn.BatchNorm1d(8, momentum=0.05),
            nn.Tanh(),
            nn.Linear(8, 3),
        )

    def forward(self, x):
        return self.layers(x)


def make_training():
    torch.manual_seed(23)
    start = [parameter.detach().clone() for parameter in Network().parameters()]
    scale, shift = torch.tensor([1.0, 3.0, 0.25, 2.0]), torch.tensor([2.0, -1.0, 0.0, 0.5])
    x = torch.randn(4 * BATCH, 4, 4) * scale[:, None] + shift[:, None]
    labels = torch.randint(0, 3, (4 * BATCH,))
    results = {}

    def train(dtype):
        network = Network().to(dtype)
        with torch.no_grad():
            for parameter, value in zip(network.parameters(), start):
                parameter.copy_(value)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.02, momentum=0.9, foreach=False)
        losses = []
        for step in range(STEPS):
            batch = slice(step % 4 * BATCH, (step % 4 + 1) * BATCH)
            optimizer.zero_grad()
            loss = functional.cross_entropy(network(x[batch].to(dtype)), labels[batch])
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        results[dtype] = torch.stack(losses)
        buffers = [b for name, b in network.named_buffers() if not name.endswith("num_batches_tracked")]
        with torch.no_grad():
            predicted = network.eval()(x.to(dtype))
        return {
            "x": x.to(dtype),
            "losses": results[dtype],
            "predicted": predicted,
            **{f"start{i}": value.to(dtype) for i, value in enumerate(start)},
            **{f"end{i}": value.detach() for i, value in enumerate(network.parameters())},
            **{f"buffer{i}": value for i, value in enumerate(buffers)},
        }

    record("normalizations/training", train)
    write("normalizations/training/labels", labels)
    exact, rounded = results[torch.float64], results[torch.float32]
    print(
        f"normalizations/training: loss {exact[0]:.3f} to {exact[-1]:.3f}, float32 to float64"
        f" {float(((rounded.double() - exact) / exact).abs().max()):.1e} relative"
    )


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    make_batch_norms()
    make_group_norms()
    make_training()
    save()
    print("torch", torch.__version__)


if __name__ == "__main__":
    main()
