#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Cards of a fabric's pool: brought together for a request, and given back whatever goes wrong
# and wherever: hooks that say no, hang or are killed, cards that do not come or fail,
# gpuctl interrupted. A fabric manager in small keeps a ledger, refuses what another host
# has, and writes down when a card was taken from a slot that had power.
#
#   root port -- upstream -- slot 0 with an h100-80, off; slots 1 ... 5 empty
#
# brief: slots of the simulator's own kind, which the tool cannot tell from pciehp's
# in turn: requests run one after the other
# vm: -t 900

# Functions are called by their names, through check; what hooks do is for them to expand.
# shellcheck disable=SC2016,SC2317

. "$TESTS/vm/lib.sh"

hooks=/etc/gpuctl/hooks.d
fm=/tmp/fabric
export GPUCTL_HOOK_TIMEOUT=20s

# The manager, for the hooks: what of a request it has done when something happens is
# up to before and after, which are files of shell commands.
manager()
{
	cat <<'END'
#!/bin/bash
fm=/tmp/fabric
SIM=/sys/kernel/debug/gpufabric_sim
action=$1
shift
echo "$action $*" >>$fm/log
for slot; do
	read -r n <"$fm/number.$slot"
	case $action in
	assign)
		[ ! -e "$fm/before.$slot" ] || . "$fm/before.$slot"
		if [ -e "$fm/other.$slot" ]; then
			echo "409: the card of $slot is in zone b" >&2
			exit 1
		fi
		: >"$fm/ledger/$slot"
		[ -e "$fm/late.$slot" ] || echo "insert l40s" >$SIM/slot0.$n/surprise
		[ ! -e "$fm/after.$slot" ] || . "$fm/after.$slot"
		;;
	unassign)
		[ ! -e "$fm/broken" ] || { echo "503: no answer" >&2; exit 1; }
		[ ! -e "$fm/slow" ] || . "$fm/slow"
		[ -e "$fm/ledger/$slot" ] || continue
		read -r present <$SIM/slot0.$n/presence
		read -r power <$SIM/slot0.$n/power
		[ $present = 0 ] || [ $power = 0 ] || echo "$slot" >>$fm/pulled
		[ $present = 0 ] || echo remove >$SIM/slot0.$n/surprise
		rm "$fm/ledger/$slot"
		;;
	esac
done
END
}

ledger()
{
	local file slots=()

	for file in "$fm"/ledger/*; do
		[ ! -e "$file" ] || slots+=("${file##*/}")
	done
	echo "${slots[*]}"
}

# all_back WHAT: every card of the fabric is where it was, and none was pulled.
all_back()
{
	local i

	is "$(ledger)" "" "$mode: $1: every card is given back"
	wait_for 20 are_empty "${s[@]:1:3}"
	is "$(states_of "${s[@]:1:3}")" "empty empty empty" \
		"$mode: $1: the slots are empty"
	[ ! -e $fm/pulled ] || is "$(cat $fm/pulled)" "" "$mode: $1: none was taken from a slot with power"
	rm -f $fm/before.* $fm/after.* $fm/other.* $fm/late.* $fm/slow $fm/broken $fm/pulled
	for i in 0 1 2 3; do
		echo none >"$SIM/slot0.$i/fail"
		echo none >"$SIM/slot0.$i/driver"
	done
	: >$fm/log
	rm -rf $hooks/pre-attach.d $hooks/post-attach.d
}

# interrupt SIGNAL: the gpuctl in the background, and wait for its end.
interrupt()
{
	kill "-$1" $client
	rc=0
	wait $client || rc=$?
}

# begin ARGUMENTS: gpuctl, in the background.
begin()
{
	gpuctl "$@" >/tmp/output 2>/tmp/error &
	client=$!
}

first()
{
	head -n 1 /tmp/error
}

check_mode()
{
	local i line

	mode=$1
	check "$mode: the modules load" modprobe gpufabric_sim mode="$mode" switches=1 slots=6 'gpus=*:none,0.0:h100-80:off' ||
		bail_out "no simulator"
	check "$mode: gpufabric loads" modprobe gpufabric
	for i in 0 1 2 3 4 5; do
		s[i]=sim0-$i
		[ "$mode" = own ] || s[i]=10$i
		echo "$i" >"$fm/number.${s[i]}"
	done
	wait_for 20 is_state "${s[5]}" empty
	three="${s[1]}, ${s[2]}, ${s[3]}"

	note "$mode: all together"
	check "$mode: three cards are brought" gpuctl attach "${s[@]:1:3}"
	is "$(cat $fm/log)" "assign ${s[1]} ${s[2]} ${s[3]}" "$mode: by one call"
	is "$(states_of "${s[1]}" "${s[3]}")" "ready ready" "$mode: and attached"
	: >$fm/log
	check "$mode: they go" gpuctl detach "${s[@]:1:3}"
	is "$(cat $fm/log)" "unassign ${s[1]} ${s[2]} ${s[3]}" "$mode: by one call as well"
	all_back "a detach"

	note "$mode: nothing is tried"
	like "$(gpuctl -n attach "${s[0]}" "${s[1]}" | xargs)" \
		"would attach ${s[0]} would attach ${s[1]}" "$mode: -n says which slots would be attached"
	line=$(gpuctl -n attach "${s[0]}" "${s[1]}" | grep assign | xargs)
	is "$line" "would assign a card to ${s[1]} would run $hooks/assign.d/50-fabric" \
		"$mode: and which would get a card"
	chmod 777 $hooks/unassign.d/50-fabric
	check_rc 5 "$mode: a hook that cannot give back is known before" gpuctl attach "${s[1]}"
	chmod 755 $hooks/unassign.d/50-fabric
	is "$(cat $fm/log)" "" "$mode: none of that calls a hook"

	note "$mode: the hook"
	: >"$fm/other.${s[2]}"
	gpuctl attach "${s[@]:1:3}" >/tmp/output 2>/tmp/error
	is $? 1 "$mode: one that is refused fails the request"
	is "$(cat /tmp/error)" \
		"gpuctl: hook $hooks/assign.d/50-fabric assign: status 1: 409: the card of ${s[2]} is in zone b
given back to the fabric: $three" "$mode: the cause is said, and then what was given back"
	all_back refused
	: >"$fm/other.${s[2]}"
	is "$(gpuctl -j attach "${s[@]:1:3}" 2>/dev/null | jq -c .given_back)" \
		"[\"${s[1]}\",\"${s[2]}\",\"${s[3]}\"]" "$mode: in JSON, too"
	all_back refused
	for i in before after; do
		echo 'kill -9 $$' >"$fm/$i.${s[2]}"
		check_rc 1 "$mode: killed $i the second card" gpuctl attach "${s[@]:1:3}"
		all_back "killed $i"
		echo 'exec sleep 1000' >"$fm/$i.${s[2]}"
		GPUCTL_HOOK_TIMEOUT=$((2 * SLOW))s gpuctl attach "${s[@]:1:3}" >/tmp/output 2>/tmp/error
		is $? 7 "$mode: hanging $i the second card"
		like "$(first)" "50-fabric assign: no end within" "$mode: is said"
		all_back "hanging $i"
		for line in INT TERM; do
			rm -f /tmp/hang
			echo ': >/tmp/hang; exec sleep 1000' >"$fm/$i.${s[2]}"
			begin attach "${s[@]:1:3}"
			wait_for 20 test -e /tmp/hang
			interrupt $line
			is $rc 1 "$mode: SIG$line $i the second card"
			like "$(first)" "50-fabric assign: interrupted" "$mode: is said"
			all_back "SIG$line $i"
		done
	done

	note "$mode: the card does not come"
	: >"$fm/late.${s[2]}"
	gpuctl attach --timeout $((3 * SLOW))s "${s[@]:1:3}" >/tmp/output 2>/tmp/error
	is $? 7 "$mode: it is awaited, bounded"
	like "$(first)" "slot ${s[2]}: the assign hook ended well, but no card showed up" "$mode: as the error says"
	all_back "a card that does not come"
	: >"$fm/late.${s[2]}"
	begin attach "${s[@]:1:3}"
	wait_for 20 test -e "$fm/ledger/${s[3]}"
	wait_for 20 is_state "${s[1]}" ready
	interrupt INT
	is $rc 1 "$mode: interrupted meanwhile"
	is "$(first)" "gpuctl: interrupted" "$mode: is said"
	all_back "interrupted while one was awaited"

	note "$mode: the card fails"
	for line in "enumerate 5" "link 5" "power 5" "bar 5"; do
		echo "$line" >"$SIM/slot0.2/fail"
		gpuctl attach "${s[@]:1:3}" >/tmp/output 2>/tmp/error
		rc=$?
		check "$mode: $line: is an error" test $rc -ne 0
		note "$(first)"
		like "$(first)" "not attached.*slot ${s[2]}: |not attached: ${s[2]}: " "$mode: $line: it names the slot"
		check_fails "$mode: $line: and the cause, not where to look for it" grep -q "see its cause" /tmp/error
		like "$(tail -n 1 /tmp/error)" "^given back to the fabric: $three$" "$mode: $line: what was given back follows"
		all_back "$line"
	done

	note "$mode: hooks before and after"
	mkdir -p $hooks/pre-attach.d $hooks/post-attach.d
	printf '#!/bin/sh\necho "$1 $GPUFABRIC_SLOT" >>/tmp/fabric/log\n[ "$1 $GPUFABRIC_SLOT" != "pre-attach %s" ]\n' "${s[0]}" \
		>$hooks/pre-attach.d/10-refuse
	chmod 755 $hooks/pre-attach.d/10-refuse
	check_rc 1 "$mode: a pre-attach hook refuses" gpuctl attach "${s[0]}" "${s[1]}"
	like "$(cat $fm/log)" "^abort-attach ${s[0]}$" "$mode: it is told that this is over"
	is "$(states_of "${s[0]}")" off "$mode: the card that is here stays off"
	all_back "a pre-attach hook"

	note "$mode: interrupted while the cards are powered on"
	for line in INT TERM; do
		echo "probe-slow 4000" >"$SIM/slot0.0/driver"
		begin attach "${s[@]:0:4}"
		wait_for 30 is_state "${s[0]}" attaching
		interrupt $line
		is $rc 1 "$mode: SIG$line"
		is "$(first)" "gpuctl: interrupted: gpuctl withdraws the request" "$mode: is said"
		like "$(tail -n 1 /tmp/error)" "^given back to the fabric: $three$" "$mode: and what was given back"
		is "$(states_of "${s[0]}")" off "$mode: the card that is here is off again"
		all_back "SIG$line while powering on"
	done

	note "$mode: interrupted again while giving back"
	: >"$fm/other.${s[2]}"
	rm -f /tmp/hang /tmp/go
	echo ': >/tmp/hang; while [ ! -e /tmp/go ]; do sleep 0.1; done' >$fm/slow
	begin attach "${s[@]:1:3}"
	wait_for 20 test -e /tmp/hang
	kill -INT $client
	kill -TERM $client
	: >/tmp/go
	wait $client
	is $? 1 "$mode: it is seen through"
	like "$(first)" "409" "$mode: the cause is the first one"
	all_back "signals meanwhile"

	note "$mode: what cannot be given back"
	: >"$fm/other.${s[2]}"
	: >$fm/broken
	gpuctl attach "${s[1]}" "${s[2]}" >/tmp/output 2>/tmp/error
	is $? 1 "$mode: an unassign hook that fails"
	is "$(sed -n '1s/.*: 409/409/p; 2,$p' /tmp/error)" "409: the card of ${s[2]} is in zone b
not given back to the fabric: ${s[1]}, ${s[2]}: hook $hooks/unassign.d/50-fabric unassign: status 1: 503: no answer
by hand: $hooks/unassign.d/50-fabric unassign ${s[1]} ${s[2]}" "$mode: is named after the cause, with what to do"
	rm $fm/broken
	is "$(ledger)" "${s[1]}" "$mode: the card is still assigned"
	wait_for 20 is_state "${s[1]}" off
	check "$mode: by hand" $hooks/unassign.d/50-fabric unassign "${s[1]}" "${s[2]}"
	all_back "by hand"

	check "$mode: a card" gpuctl attach "${s[1]}"
	: >$fm/broken
	like "$(gpuctl detach "${s[1]}" 2>&1)" "by hand: $hooks/unassign.d/50-fabric unassign ${s[1]}$" \
		"$mode: a detach says so, too"
	rm $fm/broken
	check "$mode: by hand" $hooks/unassign.d/50-fabric unassign "${s[1]}"
	all_back "a detach by hand"

	mkdir -p $hooks/pre-attach.d
	cat >$hooks/pre-attach.d/10-hold <<END
#!/bin/sh
[ "\$1 \$GPUFABRIC_SLOT" = "pre-attach ${s[0]}" ] || exit 0
exec 9</dev/gpufabric-sim/${s[1]} || exit 1
sleep 1000 >/dev/null 2>&1 &
echo \$! >/tmp/holder
exit 1
END
	chmod 755 $hooks/pre-attach.d/10-hold
	echo 'while [ ! -e /dev/gpufabric-sim/$slot ]; do sleep 0.1; done' >"$fm/after.${s[1]}"
	gpuctl attach "${s[0]}" "${s[1]}" "${s[2]}" >/tmp/output 2>/tmp/error
	is $? 1 "$mode: a GPU that somebody holds"
	like "$(cat /tmp/error)" "sleep 1000" "$mode: who it is is said"
	like "$(tail -n 1 /tmp/error)" "^slot ${s[1]}: not given back, its state is ready: gpuctl detach ${s[1]}$" \
		"$mode: and what to do"
	like "$(cat /tmp/error)" "^given back to the fabric: ${s[2]}$" "$mode: the other card is given back"
	is "$(ledger)" "${s[1]}" "$mode: the one that is held is not"
	kill "$(cat /tmp/holder)"
	check "$mode: then it goes" wait_for 10 gpuctl detach "${s[1]}"
	all_back "after that"

	check "$mode: gpufabric unloads" rmmod gpufabric
	check "$mode: the simulator unloads" rmmod gpufabric_sim
}

mkdir -p $fm/ledger $hooks/assign.d $hooks/unassign.d
s=()
for i in assign unassign; do
	manager >$hooks/$i.d/50-fabric
	chmod 755 $hooks/$i.d/50-fabric
done
: >$fm/log
for mode in $(brief pciehp "own pciehp"); do
	check_mode "$mode"
done
finish
