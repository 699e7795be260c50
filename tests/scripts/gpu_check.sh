#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Tests scripts/gpu-check with stand-ins for the tools and the GPU: gpu_check.sh <path of gpu-check>
set -uo pipefail
checkout=$(mktemp -d)
trap 'rm -rf "$checkout"' EXIT
tools=$checkout/tools
mkdir -p "$checkout/scripts" "$tools" "$checkout/include"
cp "$1" "$checkout/scripts/gpu-check"
cd "$checkout"

# Only these programs are found, so that the machine's own compiler or GPU plays no part.
for tool in bash basename cat chmod cksum cmp cp date dirname env find grep gzip head mkdir mktemp mv rm sed sleep sort tail tee \
  timeout tr wc; do
  ln -s "$(command -v $tool)" "$tools/$tool"
done
stand_in() { # <tool>: stdin is its script
  { echo '#!/usr/bin/env bash' && cat; } >"$tools/$1"
  chmod +x "$tools/$1"
}
stand_in nvcc <<<'echo "Cuda compilation tools, release 12.8, V12.8.1"'
stand_in g++ <<<'[ "$1" != --version ] || echo "g++ 13.2.0"'
stand_in ninja <<<'echo 1.11.1'
stand_in python3 <<<'[ "$1" != --version ] || echo "Python 3.11.7"; [[ $* != *gpu.py* ]] || echo measured'
stand_in compute-sanitizer <<<'echo "SUMMARY: 0 errors"'
stand_in nvidia-smi <<'END'
case $* in
  *query-gpu*) echo "NVIDIA Stand-in, 570.1, 9.0" ;;
  -L) echo "GPU 0: NVIDIA Stand-in" ;;
  *) echo "| Driver Version: 570.1   CUDA Version: 12.8 |" ;;
esac
END
stand_in ctest <<'END'
mkdir -p build/gpu/build/Testing/Temporary
echo >build/gpu/build/Testing/Temporary/LastTest.log
printf '1/2 Test #1: a ... Passed 0.1 sec\n2/2 Test #2: b ... Passed 0.1 sec\n100%% tests passed, 0 tests failed out of 2\n'
END
stand_in cmake <<'END'
[ "$1" != --version ] || { echo "cmake version 3.28.1"; exit; }
tests=build/gpu/build/tests
mkdir -p $tests
cat >$tests/quickstart_as_cuda <<'PROGRAM'
#!/usr/bin/env bash
echo "placement  cuda:0"
[ -z "${DEVPLACE_DEVICE_MAP:-}" ] || echo "losses of all epochs agree"
[ -z "${DEVPLACE_LIST_PRODUCTS:-}" ] || echo "devplace: cuda:0: by cuBLASLt: the product" >&2
PROGRAM
printf '#!/bin/sh\n' >$tests/test_ops_cuda
chmod +x $tests/*
END

failures=0
fail() {
  echo "FAILED: $1"
  sed 's/^/    /' "$checkout/printed" | tail -n 12
  failures=$((failures + 1))
}
# expect <status> <text>... -- <argument>...: runs gpu-check, whose output must contain each text, and not one after "!".
expect() {
  local status=$1 texts=() text got
  shift
  while [ "$1" != -- ]; do texts+=("$1"); shift; done
  shift
  PATH=$tools CUDA_HOME=/nowhere "$tools/bash" scripts/gpu-check "$@" >printed 2>&1
  got=$?
  [ $got -eq "$status" ] || fail "gpu-check $* returned $got instead of $status"
  for text in "${texts[@]}"; do
    case $text in
      !*) ! grep -qF -- "${text#!}" printed || fail "gpu-check $* printed '${text#!}'" ;;
      *) grep -qF -- "$text" printed || fail "gpu-check $* did not print '$text'" ;;
    esac
  done
}

expect 0 'probe ' 'build ' 'smoke ' 'test ' 'sanitize ' 'bench ' '--minutes' '--again' '--pack' 'Exit status' -- --help
expect 2 "'everything' is not a phase" 'usage:' -- everything
expect 0 'NVIDIA Stand-in, driver 570.1, compute capability 90' 'nvcc               12.8' '!configure' -- probe
expect 1 'there is no build' -- smoke

# Each phase alone; the table has the steps of all.
expect 0 'configure' 'build  ' '!two trainings' -- build
expect 0 'two trainings agree' '1 by cuBLASLt, 0 by devplace' '!2 passed' '5 steps, 0 failed' -- smoke
expect 0 '2 passed, 0 failed, 0 skipped' '!two trainings' -- test
# What has passed is not repeated, unless --again is given.
expect 0 'two trainings agree                          passed before' 'memcheck: test_ops_cuda' 'benchmarks  ' -- 
expect 0 '!passed before' -- --again smoke

# A failure; the next call repeats only the failed step.
mv "$tools/compute-sanitizer" "$tools/good-sanitizer"
stand_in compute-sanitizer <<<'echo "SUMMARY: 1 error"; exit 9'
expect 1 'FAILED' '4 failed' -- --again sanitize
mv "$tools/good-sanitizer" "$tools/compute-sanitizer"
expect 0 'memcheck: test_ops_cuda' '!passed before' '0 failed' -- sanitize

# Other sources: nothing has passed.
echo "// changed" >include/changed.hpp
expect 0 '!passed before' '1 steps' -- bench

# A lack of time is no failure, and a slow build does not count.
sed -i 's/60 \* minutes/2 * minutes/' scripts/gpu-check # minutes of 2 seconds
sed -i '3i sleep 1.1' "$tools/cmake"
stand_in ctest <<<'sleep 30'
expect 3 'not finished: no time was left' 'not run: no time was left' '!FAILED' '0 failed, 5 not finished' -- --minutes 1 build test sanitize

sed -i 3d "$tools/cmake"

# Everything that is missing is said at once.
rm "$tools/ninja" "$tools/compute-sanitizer" "$tools/nvidia-smi"
stand_in nvcc <<<'echo "Cuda compilation tools, release 12.2, V12.2.1"'
expect 1 'ninja              MISSING' '12.2 is too old' 'GPU                MISSING' 'compute-sanitizer  MISSING' -- probe
stand_in nvcc <<<'echo "Cuda compilation tools, release 12.8, V12.8.1"'
stand_in ninja <<<'echo 1.11.1'
expect 4 'build  ' 'names no GPU' '!two trainings' -- build smoke

[ $failures -eq 0 ] && echo "all checks of gpu-check passed"
exit $((failures != 0))
