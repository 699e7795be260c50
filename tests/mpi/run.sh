#!/bin/sh
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# run.sh <mpirun> <processes> <program> [argument]...: runs it, for a minute at most. Processes 0: without mpirun.
# With EXPECT, the program must fail within the minute, and its output have a line that contains it.
mpirun=$1 processes=$2
shift 2
export OMP_NUM_THREADS=1 # several processes share the processors
# Open MPI: as root, as in containers; on this host alone, where there may be no ssh and no right to read the memory of
# another process.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_plm=isolated OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none
[ "$processes" -eq 0 ] || set -- "$mpirun" -n "$processes" "$@"
if [ -z "${EXPECT:-}" ]; then exec timeout -k 5 60 "$@"; fi
began=$(date +%s)
output=$(timeout -k 5 60 "$@" 2>&1)
status=$?
echo "$output"
[ $status -ne 0 ] && [ $(($(date +%s) - began)) -lt 60 ] && echo "$output" | grep -qF "$EXPECT"
