# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes mixed_precision.npz, beside this file: trainings under PyTorch's autocast, and decisions of its GradScaler."""

import numpy as np
import torch

import make_attention
from archives import save, write

STEPS, BATCH, SAMPLES = 200, 32, 128
BAD_STEPS = (40, 41, 100)  # their first sample has an infinite feature


class Network(torch.nn.Sequential):
    def __init__(self):
        super().__init__(
            torch.nn.Linear(12, 24),
            torch.nn.ReLU(),
            torch.nn.Linear(24, 16),
            torch.nn.Tanh(),
            torch.nn.LayerNorm(16),
            torch.nn.Linear(16, 5),
        )


class ConvolutionalNetwork(torch.nn.Sequential):
    def __init__(self):
        super().__init__(
            torch.nn.Conv2d(1, 8, 3, padding=1, bias=False),
            torch.nn.BatchNorm2d(8),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
            torch.nn.Conv2d(8, 16, 3, stride=2, padding=1),
            torch.nn.ReLU(),
            torch.nn.ConvTranspose2d(16, 8, 2, stride=2),
            torch.nn.GroupNorm(2, 8),
            torch.nn.ReLU(),
            torch.nn.AdaptiveAvgPool2d(1),
            torch.nn.Flatten(),
            torch.nn.Linear(8, 5),
        )


def train(x, labels, start, dtype, rule, network=Network, bad_steps=BAD_STEPS):
    model = network()
    model.load_state_dict(start)
    if rule == "sgd":
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.5)
    else:
        optimizer = torch.optim.Adam(model.parameters(), lr=0.002)
    half = dtype == torch.float16
    scaler = torch.amp.GradScaler("cpu", enabled=half)
    losses, scales = [], []
    for step in range(STEPS):
        first = step % (SAMPLES // BATCH) * BATCH
        images = x[first : first + BATCH].clone()
        if half and step in bad_steps:
            images[0, 0] = float("inf")
        with torch.autocast("cpu", dtype=dtype or torch.bfloat16, enabled=dtype is not None):
            outputs = model(images)
            loss = torch.nn.functional.cross_entropy(
                outputs.reshape(-1, outputs.shape[-1]), labels[first : first + BATCH].flatten()
            )
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
        scales.append(scaler.get_scale() if half else 1.0)
    return losses, scales, model


def trainings():
    torch.manual_seed(12)
    # Features of 8 bits, so that their rounding does not affect the comparison.
    x = torch.randint(-64, 64, (SAMPLES, 12)).float() / 32
    labels = (x[:, :5] + x[:, 5:10] * x[:, 2:7]).argmax(1)
    start = Network().state_dict()
    write("mixed_precision/x", x.numpy())
    write("mixed_precision/labels", labels.numpy().astype(np.int64))
    for number, value in enumerate(start.values()):
        write(f"mixed_precision/start{number}", value.numpy())
    for rule in ("sgd", "adam"):
        exact, _, _ = train(x, labels, start, None, rule)
        write(f"mixed_precision/{rule}/float", np.array(exact, np.float64))
        for name, dtype in (("bf16", torch.bfloat16), ("half", torch.float16)):
            losses, scales, model = train(x, labels, start, dtype, rule)
            write(f"mixed_precision/{rule}/{name}", np.array(losses, np.float64))
            if name == "half":
                write(f"mixed_precision/{rule}/scale", np.array(scales, np.float64))
            differences = [abs(a - b) / b for a, b in zip(losses, exact) if np.isfinite(a)]
            print(rule, name, "last", losses[-1], "in float", exact[-1], "largest difference", max(differences))


def convolutional_trainings():
    torch.manual_seed(13)
    # An image's class is the place and the direction of a bright bar in noise of 8 bits.
    labels = torch.randint(0, 5, (SAMPLES,))
    x = torch.randint(-32, 32, (SAMPLES, 1, 10, 10)).float() / 64
    for image, label in zip(x, labels.tolist()):
        at = int(torch.randint(0, 8, ()))
        if label == 4:
            image[0, at : at + 2, at : at + 2] += 1.5
        elif label % 2:
            image[0, at : at + 1 + label // 2, :] += 0.75
        else:
            image[0, :, at : at + 1 + label // 2] += 0.75
    save_trainings("images", x, labels, ConvolutionalNetwork)


def sequence_trainings():
    torch.manual_seed(14)
    tokens = torch.randint(0, make_attention.TOKENS, (SAMPLES, make_attention.LENGTH + 1))
    for i in range(make_attention.LENGTH):  # mostly a rule, which a causal network can learn
        follows = torch.rand(SAMPLES) < 0.8
        tokens[:, i + 1] = torch.where(follows, (3 * tokens[:, i] + 1) % make_attention.TOKENS, tokens[:, i + 1])
    save_trainings("sequences", tokens[:, :-1].int(), tokens[:, 1:], make_attention.Network)


def save_trainings(folder, x, labels, network):
    """With Adam, without infinite features."""
    model = network()
    start = {name: value.clone() for name, value in model.state_dict().items()}
    write(f"mixed_precision/{folder}/x", x.numpy())
    write(f"mixed_precision/{folder}/labels", labels.numpy().astype(np.int64))
    for number, (_, value) in enumerate(model.named_parameters()):
        write(f"mixed_precision/{folder}/start{number}", value.detach().numpy())
    exact, _, _ = train(x, labels, start, None, "adam", network, ())
    write(f"mixed_precision/{folder}/float", np.array(exact, np.float64))
    for name, dtype in (("bf16", torch.bfloat16), ("half", torch.float16)):
        losses, _, _ = train(x, labels, start, dtype, "adam", network, ())
        write(f"mixed_precision/{folder}/{name}", np.array(losses, np.float64))
        differences = [abs(a - b) / b for a, b in zip(losses, exact)]
        print(folder, name, "first", losses[0], "last", losses[-1], "in float", exact[-1], max(differences))


def decisions():
    """Each case: options, and whether a step's gradients were finite, the scale and the tracker after it."""
    numbers = np.random.default_rng(5)
    for case, (scale, growth, backoff, interval, rate) in enumerate(
        ((65536.0, 2.0, 0.5, 7, 0.15), (2.0**125, 2.0, 0.5, 2, 0.0), (3.0, 1.7, 0.3, 3, 0.3))
    ):
        parameter = torch.nn.Parameter(torch.zeros(3))
        optimizer = torch.optim.SGD([parameter], lr=0.1)
        scaler = torch.amp.GradScaler(
            "cpu", init_scale=scale, growth_factor=growth, backoff_factor=backoff, growth_interval=interval
        )
        rows = []
        for _ in range(100):
            finite = numbers.random() >= rate
            optimizer.zero_grad()
            scaler.scale(parameter.sum() * (1.0 if finite else float("nan"))).backward()
            if finite:  # whatever the scale
                parameter.grad.fill_(1.0)
            scaler.step(optimizer)
            scaler.update()
            rows.append((1.0 if finite else 0.0, scaler.get_scale(), float(scaler._growth_tracker.item())))
        write(f"mixed_precision/decisions/options{case}", np.array((scale, growth, backoff, interval), np.float64))
        write(f"mixed_precision/decisions/steps{case}", np.array(rows, np.float64))


if __name__ == "__main__":
    torch.set_num_threads(1)
    trainings()
    convolutional_trainings()
    sequence_trainings()
    decisions()
    save()
