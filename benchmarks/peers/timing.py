# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Times of one piece of work in a program of devplace and in Python, measured alike."""

import os
import subprocess
import sys
import time


class Devplace:
    """The program that times devplace's work; it answers one question at a time."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, question):
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            script = os.path.basename(sys.argv[0])
            sys.exit(f"{script}: the program ended at '{question}' with status {self.process.wait()}.")
        return float(answer)


def seconds(call):
    """As devplace::bench::time_of: the mean over about 50 ms, after two calls that are not counted."""
    call()
    call()
    calls, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < 0.05:
        call()
        calls += 1
    return (time.perf_counter() - begin) / calls
