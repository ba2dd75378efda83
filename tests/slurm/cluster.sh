#!/usr/bin/env bash
# A real Slurm of two nodes on this machine, for as long as a command runs:
#
#   cluster.sh FOLDER COMMAND [ARGUMENT...]
#
# slurmctld, two slurmd and munged run in namespaces of their own (mounts and processes), keep all
# that they write in FOLDER, and end with the command, however that ends.
set -euo pipefail

if [[ ${1:-} != --inside ]]; then
    rights=(--user --map-root-user)
    if ((EUID == 0)); then rights=(); fi
    exec unshare "${rights[@]}" --mount --pid --fork --kill-child --mount-proc "$0" --inside "$@"
fi
shift
folder=$(readlink -f "$1")
shift

mkdir -p "$folder"/{etc,munge,state,spool,log}
mount --make-rprivate /
mount --bind "$folder/etc" /etc/slurm
mkdir -p /run/munge 2>/dev/null || mount -t tmpfs tmpfs /run
mkdir -p /run/munge
mount --bind "$folder/munge" /run/munge
chmod 755 "$folder/munge"

head -c 1024 /dev/urandom >"$folder/munge.key"
chmod 600 "$folder/munge.key"
munged --force --key-file="$folder/munge.key" --socket=/run/munge/munge.socket.2 \
    --pid-file="$folder/munged.pid" --log-file="$folder/log/munged.log" --seed-file="$folder/seed"

cpus=$(nproc)
cat >"$folder/etc/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmUser=root
SlurmctldPort=16817
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SlurmdTimeout=15
KillWait=20
NodeName=n1 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=16818 CPUs=$cpus Feature=blue
NodeName=n2 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=16819 CPUs=$cpus Feature=red
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
CONF
slurmctld
slurmd -N n1
slurmd -N n2
for _ in {1..100}; do
    if [[ $(sinfo -h -N -t idle -o %N 2>/dev/null | sort -u | wc -l) == 2 ]]; then break; fi
    sleep 0.2
done
sinfo -N >&2
"$@"
