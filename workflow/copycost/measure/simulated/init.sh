#!/bin/busybox sh
# shellcheck shell=dash
# The first process of a guest whose caches are simulated: file systems, drivers, limits, and the
# testbeds that cells may ask for; then simulated_cell, of which a copy is made for each cell.
export PATH=/usr/bin:/bin LC_ALL=C
busybox mount -t proc proc /proc
busybox mount -t sysfs sysfs /sys
busybox mount -t devtmpfs devtmpfs /dev
busybox mount -t tmpfs tmpfs /tmp

while read -r module; do
    busybox insmod "/modules/$module.ko" || echo "copycost: $module cannot be loaded"
done </modules/order
while read -r path value; do
    echo "$value" >"/proc/sys/$path"
done </etc/settings
# senders pause before the window, and shall not begin anew
echo 0 >/proc/sys/net/ipv4/tcp_slow_start_after_idle
busybox mkdir -p /run/netns

# busybox has an ip of its own, which cannot do this
/usr/bin/ip link set lo up
/usr/bin/ip netns add sender
/usr/bin/ip netns add receiver
for side in sender receiver; do
    /usr/bin/ip -netns "$side" -batch "/etc/links_$side" || echo "copycost: no veth pair"
done
/usr/bin/ip netns exec receiver nft -f /etc/drop_hook || echo "copycost: no hook that drops"

cd /tmp || exit
simulated_cell
echo "copycost: the cell ended with exit status $?"
busybox poweroff -f
