# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the fixtures of convolutions and poolings, convolutions.npz, beside this file; see make_fixtures.py."""

import torch
from torch import nn
from torch.nn import functional

from archives import save, write
from make_fixtures import gradients, record

STEPS = 200
BATCH = 8


def case(name, function, x, **parameters):
    """x and parameters are extents, or tensors."""
    inputs = {"x": x, **parameters}
    inputs = {key: value if isinstance(value, torch.Tensor) else torch.randn(value) for key, value in inputs.items()}
    dy = torch.randn(function(**inputs).shape)
    record(f"convolutions/{name}", lambda dtype: gradients(function, inputs, dy, dtype))


def convolution(name, x, weight, with_bias=True, function=functional.conv2d, **options):
    parameters = {"weight": torch.randn(weight) * 0.5}
    if with_bias:
        outputs = weight[0] if function in (functional.conv1d, functional.conv2d) else weight[1] * options["groups"]
        parameters["bias"] = torch.randn(outputs)
    case(name, lambda x, weight, bias=None: function(x, weight, bias, **options), x, **parameters)


def make_convolutions():
    torch.manual_seed(11)
    convolution("plain", (3, 2, 6, 5), (4, 2, 3, 3))
    convolution("padded", (2, 3, 7, 7), (5, 3, 3, 3), padding=1)
    convolution("strided", (2, 3, 8, 7), (4, 3, 3, 3), stride=2, padding=1)
    convolution("dilated", (2, 2, 9, 8), (3, 2, 3, 3), dilation=2, padding=2)
    convolution("grouped", (2, 4, 6, 6), (6, 2, 3, 3), groups=2, padding=1)
    convolution("depthwise", (2, 3, 6, 6), (3, 1, 3, 3), groups=3, stride=2)
    convolution("pointwise", (2, 5, 4, 3), (6, 5, 1, 1), with_bias=False)
    convolution("everything", (2, 4, 9, 11), (2, 2, 2, 5), False, groups=2, stride=(3, 2), padding=(1, 4), dilation=(2, 1))
    convolution("one_axis", (3, 2, 12), (4, 2, 5), function=functional.conv1d, padding=2, stride=2)

    transposed = functional.conv_transpose2d
    convolution("transposed", (2, 3, 4, 5), (3, 4, 2, 2), function=transposed, groups=1, stride=2)
    convolution("transposed_padded", (2, 3, 5, 4), (3, 2, 3, 3), function=transposed, groups=1, padding=1)
    convolution(
        "transposed_everything", (2, 4, 4, 3), (4, 3, 3, 2), False, transposed, groups=2, stride=(2, 3), padding=(1, 0),
        dilation=(1, 2)
    )


def make_poolings():
    torch.manual_seed(12)
    # Integers from 0 to 3, so that windows have several largest elements.
    ties = torch.randint(0, 4, (2, 2, 7, 6)).float()
    for name, x in (("max", torch.randn(2, 2, 7, 6)), ("max_of_ties", ties)):
        case(f"{name}_pool", lambda x: functional.max_pool2d(x, 2), x)
        case(f"{name}_pool_overlapping", lambda x: functional.max_pool2d(x, 3, 2, 1), x)
        case(f"{name}_pool_everything", lambda x: functional.max_pool2d(x, (3, 2), (1, 3), (1, 0), (2, 1)), x)
    case("average_pool", lambda x: functional.avg_pool2d(x, 2), (2, 2, 7, 6))
    case("average_pool_overlapping", lambda x: functional.avg_pool2d(x, (3, 2), (2, 1), 1), (2, 2, 7, 6))
    case("global_average_pool", lambda x: functional.adaptive_avg_pool2d(x, 1).flatten(1), (3, 2, 5, 3))
    case("upsample", lambda x: functional.interpolate(x, scale_factor=2, mode="nearest"), (2, 2, 3, 4))
    case("max_pool_one_axis", lambda x: functional.max_pool1d(x, 3, 2, 1, 2), (2, 3, 11))
    case("average_pool_one_axis", lambda x: functional.avg_pool1d(x, 3, 2, 1), (2, 3, 11))
    case("global_average_pool_one_axis", lambda x: functional.adaptive_avg_pool1d(x, 1).flatten(1), (3, 2, 5))


def images_network():
    """For images [1, 10, 10]."""
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 6, 3, padding=2, dilation=2, groups=2),
        nn.Tanh(),
        nn.AvgPool2d(3, 2, 1),
        nn.Conv2d(6, 8, 2, stride=2, bias=False),
        nn.ConvTranspose2d(8, 8, 3, stride=2, padding=1, groups=2),
        nn.ReLU(),
        nn.Upsample(scale_factor=2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 3),
    )


def series_network():
    """For series [2, 20]."""
    return nn.Sequential(
        nn.Conv1d(2, 6, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool1d(3, 1, 1),
        nn.Conv1d(6, 4, 4, stride=2, padding=1, groups=2),
        nn.Tanh(),
        nn.AvgPool1d(2),
        nn.Flatten(),
        nn.Linear(20, 3),
    )


def segmentation_network():
    """For images [1, 8, 8], whose pixels it labels: an encoder and a decoder."""
    return nn.Sequential(
        nn.Conv2d(1, 4, 4, stride=2, padding=1),
        nn.Tanh(),
        nn.Flatten(),
        nn.Linear(64, 64),
        nn.Tanh(),
        nn.Unflatten(1, (4, 4, 4)),
        nn.ConvTranspose2d(4, 3, 4, stride=2, padding=1),
    )


def make_squares():
    """Images with a bright or a dark square in noise, and for each pixel 0, or 1 or 2 within the square."""
    images = 0.25 * torch.randn(4 * BATCH, 1, 8, 8)
    labels = torch.zeros(4 * BATCH, 8, 8, dtype=torch.int64)
    for i in range(4 * BATCH):
        row, column = torch.randint(0, 5, (2,)).tolist()
        square = slice(row, row + 4), slice(column, column + 4)
        labels[i][square] = 1 + i % 2
        images[i, 0][square] += 1 - 2 * (i % 2)
    return images, labels


def make_classes(*sample):
    """Noise, and a random class for each sample."""
    return torch.randn(4 * BATCH, *sample), torch.randint(0, 3, (4 * BATCH,))


def make_training(name, make_network, make_data, *sample):
    torch.manual_seed(13)
    start = [2 * parameter.detach() for parameter in make_network().parameters()]
    images, labels = make_data(*sample)
    results = {}

    def train(dtype):
        network = make_network().to(dtype)
        with torch.no_grad():
            for parameter, value in zip(network.parameters(), start):
                parameter.copy_(value)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9, foreach=False)
        losses = []
        for step in range(STEPS):
            batch = slice(step % 4 * BATCH, (step % 4 + 1) * BATCH)
            optimizer.zero_grad()
            loss = functional.cross_entropy(network(images[batch].to(dtype)), labels[batch])
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        results[dtype] = torch.stack(losses)
        of_start = {f"start{i}": value.to(dtype) for i, value in enumerate(start)}
        of_end = {f"end{i}": value.detach() for i, value in enumerate(network.parameters())}
        return {"images": images.to(dtype), "losses": results[dtype], **of_start, **of_end}

    record(f"convolutions/{name}", train)
    write(f"convolutions/{name}/labels", labels)
    exact, rounded = results[torch.float64], results[torch.float32]
    print(
        f"convolutions/{name}: loss {exact[0]:.3f} to {exact[-1]:.3f}, float32 to float64"
        f" {float(((rounded.double() - exact) / exact).abs().max()):.1e} relative"
    )


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    make_convolutions()
    make_poolings()
    make_training("training", images_network, make_classes, 1, 10, 10)
    make_training("training_one_axis", series_network, make_classes, 2, 20)
    make_training("training_segmentation", segmentation_network, make_squares)
    save()
    print("torch", torch.__version__)


if __name__ == "__main__":
    main()
