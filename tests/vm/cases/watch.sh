#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# gpuctl watch: what is left out on request, and waiting until something is so.
#
#   root port -- upstream -- sim0-0 ... sim0-3 with an h100-80 each, off
#
# in turn: one command after the other
# before: tests/selftests/build
# vm: -t 240 -f build/selftests/gfclient

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"

# watching OPTIONS...: in the background, from its snapshot on.
watching()
{
	rm -f /tmp/watch.json
	gpuctl -j watch "$@" >/tmp/watch.json 2>/tmp/watch.err &
	watch=$!
	wait_for 20 grep -q snapshot-done /tmp/watch.json
}

# What was shown after the snapshot, one word a change.
changes()
{
	jq -r 'select(.event != "exists" and .event != "snapshot-done")
		| .slot.slot // .composition.name // .operation.composition // .event' /tmp/watch.json | sort -u | tr '\n' ' '
}

is_over()
{
	! kill -0 "$watch" 2>/dev/null
}

check "the modules load" modprobe gpufabric_sim mode=own switches=1 slots=4 latency_ms=5 'gpus=*:h100-80:off' ||
	bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric
check "the GPUs are known" gpuctl scan

note "filters"
watching --slot sim0-1
is "$(jq -r 'select(.event == "exists") | .slot.slot' /tmp/watch.json)" sim0-1 "the snapshot has one slot"
gpuctl attach sim0-0 sim0-1 >/dev/null
check "its changes come" wait_for 20 grep -q '"state":"ready"' /tmp/watch.json
gpuctl detach sim0-0 sim0-1 >/dev/null
check "to the last" wait_for 20 sh -c 'tail -n 1 /tmp/watch.json | grep -q "\"state\":\"off\""'
is "$(changes)" "sim0-1 " "and no others"
is "$(jq -r '.instance // empty' /tmp/watch.json | sort -u | grep -cE '^[0-9a-f]{16}$')" 1 "all of one instance of the module"
kill -INT "$watch"
wait "$watch"
is $? 0 "an interrupt is its usual end"

watching --composition one
gpuctl compose two --gpus 1 >/dev/null
gpuctl compose one --gpus 1 >/dev/null
gpuctl release one >/dev/null
gpuctl release two >/dev/null
check "a composition is followed to its end" wait_for 20 grep -q composition-removed /tmp/watch.json
is "$(jq -r 'select(.composition) | .composition.name' /tmp/watch.json | sort -u)" one "and no other"
is "$(jq -r 'select(.event == "slot-changed") | .slot.slot' /tmp/watch.json | sort -u)" sim0-1 "with its slots"
kill -INT "$watch"
wait "$watch"

watching --kind operation-done
gpuctl attach sim0-2 >/dev/null
check "a kind of changes" wait_for 20 grep -q operation-done /tmp/watch.json
is "$(jq -r 'select(.sequence and .event != "snapshot-done") | .event' /tmp/watch.json | sort -u)" operation-done "and no other"
kill -INT "$watch"
wait "$watch"
gpuctl detach sim0-2 >/dev/null

note "until"
check "what is so already ends at once" gpuctl watch until sim0-0 off
check "what does not exist is gone" gpuctl watch until train70b gone
watching until train70b active
check_fails "what is not so yet is waited for" is_over
gpuctl compose train70b --gpus 2 >/dev/null
check "until it is" wait_for 20 is_over
wait "$watch"
is $? 0 "and that is success"
watching until train70b gone --timeout 1h
gpuctl release train70b >/dev/null
check "to be gone, too" wait_for 20 is_over
wait "$watch"
is $? 0 "is success"
gpuctl attach sim0-0 >/dev/null
exec 9</dev/gpufabric-sim/sim0-0
sleep 1000 &
holder=$!
exec 9<&-
watching until sim0-0 draining --timeout 10min
gpuctl detach sim0-0 --wait 5min >/dev/null 2>&1 &
detach=$!
check "a drain is waited for" wait_for 20 is_over
kill "$holder"
check "it ends with who held the GPU" wait "$detach"
kill -INT "$watch" 2>/dev/null
wait "$watch"
is $? 0 "and was seen"
check_rc 7 "what never comes ends by the clock" gpuctl watch until sim0-0 stuck --timeout 100ms
like "$(gpuctl watch until sim0-0 stuck --timeout 100ms 2>&1 >/dev/null)" "'sim0-0 stuck' was not reached within 100ms" "and says so"
watching until sim0-0 stuck
kill -TERM "$watch"
wait "$watch"
is $? 1 "one that is interrupted has not seen it"

note "leases, and a clock that is set"
# As systemd would start it: a start of a service that runs waits for its end, and does nothing. The
# service is there for as long as /tmp/hold is.
cat >/usr/bin/systemctl <<-END
	#!/bin/sh
	reap() {
		if mkdir /tmp/reaping 2>/dev/null; then
			setsid $(command -v gpuctl) reap >/tmp/reap.log 2>&1
			while [ -e /tmp/hold ]; do sleep 0.1; done
			rmdir /tmp/reaping
		else
			while [ -e /tmp/reaping ]; do sleep 0.1; done
		fi
	}
	case "\$*" in
	*--no-block*gpufabric-reap.service) reap & ;;
	*gpufabric-reap.service) reap ;;
	esac
END
chmod 755 /usr/bin/systemctl
set_clock()
{
	date -s "@$(($(date +%s) + $1))" >/dev/null
}

watching daemon --print
check "one for half an hour" gpuctl compose long --gpus 1 --for 30min
check "one for some seconds" gpuctl compose leased --gpus 1 --for 5s
set_clock -3600
check "it is reaped at its time by a clock that is an hour late" gpuctl watch until leased gone --timeout 2min
is "$(gpuctl -j show long | jq --argjson now "$(date +%s)" '.composition.lease / 1000 - $now | . > 1000 and . <= 1800')" \
	true "what is shown of the other goes by that clock"
set_clock 7200
like "$(gpuctl reap)" "nothing to reap" "nothing is over for a clock that is an hour early"
check "another one for some seconds" gpuctl compose leased --gpus 1 --for 3s
check "is reaped at its time, too" gpuctl watch until leased gone --timeout 2min
check "that of half an hour was left" gpuctl watch until long active --timeout 1s
set_clock -3600
check "it is made shorter" gpuctl annotate long --for 2s --job 4711
is "$(gpuctl -j list | jq -r '.compositions[] | select(.name == "long").job')" 4711 "and gets a job"
check "and is reaped" gpuctl watch until long gone --timeout 2min

check "that service has ended" wait_for 20 test ! -e /tmp/reaping
touch /tmp/hold
check "a lease" gpuctl compose early --gpus 1 --for 1s
check "is reaped" gpuctl watch until early gone --timeout 2min
check "one that ends while the service still runs" gpuctl compose leased --gpus 1 --for 1s
nap 2000
rm /tmp/hold
check "is reaped as well" gpuctl watch until leased gone --timeout 2min

note "who annotates while another resizes"
check "a composition of one" gpuctl compose grows --gpus 1
mkdir -p /etc/gpuctl/hooks.d/pre-attach.d
cat >/etc/gpuctl/hooks.d/pre-attach.d/10-annotate <<-'END'
	#!/bin/sh
	test -e /tmp/annotated && exit
	touch /tmp/annotated
	gpuctl annotate grows --job 77
END
chmod 755 /etc/gpuctl/hooks.d/pre-attach.d/10-annotate
check "it grows and gets a lease while a hook annotates it" gpuctl resize grows --gpus +1 --for 8h
is "$(gpuctl -j show grows | jq -c '.composition | [.job, .lease > 0, (.members | length)]')" '["77",true,2]' \
	"and keeps what was annotated meanwhile"
rm -r /etc/gpuctl/hooks.d /tmp/annotated
gpuctl release grows >/dev/null

note "what others wrote"
check "a composition with an annotation of version 2, whose client goes" \
	"$TESTS/gfclient" -b -a $'\002x' compose newer sim0-0
check "one of an ordinary client that goes" "$TESTS/gfclient" -b -a $'\001\001\001t' compose lost sim0-1
check "this one is taken back" gpuctl watch until lost gone --timeout 2min
like "$(gpuctl reap)" "newer: annotation: version 2, unknown to this gpuctl, left alone" "the other one is not"
is "$(gpuctl -j list | jq -r '.compositions[] | [.name, .annotation, (.flags | contains(["orphaned"]))] | join(" ")')" \
	"newer version 2, unknown to this gpuctl true" "and is shown as what it is"
check_rc 1 "it is not annotated" gpuctl annotate newer --label mine
check_rc 1 "nor resized, as nobody knows whose it is" gpuctl resize newer --gpus +1
check "it can be released" gpuctl release newer
check "another one without a client of its own" "$TESTS/gfclient" -a $'\002x' compose newer sim0-0
gpuctl save /tmp/saved.json >/dev/null
gpuctl release newer >/dev/null
check "is restored" gpuctl restore /tmp/saved.json
is "$(gpuctl -j list | jq -r '.compositions[].annotation')" "version 2, unknown to this gpuctl" "as it was"
gpuctl release newer >/dev/null
kill -INT "$watch"
wait "$watch"
rm /usr/bin/systemctl

note "a lease that ends while another composition is reaped"
check "a lease" gpuctl compose early --gpus 1 --for 1s
check "and a longer one" gpuctl compose late --gpus 1 --for 8s
mkdir -p /etc/gpuctl/hooks.d/pre-detach.d
cat >/etc/gpuctl/hooks.d/pre-detach.d/10-slow <<-'END'
	#!/bin/sh
	[ "$GPUFABRIC_COMPOSITION" = early ] || exit 0
	sleep 9
END
chmod 755 /etc/gpuctl/hooks.d/pre-detach.d/10-slow
nap 1500
gpuctl reap >/tmp/reap.log 2>&1
is "$?" 0 "one reap"
is "$(grep '^reaped ' /tmp/reap.log | xargs)" "reaped early reaped late" "takes the one back after the other"
rm -r /etc/gpuctl/hooks.d

note "faults while nobody watches"
cat >/usr/bin/systemctl <<-'END'
	#!/bin/sh
	echo "$@" >>/tmp/units
END
chmod 755 /usr/bin/systemctl
mkdir -p /tmp/told
# Starts of a unit for a fault. In each turn, that for any change comes after them.
told()
{
	grep -c 'start gpufabric-fault@' /tmp/units
}

begin_watch()
{
	RUNTIME_DIRECTORY=/tmp/told gpuctl watch daemon --print >/tmp/watch.json 2>/tmp/watch.err &
	watch=$!
	wait_for 20 grep -q gpufabric-changed /tmp/units
}

end_watch()
{
	kill -INT "$watch"
	wait "$watch"
	sed -i /gpufabric-changed/d /tmp/units
}

surprise()
{
	echo "$1" >"$SIM/slot0.0/surprise"
}

check "a GPU" gpuctl attach sim0-0
check "a watch" begin_watch
check "it is pulled" surprise remove
check "the watch tells that it is lost" wait_for 20 grep -q gpufabric-fault@ /tmp/units
end_watch
check "the next watch" begin_watch
is "$(told)" 1 "does not tell it again"
end_watch
check "it is cleared" gpuctl clear sim0-0
check "another one is put in" surprise "insert h100-80"
check "and comes up" gpuctl watch until sim0-0 ready --timeout 1min
check "it is pulled while nobody watches" surprise remove
check "and is lost" gpuctl watch until sim0-0 lost --timeout 1min
check "the next watch" begin_watch
is "$(told)" 2 "tells it"
end_watch
check "it is cleared" gpuctl clear sim0-0
rm /usr/bin/systemctl

note "what is refused"
check_rc 2 "a state that there is not" gpuctl watch until sim0-0 happy
check_rc 2 "no state" gpuctl watch until sim0-0
check_rc 2 "a kind that there is not" gpuctl watch --kind slot-moved
check_rc 2 "a deadline for nothing" gpuctl watch changes --timeout 1s

note "a module that goes"
watching
check "the module unloads" wait_for 10 rmmod gpufabric
check "and comes again" modprobe gpufabric
check "the watch of the one that went is over" wait_for 20 is_over
wait "$watch"
is $? 6 "with the exit code for no module"
is "$(cat /tmp/watch.err)" "gpuctl: module gpufabric was unloaded" "and says why"

check "the module unloads" wait_for 10 rmmod gpufabric
check "the simulator, too" rmmod gpufabric_sim
finish
