# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of from_pytorch.cpp that runs in PyTorch, with the packages torch, numpy and safetensors.

    from_pytorch.py train FOLDER   trains the network on the digits of examples/data, and writes network.safetensors,
                                   images.npy and logits.npy, which from_pytorch.cpp reads
    from_pytorch.py check FOLDER FILE   loads the file that from_pytorch.cpp has written, and compares its logits
"""

import pathlib
import sys

import numpy
import torch
from safetensors.torch import load_file, save_file
from torch import nn

DIGITS = pathlib.Path(__file__).parent / "data" / "digits-"


class Block(nn.Module):
    """Adds what two layers make of its input."""

    def __init__(self, width):
        super().__init__()
        self.fc1 = nn.Linear(width, 32)
        self.fc2 = nn.Linear(32, width)

    def forward(self, x):
        return x + self.fc2(torch.relu(self.fc1(x)))


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 12, 3, padding=1, stride=2)
        self.block = Block(48)
        self.head = nn.Linear(48, 10)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.bn1(self.conv1(x))), 2)
        return self.head(self.block(torch.relu(self.conv2(x)).flatten(1)))


def digits():
    images = numpy.fromfile(f"{DIGITS}images-idx3-ubyte", numpy.uint8)[16:].reshape(-1, 1, 8, 8)
    labels = numpy.fromfile(f"{DIGITS}labels-idx1-ubyte", numpy.uint8)[8:]
    return torch.from_numpy(images).float() / 16, torch.from_numpy(labels).long()


def train(folder):
    torch.manual_seed(1)
    images, labels = digits()
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    for _ in range(30):
        for batch in torch.randperm(1437).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(network(images[batch]), labels[batch]).backward()
            optimizer.step()
    network.eval()
    with torch.no_grad():
        right = network(images[1437:]).argmax(1) == labels[1437:]
        print(f"{100 * right.float().mean():.1f} % of the held-out images right")
        folder.mkdir(exist_ok=True)
        save_file(network.state_dict(), folder / "network.safetensors")
        numpy.save(folder / "images.npy", images[1437:1453].numpy())
        numpy.save(folder / "logits.npy", network(images[1437:1453]).numpy())


def check(folder, file):
    network = Network()
    network.load_state_dict(load_file(file))
    network.eval()
    with torch.no_grad():
        logits = network(torch.from_numpy(numpy.load(folder / "images.npy"))).numpy()
    difference = abs(logits - numpy.load(folder / "logits.npy")).max()
    print(f"PyTorch's logits with the file of from_pytorch differ by {difference:.1e}")
    sys.exit(int(difference > 1e-6 * abs(logits).max()))


if __name__ == "__main__":
    if sys.argv[1:2] == ["train"] and len(sys.argv) == 3:
        train(pathlib.Path(sys.argv[2]))
    elif sys.argv[1:2] == ["check"] and len(sys.argv) == 4:
        check(pathlib.Path(sys.argv[2]), sys.argv[3])
    else:
        sys.exit(__doc__)
