#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Prints the compiler's user seconds, its memory and the size of the code for the examples and a small trainer.

compile_times.py [<checkout>...]: header-only, with component compiled, and with a precompiled all.hpp, too. Alternates
between checkouts; a checkout without the component is compiled header-only. Seconds are the least of --runs.
With --instructions, counts the instructions of g++'s compiler by valgrind instead, header-only and once: the same
number on a busy machine, but 50 times as slow. --only selects sources by name. For CUDA, which precompiles no headers:
compile_times.py --compiler "nvcc -O2 -arch=sm_90 -x cu -DDEVPLACE_WITH_CUDA=1"
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SOURCES = ["examples/readme.cpp", "examples/transformer.cpp", "examples/cnn.cpp", "tests/link/surrogate.cpp"]
WITHOUT_DEVPLACE = "tests/link/surrogate_main.cpp"  # refuses to be compiled after a header of devplace
WRITTEN = {
    "all_hpp.cpp": "#include <devplace/all.hpp>\nint main() {}\n",
    "core_hpp.cpp": """#include <devplace/core.hpp>
using three = devplace::tensor<float, devplace::extents<3>, devplace::cpu>;
int main() {
  const three a{1, 2, 3}, b{4, 5, 6};
  const three c = a + b;
  return c(0) > 0 ? 0 : 1;
}
""",
}


def measure(command):
    """Returns the user seconds and the MiB of a command, which runs below a process of its own."""
    code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); " \
           "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime, used.ru_maxrss / 1024)"
    result = subprocess.run([sys.executable, "-c", code, *command], check=True, stdout=subprocess.PIPE, text=True)
    return [float(number) for number in result.stdout.split()]


def measure_checkout(checkout, compiler, only, folder):
    """Yields (source, variant, user seconds, MiB, bytes of code)."""
    is_nvcc = "nvcc" in compiler[0]
    command = [*compiler, "-std=c++20" if is_nvcc else "-std=gnu++20", f"-I{checkout}/include", f"-I{checkout}/tests",
               '-DDEVPLACE_EXAMPLE_TEXT=""']
    variants = {"headers": command}
    if os.path.exists(f"{checkout}/include/devplace/config/compiled.hpp"):
        command = [*command, "-DDEVPLACE_WITH_COMPILED=1"]
        variants["compiled"] = command
        if not is_nvcc:
            with open(f"{folder}/all.hpp", "w") as file:
                file.write(f'#include "{checkout}/include/devplace/all.hpp"\n')
            header = ["-x", "c++-header", f"{folder}/all.hpp", "-o", f"{folder}/all.hpp.gch"]
            subprocess.run([*command, *header], check=True)
            variants["compiled, precompiled header"] = [*command, "-include", f"{folder}/all.hpp"]
    for name, text in WRITTEN.items():
        with open(f"{folder}/{name}", "w") as file:
            file.write(text)
    sources = [*(f"{checkout}/{source}" for source in SOURCES), *(f"{folder}/{name}" for name in WRITTEN)]
    runs = [(source, variant) for source in sources for variant in variants]
    runs.append((f"{checkout}/{WITHOUT_DEVPLACE}", "headers"))
    for source, variant in (run for run in runs if only in run[0]):
        seconds, memory = measure([*variants[variant], "-c", source, "-o", f"{folder}/object"])
        size = subprocess.run(["size", f"{folder}/object"], check=True, stdout=subprocess.PIPE, text=True).stdout
        yield os.path.basename(source), variant, seconds, memory, int(size.splitlines()[1].split()[0])


def print_instructions(checkouts, compiler, only):
    print(f"{compiler}\n\n| source | checkout | million instructions |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for source in (source for source in SOURCES if only in source):
            for number, checkout in enumerate(os.path.abspath(checkout) for checkout in checkouts):
                command = [*compiler.split(), "-std=gnu++20", f"-I{checkout}/include", f"-I{checkout}/tests",
                           '-DDEVPLACE_EXAMPLE_TEXT=""', "-S", f"{checkout}/{source}", "-o", f"{folder}/code.s"]
                steps = subprocess.run([*command, "-###"], check=True, stderr=subprocess.PIPE, text=True).stderr
                step = next(shlex.split(line) for line in steps.splitlines() if "/cc1plus" in line)
                count = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *step],
                                       check=True, stderr=subprocess.PIPE, text=True).stderr
                millions = int(re.search(r"Collected : (\d+)", count)[1]) / 1e6
                print(f"| {os.path.basename(source)} | {number + 1} | {millions:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", nargs="*", default=[HERE])
    parser.add_argument("--compiler", default="g++ -O2", help="the compiler with its options: 'g++ -O0 -g'")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--instructions", action="store_true", help="count the compiler's instructions by valgrind")
    parser.add_argument("--only", default="", help="the sources whose path contains this")
    arguments = parser.parse_args()
    os.environ["CCACHE_DISABLE"] = "1"
    if arguments.instructions:
        return print_instructions(arguments.checkouts, arguments.compiler, arguments.only)
    best = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(arguments.runs):
            for number, checkout in enumerate(arguments.checkouts):
                path = os.path.abspath(checkout)
                for source, variant, *found in measure_checkout(path, arguments.compiler.split(), arguments.only, folder):
                    key = (source, number, variant)
                    best[key] = min(best.get(key, found), found)
    print(f"{arguments.compiler}\n\n| source | checkout | with | user s | MiB | code, KB |\n| --- | --- | --- | --- | --- | --- |")
    for (source, number, variant), (seconds, memory, code) in sorted(best.items()):
        print(f"| {source} | {number + 1} | {variant} | {seconds:.1f} | {memory:.0f} | {code / 1000:.0f} |")


if __name__ == "__main__":
    main()
