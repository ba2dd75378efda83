#!/usr/bin/env bash
# A real Slurm of a few nodes on this machine, as an ordinary user, for as long as a command runs:
#
#   cluster.sh FOLDER N_NODES COMMAND [ARGUMENT...]
#
# slurmctld, a slurmd per node (n1, n2, ...) and munged run in namespaces of their own (mounts, network,
# processes, users), keep their logs and state in FOLDER, and end with the command, however that ends.
# Whoever starts this, even root, is the ordinary user `alice` in there. What COMMAND can use:
#
#   cluster.sh --crash NODE    end all that runs on a node at once, as a power failure does
#   cluster.sh --start NODE    switch it on again, and wait until it is there
set -euo pipefail
SELF=$(readlink -f "$0")
readonly SELF ALICE=1234
export PATH=$PATH:/usr/sbin:/sbin

readonly LIMIT_S=120 # for a node to come up

wait_for() {
    local end=$((SECONDS + LIMIT_S))
    until timeout 5 sinfo --noheader --Node --nodes "$1" --states idle,allocated,mixed 2>/dev/null |
        grep -q .; do
        if ((SECONDS > end)); then
            echo "cluster.sh: $1 has not come up within $LIMIT_S s" >&2
            return 1
        fi
        sleep 0.2
    done
}

# All processes of a node, the daemons first, so that none tells how its job ended. Slurm tells a job's
# processes where they run; who has started them does not know.
processes_of() {
    local process parent jobs=()
    for process in /proc/[0-9]*; do
        if tr '\0' '\n' <"$process/environ" | grep -qx "SLURMD_NODENAME=$1"; then
            parent=$(awk '/^PPid:/ { print $2 }' "$process/status")
            if [[ $(<"/proc/$parent/comm") == slurmstepd ]]; then echo "$parent"; fi
            jobs+=("${process#/proc/}")
        fi
    done 2>/dev/null
    pgrep -f "slurmd -N $1$" || true
    echo "${jobs[@]}"
}

case ${1:-} in
--crash)
    mapfile -t processes < <(processes_of "$2" | tr ' ' '\n')
    kill -KILL "${processes[@]}" 2>/dev/null || true
    exit
    ;;
--start)
    slurmd -N "$2"
    wait_for "$2"
    exit
    ;;
--root) ;; # in namespaces of our own, with the right to mount there
--alice)
    folder=$2
    n_nodes=$3
    shift 3
    head -c 1024 /dev/urandom >/mnt/munge.key
    chmod 600 /mnt/munge.key
    munged --key-file=/mnt/munge.key --socket=/mnt/munge.socket --seed-file=/mnt/munge.seed \
        --pid-file=/mnt/munged.pid --log-file="$folder/log/munged.log" --force
    slurmctld
    for ((node = 1; node <= n_nodes; node++)); do slurmd -N "n$node"; done
    for ((node = 1; node <= n_nodes; node++)); do wait_for "n$node"; done
    exec "$@"
    ;;
*)
    rights=(--user --map-root-user)
    if ((EUID == 0)); then rights=(); fi
    exec unshare "${rights[@]}" --mount --net --pid --fork --kill-child --mount-proc \
        "$SELF" --root "$@"
    ;;
esac

folder=$(readlink -f "$2")
readonly N_NODES=$3
mkdir -p "$folder"/{etc,home,log,state}
mount --make-rprivate /
ip link set lo up
ip address add 192.0.2.1/32 dev lo # else no name of an address is looked up
# Slurm's sockets may have paths of 108 letters at most, so they do not lie in FOLDER.
mount -t tmpfs tmpfs /mnt
mkdir /mnt/spool
chown -R "$(id -u)" "$folder"
for file in passwd group; do
    cp "/etc/$file" "$folder/etc/$file"
    mount --bind "$folder/etc/$file" "/etc/$file"
done
echo "alice:x:$ALICE:$ALICE::$folder/home:/bin/bash" >>"$folder/etc/passwd"
echo "alice:x:$ALICE:" >>"$folder/etc/group"

cpus=$(nproc)
{
    cat <<CONF
ClusterName=test
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmUser=alice
SlurmdUser=alice
SlurmctldPort=16817
AuthInfo=socket=/mnt/munge.socket,cred_expire=10
StateSaveLocation=$folder/state
SlurmdSpoolDir=/mnt/spool/%n
SlurmctldPidFile=/mnt/slurmctld.pid
SlurmdPidFile=/mnt/%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
CONF
    for ((node = 1; node <= N_NODES; node++)); do
        echo "NodeName=n$node NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((16820 + node))" \
            "CPUs=$cpus RealMemory=1500 MemSpecLimit=200"
    done
    echo "PartitionName=all Nodes=n[1-$N_NODES] Default=YES MaxTime=INFINITE State=UP"
} >"$folder/etc/slurm.conf"
mkdir -p "$folder/etc/slurm"
mv "$folder/etc/slurm.conf" "$folder/etc/slurm/"
mount --bind "$folder/etc/slurm" /etc/slurm
export HOME=$folder/home
exec unshare --user --map-user="$ALICE" --map-group="$ALICE" "$SELF" --alice "$folder" "${@:3}"
