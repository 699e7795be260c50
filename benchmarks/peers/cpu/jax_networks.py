#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The work of networks_bench.cpp in JAX: a whole step is one compiled function that updates its arguments."""

import os
import sys

import jax
import jax.numpy as jnp
import numpy

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from timing import answer_questions, once, quantile, seconds

NETWORKS = {
    "mlp": ([784, 256, 10], jax.nn.relu),
    "tanh": ([28, 300, 300, 300, 300, 300, 1], jnp.tanh),
    "wide": ([1024, 1024, 1024, 1024, 1024], lambda x: jax.nn.gelu(x, approximate=False)),
}


def parameters_of(sizes):
    keys = jax.random.split(jax.random.PRNGKey(1), len(sizes))
    return [
        (jax.random.normal(key, (inputs, outputs)) * 0.05, jnp.zeros(outputs))
        for key, inputs, outputs in zip(keys, sizes, sizes[1:])
    ]


def forward(activation, parameters, x):
    for i, (weight, bias) in enumerate(parameters):
        x = (activation(x) if i else x) @ weight + bias
    return x


def loss(activation, parameters, x, targets):
    y = forward(activation, parameters, x)
    if y.shape[1] == 1:
        return jnp.mean(jnp.maximum(y, 0) - y * targets + jnp.log1p(jnp.exp(-jnp.abs(y))))
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(y), targets[:, None], axis=1))


def adam(p, g, m, v, t):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return p - 1e-3 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8), m, v


def sgd(p, g, m, v, t):
    m = 0.9 * m + g
    return p - 1e-3 * m, m, v


def training(activation, rule, parameters):
    """Returns a compiled step and the initial state: parameters, two moments and the number of steps."""

    def step(state, x, targets):
        parameters, first, second, t = state
        if x.dtype == jnp.uint8:
            x = x.astype(jnp.float32) / 255
        value, gradients = jax.value_and_grad(lambda p: loss(activation, p, x, targets))(parameters)
        leaves, tree = jax.tree.flatten(parameters)
        lists = [jax.tree.leaves(part) for part in (gradients, first, second)]
        updated = [rule(p, g, m, v, t + 1) for p, g, m, v in zip(leaves, *lists)]
        return (*(jax.tree.unflatten(tree, list(part)) for part in zip(*updated)), t + 1), value

    zeros = [jax.tree.map(jnp.zeros_like, parameters) for _ in range(2)]
    return jax.jit(step, donate_argnums=0), (parameters, *zeros, 0.0)


def epoch(sizes, activation, batch):
    """Times an epoch over data in memory of MNIST's size. NumPy takes the rows, and the step scales them."""
    random = numpy.random.default_rng(1)
    images = random.integers(0, 256, (60_000, 784), numpy.uint8)
    labels = numpy.arange(60_000, dtype=numpy.int32) % 10
    step, state = training(activation, adam, parameters_of(sizes))

    def train(order):
        nonlocal state
        for begin in range(0, len(order), batch):
            chosen = order[begin : begin + batch]
            state, value = step(state, images[chosen], labels[chosen])
        value.block_until_ready()

    train(numpy.arange(20 * batch + len(images) % batch))  # warm-up; the last batch is smaller as in an epoch
    return once(lambda: train(random.permutation(len(images))))


def answer(what, of):
    if what == "threads":
        return 0  # uses the processors that the process may use
    name, batch = of.split("/")
    sizes, activation = NETWORKS[name]
    batch, classes = int(batch), sizes[-1]
    if what == "epoch":
        return epoch(sizes, activation, batch)
    parameters = parameters_of(sizes)
    x = jax.random.uniform(jax.random.PRNGKey(2), (batch, sizes[0]))
    if what in ("p50", "p99"):
        predict = jax.jit(lambda parameters, x: forward(activation, parameters, x))
        return quantile(0.5 if what == "p50" else 0.99, lambda: predict(parameters, x).block_until_ready())
    targets = jnp.arange(batch) % classes if classes > 1 else jax.random.uniform(jax.random.PRNGKey(3), (batch, 1))
    compiled, state = training(activation, sgd if what == "sgd" else adam, parameters)

    def run():
        nonlocal state
        state, value = compiled(state, x, targets)
        value.block_until_ready()

    return once(run) if what == "once" else seconds(run)


answer_questions(answer)
