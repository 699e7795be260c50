# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the fixtures of learning-rate schedules, schedules.npz, beside this file; see make_fixtures.py."""

import torch
from torch import nn
from torch.nn import functional
from torch.optim import lr_scheduler

from archives import save, write
from make_fixtures import record

STEPS = 200
BATCH = 8
RATE = 0.03


def after_warm_up(optimizer, start_factor, steps, then):
    first = lr_scheduler.LinearLR(optimizer, start_factor=start_factor, total_iters=steps)
    return lr_scheduler.SequentialLR(optimizer, [first, then], milestones=[steps])


# tests/train/schedule_simulated_test.cpp has the same.
SCHEDULES = {
    "constant": lambda o: lr_scheduler.ConstantLR(o, factor=0.25, total_iters=40),
    "linear": lambda o: lr_scheduler.LinearLR(o, start_factor=0.1, end_factor=0.7, total_iters=150),
    "cosine": lambda o: lr_scheduler.CosineAnnealingLR(o, T_max=120, eta_min=0.001),
    "step_decay": lambda o: lr_scheduler.StepLR(o, step_size=30, gamma=0.5),
    "function": lambda o: lr_scheduler.LambdaLR(o, lambda step: 1 / (1 + 0.05 * step)),
    "warm_up_cosine": lambda o: after_warm_up(o, 0.01, 20, lr_scheduler.CosineAnnealingLR(o, T_max=180)),
    "warm_up_step_decay": lambda o: after_warm_up(o, 1 / 3, 5, lr_scheduler.StepLR(o, step_size=50)),
    "one_cycle": lambda o: lr_scheduler.OneCycleLR(o, max_lr=RATE, total_steps=STEPS),
    "one_cycle_straight": lambda o: lr_scheduler.OneCycleLR(
        o, max_lr=RATE, total_steps=STEPS, pct_start=0.2513, anneal_strategy="linear", base_momentum=0.7,
        max_momentum=0.9, div_factor=10, final_div_factor=100),
    "one_cycle_three_phases": lambda o: lr_scheduler.OneCycleLR(
        o, max_lr=RATE, total_steps=STEPS, pct_start=0.41, three_phase=True),
}


def make_rates():
    """The learning rates and momenta of 200 updates, [2, 200]."""
    for name, schedule in SCHEDULES.items():
        parameter = nn.Parameter(torch.zeros(1))
        parameter.grad = torch.zeros(1)
        optimizer = torch.optim.SGD([parameter], lr=RATE, momentum=0.8)
        scheduler = schedule(optimizer)
        rates, momenta = [], []
        for step in range(STEPS):
            rates.append(optimizer.param_groups[0]["lr"])
            momenta.append(optimizer.param_groups[0]["momentum"])
            optimizer.step()
            if step + 1 < STEPS:
                scheduler.step()
        write(f"schedules/{name}", torch.tensor([rates, momenta], dtype=torch.float64))


RULES = {
    "adamw": lambda values: torch.optim.AdamW(values, lr=RATE, weight_decay=0.1, foreach=False),
    "sgd": lambda values: torch.optim.SGD(values, lr=RATE, momentum=0.8, weight_decay=0.01, foreach=False),
}
TRAININGS = {
    "adamw_warm_up_cosine": ("adamw", "warm_up_cosine"),
    "adamw_one_cycle": ("adamw", "one_cycle"),
    "sgd_one_cycle": ("sgd", "one_cycle_straight"),
}


def make_trainings():
    """200 steps of a network, with the average of its parameters, and the norms of the gradients."""
    torch.manual_seed(41)
    start = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
    samples, labels = torch.randn(4 * BATCH, 6), torch.randint(0, 3, (4 * BATCH,))

    def train(rule, schedule, dtype):
        network = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)).to(dtype)
        network.load_state_dict(start.state_dict())
        optimizer = RULES[rule](network.parameters())
        scheduler = SCHEDULES[schedule](optimizer)
        average = torch.optim.swa_utils.AveragedModel(
            network, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.95))
        losses, norms = [], []
        for step in range(STEPS):
            batch = slice(step % 4 * BATCH, (step % 4 + 1) * BATCH)
            optimizer.zero_grad()
            loss = functional.cross_entropy(network(samples[batch].to(dtype)), labels[batch])
            loss.backward()
            norms.append(nn.utils.clip_grad_norm_(network.parameters(), float("inf")))
            optimizer.step()
            average.update_parameters(network)
            losses.append(loss.detach())
            if step + 1 < STEPS:
                scheduler.step()
        flat = lambda module: torch.cat([values.detach().to(dtype).flatten() for values in module.parameters()])
        return {
            "samples": samples.to(dtype), "losses": torch.stack(losses), "norms": torch.stack(norms),
            "start": flat(start), "end": flat(network), "average": flat(average.module)
        }

    for name, (rule, schedule) in TRAININGS.items():
        record(f"schedules/{name}", lambda dtype: train(rule, schedule, dtype))
    write("schedules/labels", labels)


if __name__ == "__main__":
    make_rates()
    make_trainings()
    save()
