#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What runs in each host of the rack (tests/rack/bed.sh starts them): it has a network, does
# what it is told, and ends when it is told "end".
#
#   host.sh NAME

. "$TESTS/vm/lib.sh"

mkfifo /run/rack-end
echo "$1" >/proc/sys/kernel/hostname
check "the network card has a driver" modprobe e1000 || bail_out "no network"
check "the card is up" ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up || bail_out "no network"
check "what is outside is behind it" route add default gw 10.0.2.2
echo "10.0.2.2 manager" >>/etc/hosts
export TESTS KVER FLAVOUR PATIENCE
/tests/rack/far serve 23 </dev/null &
check "the host was told to end" read -r _ </run/rack-end
finish
