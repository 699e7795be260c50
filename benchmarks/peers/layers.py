#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Single layers and losses next to PyTorch's on the CPU, in one run with equal threads.

Arguments: the program bench_peers_layers, threads (default 1), rounds (default 5). Both alternate within a round, and
the median over the rounds is reported, in microseconds, and then the rows in which PyTorch is faster. PyTorch is eager:
predictions in inference_mode; steps with mse, into existing gradients, and with the fused SGD where there are
parameters. Steps of layers without parameters compute the gradient of the input.
"""

import torch
from torch import nn
from torch.nn import functional

from timing import command_line, compare


class Apply(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Attention(nn.Module):
    """nn.MultiheadAttention of (x, x, x) by its faster function."""

    def __init__(self, causal):
        super().__init__()
        self.inputs, self.output, self.causal = nn.Linear(256, 768), nn.Linear(256, 256), causal

    def forward(self, x):
        q, k, v = (part.view(32, 64, 8, 32).transpose(1, 2) for part in self.inputs(x).chunk(3, -1))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.output(y.transpose(1, 2).reshape(32, 64, 256))


def layers():
    images, sequences = torch.randn(64, 32, 28, 28), torch.randn(32, 64, 256)
    of_images = {
        "conv3x3": nn.Conv2d(32, 32, 3, padding=1),
        "conv1x1": nn.Conv2d(32, 64, 1),
        "conv5x5_stride2": nn.Conv2d(32, 32, 5, 2, 2),
        "depthwise": nn.Conv2d(32, 32, 3, padding=1, groups=32),
        "conv_transpose": nn.ConvTranspose2d(32, 16, 2, 2),
        "max_pool": nn.MaxPool2d(2),
        "avg_pool": nn.AvgPool2d(2),
        "global_average_pool": nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()),
        "upsample": nn.Upsample(scale_factor=2),
        "batch_norm": nn.BatchNorm2d(32),
        "group_norm": nn.GroupNorm(8, 32),
        "relu": nn.ReLU(),
        "leaky_relu": nn.LeakyReLU(),
        "gelu": nn.GELU(),
        "silu": nn.SiLU(),
        "permute": Apply(lambda x: x.permute(0, 2, 3, 1).contiguous()),
        "residual": Apply(lambda x: x + torch.relu(x)),
        "concat": Apply(lambda x: torch.cat([x, torch.relu(x)], 1)),
    }
    of_sequences = {
        "layer_norm": nn.LayerNorm(256),
        "rms_norm": nn.RMSNorm(256),
        "softmax": nn.Softmax(-1),
        "log_softmax": nn.LogSoftmax(-1),
        "linear": nn.Linear(256, 1024),
        "attention": Attention(False),
        "causal_attention": Attention(True),
    }
    result = {name: (layer, images) for name, layer in of_images.items()}
    result["conv_of_256_channels"] = (nn.Conv2d(256, 256, 3, padding=1), torch.randn(32, 256, 7, 7))
    result["conv1d"] = (nn.Conv1d(64, 64, 5, padding=2), torch.randn(32, 64, 512))
    result.update({name: (layer, sequences) for name, layer in of_sequences.items()})
    result["embedding"] = (nn.Embedding(1000, 256), torch.randint(0, 1000, (32, 64)))
    return result


def predict(layer, x):
    def call():
        layer.eval()
        with torch.inference_mode():
            layer(x)

    return call


def step(layer, x):
    parameters = list(layer.parameters())
    if not parameters:
        x = x.clone().requires_grad_()
    optimizer = torch.optim.SGD(parameters or [x], lr=1e-6, fused=True)
    target = layer(x).detach().clone()

    def call():
        layer.train()
        optimizer.zero_grad(set_to_none=False)
        functional.mse_loss(layer(x), target).backward()
        if parameters:
            optimizer.step()

    return call


def losses():
    x, probability = torch.randn(1024, 256), torch.sigmoid(torch.randn(1024, 256))
    functions = {
        "mse": (functional.mse_loss, x),
        "l1": (functional.l1_loss, x),
        "smooth_l1": (functional.smooth_l1_loss, x),
        "bce_with_logits": (functional.binary_cross_entropy_with_logits, x),
        "kl_div": (lambda x, y: functional.kl_div(x, y, reduction="batchmean"), probability.log()),
    }

    def call(function, output):
        output = output.clone().requires_grad_()

        def run():
            output.grad = None
            function(output, probability).backward()

        return run

    return {name: call(*of) for name, of in functions.items()}


def main():
    program, threads, rounds = command_line(rounds=5)
    torch.set_num_threads(threads)
    work = {}
    for name, (layer, x) in layers().items():
        work[f"predict {name}"] = predict(layer, x)
        work[f"step {name}"] = step(layer, x)
    work.update({f"loss {name}": call for name, call in losses().items()})
    compare(f"{threads} thread(s); torch {torch.__version__}", program, work, rounds)


if __name__ == "__main__":
    main()
