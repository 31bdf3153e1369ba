#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The lease of a host at a fabric manager, by the service and its units, over sleep and with a service
# that hangs. A program stands in for the one that speaks to the manager: it
# says how long the lease is, or does not answer, and notes when it was asked. What has to be true
# each time: when the manager's lease is over, no slot of it has power.
#
#   root port -- upstream -- 100 ... 102 with an h100-80 each; 100 and 101 are the manager's
#
# system: -t 600

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/system/lib.sh"

unit=gpufabric-lease@rack
# Of the stand-in.
fm=/var/lib/manager-test

at_boot()
{
	echo "options gpufabric_sim mode=pciehp switches=1 slots=3 gpus=*:h100-80" >/etc/modprobe.d/gpufabric.conf
	printf 'gpufabric_sim\ngpufabric\n' >/etc/modules-load.d/gpufabric.conf
}

# Milliseconds that the host's clock has counted, sleep included.
uptime_ms()
{
	awk '{ printf "%d", $1 * 1000 }' /proc/uptime
}

stand_in()
{
	local program=/usr/libexec/gpuctl/fabric-redfish

	[ -e "$program" ] || program=/usr/local/libexec/gpuctl/fabric-redfish
	cat >"$program" <<-END
		#!/bin/bash
		verb=\$(jq -r .verb)
		[ ! -e $fm/down ] || { echo '{"exit":7,"error":"the manager does not answer"}'; exit 7; }
		awk -v verb="\$verb" '{ print verb, \$1 * 1000 }' /proc/uptime >>$fm/log
		case \$verb in
		renew) echo '{"exit":0,"lease":$lease}' ;;
		*) echo '{"exit":0}' ;;
		esac
	END
	chmod 755 "$program"
}

asked()
{
	cut -d' ' -f1 "$fm/log" | xargs
}

number_of()
{
	grep -c "$1" "$fm/log"
}

has_asked()
{
	[ "$(number_of "$1")" -gt "$2" ]
}

state()
{
	gpuctl -j list | jq -r --arg slot "$1" '.slots[] | select(.slot == $slot) | .state'
}

is_state()
{
	[ "$(state "$1")" = "$2" ]
}

said()
{
	[[ "$(journalctl -q -b -u "$unit" -o cat)" == *"$1"* ]]
}

# How the manager's lease stands: from when it was asked last.
over_in()
{
	echo $(($(awk '$1 == "renew" { at = $2 } END { printf "%d", at }' "$fm/log") + lease - $(uptime_ms)))
}

# The host is put to sleep as by an administrator: for the $1th time. The kernel stops all processes and goes
# on, as in its own test of that. There is no logind here, which systemctl suspend asks first.
sleeps()
{
	systemctl start suspend.target && wait_for 120 woken "$1"
}

woken()
{
	[ "$(journalctl -q -b -k -o cat | grep -c 'PM: suspend exit')" -ge "$1" ]
}

lease=60000

mkdir -p "$fm" /etc/gpuctl/fabric.d
: >"$fm/log"
stand_in
printf 'user = hosta\npassword = secret\n' >/etc/gpuctl/login
cat >/etc/gpuctl/fabric.d/rack.conf <<-END
	driver = redfish
	url = https://manager.example
	host = hosta
	credentials = /etc/gpuctl/login
	ports = 100=sw/dn0 101=sw/dn1
END
chmod 600 /etc/gpuctl/login /etc/gpuctl/fabric.d/rack.conf
at_boot
check "the kernel can try to sleep" eval 'echo 1 >/sys/module/suspend/parameters/pm_test_delay; echo freezer >/sys/power/pm_test'
check "systemd loads the modules" systemctl restart systemd-modules-load || bail_out "no modules"
check "a GPU of the manager is ready" wait_for 30 is_state 100 ready
check "one of the host's own is" wait_for 30 is_state 102 ready
check "the service starts, and is enabled" systemctl enable --now "$unit"
is "$(systemctl is-enabled gpufabric-lease-sleep@rack)" enabled "so is the unit for sleep"
check "this host has a lease" wait_for 30 said "this host has a lease" || journalctl -b -u "$unit"

note "sleep"
: >"$fm/log"
check "the host sleeps and wakes up" sleeps 1
check "the service runs again, and has a lease" wait_for 60 has_asked renew 0
like "$(asked)" '^(renew )*release renew' "the lease was given up before"
is "$(state 100)" ready "its GPUs stay"
is "$(systemctl is-active gpufabric-lease-sleep@rack)" inactive "nothing waits for the next sleep"

note "sleep, and the manager cannot be told"
touch "$fm/down"
check "the host sleeps and wakes up" sleeps 2
check "its GPUs were detached before" said "the lease is over, and no slot has power"
is "$(state 100) $(state 101) $(state 102)" "off off ready" "the manager's, and no other"
renewals=$(number_of renew)
rm "$fm/down"
check "there is a lease again when the manager answers" wait_for 60 has_asked renew "$renewals"
check "a GPU is attached again" gpuctl attach 100 || gpuctl -j list

note "a service that hangs"
renewals=$(number_of renew)
check "the lease is renewed" wait_for 60 has_asked renew "$renewals"
pid=$(systemctl show -P MainPID "$unit")
touch "$fm/down"
kill -STOP "$pid"
check "its GPU is detached nevertheless" wait_for 120 is_state 100 off
note "$(over_in) ms before the manager's lease was over"
check "before the manager's lease is over" [ "$(over_in)" -gt 0 ]
check "by the next service" [ "$(systemctl show -P MainPID "$unit")" != "$pid" ]
rm "$fm/down"
check "which has a lease when the manager answers" wait_for 60 systemctl is-active -q "$unit"
check "the service ends" systemctl disable --now "$unit"
is "$(systemctl is-enabled gpufabric-lease-sleep@rack 2>/dev/null)" disabled "and the unit for sleep with it"
is "$(asked | awk '{ print $NF }')" release "the lease is given up"

note "a stop, when the manager cannot be told and a driver does not let go"
lease=600000
stand_in
renewals=$(number_of renew)
check "the service starts" systemctl start "$unit"
check "it has a long lease" wait_for 60 has_asked renew "$renewals"
check "a GPU is attached" gpuctl attach 100
touch "$fm/down"
echo remove-block >"$SIM/slot0.0/driver"
check "the service is to stop" systemctl stop --no-block "$unit"
check "its GPU does not go" wait_for 120 is_state 100 stuck
is "$(systemctl is-active "$unit")" deactivating "the service tries on"
echo remove-release >"$SIM/slot0.0/driver"
stopped() { [ "$(systemctl is-active "$unit")" = inactive ]; }
check "it has stopped when the GPU has gone" wait_for 60 stopped
is "$(state 100)" off "which has"
finish
