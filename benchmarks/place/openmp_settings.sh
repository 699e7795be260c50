#!/bin/sh
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# openmp_settings.sh <bench_place_openmp> [rounds [copies]]: the benchmark's medians, in microseconds, under settings of
# libgomp that decide how long its threads spin after a region and where they run. With copies, as many processes run at
# once and share the processors, and the first one's times are printed. docs/beside_a_solver.md has these tables.
program=$1 rounds=${2:-40} copies=${3:-1}
unset OMP_WAIT_POLICY GOMP_SPINCOUNT OMP_PROC_BIND OMP_PLACES GOMP_CPU_AFFINITY OMP_NUM_THREADS

# The median (1) or the slowest time (0) in the row that begins with a text, of the output in $text.
time_of() { echo "$text" | awk -v row="  $2" -v at="$1" 'index($0, row) == 1 {printf " %s |", $(NF - at)}'; }

echo "| environment | threads of devplace | step, its own team | step, OpenMP's threads | slowest | step, \`serial_team\` | OpenMP loop | slowest | small region |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
for setting in "" OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=10000 OMP_WAIT_POLICY=active OMP_PROC_BIND=true \
  "OMP_PROC_BIND=true OMP_NUM_THREADS=$(nproc)" OMP_NUM_THREADS=1; do
  others="" copy=1
  while [ $copy -lt "$copies" ]; do
    env $setting "$program" "$rounds" >/dev/null &
    others="$others $!" copy=$((copy + 1))
  done
  text=$(env $setting "$program" "$rounds") || exit 1
  [ -z "$others" ] || wait $others
  printf '| %s | %s |' "${setting:-nothing set}" "${text%% *}"
  time_of 1 "step after an OpenMP loop, the process's team"
  time_of 1 "step, OpenMP's threads"
  time_of 0 "step, OpenMP's threads"
  time_of 1 "step, serial_team"
  time_of 1 "OpenMP loop after an OpenMP loop"
  time_of 0 "OpenMP loop after an OpenMP loop"
  time_of 1 "one of many small"
  echo
done
