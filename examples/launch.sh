#!/bin/sh
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# launch.sh <launcher> <processes> <program> [argument]...: starts the processes on this host, by mpirun.openmpi,
# mpirun.mpich, torchrun, srun, or `by_hand`, which sets torchrun's variables itself. Exits with 4 if the launcher is
# not on this machine.
launcher=$1 processes=$2
shift 2
export OMP_NUM_THREADS=1 # several processes share the processors
if [ "$launcher" = by_hand ]; then
  # The process number keeps concurrent tests' jobs apart.
  export WORLD_SIZE="$processes" LOCAL_WORLD_SIZE="$processes" MASTER_ADDR=127.0.0.1 DEVPLACE_PORT=$((20000 + $$ % 10000))
  rank=1
  others=
  while [ "$rank" -lt "$processes" ]; do
    RANK=$rank LOCAL_RANK=$rank "$@" &
    others="$others $!"
    rank=$((rank + 1))
  done
  RANK=0 LOCAL_RANK=0 "$@" || exit 1
  for other in $others; do wait "$other" || exit 1; done
  exit 0
fi
command -v "$launcher" >/dev/null || { echo "skipped: $launcher is not on this machine" >&2; exit 4; }
case $launcher in
  srun)
    timeout 5 sinfo -h >/dev/null 2>&1 || { echo "skipped: Slurm does not run on this machine" >&2; exit 4; }
    exec srun -N 1 -n "$processes" --overcommit --kill-on-bad-exit=1 "$@" ;;
  torchrun) exec torchrun --nproc-per-node "$processes" --no-python "$@" ;;
  *)
    # Open MPI: allows root, as in containers, and uses only this host, possibly without ssh. Its mpirun fails when
    # another one makes or removes the same folder in TMPDIR at the same time.
    TMPDIR=$(mktemp -d)
    export TMPDIR
    trap 'rm -rf "$TMPDIR"' EXIT
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    export OMPI_MCA_plm=isolated DEVPLACE_PORT=$((20000 + $$ % 10000))
    "$launcher" -n "$processes" "$@" ;;
esac
