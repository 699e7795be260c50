# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Times one piece of work in several programs and in Python, measured alike."""

import os
import statistics
import subprocess
import sys
import time


class Program:
    """A program that times its own work: it answers each line with seconds, or with `no` for unsupported work."""

    def __init__(self, *command, environment=None):
        self.command = command
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})}
        )

    def seconds(self, question):
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            script = os.path.basename(sys.argv[0])
            status = self.process.wait()
            sys.exit(f"{script}: '{' '.join(self.command)}' ended at '{question}' with status {status}.")
        return None if answer.strip() == "no" else float(answer)


def answer_questions(answer):
    """The other side of Program, for peers in Python: answer(kind, of) returns seconds, or None for work not done."""
    for line in sys.stdin:
        answered = answer(*line.split())
        print("no" if answered is None else answered, flush=True)


def seconds(call):
    """Returns the mean over about 50 ms, after two warm-up calls, like devplace::bench::time_of."""
    call()
    call()
    calls, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < 0.05:
        call()
        calls += 1
    return (time.perf_counter() - begin) / calls


def quantile(share, call):
    """Returns a quantile of single calls over about 200 ms, like devplace::bench::quantile_of."""
    call()
    call()
    taken = []
    begin = last = time.perf_counter()
    while last - begin < 0.2:
        call()
        now = time.perf_counter()
        taken.append(now - last)
        last = now
    return sorted(taken)[int(share * (len(taken) - 1))]


def command_line(rounds):
    """Returns program, threads and rounds of `<script> <program> [<threads> [<rounds>]]`; the program has the threads."""
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    program = Program(sys.argv[1])
    program.seconds(f"threads {threads}")
    return program, threads, int(sys.argv[3]) if len(sys.argv) > 3 else rounds


def compare(title, program, work, rounds):
    """Prints the medians of a program's seconds and of calls in Python, in microseconds, and the rows below 1.0.

    Both alternate within a round. `work` has a call for each question to the program.
    """
    times = {question: ([], []) for question in work}
    for _ in range(rounds):
        for question, call in work.items():
            times[question][0].append(program.seconds(question))
            times[question][1].append(seconds(call))
    print(f"{title}, median of {rounds} rounds, microseconds")
    print(f"{'':30}{'devplace':>10}{'PyTorch':>10}  PyTorch / devplace")
    below = []
    for question, both in times.items():
        own, peer = (statistics.median(taken) * 1e6 for taken in both)
        print(f"{question:30}{own:10.1f}{peer:10.1f}{peer / own:10.2f}")
        if peer < own:
            below.append(f"{question} {peer / own:.2f}")
    print(f"below 1.0: {', '.join(below) or 'none'}")


def once(call):
    """Returns the seconds of the first call."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin
