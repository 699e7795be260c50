# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the fixtures of parameter groups, groups.npz, beside this file; see make_fixtures.py."""

import torch
from torch import nn
from torch.nn import functional

from archives import save, write
from make_fixtures import record

STEPS = 200
BATCH = 8
# Of each 16 elements the factors of learning rate and weight decay.
GROUPS = ((1, 1), (1, 0), (0.1, 1), (1, 0), (0.1, 0), (1, 1))
RULES = {
    "sgd": (torch.optim.SGD, {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.1}),
    "adam": (torch.optim.Adam, {"lr": 0.02, "weight_decay": 0.1}),
    "adamw": (torch.optim.AdamW, {"lr": 0.02, "weight_decay": 0.1}),
}


def updates(rule, options, start, target, dtype):
    """Each parameter's gradient is its distance from the target."""
    parameters = [torch.nn.Parameter(part.to(dtype).clone()) for part in start]
    groups = [
        {"params": [parameter], "lr": rate * options["lr"], "weight_decay": decay * options["weight_decay"]}
        for parameter, (rate, decay) in zip(parameters, GROUPS)
    ]
    optimizer = rule(groups, **options, foreach=False)
    for _ in range(STEPS):
        for parameter, to in zip(parameters, target):
            parameter.grad = parameter.detach() - to.to(dtype)
        optimizer.step()
    both = {"start": torch.cat(start).to(dtype), "target": torch.cat(target).to(dtype)}
    return {**both, "end": torch.cat([parameter.detach() for parameter in parameters])}


def make_groups():
    torch.manual_seed(31)
    start = [torch.randn(16) for _ in GROUPS]
    target = [torch.randn(16) for _ in GROUPS]
    for name, (rule, options) in RULES.items():
        record(f"groups/{name}", lambda dtype: updates(rule, options, start, target, dtype))


class Network(torch.nn.Module):
    """Has the names of the network in tests/train/parts_simulated_test.cpp."""

    def __init__(self):
        super().__init__()
        self.fc0 = nn.Linear(6, 8)
        self.fc1 = nn.Linear(8, 8)
        self.middle = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.LayerNorm(8))
        self.block = nn.ModuleDict({"fc": nn.Linear(8, 5), "downsample": nn.Linear(8, 5)})
        self.branch = nn.Linear(5, 5)
        self.last = nn.Linear(10, 3)

    def forward(self, x):
        x = self.middle(torch.tanh(self.fc1(torch.tanh(self.fc0(x)))))
        x = torch.relu(self.block["fc"](x)) + self.block["downsample"](x)
        return self.last(torch.cat([x, torch.tanh(x) + self.branch(x)], 1))


def make_training():
    """AdamW with decay of matrices alone; fc0 and middle are frozen, fc1 has a tenth of the learning rate."""
    torch.manual_seed(32)
    start = Network()
    samples, labels = torch.randn(4 * BATCH, 6), torch.randint(0, 3, (4 * BATCH,))

    def train(dtype):
        network = Network().to(dtype)
        network.load_state_dict(start.state_dict())
        for part in (network.fc0, network.middle):
            part.requires_grad_(False)
        rate, decay = 0.02, 0.1
        trained = [(name, values) for name, values in network.named_parameters() if values.requires_grad]
        groups = [
            {"params": [values], "lr": rate * (0.1 if "fc1" in name else 1), "weight_decay": decay * (values.dim() > 1)}
            for name, values in trained
        ]
        optimizer = torch.optim.AdamW(groups, lr=rate, weight_decay=decay, foreach=False)
        losses = []
        for step in range(STEPS):
            batch = slice(step % 4 * BATCH, (step % 4 + 1) * BATCH)
            optimizer.zero_grad()
            loss = functional.cross_entropy(network(samples[batch].to(dtype)), labels[batch])
            loss.backward()
            torch.nn.utils.clip_grad_norm_([values for _, values in trained], 0.5)
            optimizer.step()
            losses.append(loss.detach())
        flat = lambda module: torch.cat([values.detach().to(dtype).flatten() for values in module.parameters()])
        return {
            "samples": samples.to(dtype), "losses": torch.stack(losses), "start": flat(start), "end": flat(network)
        }

    record("groups/training", train)
    write("groups/training/labels", labels)


if __name__ == "__main__":
    make_groups()
    make_training()
    save()
