#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The lease of a host is over, and the module that knows which slots have power is not loaded: a
# GPU that it has left on is used until somebody restarts the host.
#
# A program stands in for the one that speaks to the manager.
#
#   root port -- upstream -- slot 100 (pciehp) with an h100-80
#
# in turn: one thing after the other
# alone: the kernel looks for a module that is asked for outside of the mounts of a case
# vm: -t 180

. "$TESTS/vm/lib.sh"

manager=/tmp/manager
lease=8000

stand_in()
{
	local program=/usr/libexec/gpuctl/fabric-redfish

	[ -e "$program" ] || program=/usr/local/libexec/gpuctl/fabric-redfish
	cat >"$program" <<-END
		#!/bin/bash
		verb=\$(jq -r .verb)
		[ ! -e $manager/down ] || { echo '{"exit":7,"error":"the manager does not answer"}'; exit 7; }
		echo "\$verb" >>$manager/log
		case \$verb in
		renew) echo '{"exit":0,"lease":$lease}' ;;
		*) echo '{"exit":0}' ;;
		esac
	END
	chmod 755 "$program"
}

# keeps: the keeper begins without a record of another lease, and gets one.
keeps()
{
	rm -rf /run/gpuctl-leases
	gpuctl fabric lease --no-reboot rack >/tmp/lease.log 2>&1 &
	keeper=$!
	wait_for 20 grep -q "this host has a lease" /tmp/lease.log
}

own_folder /etc/gpuctl && chmod 755 /etc/gpuctl
mkdir -p "$manager" /etc/gpuctl/fabric.d
printf 'user = hosta\npassword = secret\n' >/etc/gpuctl/login
cat >/etc/gpuctl/fabric.d/rack.conf <<-END
	driver = redfish
	url = https://manager.example
	host = hosta
	credentials = /etc/gpuctl/login
	ports = 100=sw/dn0
END
chmod 600 /etc/gpuctl/login /etc/gpuctl/fabric.d/rack.conf
stand_in

check "the simulator loads" modprobe gpufabric_sim mode=pciehp switches=1 slots=1 'gpus=*:h100-80' || bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric || bail_out "no module"
check "the GPU of the manager is ready" wait_for 20 is_state 100 ready

note "the module is unloaded while its GPU is on"
check "this host has a lease" keeps || cat /tmp/lease.log
check "the module is unloaded" wait_for 10 rmmod gpufabric
# Who asks for it by its name on netlink would have it loaded.
mount -t tmpfs none "/lib/modules/$(uname -r)"
is "$(cat /sys/bus/pci/slots/100/power)" 1 "the GPU stays on"
touch "$manager/down"
check "the lease is over, and that is not overlooked" wait_for 30 grep -q "nobody knows which slots have power" /tmp/lease.log ||
	cat /tmp/lease.log
kill -TERM "$keeper"
wait "$keeper"

note "the same with a slot that has no GPU"
rm "$manager/down"
check "this host has a lease" keeps || cat /tmp/lease.log
echo 0 >/sys/bus/pci/slots/100/power
touch "$manager/down"
began=$EPOCHSECONDS
is_past() { [ $((EPOCHSECONDS - began)) -gt $((lease / 1000)) ]; }
check "its time passes" wait_for 30 is_past
check "it is over" grep -q "the lease is over: " /tmp/lease.log
kill -TERM "$keeper"
wait "$keeper"
check_fails "no slot has power: nothing is to be done" grep -q "nobody knows" /tmp/lease.log
umount "/lib/modules/$(uname -r)"
umount /etc/gpuctl
check "the simulator unloads" rmmod gpufabric_sim
finish
