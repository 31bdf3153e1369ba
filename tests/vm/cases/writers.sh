#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Several gpuctl that write the same files for others at a time, as hooks, units and
# people do: whoever writes last has looked last, a reader never finds half a file,
# and one that is killed is in nobody's way.
#
#   root port -- upstream -- sim0-0 ... sim0-3 with an h100-80 each, sim0-0 on
#
# brief: looks that are the same each time
# vm: -t 400

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"

dir=/tmp/files
kinds="cdi nodes metrics features"
looks=$(brief 8 40)

declare -A locks=(
	[cdi]=$dir/.gpufabric.json.lock [nodes]=/dev/gpufabric/.lock
	[metrics]=$dir/.gpufabric.prom.lock [features]=$dir/.gpufabric.lock
)

# writer KIND: what writes it is left in $command.
writer()
{
	case $1 in
	cdi) command=(gpuctl cdi --output "$dir") ;;
	nodes) command=(gpuctl nodes) ;;
	metrics) command=(gpuctl metrics "$dir/gpufabric.prom") ;;
	features) command=(gpuctl features "$dir/gpufabric") ;;
	esac
}

write()
{
	writer "$1"
	"${command[@]}"
}

# start KIND FD...: in the background, as $pid; what it waits for is not its own.
start()
{
	writer "$1"
	shift
	(
		for fd; do
			exec {fd}>&-
		done
		exec "${command[@]}" >/dev/null
	) &
	pid=$!
}

# GPUs that each of the files has.
has()
{
	case $1 in
	cdi) jq '[.devices[].name | select(startswith("sim"))] | length' $dir/gpufabric.json ;;
	nodes) find /dev/gpufabric/by-slot -mindepth 1 -maxdepth 1 | wc -l ;;
	metrics) sed -n 's/^gpufabric_gpus_ready{.*} //p' $dir/gpufabric.prom ;;
	features) sed -n 's/^gpufabric.io\/gpus.ready=//p' $dir/gpufabric ;;
	esac
}

# Somebody waits for the lock whose inode that is.
is_waited_for()
{
	grep -q -- "-> FLOCK .*:$(stat -c %i "$1") " /proc/locks
}

# whole FILE FIRST LAST: it has these lines, and ends with one. Else it is shown.
whole()
{
	local text

	text=$(cat "$1"; echo .)
	if [ "${text: -2}" != $'\n.' ] || ! grep -q "$2" <<<"$text" || ! grep -q "$3" <<<"$text"; then
		echo "$1: $text"
		return 1
	fi
}

whole_document()
{
	local text

	text=$(cat $dir/gpufabric.json)
	jq -e '.kind == "gpufabric.io/gpu" and (.devices | length > 0)' <<<"$text" >/dev/null || {
		echo "gpufabric.json: $text"
		return 1
	}
}

all_whole()
{
	whole $dir/gpufabric.prom '^gpufabric_slots{' "$last_metric" &&
		whole $dir/gpufabric '^gpufabric.io/slots=' '^gpufabric.io/gpus.free=' && whole_document
}

all_write()
{
	local pid

	for pid in "${writers[@]}"; do
		kill -0 "$pid" || return 1
	done
}

mkdir -p $dir /dev/char
check "the modules load" modprobe gpufabric_sim mode=own switches=1 slots=4 \
	'gpus=0.0:h100-80:on,0.1-3:h100-80:off' || bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric
check "the GPUs are known" gpuctl scan
check "the first is ready" wait_for 30 test -e "/sys/class/gpufabric_sim_gpu/gpufabric-sim!sim0-0"
wait_for 30 bash -c 'gpuctl -j show sim0-0 | grep -q "\"ready\""'

note "who is kept waiting looks afterwards"
for kind in $kinds; do
	check "$kind is written" write "$kind"
	is "$(has "$kind")" 1 "$kind has one GPU"
done
exec {cdi_fd}>>"${locks[cdi]}" {nodes_fd}>>"${locks[nodes]}" {metrics_fd}>>"${locks[metrics]}" {features_fd}>>"${locks[features]}"
for fd in $cdi_fd $nodes_fd $metrics_fd $features_fd; do
	flock -x "$fd" || not_ok "a lock"
done
waiting=()
for kind in $kinds; do
	start "$kind" $cdi_fd $nodes_fd $metrics_fd $features_fd
	waiting+=("$pid")
	check "$kind waits for who writes already" wait_for 30 is_waited_for "${locks[$kind]}"
done
check "another GPU comes meanwhile" gpuctl attach sim0-1
for kind in $kinds; do
	is "$(has "$kind")" 1 "$kind is as before"
done
exec {cdi_fd}>&- {nodes_fd}>&- {metrics_fd}>&- {features_fd}>&-
for pid in "${waiting[@]}"; do
	check "one that has waited ends well" wait "$pid"
done
for kind in $kinds; do
	is "$(has "$kind")" 2 "$kind has what came while it waited"
done

note "all at a time"
last_metric=^$(tail -n 1 $dir/gpufabric.prom | sed 's/[ {].*//')
writers=()
while [ ${#writers[@]} -lt 3 ]; do
	(
		until [ -e /tmp/looked ]; do
			for kind in $kinds; do
				write "$kind" >/dev/null || exit 1
			done
		done
	) &
	writers+=($!)
done
(
	while [ ! -e /tmp/enough ]; do
		gpuctl attach sim0-2 && gpuctl detach sim0-2 || exit 1
	done
) >/dev/null &
changer=$!
reads=0
torn=
while [ -z "$torn" ] && [ "$reads" -lt "$looks" ]; do
	torn=$(all_whole)
	reads=$((reads + 1))
done
is "$torn" "" "a reader never finds half a file"
check "all wrote until it had looked" all_write
touch /tmp/looked
for pid in "${writers[@]}"; do
	check "a writer ends well" wait "$pid"
done
touch /tmp/enough
check "so does who attaches and detaches" wait $changer
for kind in $kinds; do
	check "$kind is written once more" write "$kind"
	is "$(has "$kind")" 2 "$kind has what there is"
done
is "$(gpuctl features)" "$(cat $dir/gpufabric)" "features are what is printed"
is "$(gpuctl cdi --output -)" "$(cat $dir/gpufabric.json)" "so is the specification"
is "$(cd $dir && find . -type f ! -name '*.lock' | sort | xargs)" \
	"./gpufabric ./gpufabric.json ./gpufabric.prom" "nothing else is left"
count writers.reads $reads

note "one that is killed"
for kind in $kinds; do
	exec {fd}>>"${locks[$kind]}"
	flock -x "$fd"
	start "$kind" "$fd"
	check "$kind: it waits" wait_for 30 is_waited_for "${locks[$kind]}"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	exec {fd}>&-
	check "$kind: the next one writes" timeout 60 "${command[@]}"
	is "$(has "$kind")" 2 "$kind: all of it"
done

check "the module unloads" wait_for 20 rmmod gpufabric
finish
