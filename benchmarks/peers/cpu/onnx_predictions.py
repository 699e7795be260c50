#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The predictions of networks_bench.cpp in ONNX Runtime, with a graph of Gemm and Relu."""

import os
import sys

import numpy
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from timing import answer_questions, quantile

SIZES = [784, 256, 10]


def graph(batch):
    random, nodes, weights, last = numpy.random.default_rng(1), [], [], "x"
    for i, (inputs, outputs) in enumerate(zip(SIZES, SIZES[1:])):
        weights.append(numpy_helper.from_array(random.normal(0, 0.05, (outputs, inputs)).astype("f"), f"weight{i}"))
        weights.append(numpy_helper.from_array(numpy.zeros(outputs, "f"), f"bias{i}"))
        nodes.append(helper.make_node("Gemm", [last, f"weight{i}", f"bias{i}"], [f"z{i}"], transB=1))
        last = f"z{i}"
        if i + 2 < len(SIZES):
            nodes.append(helper.make_node("Relu", [last], [f"y{i}"]))
            last = f"y{i}"
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, SIZES[0]])
    y = helper.make_tensor_value_info(last, TensorProto.FLOAT, [batch, SIZES[-1]])
    model = helper.make_model(
        helper.make_graph(nodes, "mlp", [x], [y], weights), opset_imports=[helper.make_opsetid("", 17)]
    )
    model.ir_version = 9
    return model.SerializeToString(), last


threads = 1


def answer(what, of):
    global threads
    if what == "threads":
        threads = int(of)
        return 0
    name, batch = of.split("/")
    if name != "mlp" or what not in ("p50", "p99"):
        return None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    model, last = graph(int(batch))
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    binding.bind_cpu_input("x", numpy.random.default_rng(2).random((int(batch), SIZES[0]), "f"))
    binding.bind_output(last)
    return quantile(0.5 if what == "p50" else 0.99, lambda: session.run_with_iobinding(binding))


answer_questions(answer)
