# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the PyTorch fixtures beside this file. The ones in the repository were made with torch 2.15.0 on x86-64.

    python3 -m venv fixtures-env
    fixtures-env/bin/pip install torch==2.15.0 numpy
    fixtures-env/bin/python tests/reference/make_fixtures.py

Every case is computed twice, in float64 and in float32, from the same inputs, which are representable in float32.
README.md describes the files. Another processor may change last bits of the results, never the inputs.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import generator
from archives import save, write

DTYPES = {"f64": torch.float64, "f32": torch.float32}


def record(case, compute):
    """Runs compute(dtype) -> {name: tensor} in both types, checks that they agree, and stores both."""
    results = {folder: compute(dtype) for folder, dtype in DTYPES.items()}
    for name, exact in results["f64"].items():
        rounded = results["f32"][name]
        assert rounded.dtype == torch.float32 and exact.dtype == torch.float64, (case, name)
        torch.testing.assert_close(rounded.double(), exact, rtol=1e-4, atol=1e-5, equal_nan=True, msg=f"{case} {name}")
    for folder, tensors in results.items():
        for name, tensor in tensors.items():
            write(f"{case}/{folder}/{name}", tensor)


def gradients(function, inputs, dy, dtype):
    """The inputs, y = function(inputs), dy, and the gradient of sum(y * dy) with respect to each input as d<name>."""
    leaves = {name: value.to(dtype).clone().requires_grad_() for name, value in inputs.items()}
    y = function(**leaves)
    y.backward(dy.to(dtype))
    result = dict(leaves)
    result.update({"y": y, "dy": dy.to(dtype)})
    result.update({"d" + name: leaf.grad for name, leaf in leaves.items()})
    return result


# --- layers -----------------------------------------------------------------------------------------------------------


def layer(name, function, inputs):
    shape = function(**inputs).shape
    dy = torch.randn(shape)
    record(f"layers/{name}", lambda dtype: gradients(function, inputs, dy, dtype))


def affine(in_features, out_features, suffix=""):
    """Weight [out, in] and bias [out] with PyTorch's default bound."""
    bound = in_features**-0.5
    return {
        "weight" + suffix: torch.empty(out_features, in_features).uniform_(-bound, bound),
        "bias" + suffix: torch.empty(out_features).uniform_(-bound, bound),
    }


def two_layers(x, weight0, bias0, weight1, bias1):
    hidden = functional.linear(x, weight0, bias0)
    assert hidden.abs().min() > 1e-4, "a pre-activation this close to zero makes the gradient depend on rounding"
    return functional.linear(functional.relu(hidden), weight1, bias1)


def make_layers():
    torch.manual_seed(1)
    x = torch.randn(5, 7)
    parameters = affine(7, 4)
    layer("linear_bias", lambda x, weight, bias: functional.linear(x, weight, bias), {"x": x, **parameters})
    layer("linear_no_bias", lambda x, weight: functional.linear(x, weight), {"x": x, "weight": parameters["weight"]})
    for name, function in {
        "relu": lambda x: functional.relu(x),
        "sigmoid": lambda x: torch.sigmoid(x),
        "tanh": lambda x: torch.tanh(x),
        "softmax": lambda x: functional.softmax(x, dim=-1),
        "log_softmax": lambda x: functional.log_softmax(x, dim=-1),
    }.items():
        layer(name, function, {"x": torch.randn(5, 7) * 2})
        layer(name + "_large", function, {"x": torch.randn(5, 7) * 60})
    layer("flatten", lambda x: torch.flatten(x, 1), {"x": torch.randn(5, 3, 4)})
    layer(
        "residual",
        lambda x, **parameters: x + two_layers(x, **parameters),
        {"x": torch.randn(5, 6), **affine(6, 8, "0"), **affine(8, 6, "1")},
    )
    layer(
        "mlp",
        lambda x, **parameters: two_layers(x, **parameters),
        {"x": torch.randn(5, 6), **affine(6, 5, "0"), **affine(5, 3, "1")},
    )
    layer("reshape", lambda x: x.unflatten(1, (2, 3, 4)), {"x": torch.randn(5, 24)})
    layer("permute", lambda x: x.permute(0, 2, 3, 1), {"x": torch.randn(5, 2, 3, 4)})
    layer("permute_of_two", lambda x: x.permute(0, 2, 1), {"x": torch.randn(5, 3, 4)})


def make_activations():
    torch.manual_seed(5)
    for name, function in {
        "gelu": lambda x: functional.gelu(x),
        "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
        "silu": lambda x: functional.silu(x),
        "leaky_relu": lambda x: functional.leaky_relu(x),
        "leaky_relu_slope": lambda x: functional.leaky_relu(x, 0.2),
        "elu": lambda x: functional.elu(x),
        "elu_alpha": lambda x: functional.elu(x, 1.5),
        "softplus": lambda x: functional.softplus(x),
        "softplus_beta": lambda x: functional.softplus(x, 2, 3),
    }.items():
        layer(name, function, {"x": torch.randn(5, 7) * 2})
        layer(name + "_large", function, {"x": torch.randn(5, 7) * 60})


def make_normalizations():
    torch.manual_seed(7)
    weight, bias = torch.randn(7), torch.randn(7)
    x, cube = torch.randn(5, 7) * 3 + 1, torch.randn(5, 3, 7) * 2
    small = torch.randn(5, 7) * 2**-10
    for name, values, epsilon in (("", x, 1e-5), ("_axes", cube, 1e-5), ("_epsilon", small, 1e-3)):
        layer(
            f"layer_norm{name}",
            lambda x, weight, bias, epsilon=epsilon: functional.layer_norm(x, (7,), weight, bias, epsilon),
            {"x": values, "weight": weight, "bias": bias},
        )
    for name, values, epsilon in (("", x, None), ("_axes", cube, None), ("_epsilon", small, 1e-3)):
        layer(
            f"rms_norm{name}",
            lambda x, weight, epsilon=epsilon: functional.rms_norm(x, (7,), weight, epsilon),
            {"x": values, "weight": weight},
        )


# --- losses -----------------------------------------------------------------------------------------------------------


def check_cross_entropy(logits, labels, weight, ignored, smoothing, reduction, loss):
    """The formula of README.md in NumPy: an oracle for our reading of the options."""
    z = logits.double().numpy()
    top = z.max(axis=1, keepdims=True)
    log_p = z - top - np.log(np.exp(z - top).sum(axis=1, keepdims=True))
    w = np.ones(z.shape[1]) if weight is None else weight.double().numpy()
    total, divisor = 0.0, 0.0
    for row, label in zip(log_p, labels.numpy()):
        if label != ignored:
            total -= (1 - smoothing) * w[label] * row[label] + smoothing / len(row) * np.sum(w * row)
            divisor += w[label]
    with np.errstate(invalid="ignore"):
        expected = total if reduction == "sum" else np.divide(total, divisor)
    np.testing.assert_allclose(loss.item(), expected, rtol=1e-12)


def cross_entropy(case, logits, labels, weight=None, ignored=-100, smoothing=0.0):
    for reduction in ("mean", "sum"):

        def compute(dtype, reduction=reduction):
            leaf = logits.to(dtype).clone().requires_grad_()
            class_weight = None if weight is None else weight.to(dtype)
            loss = functional.cross_entropy(
                leaf,
                labels,
                weight=class_weight,
                ignore_index=ignored,
                label_smoothing=smoothing,
                reduction=reduction,
            )
            loss.backward()
            if dtype == torch.float64:
                check_cross_entropy(logits, labels, weight, ignored, smoothing, reduction, loss)
            result = {"logits": leaf, "loss": loss, "dlogits": leaf.grad}
            return result if weight is None else {**result, "class_weight": class_weight}

        name = f"losses/cross_entropy_{case}_{reduction}_c{logits.shape[1]}"
        record(name, compute)
        write(f"{name}/labels", labels)


def make_losses():
    torch.manual_seed(2)
    for batch, classes in ((6, 3), (8, 10), (4, 1000)):
        logits = torch.randn(batch, classes) * 2
        labels = torch.randint(0, classes, (batch,))
        some = labels.clone()
        some[1::3] = -100
        weight = torch.empty(classes).uniform_(0.25, 2.0)
        cross_entropy("plain", logits, labels)
        cross_entropy("ignore", logits, some)
        cross_entropy("ignore_all", logits, torch.full_like(labels, -100))
        cross_entropy("smoothing", logits, labels, smoothing=0.1)
        cross_entropy("weight", logits, labels, weight=weight)
        cross_entropy("combined", logits, some, weight=weight, smoothing=0.1)
        if classes == 10:
            labels[:3] = torch.tensor([1, 4, 1])
            cross_entropy("ignore_class_1", logits, labels, weight=weight, ignored=1, smoothing=0.1)
            cross_entropy("large", logits * 100, labels)

    prediction, target = torch.randn(5, 3), torch.randn(5, 3)
    for reduction in ("mean", "sum"):

        def compute(dtype, reduction=reduction):
            leaf = prediction.to(dtype).clone().requires_grad_()
            loss = functional.mse_loss(leaf, target.to(dtype), reduction=reduction)
            loss.backward()
            return {"prediction": leaf, "target": target.to(dtype), "loss": loss, "dprediction": leaf.grad}

        record(f"losses/mse_{reduction}", compute)


def pointwise(name, prediction, target, function, reductions=("mean", "sum"), **options):
    """A loss of predictions and targets of one shape; tensors among the options are stored under their names."""
    for reduction in reductions:

        def compute(dtype, reduction=reduction):
            def typed(value):
                return value.to(dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() else value

            leaf = prediction.to(dtype).clone().requires_grad_()
            given = {key: typed(value) for key, value in options.items()}
            loss = function(leaf, typed(target), reduction=reduction, **given)
            loss.backward()
            result = {"prediction": leaf, "loss": loss, "dprediction": leaf.grad}
            if target.is_floating_point():
                result["target"] = typed(target)
            result.update({key: value for key, value in given.items() if isinstance(value, torch.Tensor)})
            return result

        record(f"losses/{name}_{reduction}", compute)
        if not target.is_floating_point():
            write(f"losses/{name}_{reduction}/labels", target)


def make_more_losses():
    torch.manual_seed(6)
    x, t = torch.randn(5, 3) * 2, torch.randn(5, 3) * 2
    pointwise("l1", x, t, functional.l1_loss)
    pointwise("smooth_l1", x, t, functional.smooth_l1_loss)
    pointwise("smooth_l1_beta", x, t, functional.smooth_l1_loss, beta=0.25)
    pointwise("smooth_l1_beta_0", x, t, functional.smooth_l1_loss, beta=0.0)

    bce = functional.binary_cross_entropy_with_logits
    decisions = torch.tensor([[0, 1, 0.25], [1, 1, 0], [0.5, 0, 0], [1, 0, 1], [0, 0.75, 1]])
    positive, weight = torch.tensor([0.5, 2, 3]), torch.tensor([1.5, 0.25, 0])
    pointwise("bce_with_logits", x, decisions, bce)
    pointwise("bce_with_logits_large", x * 30, decisions, bce)
    pointwise("bce_with_logits_pos_weight", x, decisions, bce, pos_weight=positive)
    pointwise("bce_with_logits_weights", x, decisions, bce, pos_weight=positive, weight=weight)

    log_p, q = torch.randn(5, 3).log_softmax(1), torch.randn(5, 3).softmax(1)
    zeros = torch.tensor([[0.5, 0.5, 0], [0, 0, 1], [0.25, 0.5, 0.25], [1, 0, 0], [0, 0.75, 0.25]])
    pointwise("kl_div", log_p, q, functional.kl_div, ("mean", "sum", "batchmean"))
    pointwise("kl_div_zeros", log_p, zeros, functional.kl_div)
    pointwise("kl_div_log_target", log_p, q.log(), functional.kl_div, log_target=True)

    labels = torch.tensor([2, 0, 1, 1, 2])
    some = torch.tensor([2, -100, 1, -100, 0])
    classes = torch.tensor([0.5, 2, 1.25])
    pointwise("nll", log_p, labels, functional.nll_loss)
    pointwise("nll_ignore", log_p, some, functional.nll_loss)
    pointwise("nll_ignore_all", log_p, torch.full_like(labels, -100), functional.nll_loss)
    pointwise("nll_weight", log_p, some, functional.nll_loss, weight=classes)
    pointwise("nll_ignore_class_1", log_p, labels, functional.nll_loss, weight=classes, ignore_index=1)


# --- optimizers -------------------------------------------------------------------------------------------------------


def make_optimizers():
    torch.manual_seed(3)
    start = torch.randn(33)
    steps = torch.randn(10, 33) * 0.5
    steps[:, 5] = 0.0  # an element that never gets a gradient
    steps[:, 6] *= 1e-6  # and one with gradients near Adam's epsilon
    momentum = {"lr": 0.1, "momentum": 0.9, "foreach": False}
    adam = {"lr": 1e-2, "foreach": False}
    for name, kind, options in (
        ("sgd", torch.optim.SGD, {"lr": 0.1, "foreach": False}),
        ("sgd_momentum", torch.optim.SGD, momentum),
        ("sgd_momentum_dampening", torch.optim.SGD, {**momentum, "dampening": 0.1}),
        ("sgd_nesterov", torch.optim.SGD, {**momentum, "nesterov": True}),
        ("sgd_momentum_weight_decay", torch.optim.SGD, {**momentum, "weight_decay": 0.01}),
        ("adam", torch.optim.Adam, adam),
        ("adam_weight_decay", torch.optim.Adam, {**adam, "weight_decay": 0.01}),
        ("adam_betas_epsilon", torch.optim.Adam, {**adam, "betas": (0.8, 0.99), "eps": 1e-6}),
        ("adamw", torch.optim.AdamW, {**adam, "weight_decay": 0.05}),
    ):

        def compute(dtype, kind=kind, options=options):
            parameter = nn.Parameter(start.to(dtype).clone())
            optimizer = kind([parameter], **options)
            after = []
            for gradient in steps.to(dtype):
                parameter.grad = gradient.clone()
                optimizer.step()
                after.append(parameter.detach().clone())
            return {"start": start.to(dtype), "gradients": steps.to(dtype), "parameters": torch.stack(after)}

        record(f"optimizers/{name}", compute)

    raw = [torch.randn(4, 5), torch.randn(7)]
    for name, max_norm in (("clip_grad_norm_reached", 0.5), ("clip_grad_norm_not_reached", 100.0)):

        def compute(dtype, max_norm=max_norm):
            parameters = [nn.Parameter(torch.zeros_like(gradient, dtype=dtype)) for gradient in raw]
            for parameter, gradient in zip(parameters, raw):
                parameter.grad = gradient.to(dtype).clone()
            norm = nn.utils.clip_grad_norm_(parameters, max_norm, foreach=False)
            result = {"total_norm": norm, "max_norm": torch.tensor(max_norm, dtype=dtype)}
            for index, (parameter, gradient) in enumerate(zip(parameters, raw)):
                result[f"gradient{index}"] = gradient.to(dtype)
                result[f"clipped{index}"] = parameter.grad
            return result

        record(f"optimizers/{name}", compute)


# --- reductions -------------------------------------------------------------------------------------------------------


def make_reductions():
    torch.manual_seed(4)
    x = torch.randn(3, 4, 5)
    assert x.unique().numel() == x.numel(), "ties would leave argmax open"
    for axis in range(3):
        record(
            f"reductions/axis{axis}",
            lambda dtype, axis=axis: {
                "x": x.to(dtype),
                "sum": x.to(dtype).sum(axis),
                "mean": x.to(dtype).mean(axis),
                "max": x.to(dtype).amax(axis),
            },
        )
        write(f"reductions/axis{axis}/argmax", x.argmax(axis))
    record(
        "reductions/all",
        lambda dtype: {
            "x": x.to(dtype),
            "sum": x.to(dtype).sum(),
            "mean": x.to(dtype).mean(),
            "max": x.to(dtype).amax(),
        },
    )
    write("reductions/all/argmax", x.argmax())


# --- training ---------------------------------------------------------------------------------------------------------

STEPS = 200
BATCH = 64
# These runs were chosen because float32 rounding switches no ReLU on or off in any of their steps (README.md).
RUNS = {"adam": 79, "sgd": 98}


def train(run, optimizer_name, dtype, pixel_order, unit_order, disturbance=0.0, disturbance_seed=0):
    """Losses of 200 steps and the parameters after them. The orders permute sums without changing their values.

    disturbance is the standard deviation of normal noise added to every pre-activation, a stand-in for the rounding of
    another implementation.
    """
    shapes = generator.PARAMETERS
    initial = {name: torch.from_numpy(generator.parameter(run, name)).to(dtype) for name in shapes}
    network = nn.Sequential(
        nn.Linear(generator.PIXELS, generator.HIDDEN), nn.ReLU(), nn.Linear(generator.HIDDEN, generator.CLASSES)
    ).to(dtype)
    with torch.no_grad():
        network[0].weight.copy_(initial["weight0"][unit_order][:, pixel_order])
        network[0].bias.copy_(initial["bias0"][unit_order])
        network[2].weight.copy_(initial["weight1"][:, unit_order])
        network[2].bias.copy_(initial["bias1"])
    random = torch.Generator().manual_seed(disturbance_seed)

    def disturb(_module, _inputs, output):
        return output + disturbance * torch.randn(output.shape, generator=random, dtype=dtype)

    if disturbance > 0.0:
        network[0].register_forward_hook(disturb)
    if optimizer_name == "adam":
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, foreach=False)
    else:
        optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9, foreach=False)
    images = torch.from_numpy(generator.images(run, STEPS * BATCH)[:, pixel_order]).to(dtype)
    labels = torch.from_numpy(generator.labels(run, STEPS * BATCH))
    losses = []
    for step in range(STEPS):
        batch = slice(step * BATCH, (step + 1) * BATCH)
        optimizer.zero_grad()
        loss = functional.cross_entropy(network(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    result = {"losses": torch.stack(losses)}
    result.update({name + "_head": p.detach().flatten()[:16] for name, p in zip(shapes, network.parameters())})
    return result


def make_training():
    in_order = np.arange(generator.PIXELS), np.arange(generator.HIDDEN)
    random = np.random.RandomState(5)
    shuffled = random.permutation(generator.PIXELS), random.permutation(generator.HIDDEN)
    for name, run in RUNS.items():
        results = {}

        def compute(dtype, name=name, run=run, results=results):
            results[dtype] = train(run, name, dtype, *in_order)
            return results[dtype]

        record(f"training/{name}", compute)
        exact, rounded = results[torch.float64], results[torch.float32]
        other = train(run, name, torch.float32, *shuffled)

        def worst(a, b):
            return float(((a["losses"].double() - b["losses"].double()) / exact["losses"]).abs().max())

        def disturbed(size, name=name, run=run):
            return max(worst(train(run, name, torch.float64, *in_order, size, trial), exact) for trial in range(3))

        heads = [key for key in exact if key != "losses"]
        drift = max(float((exact[key] - rounded[key].double()).abs().max()) for key in heads)
        losses = exact["losses"]
        print(
            f"training/{name}: loss {losses[0]:.3f} to {losses[-1]:.3f}, least {losses.min():.3f};"
            f" float32 to float64 {worst(rounded, exact):.1e} relative, float32 in another order to float64"
            f" {worst(other, exact):.1e}, parameters {drift:.1e} absolute, pre-activations disturbed by 3e-7"
            f" {disturbed(3e-7):.1e}, by 1e-6 {disturbed(1e-6):.1e}"
        )
        assert worst(rounded, exact) < 2e-6 and worst(other, exact) < 2e-6, "choose a better conditioned run"


# --- small networks ----------------------------------------------------------------------------------------------------

NETWORK_BATCH = 16


def train_network(run, modules, loss_of, targets_of, dtype):
    """Losses of 200 steps, and the bias of the last layer after them."""
    network = nn.Sequential(*modules()).to(dtype)
    with torch.no_grad():
        for index, parameter in enumerate(network.parameters()):
            parameter.copy_(torch.from_numpy(generator.network_parameter(run, index, tuple(parameter.shape))))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9, foreach=False)
    features = torch.from_numpy(generator.features(run, STEPS * NETWORK_BATCH))
    targets = targets_of(features)
    features = features.to(dtype)
    targets = targets.to(dtype) if targets.is_floating_point() else targets
    losses = []
    for step in range(STEPS):
        batch = slice(step * NETWORK_BATCH, (step + 1) * NETWORK_BATCH)
        optimizer.zero_grad()
        loss = loss_of(network(features[batch]), targets[batch])
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return {"losses": torch.stack(losses), "last_bias": list(network.parameters())[-1].detach()}


def products(x):
    return x[:, :4] * x[:, 4:8]


def decisions_of(x):
    return (x[:, :4] > x[:, 4:8]).to(x.dtype)


def largest(x):
    return x[:, :4].argmax(1)


def probabilities(x):
    weights = 1 + 3 * (x[:, :4] > 0).to(x.dtype)
    return weights / weights.sum(1, keepdim=True)


def network(name, run, modules, loss_of, targets_of):
    results = {}

    def compute(dtype):
        results[dtype] = train_network(run, modules, loss_of, targets_of, dtype)
        return results[dtype]

    record(f"networks/{name}", compute)
    exact, rounded = (results[dtype]["losses"].double() for dtype in (torch.float64, torch.float32))
    worst = float(((exact - rounded) / exact).abs().max())
    print(f"networks/{name}: loss {exact[0]:.3f} to {exact[-1]:.3f}, float32 to float64 {worst:.1e} relative")
    assert worst < 5e-6, "choose a better conditioned run"


class ResidualAttention(nn.MultiheadAttention):
    """Every position attends to all."""

    def forward(self, x):
        return x + super().forward(x, x, x, need_weights=False)[0]


def make_networks():
    def three(first, second, third):
        layers = [nn.Linear(16, 16), first, nn.Linear(16, 16), second, nn.Linear(16, 16), third, nn.Linear(16, 4)]
        return lambda: layers

    gelu_silu_elu = three(nn.GELU(), nn.SiLU(), nn.ELU())
    network("gelu_silu_elu", 1, gelu_silu_elu, functional.mse_loss, products)
    others = three(nn.GELU(approximate="tanh"), nn.LeakyReLU(0.2), nn.Softplus())
    network("gelu_tanh_leaky_relu_softplus", 2, others, functional.mse_loss, products)

    norms = [nn.Linear(16, 16), nn.LayerNorm(16), nn.Tanh(), nn.Linear(16, 16), nn.RMSNorm(16), nn.Linear(16, 4)]
    network("layer_norm_rms_norm", 8, lambda: norms, functional.mse_loss, products)

    def two(*last):
        return lambda: [nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 4), *last]

    network("l1", 3, two(), functional.l1_loss, products)
    network("smooth_l1", 4, two(), nn.SmoothL1Loss(beta=0.5), products)
    positive = torch.tensor([0.5, 1, 2, 3])
    network(
        "bce_with_logits",
        5,
        two(),
        lambda y, t: functional.binary_cross_entropy_with_logits(y, t, pos_weight=positive.to(y.dtype)),
        decisions_of,
    )
    weight = torch.tensor([0.5, 1, 2, 3])
    network(
        "nll",
        6,
        two(nn.LogSoftmax(-1)),
        lambda y, t: functional.nll_loss(y, t, weight=weight.to(y.dtype)),
        largest,
    )
    network("kl_div", 7, two(nn.LogSoftmax(-1)), nn.KLDivLoss(reduction="batchmean"), probabilities)

    # The 16 values are four positions of four.
    attention = [nn.Unflatten(1, (4, 4)), nn.Linear(4, 8), ResidualAttention(8, 2, batch_first=True), nn.Flatten()]
    classes = [nn.Linear(32, 16), nn.Sigmoid(), nn.Linear(16, 4)]
    network("attention_sigmoid", 9, lambda: attention + classes, nn.CrossEntropyLoss(label_smoothing=0.1), largest)


def make_generator():
    """Golden values for tests/support/reference_test.cpp, which holds the printed ones as constants."""
    run = RUNS["adam"]
    count = STEPS * BATCH
    images, labels = generator.images(run, count), generator.labels(run, count)
    uniforms = generator.uniform(run, generator.WEIGHT0, 64)
    write("generator/golden/f32/uniforms", uniforms)
    write("generator/golden/f32/images", images[:2])
    write("generator/golden/labels", labels[:64])
    print("generator, run", run)
    print("  uniforms * 2^24     ", (uniforms[:4] * 2**24).astype(np.int64).tolist())
    print("  labels              ", labels[:12].tolist())
    print("  labels not the class", int((labels != generator.classes(run, count)).sum()))
    print("  pixels 0..3 * 1024  ", (images[0, :4] * 1024).astype(np.int64).tolist())
    print("  checksum labels       0x%016x" % generator.checksum(labels))
    print("  checksum first batch 0x%016x" % generator.checksum(images[:BATCH]))
    print("  checksum last batch  0x%016x" % generator.checksum(images[-BATCH:]))
    for name in generator.PARAMETERS:
        values = generator.parameter(run, name)
        write(f"generator/golden/f32/{name}_head", values.ravel()[:64])
        print(f"  checksum {name:12}0x{generator.checksum(values):016x}")


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    make_layers()
    make_activations()
    make_normalizations()
    make_losses()
    make_more_losses()
    make_optimizers()
    make_reductions()
    make_generator()
    make_training()
    make_networks()
    save()
    print("torch", torch.__version__)


if __name__ == "__main__":
    main()
