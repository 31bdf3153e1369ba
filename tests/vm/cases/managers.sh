#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A fabric manager that gpuctl speaks to: GPUs are bound to empty slots for a request and given back
# whatever goes wrong. The program that speaks to managers is replaced by a small one with a
# ledger of its own, which puts cards into slots of the simulator; that the real one and a server
# agree is in unit/redfish.py.
#
#   root port -- upstream -- slot 0 with an h100-80, off; slots 1 ... 5 empty, 1 to 3 are the manager's
#
# brief: slots of the simulator's own kind, which the tool cannot tell from pciehp's
# in turn: requests run one after the other
# vm: -t 1200

# Functions are called by their names, through check.
# shellcheck disable=SC2016,SC2317

. "$TESTS/vm/lib.sh"

fm=/tmp/fabric
export GPUCTL_CONFIG_DIR=/tmp/config

# GPUs are files of the ledger: host and port, or empty. What it does when something happens
# is up to before and after, which are files of shell commands.
manager()
{
	cat <<'END'
#!/bin/bash
fm=/tmp/fabric
SIM=/sys/kernel/debug/gpufabric_sim
. /tests/vm/request.sh
read_request
echo "$verb ${lines[*]}" >>$fm/log
trap 'told=1' TERM

# say EXIT ERROR OUTCOME [TAKEN TAKER]
say()
{
	local gpu host port list=() state model

	for gpu in $fm/ledger/*; do
		read -r host port <"$gpu"
		gpu=${gpu##*/}
		read -r model <$fm/model.$gpu
		state=free
		[ -z "$host" ] || state=bound
		list+=("{\"id\":\"$gpu\",\"state\":\"$state\",\"model\":\"$model\"${host:+,\"host\":\"$host\"}${port:+,\"port\":\"$port\"}}")
	done
	local IFS=,
	printf '{"exit":%s%s%s%s%s,"inventory":{"gpus":[%s],"ports":[]}}\n' "$1" "${2:+,\"error\":\"$2\"}" "${3:+,\"outcome\":\"$3\"}" \
		"${4:+,\"taken\":\"$4\"}" "${5:+,\"taker\":\"$5\"}" "${list[*]}"
	exit "$1"
}

[ ! -e $fm/down.$verb ] || say 1 "fabric manager rack: cannot reach it"
[ ! -e $fm/before.$verb ] || . $fm/before.$verb
case $verb in
inventory)
	say 0
	;;
renew)
	echo "{\"exit\":0,\"lease\":$(cat $fm/lease)}"
	exit 0
	;;
release)
	echo '{"exit":0}'
	exit 0
	;;
bind)
	for line in "${lines[@]}"; do
		read -r host _ <$fm/ledger/${line%@*}
		[ -z "$host" ] || say 3 "fabric manager rack: ${line%@*} belongs to host $host" none ${line%@*} $host
	done
	for line in "${lines[@]}"; do
		gpu=${line%@*}
		echo "here ${line#*@}" >$fm/ledger/$gpu
		read -r model <$fm/model.$gpu
		[ -e $fm/late.$gpu ] || echo "insert $model" >$SIM/slot0.${line##*/p}/surprise
	done
	;;
unbind)
	for gpu in "${lines[@]%@*}"; do
		read -r _ port <$fm/ledger/$gpu
		n=${port##*/p}
		read -r present <$SIM/slot0.$n/presence
		read -r power <$SIM/slot0.$n/power
		[ $present = 0 ] || [ $power = 0 ] || echo "$gpu" >>$fm/pulled
		if [ -e $fm/leaves.$gpu ]; then
			(sleep 2; echo remove >$SIM/slot0.$n/surprise) >/dev/null 2>&1 </dev/null &
		elif [ $present != 0 ]; then
			echo remove >$SIM/slot0.$n/surprise
		fi
		echo >$fm/ledger/$gpu
	done
	;;
esac
[ ! -e $fm/after.$verb ] || . $fm/after.$verb
[ -z "$told" ] || say 1 "fabric manager rack: interrupted" done
say 0 "" done
END
}

# GPUs with who has them, those that are free left out.
ledger()
{
	local gpu host port has=()

	for gpu in "$fm"/ledger/*; do
		read -r host port <"$gpu"
		[ -z "$host" ] || has+=("${gpu##*/}=$host${port:+@$port}")
	done
	echo "${has[*]}"
}

# all_back WHAT [OTHERS]: this host has nothing of the fabric, and nothing was pulled.
all_back()
{
	local i

	is "$(ledger)" "${2-}" "$mode: $1: every GPU is given back"
	wait_for 20 are_empty "${s[@]:1:3}"
	is "$(states_of "${s[@]:1:3}")" "empty empty empty" "$mode: $1: the slots are empty"
	check_fails "$mode: $1: none was taken from a slot with power" test -e $fm/pulled
	rm -f $fm/before.* $fm/after.* $fm/late.* $fm/leaves.* $fm/down.* $fm/pulled
	for i in 0 1 2 3 4; do
		echo >"$fm/ledger/gpu$i"
		echo none >"$SIM/slot0.$i/fail"
	done
	: >$fm/log
}

# said NUMBER TEXT: the keeper of the lease has said it so many times.
said()
{
	[ "$(grep -c "$2" /tmp/lease)" -ge "$1" ]
}

# The manager gives this host's GPUs away when the lease is over: nothing may be on by then.
check_lease()
{
	local keeper record=/run/gpuctl-leases/rack

	note "$mode: a lease"
	echo 60000 >$fm/lease
	check "$mode: two GPUs for it" gpuctl attach "${s[1]}" "${s[2]}"
	: >/tmp/lease
	gpuctl fabric lease rack >>/tmp/lease 2>&1 &
	keeper=$!
	check "$mode: the lease is there" wait_for 60 said 1 "this host has a lease"
	is "$(cut -d " " -f 2 $record)" 60000 "$mode: a service that starts again knows it"
	is "$(states_of "${s[1]}" "${s[2]}")" "ready ready" "$mode: GPUs stay on"
	kill -9 $keeper
	wait $keeper 2>/dev/null
	: >$fm/down.renew
	: >/tmp/lease
	gpuctl fabric lease rack >>/tmp/lease 2>&1 &
	keeper=$!
	check "$mode: one that was killed goes on, and cannot renew" wait_for 60 said 1 "the lease is not renewed"
	is "$(states_of "${s[1]}" "${s[2]}")" "ready ready" "$mode: it holds as long as it did"
	check "$mode: until it is over" wait_for 120 said 1 "the lease is over, and no slot has power"
	is "$(ledger)" "" "$mode: the GPUs went back"
	wait_for 20 are_empty "${s[1]}" "${s[2]}"
	rm $fm/down.renew
	check "$mode: it is renewed when that is possible again" wait_for 60 said 1 "this host has a lease"
	kill $keeper
	wait $keeper
	is $? 0 "$mode: the service ends"
	is "$(tail -n 1 $fm/log | xargs)" release "$mode: and gives the lease up"
	check_fails "$mode: nothing is noted any more" test -e $record
	check "$mode: a GPU that was on before the first renewal, as after a boot" gpuctl attach "${s[1]}"
	: >$fm/down.renew
	: >$fm/down.release
	: >/tmp/lease
	gpuctl fabric lease rack >>/tmp/lease 2>&1 &
	keeper=$!
	check "$mode: is not used without one" wait_for 60 said 1 "the lease is over, and no slot has power"
	kill $keeper
	wait $keeper
	is $? 0 "$mode: it ends without the manager when no slot has power"
	all_back "a lease"
	check_lease_bad
}

# A slot that cannot be detached keeps no other one on, and a card that is no GPU is nobody's business.
check_lease_bad()
{
	local keeper blocked

	check "$mode: two GPUs" gpuctl attach "${s[1]}" "${s[2]}"
	echo "insert nvme" >"$SIM/slot0.3/surprise"
	# The slot driver says that no GPU has come.
	{ echo 1 >"/sys/bus/pci/slots/${s[3]}/power"; } 2>/dev/null
	check "$mode: and a card that is none, which is on" wait_for 60 is_state "${s[3]}" other
	echo remove-block >"$SIM/slot0.1/driver"
	gpuctl detach --force "${s[1]}" >/dev/null 2>&1 &
	blocked=$!
	check "$mode: a driver does not let go of its GPU" wait_for 60 is_state "${s[1]}" detaching
	: >$fm/down.renew
	: >$fm/down.release
	: >/tmp/lease
	gpuctl fabric lease --no-reboot rack >>/tmp/lease 2>&1 &
	keeper=$!
	check "$mode: the other one is detached when the lease is over" wait_for 60 are_empty "${s[2]}"
	like "$(states_of "${s[1]}")" "^(detaching|stuck)$" "$mode: whatever becomes of that"
	check_fails "$mode: and as long as it has power that is not said" said 1 "no slot has power"
	echo remove-release >"$SIM/slot0.1/driver"
	wait $blocked
	check "$mode: then no slot has power, beside that of the other card" wait_for 60 said 1 "the lease is over, and no slot has power"
	is "$(states_of "${s[3]}")" other "$mode: which stays on"
	kill $keeper
	wait $keeper
	is $? 0 "$mode: the service ends"
	echo none >"$SIM/slot0.1/driver"
	echo remove >"$SIM/slot0.3/surprise"
	all_back "a lease and a slot that cannot be detached"
}

# rival TIMES: commands that compose a GPU which another request has brought, this number of times at
# most. They ask no manager. A card that has only just come may be on its way up.
rival()
{
	echo "$1" >$fm/rival.left
	cat <<END
left=\$(cat $fm/rival.left)
if [ "\$left" -gt 0 ]; then
	echo \$((left - 1)) >$fm/rival.left
	for i in {1..200}; do
		env -u GPUCTL_CONFIG_DIR $(command -v gpuctl) compose "rival\$left" --gpus 1 --exclude ${s[0]} && break
		sleep 0.1
	done
fi >>$fm/rival.said 2>&1
END
}

composed()
{
	local slot name names=''

	while read -r slot name; do
		[ "$name" = - ] || names+=$name$'\n'
	done < <(gpuctl list --noheadings -o slot,composition)
	sort <<<"${names%$'\n'}" | paste -sd ' '
}

# What is brought is this host's until a composition has it, and another request may be first.
check_rival()
{
	local hook=$GPUCTL_CONFIG_DIR/hooks.d/pre-attach.d/rival i

	note "$mode: another request of this host is faster"
	mkdir -p "${hook%/*}"
	# Called between the choice and the claim, when what was brought is on.
	printf '#!/bin/bash\n[ "$1 $GPUFABRIC_SLOT" = "pre-attach %s" ] || exit 0\n' "${s[0]}" >"$hook"
	rival 1 >>"$hook"
	chmod 755 "$hook"
	echo other >$fm/ledger/gpu2
	echo other >$fm/ledger/gpu3
	check "$mode: it takes a GPU that is on, and another one is brought" gpuctl compose job --gpus 3
	is "$(composed)" "job job job rival1" "$mode: both have what they asked for"
	is "$(ledger)" "gpu0=here@sw/p1 gpu1=here@sw/p2 gpu2=other gpu3=other gpu4=here@sw/p3" "$mode: one GPU more than was missing at first"
	check "$mode: one is released" gpuctl release job
	check "$mode: and the other" gpuctl release rival1
	all_back "a faster request" "gpu2=other gpu3=other"
	echo 1 >$fm/rival.left
	for i in 2 3 4; do
		echo other >$fm/ledger/gpu$i
	done
	gpuctl compose job --gpus 3 >/tmp/output 2>/tmp/error
	is $? 3 "$mode: it takes a GPU, and the manager has no other"
	like "$(cat /tmp/error)" "rack has no free GPU" "$mode: why is said"
	like "$(cat /tmp/error)" "not given back, it belongs to composition rival1" "$mode: and who has one of them"
	is "$(ledger | wc -w)" 4 "$mode: the other one is given back"
	check "$mode: its GPU goes with it" gpuctl release rival1
	all_back "a faster request, and no other GPU" "gpu2=other gpu3=other gpu4=other"
	echo 3 >$fm/rival.left
	gpuctl compose job --gpus 2 >/tmp/output 2>/tmp/error
	is $? 3 "$mode: somebody else is faster each time, and that ends"
	is "$(composed)" "rival1 rival2 rival3" "$mode: after three times"
	for i in 1 2 3; do
		check "$mode: the GPU of rival$i goes with it" gpuctl release rival$i
	done
	all_back "requests that are faster each time"
	rm "$hook"
	rival 1 >$fm/after.bind
	check "$mode: it takes a GPU before that is attached" gpuctl compose job --gpus 2
	is "$(composed)" "job job rival1" "$mode: both have what they asked for"
	check "$mode: one is released" gpuctl release job
	check "$mode: and the other" gpuctl release rival1
	all_back "a request that is faster than the attach"
}

# members NAME: number of slots that a composition has.
members()
{
	gpuctl list --noheadings -o composition | grep -cx "$1 *"
}

# Requests that do not say how many GPUs: the search among the GPUs of this host finds those of the
# fabric beside them.
check_need()
{
	local model=llama-3.1-70b sized

	note "$mode: by need"
	like "$(gpuctl -n compose job --memory 200G | xargs)" "would bind gpu0 of fabric manager rack to ${s[1]} would bind gpu1" "$mode: -n says what memory takes"
	is "$(ledger)" "" "$mode: and does nothing"
	gpuctl compose job --memory 200G >/tmp/output 2>/tmp/error
	is $? 0 "$mode: an amount of memory"
	like "$(cat /tmp/output)" "this host lacks 2 GPUs, asking the fabric" "$mode: what comes from the fabric is said"
	is "$(ledger) $(members job)" "gpu0=here@sw/p1 gpu1=here@sw/p2 3" "$mode: three of a kind hold it"
	check "$mode: released" gpuctl release job
	all_back "memory"
	sized=$(gpuctl -j size machines $model | jq '[.machines[] | select(.gpu == "h100-pcie-80")][0].gpus')
	check "$mode: a workload" gpuctl compose job --model $model
	is "$(members job)" "$sized" "$mode: has as many GPUs as it is sized for"
	is "$(ledger | wc -w)" $((sized - 1)) "$mode: all but one from the fabric"
	check "$mode: released" gpuctl release job
	all_back "a workload"
	check "$mode: a workload on a kind that this host lacks" gpuctl compose job --model qwen2.5-32b --gpu l40s
	is "$(ledger)" "gpu2=here@sw/p1 gpu3=here@sw/p2" "$mode: has that"
	check "$mode: released" gpuctl release job
	all_back "a workload of a kind"
	check "$mode: for a command" gpuctl run --model $model -- cp -r $fm/ledger /tmp/seen
	is "$(cat /tmp/seen/gpu1)" "here sw/p2" "$mode: it had GPUs of the fabric"
	rm -r /tmp/seen
	all_back "a workload for a command"
	check "$mode: one of this host" gpuctl compose job --gpus 1
	check "$mode: grows by an amount of memory" gpuctl resize job --memory 150G
	is "$(ledger) $(members job)" "gpu0=here@sw/p1 gpu1=here@sw/p2 3" "$mode: from the fabric"
	check "$mode: released" gpuctl release job
	all_back "a resize by memory"
	echo '[ -e /tmp/fabric/was ] || echo other >/tmp/fabric/ledger/gpu2; : >/tmp/fabric/was' >$fm/before.bind
	rm -f $fm/was
	gpuctl compose job --memory 85G --exclude "${s[0]}" >/tmp/output 2>/tmp/error
	is $? 0 "$mode: another host is faster: another kind does as well"
	like "$(cat /tmp/output)" "another host was faster, choosing again" "$mode: that is said"
	is "$(ledger)" "gpu0=here@sw/p1 gpu1=here@sw/p2 gpu2=other" "$mode: it has that"
	check "$mode: released" gpuctl release job
	all_back "a race for memory" "gpu2=other"
	echo 'echo other >/tmp/fabric/ledger/gpu0; echo other >/tmp/fabric/ledger/gpu1' >$fm/before.bind
	gpuctl compose job --model $model >/tmp/output 2>/tmp/error
	is $? 3 "$mode: another host is faster, and nothing is left that does"
	like "$(cat /tmp/error)" "fabric manager rack has 3 free GPUs: 3 empty slots, 2 with other" "$mode: what there is and who has the others is said"
	all_back "a race for a workload" "gpu0=other gpu1=other"
	check_rc 3 "$mode: more than all slots hold" gpuctl compose job --memory 400G
	: >$fm/down.inventory
	gpuctl compose job --memory 200G >/tmp/output 2>/tmp/error
	is $? 1 "$mode: a manager that is not there"
	like "$(cat /tmp/error)" "cannot reach it" "$mode: is said"
	all_back "no manager for memory"
	echo "enumerate 5" >"$SIM/slot0.2/fail"
	check_fails "$mode: a card that fails" gpuctl compose job --memory 200G
	is "$(gpuctl -j list | jq '.compositions | length')" 0 "$mode: nothing is composed"
	all_back "a card that fails for memory"
}

# A request that fails by its own is not made again because somebody else has composed something.
check_bystander()
{
	note "$mode: another request of this host takes other GPUs"
	echo "insert l40s" >"$SIM/slot0.4/surprise"
	wait_for 20 is_state "${s[4]}" ready
	echo "bar 5" >"$SIM/slot0.2/fail"
	cat >$fm/after.bind <<END
env -u GPUCTL_CONFIG_DIR $(command -v gpuctl) compose bystander --gpu l40s:1 --exclude ${s[1]} --exclude ${s[2]} >>$fm/rival.said 2>&1
END
	gpuctl compose job --gpu h100:3 >/tmp/output 2>/tmp/error
	is $? 3 "$mode: a GPU without an address for its memory"
	is "$(composed)" bystander "$mode: somebody else has what he asked for"
	is "$(grep -c ^bind $fm/log)" 1 "$mode: nothing is bound once more"
	check "$mode: the other one is released" gpuctl release bystander
	echo remove >"$SIM/slot0.4/surprise"
	wait_for 20 are_empty "${s[4]}"
	all_back "a request that fails by its own"
}

# A GPU on its way to the fabric is nobody's: not before the manager has it, and not before its port shows that.
check_leaving()
{
	note "$mode: a GPU leaves"
	check "$mode: one is there" gpuctl attach "${s[1]}"
	cat >$fm/before.unbind <<END
env -u GPUCTL_CONFIG_DIR $(command -v gpuctl) compose greedy --gpus 1 --exclude ${s[0]} >/dev/null 2>&1
echo \$? >$fm/composed
env -u GPUCTL_CONFIG_DIR $(command -v gpuctl) attach ${s[1]} >/dev/null 2>&1
echo \$? >$fm/attached
END
	check "$mode: it is detached" gpuctl detach "${s[1]}"
	is "$(cat $fm/composed) $(cat $fm/attached)" "3 4" "$mode: while the manager is asked nobody else gets it"
	is "$(composed)" "" "$mode: and nobody has it"
	all_back "a GPU that somebody wanted"
	check "$mode: one is there" gpuctl attach "${s[1]}"
	: >$fm/leaves.gpu0
	check "$mode: it is detached" gpuctl detach "${s[1]}"
	is "$(states_of "${s[1]}")" empty "$mode: a detach ends when the slot shows that its card has gone"
	rm $fm/leaves.gpu0
	check "$mode: one is there" gpuctl attach "${s[1]}"
	: >$fm/down.unbind
	check "$mode: the manager cannot be asked" gpuctl detach "${s[1]}"
	is "$(states_of "${s[1]}")" off "$mode: it stays, and is off"
	rm $fm/down.unbind
	: >$fm/leaves.gpu0
	check "$mode: it is given back by hand" gpuctl fabric unbind "${s[1]}"
	is "$(states_of "${s[1]}")" empty "$mode: which ends then as well"
	all_back "a GPU that leaves late"
}

# A GPU that was bound and has power already is not pulled, though the module does not see it yet.
check_coming()
{
	local files=/sys/bus/pci/slots/${s[1]}

	note "$mode: a GPU on its way up"
	echo "here sw/p1" >$fm/ledger/gpu0
	echo "slow 800" >"$SIM/slot0.1/link"
	echo "insert h100-80" >"$SIM/slot0.1/surprise"
	check "$mode: the slot driver powers it on" wait_for 20 grep -q 1 "$files/power"
	check_rc 4 "$mode: until it is there it is not given back" gpuctl detach "${s[1]}"
	is "$(ledger)" "gpu0=here@sw/p1" "$mode: it is this host's still"
	check "$mode: it comes" wait_for 60 is_state "${s[1]}" ready
	echo full >"$SIM/slot0.1/link"
	check "$mode: and is detached" gpuctl detach "${s[1]}"
	all_back "a GPU on its way up"
}

# The time until a GPU goes back does not depend on a clock that somebody sets.
check_reap()
{
	local conf=$GPUCTL_CONFIG_DIR/fabric.d/rack.conf now

	note "$mode: GPUs that nobody uses"
	check "$mode: one" gpuctl attach "${s[1]}"
	is "$(gpuctl reap)" "nothing to reap" "$mode: it is found unused"
	now=$(date +%s)
	check "$mode: the clock is set, a day ahead" date -s "@$((now + 86400))"
	is "$(gpuctl reap)" "nothing to reap" "$mode: that is no time of being unused"
	is "$(states_of "${s[1]}")" ready "$mode: it stays"
	check "$mode: the clock is set, a day back" date -s "@$((now - 86400))"
	is "$(gpuctl reap)" "nothing to reap" "$mode: nor is that"
	echo "return_after = 1ms" >>$conf
	like "$(gpuctl reap -n)" "would detach ${s[1]}" "$mode: it was found long enough ago, by a clock that nobody sets"
	rm -r /run/gpuctl-unused
	is "$(gpuctl reap -n)" "nothing to reap" "$mode: when that is lost"
	is "$(gpuctl reap -n)" "nothing to reap" "$mode: -n does not begin it anew"
	is "$(gpuctl reap)" "nothing to reap" "$mode: it begins anew with the next"
	check "$mode: it is used" gpuctl compose job --gpus 1 --exclude "${s[0]}"
	is "$(gpuctl reap)" "nothing to reap" "$mode: what is used stays"
	check "$mode: and no longer" gpuctl release --keep job
	is "$(gpuctl reap)" "nothing to reap" "$mode: which begins it anew as well"
	like "$(gpuctl reap)" "detached and given back: ${s[1]}" "$mode: the next one returns it"
	check "$mode: the clock is right again" date -s "@$((now + 60))"
	sed -i '/^return_after/d' $conf
	all_back "reap"
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
	done
	wait_for 20 is_state "${s[5]}" empty
	cat >$GPUCTL_CONFIG_DIR/fabric.d/rack.conf <<END
driver = redfish
url = https://manager.example
host = here
credentials = $GPUCTL_CONFIG_DIR/login
ports = ${s[1]}=sw/p1 ${s[2]}=sw/p2 ${s[3]}=sw/p3
END

	note "$mode: attach and detach"
	check "$mode: two GPUs are bound and attached" gpuctl attach "${s[1]}" "${s[2]}"
	is "$(cat $fm/log)" "inventory 
bind gpu0@sw/p1 gpu1@sw/p2" "$mode: by one request"
	is "$(states_of "${s[1]}" "${s[2]}")" "ready ready" "$mode: and ready"
	is "$(gpuctl -j list --pool | jq -c '[.pool[] | select(.slot) | [.gpu, .slot, .state]]')" \
		"[[\"gpu0\",\"${s[1]}\",\"bound\"],[\"gpu1\",\"${s[2]}\",\"bound\"]]" "$mode: list --pool says so"
	is "$(gpuctl -j topo --pool | jq -c '[.pool[] | select(.slot) | .gpu]')" '["gpu0","gpu1"]' "$mode: topo --pool as well"
	check_rc 4 "$mode: what is on is not unbound" gpuctl fabric unbind gpu0
	: >$fm/log
	check "$mode: they go" gpuctl detach "${s[1]}" "${s[2]}"
	is "$(cat $fm/log)" "inventory 
unbind gpu0 gpu1" "$mode: by one request as well"
	all_back "a detach"
	check "$mode: a card of this host beside one of the fabric" gpuctl attach "${s[0]}" "${s[1]}"
	check "$mode: goes with it" gpuctl detach "${s[0]}" "${s[1]}"
	is "$(states_of "${s[0]}")" off "$mode: and stays where it is"
	all_back "a detach of both"

	note "$mode: which GPU"
	like "$(gpuctl -n attach --gpu l40s "${s[1]}" | xargs)" "would bind gpu2 of fabric manager rack to ${s[1]}" "$mode: -n says which"
	is "$(ledger)" "" "$mode: and does nothing"
	check "$mode: by its kind" gpuctl attach --gpu l40s "${s[1]}"
	is "$(ledger)" "gpu2=here@sw/p1" "$mode: is the one"
	check "$mode: it goes" gpuctl detach "${s[1]}"
	all_back "a kind"
	echo other >$fm/ledger/gpu2
	echo other >$fm/ledger/gpu3
	gpuctl attach --gpu l40s "${s[1]}" >/tmp/output 2>/tmp/error
	is $? 3 "$mode: none is left"
	like "$(cat /tmp/error)" "no free GPU of kind l40s: 2 with other" "$mode: who has them is said"
	all_back "none left" "gpu2=other gpu3=other"
	echo '[ -e /tmp/fabric/was ] || echo other >/tmp/fabric/ledger/gpu0; : >/tmp/fabric/was' >$fm/before.bind
	rm -f $fm/was
	check "$mode: another host is faster: another GPU is taken" gpuctl attach "${s[1]}"
	is "$(ledger)" "gpu0=other gpu1=here@sw/p1" "$mode: the next one"
	check "$mode: it goes" gpuctl detach "${s[1]}"
	all_back "a race" "gpu0=other"

	note "$mode: what goes wrong"
	: >$fm/down.bind
	gpuctl attach "${s[1]}" "${s[2]}" >/tmp/output 2>/tmp/error
	is $? 1 "$mode: a manager that is not there"
	like "$(cat /tmp/error)" "cannot reach it" "$mode: is said"
	all_back "no manager"
	echo 'say 7 "fabric manager rack: does not answer in time" unknown' >$fm/after.bind
	gpuctl attach "${s[1]}" "${s[2]}" >/tmp/output 2>/tmp/error
	is $? 7 "$mode: bound, and nobody knows"
	like "$(tail -n 1 /tmp/error)" "^given back to the fabric: ${s[1]}, ${s[2]}$" "$mode: is given back"
	all_back "not known"
	echo 'kill -9 $$' >$fm/after.bind
	check_rc 1 "$mode: the program is killed" gpuctl attach "${s[1]}" "${s[2]}"
	all_back "killed"
	: >$fm/late.gpu1
	gpuctl attach --timeout $((3 * SLOW))s "${s[1]}" "${s[2]}" >/tmp/output 2>/tmp/error
	is $? 7 "$mode: a card that does not come"
	like "$(cat /tmp/error)" "slot ${s[2]}: fabric manager rack bound gpu1 to it, but no card showed up" "$mode: is said"
	all_back "no card"
	for line in "enumerate 5" "bar 5"; do
		echo "$line" >"$SIM/slot0.2/fail"
		check_fails "$mode: $line" gpuctl attach "${s[1]}" "${s[2]}"
		all_back "$line"
	done
	for line in INT TERM; do
		rm -f /tmp/hang
		echo ': >/tmp/hang; while [ -z "$told" ]; do sleep 0.1; done' >$fm/after.bind
		gpuctl attach "${s[1]}" "${s[2]}" >/tmp/output 2>/tmp/error &
		client=$!
		wait_for 20 test -e /tmp/hang
		check "$mode: while a manager is slow others go on" gpuctl attach "${s[0]}"
		check "$mode: both ways" gpuctl detach "${s[0]}"
		kill -$line $client
		wait $client
		is $? 1 "$mode: SIG$line while it is slow"
		like "$(cat /tmp/error)" "interrupted" "$mode: is said"
		all_back "SIG$line"
	done
	check "$mode: a GPU" gpuctl attach "${s[1]}"
	: >$fm/down.unbind
	like "$(gpuctl detach "${s[1]}" 2>&1)" "by hand: gpuctl fabric unbind ${s[1]}$" "$mode: what cannot be given back"
	rm $fm/down.unbind
	is "$(ledger)" "gpu0=here@sw/p1" "$mode: is still there"
	like "$(gpuctl -n detach "${s[1]}")" "would give gpu0 back to fabric manager rack" "$mode: -n says that it would go"
	is "$(ledger)" "gpu0=here@sw/p1" "$mode: and does nothing"
	check "$mode: by hand" gpuctl fabric unbind "${s[1]}"
	all_back "by hand"
	like "$(gpuctl -n detach "${s[1]}")" "^${s[1]} has no attached GPU: nothing to do" "$mode: -n does not promise what is not there"

	note "$mode: fabric bind"
	like "$(gpuctl -n fabric bind any:2 | xargs)" "would bind gpu0 of fabric manager rack to ${s[1]} would bind gpu1" "$mode: -n"
	check "$mode: two of any kind" gpuctl fabric bind any:2
	is "$(ledger)" "gpu0=here@sw/p1 gpu1=here@sw/p2" "$mode: come to the first slots"
	for i in 1 2; do
		check "$mode: attach ${s[i]}" gpuctl attach "${s[i]}"
		check "$mode: and detach" gpuctl detach "${s[i]}"
	done
	all_back "fabric bind"
	check "$mode: a GPU by its name, at a slot" gpuctl fabric bind gpu3 --slot "${s[3]}"
	is "$(ledger)" "gpu3=here@sw/p3" "$mode: it is there"
	check_rc 3 "$mode: one that is not free" gpuctl fabric bind gpu3
	check "$mode: it is attached" gpuctl attach "${s[3]}"
	check "$mode: detach gives it back" gpuctl detach "${s[3]}"
	all_back "by name"
	check_rc 3 "$mode: more than there are slots" gpuctl fabric bind any:4

	note "$mode: compositions"
	check "$mode: GPUs" gpuctl attach "${s[1]}" "${s[2]}"
	check "$mode: are composed" gpuctl compose job --gpus 2 --exclude "${s[0]}"
	check "$mode: and kept" gpuctl release --keep job
	is "$(ledger)" "gpu0=here@sw/p1 gpu1=here@sw/p2" "$mode: by --keep"
	check "$mode: composed once more" gpuctl compose job --gpus 2 --exclude "${s[0]}"
	check "$mode: and released" gpuctl release job
	all_back "a release"

	note "$mode: compositions from the pool"
	like "$(gpuctl -n compose job --gpus 3 | xargs)" "would bind gpu0 of fabric manager rack to ${s[1]} would bind gpu1" "$mode: -n"
	is "$(ledger)" "" "$mode: and does nothing"
	check "$mode: one of this host, two of the fabric" gpuctl compose job --gpus 3
	is "$(ledger)" "gpu0=here@sw/p1 gpu1=here@sw/p2" "$mode: are bound"
	is "$(members job)" 3 "$mode: and composed"
	check "$mode: released" gpuctl release job
	is "$(states_of "${s[0]}")" off "$mode: that of this host stays"
	all_back "a composition"
	check "$mode: for a command" gpuctl run --gpus 2 -- cp -r $fm/ledger /tmp/seen
	is "$(cat /tmp/seen/gpu0)" "here sw/p1" "$mode: it had one of the fabric"
	rm -r /tmp/seen
	all_back "a command"
	for i in 2 3; do
		echo other >$fm/ledger/gpu$i
	done
	gpuctl compose job --gpu l40s:2 >/tmp/output 2>/tmp/error
	is $? 3 "$mode: not enough of a kind"
	like "$(cat /tmp/error)" "no free GPU of kind l40s: 2 with other" "$mode: who has them is said"
	all_back "not enough" "gpu2=other gpu3=other"
	check_rc 3 "$mode: more than there are slots" gpuctl compose job --gpus 5
	is "$(cat $fm/log)" "" "$mode: the manager is not asked then"
	echo "enumerate 5" >"$SIM/slot0.2/fail"
	gpuctl compose job --gpus 3 >/tmp/output 2>/tmp/error
	check "$mode: a card that fails" test $? -ne 0
	like "$(cat /tmp/error)" "given back to the fabric: ${s[1]}, ${s[2]}" "$mode: all are given back"
	is "$(gpuctl -j list | jq '.compositions | length')" 0 "$mode: nothing is composed"
	all_back "a card that fails"
	check_need
	check_rival
	check_bystander
	check_leaving
	check_reap
	# Only pciehp powers on what is put in.
	[ "$mode" = own ] || check_coming
	[ "$mode" = pciehp ] || check_lease

	check "$mode: gpufabric unloads" rmmod gpufabric
	check "$mode: the simulator unloads" rmmod gpufabric_sim
}

mkdir -p $fm/ledger $GPUCTL_CONFIG_DIR/fabric.d
printf 'user = here\npassword = x\n' >$GPUCTL_CONFIG_DIR/login
chmod 600 $GPUCTL_CONFIG_DIR/login
for i in 0 1 2 3 4; do
	echo l40s >$fm/model.gpu$i
	echo >$fm/ledger/gpu$i
done
echo h100-80 >$fm/model.gpu0
echo h100-80 >$fm/model.gpu1
echo h100-80 >$fm/model.gpu4
program=/usr/local/libexec/gpuctl/fabric-redfish
own_folder ${program%/*}
manager >$program
chmod 755 $program
: >$fm/log
s=()
for mode in $(brief pciehp "own pciehp"); do
	check_mode "$mode"
done
umount ${program%/*}
finish
