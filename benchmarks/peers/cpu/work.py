# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What is compared: the questions, the work behind them in floating-point operations and bytes, and the peers."""

import dataclasses
import sys

SIZES = {
    "mlp": [784, 256, 10],
    "tanh": [28, 300, 300, 300, 300, 300, 1],
    "wide": [1024, 1024, 1024, 1024, 1024],
}
IMAGES = 60_000  # in the training set of MNIST
# The variables that limit a program to an instruction set. JAX and ONNX Runtime are then left out: XLA's flag does not
# reach the products of its libraries, and ONNX Runtime has no such setting.
LIMITED_TO = {
    "avx2": {
        "DEVPLACE_CPU_ISA": "avx2",
        "OPENBLAS_CORETYPE": "Haswell",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",  # on Intel's processors; on AMD's MKL runs its kernels for Zen in any case
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "TORCHINDUCTOR_CPP_MARCH": "x86-64-v3",
    }
}
UPDATED = 3162 * 3163  # parameters of one layer, about ten million


@dataclasses.dataclass(frozen=True)
class Item:
    """A question, its name in the table, and its limit: operations at the peak, or bytes at the bandwidth of a copy."""

    question: str
    name: str
    program: str  # networks or operations
    operations: float = 0
    bytes: float = 0
    type: str = "float"
    quick: bool = False
    long: bool = False  # takes about a second, and is run for a third of the rounds
    summary: str = ""  # the row of the picture that it shares with others; empty: a row of its own

    @property
    def section(self):
        """Returns the part of the picture."""
        return "products" if self.question.startswith("product ") else self.program


def operations_of_step(sizes, batch):
    """Counts the operations of all products: forward, gradients of weights, and of inputs but for the first layer."""
    products = [2.0 * batch * a * b for a, b in zip(sizes, sizes[1:])]
    return 3 * sum(products) - products[0]


def step(what, network, batch, quick=False):
    sizes = SIZES[network]
    name = f"step {'-'.join(map(str, sizes)) if network == 'mlp' else network}, {what}, batch {batch}"
    return Item(f"{what} {network}/{batch}", name, "networks", operations_of_step(sizes, batch), quick=quick)


def epoch(batch, quick=False):
    """An epoch from bytes in memory to the last update, with a loader that shuffles."""
    name, operations = f"epoch 784-256-10, adam, batch {batch}", operations_of_step(SIZES["mlp"], IMAGES)
    return Item(f"epoch mlp/{batch}", name, "networks", operations, quick=quick, long=True)


def predict(what, batch, quick=False):
    sizes = SIZES["mlp"]
    operations = sum(2.0 * batch * a * b for a, b in zip(sizes, sizes[1:])) if what == "p50" else 0
    name = f"predict 784-256-10, batch {batch}, {what}"
    return Item(f"{what} mlp/{batch}", name, "networks", operations, quick=quick)


def product(m, n, k, layout="nn", type="float", quick=False, summary=""):
    shape = f"{m}x{n}x{k}"
    question, name = f"product {type}/{shape}/{layout}", f"product {type} {shape} {layout}"
    return Item(question, name, "operations", 2.0 * m * n * k, type=type, quick=quick, summary=summary)


def products_of_layer(network, batch, inputs, outputs, type="float", quick=False):
    """A layer's products: forward, the gradient of the weights, and that of the input."""
    summary = f"products of {'-'.join(map(str, SIZES['mlp'])) if network == 'mlp' else network}, {type}, batch {batch}"
    return [
        product(batch, outputs, inputs, "nt", type, quick, summary),
        product(outputs, inputs, batch, "tn", type, quick, summary),
        product(batch, inputs, outputs, "nn", type, quick, summary),
    ]


def products():
    found = []
    for type in ("float", "double"):
        found += [product(n, n, n, type=type, quick=n == 512) for n in (64, 128, 256, 512, 1024, 2048)]
        for n in (64, 512):
            quick, summary = n == 512 and type == "float", f"product {type} {n}x{n}x{n} nt, tn"
            found += [product(n, n, n, layout, type, quick, summary) for layout in ("nt", "tn")]
    for type, batches in {"float": (64, 256, 1024, 4096), "double": (64, 1024)}.items():
        for batch in batches:
            quick = batch == 64 and type == "float"
            first = products_of_layer("mlp", batch, 784, 256, type, quick)[:2]  # images have no gradient
            found += first + products_of_layer("mlp", batch, 256, 10, type)
    found += products_of_layer("tanh", 100, 300, 300, quick=True)
    found += products_of_layer("wide", 64, 1024, 1024)
    return found + products_of_layer("wide", 1024, 1024, 1024)[:2]  # the third product is among the squares


def streaming(what, size, name, bytes, quick=False):
    return Item(f"{what} {size}", name, "operations", bytes=bytes, quick=quick)


def items():
    batches = (1, 16, 64, 256, 1024, 4096)
    found = [step("adam", "mlp", batch, quick=batch in (64, 1024)) for batch in batches]
    found += [step("sgd", "mlp", batch) for batch in batches]
    found += [step("adam", "tanh", 100, quick=True), step("adam", "wide", 64, quick=True), step("adam", "wide", 1024)]
    found += [epoch(64, quick=True)]
    found += [predict(what, batch, quick=batch == 1) for batch in (1, 64) for what in ("p50", "p99")]
    many = 10_000_000
    found += [
        streaming("cross_entropy", "4096x10", "cross-entropy, 4,096 rows of 10 classes", 2 * 4 * 4096 * 10),
        streaming("cross_entropy", "1024x1000", "cross-entropy, 1,024 rows of 1,000", 2 * 4 * 1024 * 1000, quick=True),
        streaming("cross_entropy", "128x50000", "cross-entropy, 128 rows of 50,000", 2 * 4 * 128 * 50000),
        streaming("softmax", "4096x1024", "softmax, 4,096 rows of 1,024", 2 * 4 * 4096 * 1024, quick=True),
        streaming("chain", many, "max(a b + c, 0) d - e, 10 million", 6 * 4 * many, quick=True),
        streaming("sum", many, "sum, 10 million", 4 * many, quick=True),
        streaming("argmax", "4096x1024", "argmax of 4,096 rows of 1,024", 4 * 4096 * 1024, quick=True),
        streaming("transposed", "4096x1024", "transposed copy, 4,096 x 1,024", 2 * 4 * 4096 * 1024, quick=True),
        streaming("normal", many, "normal random numbers, 10 million", 4 * many),
        streaming("update", UPDATED, "Adam's update, 10 million", 7 * 4 * UPDATED, quick=True),
    ]
    return found + products()


def limits():
    """Returns the questions to devplace's program for the limits in the same run."""
    return {"float": "multiply_add float", "double": "multiply_add double", "bytes": "bandwidth 40000000"}


def peers(folder, built, isa):
    """Returns names and commands, `networks` and `operations`, of the peers that can be limited to `isa`."""
    python = [sys.executable]
    found = {
        "devplace": {
            "networks": [f"{built}/devplace/bench_peers_cpu_networks"],
            "operations": [f"{built}/devplace/bench_peers_cpu_operations"],
        },
        "LibTorch tuned": {
            "networks": [f"{built}/peers/libtorch_networks", "tuned"],
            "operations": [f"{built}/peers/libtorch_operations"],
        },
        "LibTorch": {"networks": [f"{built}/peers/libtorch_networks", "idiomatic"]},
        "PyTorch": {"networks": python + [f"{folder}/pytorch_networks.py"]},
        "compiled": {"networks": python + [f"{folder}/pytorch_networks.py", "compiled"]},
        "OpenBLAS": {"operations": [f"{built}/peers/openblas_products"]},
        "Eigen": {"operations": [f"{built}/peers/eigen_operations" + (f"_{isa}" if isa else "")]},
    }
    if not isa:
        found["JAX"] = {"networks": python + [f"{folder}/jax_networks.py"]}
        found["ONNX Runtime"] = {"networks": python + [f"{folder}/onnx_predictions.py"]}
    return found
