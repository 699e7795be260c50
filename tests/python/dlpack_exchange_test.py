# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exchanges tensors with NumPy and, where it is installed, PyTorch; the argument is the folder of dlpack_exchange."""

import gc
import sys
import weakref

try:
    import numpy
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(4)
sys.path.insert(0, sys.argv[1])
import dlpack_exchange as dp

VERSIONED = hasattr(numpy, "from_dlpack") and int(numpy.__version__.split(".")[0]) >= 2


class Given:
    """What from_dlpack functions take; `make(versioned)` gives the capsule."""

    def __init__(self, make):
        self.make = make

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return self.make(max_version is not None and max_version[0] >= 1)

    def __dlpack_device__(self):
        return (1, 0)


def refused(call):
    try:
        call()
    except ValueError as error:
        return str(error)
    raise AssertionError("not refused")


def capsule(x):
    return x.__dlpack__(max_version=(1, 0)) if VERSIONED and isinstance(x, numpy.ndarray) else x.__dlpack__()


def numpy_takes_tensors():
    before = dp.allocated()
    x = numpy.from_dlpack(Given(lambda versioned: dp.counting(2, 3, versioned)))
    assert x.dtype == numpy.float32 and x.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert dp.allocated() > before
    part = x[1:, ::2]
    del x
    gc.collect()
    assert part.tolist() == [[3, 5]] and dp.allocated() > before
    del part
    gc.collect()
    assert dp.allocated() == before
    dp.counting(2, 3, True)  # a capsule that is never consumed
    dp.counting(2, 3, False)
    gc.collect()
    assert dp.allocated() == before
    if VERSIONED:
        y = numpy.from_dlpack(Given(lambda versioned: dp.transposed_to_read()))
        assert y.tolist() == [[0, 2], [1, 3]] and not y.flags.writeable
        for name, dtype in (("half", numpy.float16), ("int64", numpy.int64), ("uint8", numpy.uint8)):
            z = numpy.from_dlpack(Given(lambda versioned: dp.three(name)))
            assert z.dtype == dtype and z.tolist() == [1, 2, 3]


def tensors_of_numpy_are_taken():
    x = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
    expected = lambda y: float(sum(y[i, j] * (i + 10 * j) for i in range(y.shape[0]) for j in range(y.shape[1])))
    for y in (x, x.T, x[1:, ::2], x[:, :0], x[::-1], x[::-2, ::-1].T):
        assert dp.weighted_sum(capsule(y)) == expected(y)
    assert "asked for" in refused(lambda: dp.weighted_sum(capsule(x.astype(numpy.float64))))
    assert "reshape" in refused(lambda: dp.weighted_sum(capsule(x.reshape(-1))))
    assert "not row-major" in refused(lambda: dp.keep(capsule(x.T), 1))
    if VERSIONED:
        x.flags.writeable = False
        assert dp.weighted_sum(capsule(x)) == expected(x)
        assert "may only be read" in refused(lambda: dp.keep(capsule(x), 1))


class Owned(numpy.ndarray):
    """Of which weak references are possible."""


def python_keeps_what_is_used():
    x = numpy.zeros((2, 2), numpy.float32).view(Owned)
    alive = weakref.ref(x)
    dp.keep(capsule(x), 7)
    assert x[0, 0] == 7
    del x
    gc.collect()
    assert alive() is not None
    dp.drop()
    gc.collect()
    assert alive() is None


def pytorch():
    try:
        import torch
    except ImportError:
        print("without PyTorch")
        return
    before = dp.allocated()
    x = torch.from_dlpack(Given(lambda versioned: dp.counting(2, 3, versioned)))
    x[0, 0] = 9
    assert x.tolist() == [[9, 1, 2], [3, 4, 5]] and dp.allocated() > before
    del x
    gc.collect()
    assert dp.allocated() == before
    assert torch.from_dlpack(dp.counting(1, 2, False)).tolist() == [[0, 1]]
    for name, dtype in (("half", torch.float16), ("bf16", torch.bfloat16), ("int64", torch.int64)):
        z = torch.from_dlpack(Given(lambda versioned: dp.three(name)))
        assert z.dtype == dtype and z.tolist() == [1, 2, 3]
    y = torch.arange(6.0).reshape(2, 3)
    assert dp.weighted_sum(y.__dlpack__()) == dp.weighted_sum(capsule(y.numpy()))
    assert dp.weighted_sum(y.T.__dlpack__()) == dp.weighted_sum(capsule(y.numpy().T))
    dp.keep(y.__dlpack__(), 5)
    assert y[0, 0] == 5
    dp.drop()
    assert "bool" in refused(lambda: dp.weighted_sum((y > 1).view(torch.uint8).view(torch.bool).__dlpack__()))


numpy_takes_tensors()
tensors_of_numpy_are_taken()
python_keeps_what_is_used()
pytorch()
# At exit each side holds memory of the other: Python's array lies in a tensor's memory, and the module keeps an array.
left = numpy.from_dlpack(Given(lambda versioned: dp.counting(2, 3, versioned)))
dp.keep(capsule(numpy.ones((2, 2), numpy.float32)), 3)
