# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The largest costs of training steps, from profiles that `perf` samples."""

import os
import re
import shutil
import subprocess
import tempfile

# The work of functions, by a part of their names; the first match counts.
PARTS = [
    ("multiply-adds of products", r"::(tile|dot_tile|dot_range)<|::multiply_(tile|edge)\("),
    ("packing of products", r"::(pack|pack_rest|transpose)<|::multiply_range\("),
    ("optimizer", r"runtime::update<|::update_arrays<"),
    ("loss", r"cross_entropy|pointwise_loss|with_logits"),
    ("activations", r"relu|elementary|gated|tanh|assign_linear"),
    ("sums of columns", r"op::reduce|reduced_block|column"),
    ("initial values", r"uniform_body|normal_body|initial_values|op::random|__(cos|sin|log|log1p|fma)"),
    ("threads", r"thread_team|futex|sched_yield|parallel_"),
    ("copies and fills", r"__mem(set|move|cpy)"),
]


def part_of(symbol, in_kernel):
    if in_kernel:
        return "kernel"
    return next((name for name, pattern in PARTS if re.search(pattern, symbol)), symbol.split("<")[0])


def costs_of(command, question, folder, environment):
    """Returns the shares of the samples, largest first; nothing if perf takes none."""
    file = os.path.join(folder, "samples")
    record = ["perf", "record", "-q", "-F", "2000", "-o", file, "--", *command]
    settings = {**os.environ, **environment}
    done = subprocess.run(record, input=f"threads 1\n{question}\n", capture_output=True, text=True, env=settings)
    if done.returncode != 0:
        return []
    report = ["perf", "report", "-q", "-i", file, "--stdio", "--no-children", "-F", "overhead,sym", "-w", "0,0"]
    lines = subprocess.run(report, capture_output=True, text=True).stdout.splitlines()
    shares = {}
    for line in lines:
        found = re.match(r"\s*([0-9.]+)%\s+\[(.)\] (.*)", line)
        if found:
            part = part_of(found[3].strip(), found[2] == "k")
            shares[part] = shares.get(part, 0) + float(found[1]) / 100
    return sorted(shares.items(), key=lambda part: -part[1])[:5]


def costs(command, items, environment):
    """Returns the five largest costs of each step."""
    if shutil.which("perf") is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        questions = {i.name: i.question.replace("adam", "profile", 1) for i in items}
        found = {name: costs_of(command, question, folder, environment) for name, question in questions.items()}
    return {name: parts for name, parts in found.items() if parts}
