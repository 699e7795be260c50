# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the fixtures of embeddings and attention, attention.npz, beside this file; see make_fixtures.py."""

import torch
from torch import nn
from torch.nn import functional

from archives import save, write
from make_fixtures import affine, gradients, record

STEPS = 200
BATCH = 8
TOKENS = 11
LENGTH = 6


def causal_mask(length):
    """True where a position, in rows, must not see another one."""
    return torch.ones(length, length, dtype=torch.bool).triu(1)


class Attention(nn.MultiheadAttention):
    """Self-attention as a module of one argument."""

    def __init__(self, width, heads, causal):
        super().__init__(width, heads, batch_first=True)
        self.causal = causal

    def forward(self, x):
        mask = causal_mask(x.shape[1]) if self.causal else None
        return super().forward(x, x, x, attn_mask=mask, need_weights=False)[0]


class Position(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(length, width))

    def forward(self, x):
        return x + self.weight


class Residual(nn.Sequential):
    def forward(self, x):
        return x + super().forward(x)


class Network(nn.Sequential):
    """The network of the training fixture; its parameters have the names of devplace's."""

    def __init__(self, tokens=TOKENS, length=LENGTH, width=8, heads=2):
        super().__init__(
            nn.Embedding(tokens, width),
            Position(length, width),
            Residual(nn.LayerNorm(width), Attention(width, heads, True)),
            Residual(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)),
            nn.LayerNorm(width),
            nn.Linear(width, tokens),
        )


def case(name, function, inputs):
    dy = torch.randn(function(**inputs).shape)
    record(f"attention/{name}", lambda dtype: gradients(function, inputs, dy, dtype))


def attention(name, samples, length, width, heads, causal):
    inputs = {"x": torch.randn(samples, length, width)}
    # Larger than PyTorch's initial values, so that probabilities differ much.
    inputs["in_proj_weight"] = torch.randn(3 * width, width) * (1.5 / width) ** 0.5
    inputs["in_proj_bias"] = torch.randn(3 * width)
    inputs["out_proj_weight"] = torch.randn(width, width) * width**-0.5
    inputs["out_proj_bias"] = torch.randn(width)

    def function(x, in_proj_weight, in_proj_bias, out_proj_weight, out_proj_bias):
        module = Attention(width, heads, causal).to(x.dtype)
        parameters = {
            "in_proj_weight": in_proj_weight,
            "in_proj_bias": in_proj_bias,
            "out_proj.weight": out_proj_weight,
            "out_proj.bias": out_proj_bias,
        }
        return torch.func.functional_call(module, parameters, (x,))

    case(name, function, inputs)


def make_layers():
    torch.manual_seed(21)
    attention("plain", 3, 5, 12, 3, False)
    attention("causal", 1, 70, 6, 2, True)
    case("linear_axes", lambda x, weight, bias: functional.linear(x, weight, bias), {"x": torch.randn(2, 3, 4), **affine(4, 5)})
    case("position", lambda x, weight: x + weight, {"x": torch.randn(4, 3, 2), "weight": torch.randn(3, 2)})

    indices = torch.tensor([[3, 0, 3, 6, 2], [2, 5, 3, 0, 0], [6, 6, 6, 2, 1]])
    weight = torch.randn(7, 3)
    for name, padding in (("embedding", None), ("embedding_padding", 2)):
        case(name, lambda weight: functional.embedding(indices, weight, padding_idx=padding), {"weight": weight})
        write(f"attention/{name}/indices", indices)


def make_training():
    torch.manual_seed(22)
    start = Network().state_dict()
    tokens = torch.randint(0, TOKENS, (4 * BATCH, LENGTH + 1))
    for i in range(LENGTH):  # mostly a rule, which a causal network can learn
        follows = torch.rand(4 * BATCH) < 0.8
        tokens[:, i + 1] = torch.where(follows, (3 * tokens[:, i] + 1) % TOKENS, tokens[:, i + 1])
    samples, labels = tokens[:, :-1], tokens[:, 1:].clone()
    labels[torch.rand(labels.shape) < 0.1] = -100
    results = {}

    def flat(values):
        return torch.cat([value.detach().reshape(-1) for value in values])

    def train(dtype):
        network = Network().to(dtype)
        network.load_state_dict(start)
        first = flat(network.parameters())
        optimizer = torch.optim.SGD(network.parameters(), lr=0.02, momentum=0.9, foreach=False)
        losses = []
        for step in range(STEPS):
            batch = slice(step % 4 * BATCH, (step % 4 + 1) * BATCH)
            optimizer.zero_grad()
            loss = functional.cross_entropy(network(samples[batch]).flatten(0, 1), labels[batch].flatten())
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        results[dtype] = torch.stack(losses)
        return {"losses": results[dtype], "start": first, "end": flat(network.parameters())}

    record("attention/training", train)
    write("attention/training/samples", samples)
    write("attention/training/labels", labels)
    exact, rounded = results[torch.float64], results[torch.float32]
    print(
        f"attention/training: loss {exact[0]:.3f} to {exact[-1]:.3f}, float32 to float64"
        f" {float(((rounded.double() - exact) / exact).abs().max()):.1e} relative"
    )


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    make_layers()
    make_training()
    save()
    print("torch", torch.__version__)


if __name__ == "__main__":
    main()
