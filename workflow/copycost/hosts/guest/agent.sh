#!/bin/busybox sh
# shellcheck shell=dash
# Gives a guest its address, and its neighbours without asking for them; then serves its machine.
# Usage: agent.sh [DEVICE OFFLOADS ADDRESS/BITS [NEIGHBOUR MAC]...]; without words no network
if [ $# -gt 0 ]; then
    device=$1
    if [ "$2" = off ]; then
        ethtool -K "$device" rx off tx off sg off tso off gso off gro off
    fi
    echo 1 >"/proc/sys/net/ipv6/conf/$device/disable_ipv6"
    {
        echo "address add $3 dev $device"
        echo "link set dev $device up"
        shift 3
        while [ $# -gt 1 ]; do
            echo "neighbour add $1 lladdr $2 dev $device nud permanent"
            shift 2
        done
    } | /usr/bin/ip -batch - # by its path: else busybox takes its own
fi
# links by name are made by udev, which is not here
for port in /sys/class/virtio-ports/*; do
    read -r name <"$port/name"
    if [ "$name" = agent ]; then stream=/dev/${port##*/}; fi
done
export PYTHONPATH=/copycost
echo "copycost: the agent begins"
# a port can be opened once only
exec python3 -SP -m copycost.hosts.remote.agent --programs /tmp/programs <>"$stream" >&0
