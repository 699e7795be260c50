#!/bin/sh
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# run.sh <mpirun> <processes> <program> [argument]...: runs the program for at most a minute; 0 processes: without
# mpirun. With EXPECT, the program must fail within the minute, and a line of its output must contain that text. With
# SURVIVORS, mpirun does not end processes when one ends, and SURVIVORS processes must end by themselves with the exit
# code of failures, or with CODE.

# MPICH's mpiexec sometimes fails an assertion of its own when a process is killed, and then kills the others. The test
# runs once more in this case alone.
if [ -n "${EXPECT:-}" ] && [ -z "${DEVPLACE_TEST_ATTEMPT:-}" ]; then
  export DEVPLACE_TEST_ATTEMPT=1
  output=$("$0" "$@" 2>&1)
  status=$?
  echo "$output"
  [ $status -ne 0 ] && echo "$output" | grep -q '^\[mpiexec@.*assert (' || exit $status
  echo "mpiexec failed an assertion; once more:"
  exec "$0" "$@"
fi
mpirun=$1 processes=$2
shift 2
program=$(readlink -f "$1")
export OMP_NUM_THREADS=1 # several processes share the processors
# Open MPI's mpirun keeps files in a folder of this host and user, and fails when another mpirun makes or removes this
# folder at the same time.
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
# Open MPI: allows root, as in containers; uses only this host, without ssh and without reading other processes' memory.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_plm=isolated OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none
# Processes write to the file directly, because MPICH's mpirun sometimes loses their last output.
case "${EXPECT:+expected}${SURVIVORS:-}${mpirun}" in
  expected[0-9]*mpich) # mpirun notifies all its children of the failure by SIGUSR1
    set -- "$mpirun" -disable-auto-cleanup -n "$processes" sh -c 'trap "" USR1; exec >>"$DEVPLACE_TEST_TEXT" 2>&1
                                                                  "$0" "$@"; echo "ended with $?"' "$@" ;;
  expected[0-9]*) set -- "$mpirun" --enable-recovery -n "$processes" sh -c 'exec >>"$DEVPLACE_TEST_TEXT" 2>&1
                                                                            "$0" "$@"; echo "ended with $?"' "$@" ;;
  expected*) set -- "$mpirun" -n "$processes" sh -c 'exec >>"$DEVPLACE_TEST_TEXT" 2>&1; exec "$0" "$@"' "$@" ;;
  *) [ "$processes" -eq 0 ] || set -- "$mpirun" -n "$processes" "$@" ;;
esac
if [ -z "${EXPECT:-}" ]; then
  timeout -k 5 60 "$@"
  exit
fi
began=$(date +%s)
export DEVPLACE_TEST_TEXT="$TMPDIR/text" DEVPLACE_TEST_RUN=$$
timeout -k 5 60 "$@" >>"$DEVPLACE_TEST_TEXT" 2>&1 &
launcher=$!
# The number of running processes of the program, which inherit the variable.
running() {
  for process in $(grep -lzxs "DEVPLACE_TEST_RUN=$$" /proc/[0-9]*/environ); do
    readlink "${process%environ}exe"
  done | grep -cxF "$program"
}
# The test is that the processes end. Then mpirun gets 3 seconds: Open MPI 4.1's sometimes hangs or crashes in
# PMIx_server_finalize after processes that have ended simultaneously.
seen=0
while kill -0 $launcher 2>/dev/null; do
  if [ "$(running)" -ne 0 ]; then
    seen=1
  elif [ $seen -eq 1 ]; then
    sleep 3
    kill -9 $(grep -lzxs "DEVPLACE_TEST_RUN=$$" /proc/[0-9]*/environ | sed 's|/proc/\([0-9]*\)/.*|\1|') 2>/dev/null
    break
  fi
  sleep 0.1
done
wait $launcher
status=$?
output=$(cat "$DEVPLACE_TEST_TEXT")
echo "$output"
[ $(($(date +%s) - began)) -lt 60 ] && echo "$output" | grep -qF "$EXPECT" || exit 1
if [ -z "${SURVIVORS:-}" ]; then [ $status -ne 0 ]; exit; fi
told=$(echo "$output" | grep -c "^ended with ${CODE:-75}$")
[ "$told" -eq "$SURVIVORS" ]
