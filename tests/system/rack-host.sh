#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What runs in a host of the rack that is a Debian with systemd (rack_start_system of
# tests/rack/bed.sh): it has a network to the machine that the test runs on and one to the
# other hosts, does what it is told, and ends when it is told "end".
#
#   rack-host.sh NAME ADDRESS [NAME ADDRESS]...     its own, and those of the others

. "$TESTS/system/lib.sh"

mkfifo /run/rack-end
hostname "$1"
check "the network cards have a driver" modprobe e1000 || bail_out "no network"
check "one leads to what is outside" ip addr add 10.0.2.15/24 dev eth0 || bail_out "no network"
check "the other to the hosts" ip addr add "$2/24" dev eth1 || bail_out "no network"
ip link set eth0 up
ip link set eth1 up
{
	echo "10.0.2.2 manager"
	while [ $# -gt 0 ]; do
		echo "$2 $1"
		shift 2
	done
} >>/etc/hosts
/tests/rack/far serve 23 </dev/null &
check "the host was told to end" read -r _ </run/rack-end
cp -r /var/log/slurm /out/ 2>/dev/null || :
finish
