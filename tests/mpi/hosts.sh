#!/bin/sh
# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# hosts.sh <case> <launcher> <program> [argument]...: runs two processes on each of two hosts. The hosts are network
# namespaces with host names, joined by a veth; an agent that enters the namespace replaces ssh. Cases:
#   together  the program must succeed
#   slow      the program must succeed over a link with delay and loss
#   cut       the link is cut after a line `all of them run`: all processes must end within 20 seconds, and one must
#             report that the other host cannot be reached
#   refused   by torchrun: a training on CPUs must fail with a message that several hosts need MPI
# If torchrun is missing, the script sets torchrun's variables itself. Exits with 4 without permission to make
# namespaces, or without netem in the kernel.
case=$1 launcher=$2
shift 2
skip() { echo "skipped: $1" >&2; exit 4; }
command -v ip >/dev/null || skip "ip of iproute2 is not on this machine"
command -v "$launcher" >/dev/null || [ "$launcher" = torchrun ] || skip "$launcher is not on this machine"
scratch=$(mktemp -d)
export TMPDIR="$scratch" # for files that an mpirun leaves behind
one=devplace-$$-1 other=devplace-$$-2

# Kills processes left on the hosts, such as the launcher's daemons.
clean() {
  for host in $one $other; do
    for process in $(ip netns pids $host 2>/dev/null); do kill -9 "$process" 2>/dev/null; done
    ip netns del $host 2>/dev/null
  done
  rm -rf "$scratch"
}
trap clean EXIT
ip netns add $one 2>/dev/null && ip netns add $other && ip link add dp0 netns $one type veth peer name dp0 netns $other ||
  skip "this user or kernel cannot make network namespaces"
on() { host=$1; shift; ip netns exec $host unshare --uts sh -c 'hostname "$0" && exec "$@"' $host "$@"; }
on $one true || skip "this user or kernel cannot give a namespace a host name"
ip -n $one addr add 10.201.7.1/24 dev dp0
ip -n $other addr add 10.201.7.2/24 dev dp0
for host in $one $other; do
  ip -n $host link set lo up
  ip -n $host link set dp0 up
done
# An address of the first host that it cannot use, because the other host has it, too.
ip -n $other -6 addr add fd00:10:201:7::1/64 dev dp0 nodad 2>/dev/null &&
  ip -n $one -6 addr add fd00:10:201:7::1/64 dev dp0
if [ "$case" = slow ]; then
  for host in $one $other; do
    ip netns exec $host tc qdisc add dev dp0 root netem delay 2ms loss 1% 2>/dev/null || skip "this kernel has no netem"
  done
fi

cat >"$scratch/agent" <<END
#!/bin/sh
# agent [option]... <host> <command>...: like ssh.
while case \$1 in -*) true ;; *) false ;; esac; do shift; done
case \$1 in *.1) host=$one ;; *) host=$other ;; esac
shift
exec ip netns exec \$host unshare --uts sh -c "hostname \$host; \$*"
END
chmod +x "$scratch/agent"

export OMP_NUM_THREADS=1 # several processes share the processors
export DEVPLACE_JOB_TOKEN="hosts.sh $$ $(od -An -N8 -tx8 /dev/urandom)"
hosts=10.201.7.1:2,10.201.7.2:2
start() {
  case $launcher in
    *torchrun)
      started=
      for node in 0 1; do
        host=$one
        [ $node -eq 0 ] || host=$other
        if command -v "$launcher" >/dev/null; then
          on $host "$launcher" --nnodes 2 --node-rank $node --nproc-per-node 2 --master-addr 10.201.7.1 --no-python "$@" &
          started="$started $!"
          continue
        fi
        for local in 0 1; do
          on $host env RANK=$((2 * node + local)) WORLD_SIZE=4 LOCAL_RANK=$local LOCAL_WORLD_SIZE=2 GROUP_RANK=$node \
            GROUP_WORLD_SIZE=2 MASTER_ADDR=10.201.7.1 MASTER_PORT=29500 TORCHELASTIC_RUN_ID=none \
            TORCHELASTIC_RESTART_COUNT=0 TORCHELASTIC_MAX_RESTARTS=0 "$@" &
          started="$started $!"
        done
      done
      failed=0
      for process in $started; do wait "$process" || failed=1; done
      return $failed ;;
    *mpich) on $one timeout -k 5 60 "$launcher" -launcher ssh -launcher-exec "$scratch/agent" -hosts $hosts -n 4 "$@" ;;
    *)
      export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
      export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm_rsh_agent="$scratch/agent"
      on $one timeout -k 5 60 "$launcher" --host $hosts -n 4 "$@" ;;
  esac
}
# The number of processes of the program on both hosts.
running() {
  for host in $one $other; do
    for process in $(ip netns pids $host); do readlink "/proc/$process/exe"; done
  done | grep -cxF "$(readlink -f "$program")"
}

program=$1
case $case in
  together | slow)
    # Processes write to the file directly, because MPICH's mpirun sometimes loses their last output.
    start sh -c "hostname >>$scratch/names"
    [ "$(sort "$scratch/names" | uniq -c | grep -c "^ *2 devplace-$$-[12]$")" -eq 2 ] || {
      echo "Two processes on each host must print its name, and these were printed:"
      cat "$scratch/names"
      exit 1
    }
    start "$@" ;;
  refused)
    start "$@" >"$scratch/output" 2>&1
    grep -F devplace "$scratch/output"
    # The first process to report it may end the others. No process may have trained an epoch.
    grep -q 'are on several hosts and were started without MPI, .* start them by mpirun' "$scratch/output" &&
      ! grep -q ^epoch "$scratch/output" ;;
  cut)
    # Bypasses the launcher, which may crash before it forwards all output.
    start sh -c "exec \"\$0\" \"\$@\" 2>>$scratch/said" "$@" >"$scratch/output" 2>&1 &
    for tenth in $(seq 300); do
      grep -q '^all of them run' "$scratch/output" && break
      sleep 0.1
    done
    [ "$(running)" -eq 4 ] || { cat "$scratch/output"; exit 1; }
    ip -n $other link set dp0 down
    for tenth in $(seq 200); do
      [ "$(running)" -eq 0 ] && break
      sleep 0.1
    done
    cat "$scratch/output" "$scratch/said"
    echo "$(running) processes are left after $tenth tenths of a second"
    [ "$(running)" -eq 0 ] &&
      [ "$(grep -c "^devplace: rank [23] (host $other, .* its host is down or cannot be reached" "$scratch/said")" -eq 1 ] ;;
esac
