# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the files of the safetensors package, version 0.8.0, in safetensors/, beside this file."""

import torch
from safetensors.torch import save_file

from archives import ROOT

FOLDER = ROOT / "safetensors"
NUMBERS = [0.0, -0.0, 1.0, -2.5, 65504.0, 2.0**-24]
FLOATS = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def make_safetensors():
    FOLDER.mkdir(exist_ok=True)
    numbers = torch.tensor(NUMBERS, dtype=torch.float64).reshape(2, 3)
    floats = {name: numbers.to(dtype) for name, dtype in FLOATS.items()}
    integers = {
        "i64": torch.tensor([-(2**63), -1, 2**63 - 1]),
        "i32": torch.tensor([-(2**31), 7, 2**31 - 1], dtype=torch.int32),
        "u8": torch.tensor([0, 1, 255], dtype=torch.uint8),
    }
    special = {"scalar": torch.tensor(0.5), "empty": torch.zeros(0, 3, dtype=torch.float16)}
    save_file({**floats, **integers, **special}, FOLDER / "types.safetensors")
    save_file({"bool": torch.tensor([True, False])}, FOLDER / "bool.safetensors")
    # One type and one key: the order of the rest is the package's.
    names = ["a.weight", 'quote " and \\', "tab\tnewline\nbell\x07", "umlaut ü", "smile 😀"]
    save_file({name: torch.tensor([float(i)]) for i, name in enumerate(names)}, FOLDER / "names.safetensors", {"format": "pt"})
    save_file({}, FOLDER / "nothing.safetensors")
    network = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))
    state = network.state_dict()
    for i, name in enumerate(state):
        state[name].copy_(torch.arange(state[name].numel()).reshape(state[name].shape) + 100 * i)
    save_file(state, FOLDER / "network.safetensors")


if __name__ == "__main__":
    make_safetensors()
