#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The life of compositions: made, grown, shrunk, kept, released, orphaned.
#
#   root port -- upstream -- 8 slots with an h100-80 each, off
#
# brief: slots of the simulator's own kind
# in turn: one request after the other
# before: tests/selftests/build
# vm: -f build/selftests/gfclient

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

# Slots that a composition claims, as the slots say.
claimed()
{
	g list | awk -v name="$1" '$6 == name { print $1 }' | xargs
}

# ... and as it says itself.
members()
{
	g compositions "$1" | cut -d' ' -f4 | tr , '\n' | sort -V | xargs
}

agree()
{
	is "$(claimed "$1")" "$2" "$3: the slots say so"
	is "$(members "$1")" "$2" "$3: the composition says so"
	is "$(listed_gpus)" "$(lspci_gpus)" "$3: lspci agrees"
}

for mode in $(brief pciehp "own pciehp"); do
	check "$mode: the modules load" load "$mode" switches=1 slots=8 'gpus=*:h100-80:off' ||
		bail_out "no modules"
	read -ra all <<<"$(names 0 7)"

	check "$mode: four are composed" g -r "a test" compose train "${all[@]:0:4}"
	agree train "${all[*]:0:4}" "$mode: four"
	is "$(lspci_gpus | wc -w)" 4 "$mode: four GPUs are there"
	check "$mode: a second composition takes others" g compose other "${all[4]}"
	check_fails "$mode: nobody gets what is taken" g compose greedy "${all[5]}" "${all[0]}"
	is "$(g state "${all[5]}")" off "$mode: and what was free is not touched"

	check "$mode: two more" g resize train "+${all[5]}" "+${all[6]}"
	agree train "${all[*]:0:4} ${all[5]} ${all[6]}" "$mode: six"
	check "$mode: two less, one more, at once" g resize train "-${all[0]}" "-${all[5]}" "+${all[7]}"
	agree train "${all[*]:1:3} ${all[6]} ${all[7]}" "$mode: five"
	is "$(states "${all[0]}" "${all[5]}")" "off off" "$mode: what was given back is off"

	before=$(g list)
	check "$mode: a check of a release is no release" g -c -k release train
	check "$mode: nor is one of a resize a resize" g -c resize train "+${all[0]}"
	is "$(g list)" "$before" "$mode: nothing has changed"
	like "$(g compositions train)" "^train active" "$mode: the composition is active"

	check "$mode: release and keep the GPUs" g -k release other
	is "$(g list "${all[4]}" | cut -d' ' -f2,6)" "ready -" "$mode: it is ready and in the pool"
	check "$mode: another takes it as it is" g compose other "${all[4]}"
	check "$mode: release" g release other
	check "$mode: release the rest" g release train
	is "$(states "${all[@]}")" "$(times 8 off)" "$mode: all are off"
	is "$(g compositions)" "" "$mode: nothing is left"
	is "$(lspci_gpus)" "" "$mode: and lspci agrees"

	# A composition that is bound to its client.
	mkfifo /tmp/hold
	follow
	g -b compose bound "${all[0]}" "${all[1]}" </tmp/hold &
	client=$!
	exec {hold}>/tmp/hold
	check "$mode: a bound composition is made" g wait-composition bound active
	is "$(g compositions bound | cut -d' ' -f3)" bound "$mode: it says that it is bound"
	exec {hold}>&-
	check "$mode: its client goes" wait "$client"
	check "$mode: that is an event" seen "composition-changed bound active"
	unfollow
	is "$(g compositions bound | cut -d' ' -f3)" bound,orphaned "$mode: it is orphaned"
	is "$(states "${all[0]}" "${all[1]}")" "ready ready" "$mode: the kernel detaches nothing by itself"
	check "$mode: anybody may release it" g release bound
	rm /tmp/hold
	check "$mode: the modules unload" unload || bail_out "the modules stay"
done
finish
