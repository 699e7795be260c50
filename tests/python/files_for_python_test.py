# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the files of tests/io/files_for_python_test.cpp, and compares them with the same contents, computed here.

    files_for_python_test.py FOLDER numpy | safetensors | torch     the package that reads them
"""

import csv
import io
import json
import pathlib
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(4)

SPECIAL = np.array([[0, -0.0, 1, -2.5], [65504, 2.0**-24, -np.inf, np.nan]])
METADATA = {"format": "pt", "tab\t": "smile 😀"}


def quarters(shape, shift=0.0):
    i = np.arange(np.prod(shape)).reshape(shape)
    return (i % 5 - 2) / 4 + shift


def in_float(x):
    return np.asarray(x, np.float32)


# Stored as safetensors and, except for bf16, as .npy. NumPy has no bf16; these values are float32 with 16 trailing
# zeros.
TENSORS = {
    "u8": np.array([0, 1, 255], np.uint8),
    "bf16": np.where(SPECIAL == 65504, 65536, SPECIAL).astype(np.float32),
    "a.f16": SPECIAL.astype(np.float16),
    'quote " and \\': np.array([-(2**31), 7, 65537], np.int32),
    "umlaut ü": SPECIAL.astype(np.float32),
    "i64": np.array([-(2**63), -1, 2**53 + 1], np.int64),
    "f64": SPECIAL,
    "scalar": np.float32(0.5),
    "empty": np.zeros((0, 3), np.float32),
    "cube": in_float(quarters((2, 3, 2))),
}
ARRAYS = {"f32": "umlaut ü", "f16": "a.f16", "i32": 'quote " and \\'}
ARRAYS.update({name: name for name in ("f64", "i64", "u8", "scalar", "empty", "cube")})

PARAMETERS = {
    "fc.weight": quarters((4, 3)),
    "fc.bias": quarters(4, -1),
    "1.weight": quarters(4, 1),
    "1.bias": quarters(4, 2),
    "1.running_mean": quarters(4, 2.0**-40),
    "1.running_var": quarters(4, 4),
}

BODY, BODY_BIAS, HEAD, HEAD_BIAS = quarters((4, 3)), quarters(4, 0.5), quarters((2, 4), 0.25), quarters(2)
X, Y = np.array([[1.0, -1, 2], [0, 2, 1]]), np.array([[1.0, 0], [-1, 2]])


def training():
    """Two steps of SGD with momentum: losses, and the tensors of the checkpoint."""
    weight, bias, losses = HEAD, HEAD_BIAS, []
    weight_momentum, bias_momentum = 0, 0
    hidden = np.maximum(X @ BODY.T + BODY_BIAS, 0)
    for _ in range(2):
        difference = hidden @ weight.T + bias - Y
        losses.append((difference**2).mean())
        gradient = 2 * difference / difference.size
        weight_momentum = 0.5 * weight_momentum + gradient.T @ hidden
        bias_momentum = 0.5 * bias_momentum + gradient.sum(0)
        weight, bias = weight - 0.5 * weight_momentum, bias - 0.5 * bias_momentum
    parameters = {"body.weight": BODY, "body.bias": BODY_BIAS, "head.weight": weight, "head.bias": bias}
    state = {"optimizer/0/head.weight": weight_momentum, "optimizer/0/head.bias": bias_momentum}
    return losses, {name: in_float(x) for name, x in {**parameters, **state}.items()}


def check(name, actual, expected):
    """Whether type, shape and bits are equal, except the bits of NaN."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    found = f"{name}: {actual.dtype} {actual.shape} {actual}, expected {expected.dtype} {expected.shape} {expected}"
    assert actual.dtype == expected.dtype and actual.shape == expected.shape, found
    assert np.array_equal(actual, expected, equal_nan=actual.dtype.kind == "f"), found
    assert np.array_equal(np.signbit(actual), np.signbit(expected)), found


def check_metadata(metadata):
    numbers = {"epoch": 1, "batch": 2, "seed": 1, "passes": 2, "optimizer.steps": 2, "optimizer.learning_rate": 0.5}
    for name, number in {**numbers, "optimizer.momentum": 0.5}.items():
        assert float(metadata[name]) == number, (name, metadata)
    texts = {"format": "pt", "checkpoint": "1", "precision": "float", "optimizer": "devplace::optim::sgd"}
    assert {name: metadata[name] for name in texts} == texts, metadata
    total, weight = map(float, metadata["losses"].split())
    assert total / weight == training()[0][1], metadata


def check_numpy(folder):
    for name, of in ARRAYS.items():
        path = folder / f"{name}.npy"
        check(path.name, np.load(path), TENSORS[of])
        again = io.BytesIO()
        np.save(again, np.load(path))
        assert path.read_bytes() == again.getvalue(), f"{path.name}: NumPy writes other bytes"
    losses, _ = training()
    expected = np.array([[0, losses[0], np.nan], [1, losses[1], np.nan], [2.5, np.nan, 0.1]])
    table = np.genfromtxt(folder / "log.csv", delimiter=",", names=True)
    assert table.dtype.names == ("step", "loss", "rate")
    check("log.csv", np.array(table.tolist()), expected)
    with open(folder / "log.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["loss"] for row in rows] == [*map(repr, map(float, losses)), "nan"], rows


def check_safetensors(folder):
    from safetensors import safe_open
    from safetensors.numpy import load_file

    with safe_open(folder / "tensors.safetensors", framework="numpy") as file:
        assert file.metadata() == METADATA and sorted(file.keys()) == sorted(TENSORS), file.keys()
        for name, expected in TENSORS.items():
            if name != "bf16":
                check(name, file.get_tensor(name), expected)
        part = file.get_slice("bf16")
        assert part.get_dtype() == "BF16" and part.get_shape() == [2, 4]
    # NumPy has no bf16, so the bits are read by the format's description.
    data = (folder / "tensors.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    begin, end = json.loads(data[8 : 8 + length])["bf16"]["data_offsets"]
    bits = np.frombuffer(data[8 + length + begin : 8 + length + end], np.uint16).astype(np.uint32) << 16
    check("bf16", bits.view(np.float32).reshape(2, 4), TENSORS["bf16"])

    parameters = load_file(folder / "parameters.safetensors")
    assert sorted(parameters) == sorted(PARAMETERS), parameters.keys()
    for name, expected in PARAMETERS.items():
        check(name, parameters[name], expected)
    with safe_open(folder / "parameters.safetensors", framework="numpy") as file:
        assert file.metadata() == {"format": "pt"}, file.metadata()

    tensors = load_file(folder / "checkpoint.safetensors")
    _, expected = training()
    memory = {"optimizer/step_memory", "optimizer/sent"}
    assert set(tensors) == set(expected) | memory, tensors.keys()
    assert all(tensors[name].dtype == np.uint8 and tensors[name].ndim == 1 for name in memory)
    for name, x in expected.items():
        check(name, tensors[name], x)
    with safe_open(folder / "checkpoint.safetensors", framework="numpy") as file:
        check_metadata(file.metadata())


def check_torch(folder):
    import torch
    from safetensors.torch import load_file

    tensors = load_file(folder / "tensors.safetensors")
    assert sorted(tensors) == sorted(TENSORS), tensors.keys()
    for name, expected in TENSORS.items():
        if name == "bf16":
            assert tensors[name].dtype == torch.bfloat16
            check(name, tensors[name].float().numpy(), expected)
        else:
            check(name, tensors[name].numpy(), expected)

    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4)).double()
    loaded = load_file(folder / "parameters.safetensors")
    module.load_state_dict({name.replace("fc.", "0."): x for name, x in loaded.items()})
    for name, expected in PARAMETERS.items():
        check(name, module.state_dict()[name.replace("fc.", "0.")].numpy(), expected)

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = torch.nn.Linear(3, 4).requires_grad_(False)
            self.head = torch.nn.Linear(4, 2)

        def forward(self, x):
            return self.head(torch.relu(self.body(x)))

    def with_parameters(values):
        network = Network()
        network.load_state_dict(values)
        return network

    start = {"body.weight": BODY, "body.bias": BODY_BIAS, "head.weight": HEAD, "head.bias": HEAD_BIAS}
    trained = with_parameters({name: torch.from_numpy(in_float(x)) for name, x in start.items()})
    optimizer = torch.optim.SGD(trained.head.parameters(), lr=0.5, momentum=0.5)
    x, y = torch.from_numpy(in_float(X)), torch.from_numpy(in_float(Y))
    for _ in range(2):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(trained(x), y).backward()
        optimizer.step()
    tensors = load_file(folder / "checkpoint.safetensors")
    # The line quoted in docs/files.md.
    loaded = with_parameters({name: x for name, x in tensors.items() if not name.startswith(("optimizer/", "extra/"))})
    for name, expected in trained.state_dict().items():
        check(name, loaded.state_dict()[name].numpy(), expected.numpy())
    for name, parameter in trained.head.named_parameters():
        momentum = optimizer.state[parameter]["momentum_buffer"]
        check(f"momentum of {name}", tensors[f"optimizer/0/head.{name}"].numpy(), momentum.numpy())


CHECKS = {
    "numpy": (check_numpy, []),
    "safetensors": (check_safetensors, ["safetensors"]),
    "torch": (check_torch, ["safetensors", "torch"]),
}

if __name__ == "__main__":
    run, packages = CHECKS[sys.argv[2]]
    for package in packages:
        try:
            module = __import__(package)
            print(package, module.__version__)
        except ImportError:
            print(f"skipped: {sys.executable} has no package {package} (PyPI)")
            sys.exit(4)
    print("numpy", np.__version__)
    run(pathlib.Path(sys.argv[1]))
