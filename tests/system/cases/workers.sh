#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Workers, one process for each GPU of a composition, as the units that are installed: the hook "worker" starts them
# when GPUs have come, and stops them before GPUs go. A stand-in for torchrun's agents: each opens its GPU, and a
# worker of its own does, too.
#
#   root port -- upstream -- sim0-0 ... sim0-3 with an h100-80 each, off
#
# system: -t 480

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/system/lib.sh"

hooks=/etc/gpuctl/hooks.d/resize.d
agents=/run/agents

slots_of()
{
	gpuctl -j list | jq -r --arg c "$1" '.compositions[] | select(.name == $c) | .slots[]' | sort | xargs
}

# Slots whose units run.
active()
{
	systemctl list-units --no-legend --state=active 'gpufabric-worker@*' |
		sed -nE 's/.*gpufabric-worker@(.*)\.service.*/\1/p' | sort | xargs
}

active_is()
{
	[ "$(active)" = "$1" ]
}

ready()
{
	[ -e "$agents/$1" ]
}

property()
{
	systemctl show -p "$1" --value "gpufabric-worker@$2.service"
}

is "$(systemctl is-system-running)" running "everything of the system has started"
check "the modules load" modprobe gpufabric_sim mode=own switches=1 slots=4 latency_ms=5 'gpus=*:h100-80:off' ||
	bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric
check "the GPUs are known" gpuctl scan
mkdir -p $hooks /etc/gpuctl/workers.d $agents
ln -s "$(dirname "$(command -v gpuctl)")/../share/gpuctl/hooks/worker" $hooks/50-worker
# An agent: SIGTERM ends its worker, and it says by a file what it found. With /run/stubborn it stays.
cat >/etc/gpuctl/workers.d/train <<'END'
#!/bin/bash
set -- $GPUFABRIC_SLOTS
exec 5<"/dev/gpufabric-sim/$1"
sleep 100000 &
worker=$!
trap '[ -e /run/stubborn ] || { kill $worker; rm -f "/run/agents/$1"; exit 1; }' TERM
echo "$# $GPUFABRIC_COMPOSITION" >"/run/agents/$1"
while kill -0 $worker; do
	wait $worker
done
END
chmod 755 /etc/gpuctl/workers.d/train

note "workers come and go with GPUs"
check "a composition of two" gpuctl compose train --gpus 2
slots=$(slots_of train)
read -r first second <<<"$slots"
is "$(active)" "$slots" "has a worker for each"
for slot in $slots; do
	check "$slot: it works" wait_for 30 ready "$slot"
	is "$(cat "$agents/$slot")" "1 train" "$slot: it sees its own GPU alone"
done
check "two more" gpuctl resize train --gpus +2
all=$(slots_of train)
is "$(active)" "$all" "have workers"
pid=$(property MainPID "$first")
for slot in $all; do
	check "$slot: works" wait_for 30 ready "$slot"
done
check "one is to go" gpuctl resize train --remove "$second"
is "$(slots_of train)" "$(active)" "and goes, with its worker alone"
is "$(property MainPID "$first")" "$pid" "the others have not been touched"
is "$(systemctl --failed --no-legend)" "" "a worker that was stopped has not failed"

note "a worker that fails, and one that does not let go"
rm "$agents/$first"
check "a worker is killed" kill -9 "$pid"
check "it is started anew" wait_for 60 ready "$first"
touch /run/stubborn
check "one that ignores SIGTERM is killed" env GPUCTL_HOOK_TIMEOUT=2min gpuctl resize train --remove "$first"
rm /run/stubborn
is "$(slots_of train)" "$(active)" "its GPU goes"
hold=$(slots_of train)
hold=${hold%% *}
# shellcheck disable=SC2217 # held open
sleep 100000 <"/dev/gpufabric-sim/$hold" &
holder=$!
check_rc 4 "a GPU that somebody else holds stays" env GPUCTL_HOOK_TIMEOUT=15s gpuctl resize train --remove "$hold"
check "its worker starts again" active_is "$(slots_of train)"
kill $holder
wait $holder 2>/dev/null

note "others, and the end"
check "a composition without a program" gpuctl compose other --gpus 1
is "$(active)" "$(slots_of train)" "has no workers"
check "all is released" eval "gpuctl release train && gpuctl release other"
is "$(active)" "" "and no worker is left"
is "$(systemctl --failed --no-legend)" "" "nothing has failed"
check "the module unloads" wait_for 20 rmmod gpufabric
check "the simulator unloads" wait_for 20 rmmod gpufabric_sim
finish
