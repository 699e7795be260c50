#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""devplace next to its peers on the CPU, in one run by scripts/benchmark.

All have equal processors and numbers of threads and alternate within a round. Reports medians over the rounds, the
ratio of the best peer's time to devplace's, and the limit as a share of devplace's time. The limit is floating-point
operations at the peak of multiply-adds, or bytes at the bandwidth of memory, both measured in the same run. The
bandwidth is that of arrays much larger than the caches, so work with data in the caches may exceed 100 %.

A row is disturbed if the middle half of the measurements of devplace or of the best peer ranges over more than 15 % of
the median, or if the peak changes by more than 5 % from the row's begin to its end. A disturbed row is measured up to
three times. The table has the least disturbed attempt, and marks it with `!` if other work disturbed that one, too.
"""

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from timing import Program

import profile_of_step
import report
import work

FOLDER = os.path.dirname(os.path.abspath(__file__))
# Without the first three, glibc may return the temporaries of LibTorch and PyTorch to the system in every step. Tried
# for the steps of mlp by `LibTorch tuned` and `PyTorch` with batches of 64 and 1,024 on 2 threads (AMD EPYC, medians of
# 30 and 15): OMP_PROC_BIND=true, OMP_WAIT_POLICY=active, GOMP_SPINCOUNT=1000000 and huge pages for malloc by
# GLIBC_TUNABLES=glibc.malloc.hugetlb=1 changed the medians by -4 to 3 %, and omitting the first three by -2 to 2 %.
# Active threads would also spin while others are measured. OMP_WAIT_POLICY=passive took 1.1 to 2.3 times as long.
# KMP_BLOCKTIME has no effect, because the wheel uses GNU's OpenMP.
ENVIRONMENT = {
    "MALLOC_TRIM_THRESHOLD_": "2000000000",
    "MALLOC_MMAP_THRESHOLD_": "2000000000",
    "MALLOC_TOP_PAD_": "67108864",
    "TORCH_CPP_LOG_LEVEL": "ERROR",
    "JAX_PLATFORMS": "cpu",
}


def start(command, threads, environment):
    """Starts the program on as many processors as threads, which limits peers that have no such setting."""
    processors = sorted(os.sched_getaffinity(0))[:threads]
    settings = {**environment, "OMP_NUM_THREADS": str(threads)}
    program = Program("taskset", "-c", ",".join(map(str, processors)), *command, environment=settings)
    program.seconds(f"threads {threads}")
    return program


MOST_SPREAD = 0.15  # of the measurements of devplace or of the best peer
MOST_CHANGE = 0.05  # of the peak of multiply-adds, from the begin of a row to its end
ATTEMPTS = 3
PAUSE = 0.03  # seconds; threads of peers spin for up to 20 ms after their work (OpenBLAS)


def answer(program, question, threads):
    """Returns a program's seconds, measured while no thread of the program asked before spins on a processor."""
    if threads > 1:
        time.sleep(PAUSE)
    return program.seconds(question)


def measured(item, asked, threads, rounds, peak):
    """Returns each program's seconds, and how far other work on the machine disturbed them: 1 is the most allowed."""
    times = {name: [] for name in asked}
    begin = peak()
    for _ in range(max(rounds // 3, 1) if item.long else rounds):
        for name, program in asked.items():
            seconds = answer(program, item.question, threads)
            if seconds is not None:
                times[name].append(seconds)
    end = peak()
    times = {name: seconds for name, seconds in times.items() if seconds}
    peers = {name: statistics.median(seconds) for name, seconds in times.items() if name != "devplace"}
    decisive = ["devplace"] + ([min(peers, key=peers.get)] if peers else [])
    spreads = [spread(times[name]) or 0 for name in decisive]
    return times, max(max(spreads) / MOST_SPREAD, abs(end / begin - 1) / MOST_CHANGE)


def compare(items, peers, threads, rounds, environment):
    """Returns the rows of the table, and the limits measured beside them. Measures disturbed rows again."""
    programs = {
        (name, kind): start(command, threads, environment)
        for name, kinds in peers.items()
        for kind, command in kinds.items()
    }
    limits = {name: [] for name in work.limits()}

    def limit(name):
        limits[name].append(answer(programs["devplace", "operations"], work.limits()[name], threads))
        return limits[name][-1]

    rows = []
    for item in items:
        asked = {name: programs[name, item.program] for name, kinds in peers.items() if item.program in kinds}
        attempts = []
        while len(attempts) < ATTEMPTS and (not attempts or attempts[-1][1] > 1):
            attempts.append(measured(item, asked, threads, rounds, lambda: limit("float")))
            print("." if attempts[-1][1] <= 1 else "!", end="", flush=True, file=sys.stderr)
        times, disturbance = min(attempts, key=lambda attempt: attempt[1])
        row = {"name": item.name, "threads": threads, "seconds": times, "item": item, "disturbed": disturbance > 1}
        rows.append({**row, "attempts": len(attempts)})
        for name in work.limits():
            if name != "float" and len(limits[name]) < 3 * rounds:
                limit(name)
    print(file=sys.stderr)
    return rows, {name: statistics.median(seconds) for name, seconds in limits.items()}


def share_of_limit(item, seconds, limits):
    if item.operations:
        return item.operations * limits[item.type] / 1e9 / seconds
    if item.bytes:
        return item.bytes * limits["bytes"] / 1e9 / seconds
    return None


def spread(seconds):
    """Returns the range of the middle half of the measurements, as a share of the median."""
    if len(seconds) < 2:
        return None
    first, median, third = statistics.quantiles(seconds, n=4, method="inclusive")
    return (third - first) / median


def summarised(rows, limits):
    for row in rows:
        item, medians = row.pop("item"), {n: statistics.median(t) for n, t in row["seconds"].items()}
        row["section"], row["summary"] = item.section, item.summary or item.name
        mine = medians["devplace"]
        others = {name: seconds for name, seconds in medians.items() if name != "devplace"}
        row["medians"] = medians
        row["spread"] = {n: spread(t) for n, t in row["seconds"].items()}
        row["best_peer"] = min(others, key=others.get, default=None)
        row["ratio"] = others[row["best_peer"]] / mine if others else None
        row["share_of_limit"] = share_of_limit(item, mine, limits)
        yield row


def first_steps(peers, environment):
    """Returns the seconds from program start to the first training step, and the peak memory in MiB."""
    found = {}
    for name, kinds in peers.items():
        if "networks" not in kinds or name == "ONNX Runtime":
            continue
        seconds, memory = [], []
        for _ in range(3):
            begin = time.perf_counter()
            process = subprocess.Popen(
                kinds["networks"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, **environment},
            )
            process.stdin.write("once mlp/64\n")
            process.stdin.flush()
            process.stdout.readline()
            seconds.append(time.perf_counter() - begin)
            process.stdin.close()
            memory.append(os.wait4(process.pid, 0)[2].ru_maxrss / 1024)
            process.returncode = 0
        found[name] = {"seconds": statistics.median(seconds), "mebibytes": statistics.median(memory)}
    return found


def compile_times(root):
    """Returns the seconds of processor time of each installed compiler."""
    compilers = {
        "g++ -O2": ["g++", "-std=c++20", "-O2"],
        "clang++-16 -O2": ["clang++-16", "-std=c++20", "-O2"],
        "nvcc -O2": ["nvcc", "-std=c++20", "-O2", "-x", "cu", "-arch=sm_90", "-DDEVPLACE_WITH_CUDA=1"],
    }
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        empty = os.path.join(folder, "all_headers.cpp")
        with open(empty, "w") as file:
            file.write("#include <devplace/all.hpp>\n")
        sources = {"all.hpp alone": empty}
        sources.update({name: f"{root}/{name}" for name in ("examples/readme.cpp", "examples/cnn.cpp")})
        for compiler, command in compilers.items():
            if shutil.which(command[0]) is None:
                continue
            for name, source in sources.items():
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                options = ["-I", f"{root}/include", "-c", "-o", f"{folder}/object"]
                subprocess.run(command + options + [source], check=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                found.setdefault(compiler, {})[name] = used
    return found


def machine(isa):
    with open("/proc/cpuinfo") as info:
        facts = dict((part.strip() for part in line.split(":", 1)) for line in info if ":" in line)
    model = facts.get("model name", platform.machine())
    if "cpu family" in facts and "model" in facts:  # virtual machines give several processors one name
        model += f" (family {facts['cpu family']}, model {facts['model']})"
    model += f", limited to {isa}" if isa else ""
    return {"processor": model, "processors": len(os.sched_getaffinity(0)), "date": time.strftime("%Y-%m-%d")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("built", help="the folder with the programs that scripts/benchmark builds")
    parser.add_argument("--quick", action="store_true", help="a part of the work, three rounds")
    parser.add_argument("--rounds", type=int, help="rounds (default 9)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="numbers of threads (default 1 and 2)")
    parser.add_argument("--isa", choices=work.LIMITED_TO, help="all limited to this instruction set, and the limit too")
    parser.add_argument("--only", default="", help="the work whose question contains this")
    parser.add_argument("--json", help="file for all measurements")
    parser.add_argument("--svg", help="file for a picture of the ratios")
    given = parser.parse_args()
    rounds = given.rounds or (3 if given.quick else 9)
    items = [i for i in work.items() if given.only in i.question and (i.quick or not given.quick)]
    if not items:
        questions = sorted(i.question for i in work.items() if i.quick or not given.quick)
        sys.exit(f"No work contains '{given.only}'. There is: " + ", ".join(questions))
    peers = work.peers(FOLDER, given.built, given.isa)
    environment = {**ENVIRONMENT, **work.LIMITED_TO.get(given.isa, {})}
    result = {"machine": machine(given.isa), "rounds": rounds, "rows": [], "limits": {}}
    print(f"{result['machine']['processor']}, {result['machine']['date']}, medians of {rounds} rounds")
    for threads in given.threads:
        rows, limits = compare(items, peers, threads, rounds, environment)
        result["rows"] += summarised(rows, limits)
        result["limits"][threads] = limits
        report.print_table([row for row in result["rows"] if row["threads"] == threads], limits)
    if not given.only:
        result["costs"] = profile_of_step.costs(
            peers["devplace"]["networks"],
            [item for item in items if item.question.startswith("adam")],
            environment,
        )
        report.print_costs(result["costs"])
        result["first_step"] = first_steps(peers, environment)
        result["binary_bytes"] = os.path.getsize(peers["devplace"]["networks"][0])
        result["compile_seconds"] = compile_times(os.path.join(FOLDER, "..", "..", ".."))
        report.print_programs(result)
    if given.json:
        with open(given.json, "w") as file:
            json.dump(result, file, indent=1)
    if given.svg:
        report.write_svg(given.svg, result)


if __name__ == "__main__":
    main()
