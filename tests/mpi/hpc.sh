#!/bin/sh
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# hpc.sh <mpirun> <program> [picture]: runs examples/hpc with 1, 2 and 4 processes, which must give the same errors.
# With the third argument, what does not depend on the MPI is also tested: the picture, and that the program fails unless
# the network halves the error.
mpirun=$1 program=$2
run="sh $(cd "$(dirname "$0")" && pwd)/run.sh $mpirun"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

# The final errors of the three grids, with four decimals.
errors() { grep -o ' 0\.[0-9]\{4\} ' "$1"; }

for processes in 1 2 4; do
  $run $processes "$program" picture_$processes.svg 32 6 60 >output_$processes || { cat output_$processes; exit 1; }
  cat output_$processes
  errors output_$processes >errors_$processes
  paste errors_1 errors_$processes | awk '{d = $1 - $2; if (d < -2e-4 || d > 2e-4) differ = 1} END {exit differ || NR != 3}' || exit 1
done

[ "${3:-}" = picture ] || exit 0
test "$(grep -c '<polyline' picture_1.svg)" -eq 4 && test "$(tail -n 1 picture_1.svg)" = '</svg>' || exit 1
if command -v python3 >/dev/null; then
  python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' picture_1.svg || exit 1
fi

$run 1 "$program" untrained.svg 32 6 0
test $? -eq 1
