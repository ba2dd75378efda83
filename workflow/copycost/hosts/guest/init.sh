#!/bin/busybox sh
# shellcheck shell=dash
# The first process of a guest: file systems, drivers, limits; then what the kernel's command line
# names behind `--`, again and again; without it, the machine is switched off.
export PATH=/bin:/usr/sbin:/usr/bin:/sbin LC_ALL=C HOME=/root
busybox mount -t proc proc /proc
busybox mount -t sysfs sysfs /sys
busybox mount -t devtmpfs devtmpfs /dev
busybox mount -t tmpfs tmpfs /tmp
busybox mkdir -p /dev/shm
busybox mount -t tmpfs tmpfs /dev/shm
busybox ln -s /proc/self/fd /dev/fd
# those of control groups: version 2 has CPU limits behind its root only
busybox mount -t cgroup2 cgroup2 /sys/fs/cgroup &&
    echo +cpu >/sys/fs/cgroup/cgroup.subtree_control

while read -r module; do
    busybox insmod "/modules/$module.ko" || echo "copycost: $module cannot be loaded"
done </modules/order

busybox ip link set lo up
while read -r path value; do
    echo "$value" >"/proc/sys/$path"
done </etc/settings
# a small memory gives small limits of TCP [pages], at which small messages without a reader block:
# up to half of it then
# shellcheck disable=SC2046
set -- $(busybox grep MemTotal /proc/meminfo)
echo "$(($2 / 16)) $(($2 / 12)) $(($2 / 8))" >/proc/sys/net/ipv4/tcp_mem
ulimit -n 65536

# behind `--`; the kernel adds words that it does not know itself
# shellcheck disable=SC2046
set -- $(busybox sed -n 's/.* -- //p' /proc/cmdline)
echo "copycost: the guest is up"
"$@"
echo "copycost: $1 ended with exit status $?"
busybox poweroff -f
