# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counter-based data for the training fixtures; tests/support/reference.hpp makes the same bits in C++.

Every number is a function of (run, stream, index), so nothing but the losses of a training run has to be stored.
All results are exact in float32, or are one float32 multiplication of exact operands.
"""

import numpy as np

CLASSES = 10
PIXELS = 784
HIDDEN = 256

PROTOTYPE, CLASS, NOISE, FLIP, FLIPPED_LABEL, WEIGHT0, BIAS0, WEIGHT1, BIAS1 = range(1, 10)

# shape in PyTorch's order [out, in], and the square root of the fan-in
PARAMETERS = {
    "weight0": (WEIGHT0, (HIDDEN, PIXELS), 28),
    "bias0": (BIAS0, (HIDDEN,), 28),
    "weight1": (WEIGHT1, (CLASSES, HIDDEN), 16),
    "bias1": (BIAS1, (CLASSES,), 16),
}


def splitmix64(counter):
    """The state transition and the mixing function of splitmix64 (Steele, Lea, Flood 2014), uint64 to uint64."""
    z = np.asarray(counter, dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def seed(run, stream):
    """First counter of a stream: streams are 2^40 counters apart, runs sixteen streams."""
    return np.uint64((run * 16 + stream) << 40)


def bits(run, stream, count):
    return splitmix64(seed(run, stream) + np.arange(count, dtype=np.uint64))


def uniform(run, stream, count):
    """Multiples of 2^-24 in [0, 1), exact in float32."""
    return (bits(run, stream, count) >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)


def classes(run, count):
    return (bits(run, CLASS, count) % np.uint64(CLASSES)).astype(np.int64)


def labels(run, count):
    """The class of each sample, but in one sample of ten a label drawn at random (it may be the right one)."""
    drawn = (bits(run, FLIPPED_LABEL, count) % np.uint64(CLASSES)).astype(np.int64)
    return np.where(bits(run, FLIP, count) % np.uint64(10) == 0, drawn, classes(run, count))


def images(run, count):
    """[count, 784] float32: (256 * prototype bit + noise byte - 256) / 1024, in [-1/4, 1/4)."""
    prototypes = (bits(run, PROTOTYPE, CLASSES * PIXELS) >> np.uint64(63)).astype(np.int64).reshape(CLASSES, PIXELS)
    noise = (bits(run, NOISE, count * PIXELS) >> np.uint64(56)).astype(np.int64).reshape(count, PIXELS)
    return (256 * prototypes[classes(run, count)] + noise - 256).astype(np.float32) / np.float32(1024)


def parameter(run, name):
    """(uniform - 0.5) * (2 / sqrt(fan-in)), in PyTorch's default interval; the product is rounded once, to float32."""
    stream, shape, root_fan_in = PARAMETERS[name]
    span = np.float32(2) / np.float32(root_fan_in)
    return ((uniform(run, stream, int(np.prod(shape))) - np.float32(0.5)) * span).reshape(shape)


def features(run, count):
    """[count, 16] float32 in [-2, 2), the inputs of the small networks."""
    return ((uniform(run, PROTOTYPE, count * 16) - np.float32(0.5)) * np.float32(4)).reshape(count, 16)


def network_parameter(run, index, shape):
    """Parameter number `index` of a small network: exact in float32."""
    return ((uniform(run, WEIGHT0 + index, int(np.prod(shape))) - np.float32(0.5)) * np.float32(0.5)).reshape(shape)


def checksum(values):
    """Sum of (i + 1) * value_i modulo 2^64; floats count with their 32 bits."""
    values = np.ascontiguousarray(values).ravel()
    words = values.view(np.uint32) if values.dtype == np.float32 else values
    words = words.astype(np.uint64)
    return int(np.sum(words * np.arange(1, words.size + 1, dtype=np.uint64), dtype=np.uint64))
