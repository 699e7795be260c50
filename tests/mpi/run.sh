#!/bin/sh
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# run.sh <mpirun> <processes> <program> [argument]...: runs it, for a minute at most. Processes 0: without mpirun.
# With EXPECT, the program must fail within the minute, and its output have a line that contains it. With SURVIVORS too,
# mpirun leaves the processes alone when one of them ends, and so many must end by themselves with the code of failures.
mpirun=$1 processes=$2
shift 2
export OMP_NUM_THREADS=1 # several processes share the processors
# Open MPI: as root, as in containers; on this host alone, where there may be no ssh and no right to read the memory of
# another process.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_plm=isolated OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none
case "${SURVIVORS:-}${mpirun}" in
  [0-9]*mpich) # SIGUSR1 is how it tells MPI, and anything else that it has started
    set -- "$mpirun" -disable-auto-cleanup -n "$processes" sh -c 'trap "" USR1; "$0" "$@"; echo "ended with $?"' "$@" ;;
  [0-9]*) set -- "$mpirun" --enable-recovery -n "$processes" sh -c '"$0" "$@"; echo "ended with $?"' "$@" ;;
  *) [ "$processes" -eq 0 ] || set -- "$mpirun" -n "$processes" "$@" ;;
esac
if [ -z "${EXPECT:-}" ]; then exec timeout -k 5 60 "$@"; fi
began=$(date +%s)
output=$(timeout -k 5 60 "$@" 2>&1)
status=$?
echo "$output"
[ $(($(date +%s) - began)) -lt 60 ] && echo "$output" | grep -qF "$EXPECT" || exit 1
if [ -z "${SURVIVORS:-}" ]; then [ $status -ne 0 ]; else [ "$(echo "$output" | grep -c "^ended with 75$")" -eq "$SURVIVORS" ]; fi
