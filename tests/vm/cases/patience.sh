#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# gpuctl compose --wait: what comes back is waited for, what never can is refused at once, and an
# end of the wait leaves nothing behind. The manager is a program that says what a file says.
#
#   root port -- upstream -- sim0-0 ... sim0-3 with an h100-80 each, off; sim0-4 and sim0-5 empty
#
# in turn: one command after the other
# vm: -t 300

# Functions are called by their names, through check and wait_for.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"

fm=/tmp/fabric
export GPUCTL_CONFIG_DIR=/tmp/config

compositions()
{
	gpuctl -j list | jq -r '[.compositions[].name] | join(" ")'
}

# patient NAME OPTION...: in the background, until it waits.
patient()
{
	local name=$1
	shift

	: >"/tmp/$name"
	gpuctl compose "$name" --wait 1h "$@" >"/tmp/$name" 2>"/tmp/$name.error" &
	client=$!
	check "$name waits" wait_for 60 grep -q "waiting up to 1 h" "/tmp/$name"
}

# ends STATUS TEXT: the one that waited.
ends()
{
	wait "$client"
	is $? "$1" "$2"
}

# refused TEXT COMMAND...: at once, although it has time.
refused()
{
	local text=$1 error
	shift

	error=$(timeout 120 gpuctl compose greedy --wait 1h "$@" 2>&1 >/dev/null)
	is $? 3 "$* does not fit"
	like "$error" "$text" "as it says"
	check_fails "and nothing was waited for" grep -q waited <<<"$error"
}

check "the modules load" modprobe gpufabric_sim mode=own switches=1 slots=6 latency_ms=5 \
	'gpus=*:h100-80:off,0.4:none,0.5:none' || bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric
check "the GPUs are known" gpuctl scan

note "GPUs of another composition"
check "all of them" gpuctl compose first --gpus 4
patient second --gpus 2
like "$(cat /tmp/second)" "waiting up to 1 h" "the reason is said once"
check "they come back" gpuctl release first
ends 0 "and it has its GPUs"
is "$(gpuctl -j list | jq -r '.compositions[].slots | length')" 2 "as many as it wanted"
check_rc 2 "a time needs a unit" gpuctl compose x --gpus 1 --wait 10

note "the time is over"
error=$(gpuctl compose third --gpus 3 --wait 300ms 2>&1 >/dev/null)
is $? 3 "it does not fit"
like "$error" "; waited 0.30 s" "as long as it waited"
is "$(compositions)" second "and nothing was composed"
error=$(gpuctl -n compose third --gpus 3 --wait 1h 2>&1 >/dev/null)
is $? 3 "with -n nothing is waited for"

note "what never can"
refused "asked" --gpus 5
refused "asked" --gpus 4 --exclude sim0-3
refused "" --memory 4000G

note "a signal"
before=$(gpuctl -j list | jq -c .slots)
for signal in TERM INT; do
	patient third --gpus 3
	kill -$signal $client
	ends 1 "SIG$signal ends it"
	like "$(cat /tmp/third.error)" "interrupted while it waited: nothing was changed" "SIG$signal: as it says"
done
is "$(gpuctl -j list | jq -c .slots)" "$before" "and nothing was"

note "GPUs on their way back, and the name with them"
echo remove-block >"$SIM/slot0.0/driver"
gpuctl release second >/tmp/release 2>&1 &
release=$!
check "a driver takes its time" wait_for 60 sh -c 'gpuctl -j list | jq -e ".slots[0].state == \"detaching\"" >/dev/null'
patient second --gpus 4
like "$(cat /tmp/second)" "second exists already" "its name is taken so far"
echo remove-release >"$SIM/slot0.0/driver"
check "the release ends" wait $release
ends 0 "it has the name and the GPUs"
echo none >"$SIM/slot0.0/driver"
check "and gives them back" gpuctl release second

note "two that wait"
check "all of them" gpuctl compose first --gpus 4
patient second --gpus 4
one=$client
patient third --gpus 4
two=$client
gpuctl release first >/dev/null
# Whoever is faster has them.
check "one is served" wait_for 60 sh -c 'gpuctl -j list | jq -e ".compositions | length == 1 and .[0].state == \"active\"" >/dev/null'
like "$(compositions)" "^(second|third)$" "and one only"
check "then" gpuctl release "$(compositions)"
wait $one
is $? 0 "both have had their turn"
wait $two
is $? 0 "the other as well"
check "all is given back" gpuctl release "$(compositions)"

note "a tenant's limit"
mkdir -p $GPUCTL_CONFIG_DIR/tenants.d
printf '[vision]\nlimit = 2\n' >$GPUCTL_CONFIG_DIR/tenants.d/10.conf
check "as many as it may have" gpuctl compose first --gpus 2 --tenant vision
refused "asked 3" --gpus 3 --tenant vision
patient second --gpus 1 --tenant vision
check "its own come back" gpuctl release first
ends 0 "and it may have one"
check "that is given back" gpuctl release second
rm -r $GPUCTL_CONFIG_DIR/tenants.d

note "GPUs of a fabric manager"
mkdir -p $fm $GPUCTL_CONFIG_DIR/fabric.d
printf 'user = here\npassword = x\n' >$GPUCTL_CONFIG_DIR/login
chmod 600 $GPUCTL_CONFIG_DIR/login
cat >$GPUCTL_CONFIG_DIR/fabric.d/rack.conf <<END
driver = redfish
url = https://manager.example
host = here
credentials = $GPUCTL_CONFIG_DIR/login
ports = sim0-4=sw/p4 sim0-5=sw/p5
END
program=/usr/local/libexec/gpuctl/fabric-redfish
own_folder ${program%/*}
cat >$program <<'END'
#!/bin/bash
fm=/tmp/fabric
. /tests/vm/request.sh
read_request
echo "$verb" >>$fm/log
# Somebody is fast while we are asked.
[ ! -e $fm/meanwhile ] || { mv $fm/meanwhile $fm/now && bash $fm/now; }
case $verb in
bind)
	[ "$(cat $fm/gpu)" = '"state":"free"' ] || {
		printf '{"exit":3,"error":"fabric manager rack: gpu0 is not free","outcome":"none","inventory":{"gpus":[],"ports":[]}}\n'
		exit 3
	}
	n=${lines[0]#*@}
	echo "\"state\":\"bound\",\"host\":\"here\",\"port\":\"$n\"" >$fm/gpu
	echo "insert h100-80" >/sys/kernel/debug/gpufabric_sim/slot0.${n##*/p}/surprise
	;;
unbind)
	n=$(grep -o 'sw/p[0-9]' $fm/gpu)
	echo remove >/sys/kernel/debug/gpufabric_sim/slot0.${n##*/p}/surprise
	echo '"state":"free"' >$fm/gpu
	;;
esac
[ "$verb" = inventory ] || outcome='"outcome":"done",'
printf '{"exit":0,%s"inventory":{"gpus":[{"id":"gpu0","model":"h100-80",%s}],"ports":[]}}\n' "${outcome-}" "$(cat $fm/gpu)"
END
chmod 755 $program

asked()
{
	[ "$(grep -c inventory "$fm/log")" -ge "$1" ]
}

for state in '"state":"changing"' '"state":"bound","host":"other"'; do
	: >$fm/log
	echo "$state" >$fm/gpu
	patient job --gpus 5
	check "$state: it looks again" wait_for 60 asked 4
	echo '"state":"free"' >$fm/gpu
	ends 0 "$state: it is bound as soon as it is free"
	is "$(gpuctl -j list | jq -r '.compositions[].slots | length')" 5 "$state: beside those of this host"
	check "$state: and given back" gpuctl release job
	is "$(cat $fm/gpu)" '"state":"free"' "$state: to the manager"
	# The manager has taken the card out, and the module has seen it.
	check "$state: whose slot is empty" wait_for 60 are_empty sim0-4 sim0-5
done
echo '"state":"unusable","why":"broken"' >$fm/gpu
check "all of this host" gpuctl compose first --gpus 4
echo "$(command -v gpuctl) release first" >$fm/meanwhile
check "what comes back while the manager is asked is not missed" timeout 200 gpuctl compose second --gpus 4 --wait 1h
check "and given back" gpuctl release second
refused "asked" --gpus 5
echo '"state":"changing"' >$fm/gpu
refused "asked" --gpus 6
patient job --gpus 5
kill $client
ends 1 "a signal ends this wait, too"
is "$(cat $fm/gpu)" '"state":"changing"' "and nothing was bound"
is "$(compositions)" "" "or composed"

note "a manager that does not answer"
sed -i 's/ sim0-5=.*//' $GPUCTL_CONFIG_DIR/fabric.d/rack.conf
cat >$GPUCTL_CONFIG_DIR/fabric.d/spare.conf <<END
driver = liqid
url = https://spare.example
host = here
credentials = $GPUCTL_CONFIG_DIR/login
ports = sim0-5
END
cat >${program%/*}/fabric-liqid <<'END'
#!/bin/bash
echo '{"exit":1,"error":"fabric manager spare: cannot reach it"}'
exit 1
END
chmod 755 ${program%/*}/fabric-liqid
echo '"state":"bound","host":"other"' >$fm/gpu
error=$(gpuctl compose job --gpus 5 2>&1 >/dev/null)
is $? 3 "beside one that answers it does not fit"
like "$error" "fabric manager rack has no free GPU: 1 with other; fabric manager spare: cannot reach it" "and both are said"
patient job --gpus 5
like "$(cat /tmp/job)" "cannot reach it; waiting" "with the reason"
echo '"state":"free"' >$fm/gpu
ends 0 "it has what the other one gives"
check "and gives it back" gpuctl release job
check "whose slot is empty" wait_for 60 are_empty sim0-4
rm $GPUCTL_CONFIG_DIR/fabric.d/rack.conf
check_rc 1 "alone it is what a request ends with" gpuctl compose job --gpus 5
patient job --gpus 5
kill $client
ends 1 "unless that waits"
like "$(cat /tmp/job.error)" "interrupted while it waited" "until somebody ends it"
cat >${program%/*}/fabric-liqid <<'END'
#!/bin/bash
echo '{"exit":5,"error":"fabric manager spare: it rejects the login (401)"}'
exit 5
END
refused "fabric manager spare: it rejects the login" --gpus 5
check_rc 5 "which is what a request without time ends with" gpuctl compose job --gpus 5
umount ${program%/*}

note "operations under way"
rm -r $GPUCTL_CONFIG_DIR/fabric.d
state() { gpuctl -j show "$1" | jq -r .slot.state; }
in_state() { [ "$(state "$1")" = "$2" ]; }
polls() { grep -q poll "/proc/$1/wchan"; }
# waits COMMAND...: although an operation of $busy is under way, whose driver does not let go before.
waits()
{
	"$@" >/tmp/waits 2>&1 &
	client=$!
	check "$*: it waits" wait_for 60 polls "$client"
	echo remove-release >"$SIM/slot0.${busy#sim0-}/driver"
}
check "two GPUs" gpuctl compose job --gpus 2
busy=$(gpuctl -j list | jq -r '.compositions[0].slots[1]')
echo remove-block >"$SIM/slot0.${busy#sim0-}/driver"
gpuctl resize job --remove "$busy" --timeout 10min >/tmp/resize 2>&1 &
resize=$!
check "one is given back, and its driver does not let go" wait_for 60 in_state "$busy" detaching
check_rc 4 "a release is refused" gpuctl release job
waits gpuctl resize job --gpus +1 --wait 1min
ends 0 "it grows when the other one has ended"
check "which has ended well" wait $resize
busy=$(gpuctl -j list | jq -r '.compositions[0].slots[0]')
echo remove-block >"$SIM/slot0.${busy#sim0-}/driver"
gpuctl resize job --remove "$busy" --timeout 10min >/tmp/resize 2>&1 &
resize=$!
check "another one is given back, and its driver does not let go" wait_for 60 in_state "$busy" detaching
waits gpuctl release job --wait 1min
ends 0 "it is released when the other one has ended"
check "which has ended well" wait $resize
is "$(compositions)" "" "nothing is composed"
check "one GPU" gpuctl attach "$busy"
echo remove-block >"$SIM/slot0.${busy#sim0-}/driver"
gpuctl detach "$busy" --timeout 10min >/tmp/detach 2>&1 &
detach=$!
check "it is detached, and its driver does not let go" wait_for 60 in_state "$busy" detaching
check_rc 4 "another detach is refused" gpuctl detach "$busy"
waits gpuctl detach "$busy" --wait 1min
ends 0 "it has nothing to do when the first one has ended"
check "which has ended well" wait $detach

check "two GPUs" gpuctl compose job --gpus 2
read -r stays busy < <(gpuctl -j list | jq -r '.compositions[0].slots | join(" ")')
exec 9</dev/gpufabric-sim/"$busy"
gpuctl resize job --remove "$busy" --wait 9min >/tmp/resize 2>&1 9<&- &
resize=$!
check "one is to go, and somebody holds it" wait_for 60 in_state "$busy" draining
check_rc 4 "a release is refused" gpuctl release job
gpuctl release job --wait 1min >/tmp/waits 2>&1 9<&- &
client=$!
check "one with time waits" wait_for 60 polls "$client"
exec 9<&-
ends 0 "it is released when that has gone"
check "which went well" wait $resize

check "two GPUs" gpuctl compose job --gpus 2
echo remove-block >"$SIM/slot0.${stays#sim0-}/driver"
check_rc 7 "one does not go" gpuctl detach --force "$stays" "$busy" --timeout 1s
check_rc 7 "a release with time does not wait for that" timeout 120 gpuctl release job --wait 9min
echo remove-release >"$SIM/slot0.${stays#sim0-}/driver"
check "it goes" wait_for 60 in_state "$stays" off
check "and all is released" gpuctl release job

echo probe-fail >"$SIM/slot0.${busy#sim0-}/driver"
gpuctl attach "$stays" "$busy" >/tmp/attach 2>&1 &
check "one of two waits for a driver" wait_for 60 in_state "$busy" attached
check "who detaches the other one with time waits for both" gpuctl detach "$stays" --wait 1min
check_fails "they end as they have to" wait $!
is "$(state "$stays")" off "and it is off"
check "the slot of the other one is cleared" gpuctl clear "$busy"

check "the module unloads" wait_for 10 rmmod gpufabric
check "the simulator, too" rmmod gpufabric_sim
finish
