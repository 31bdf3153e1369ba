#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A resize that adds and removes: from its acceptance the GPU that is to go is the
# operation's, whatever becomes of the drain while the additions are under way. What
# was announced as ready is not taken away.
#
#   root port -- upstream -- slots 0 ... 3 with an h100-80 each; 0 and 1 are composed,
#   2 is off and waits for its driver when it comes, 3 is ready
#   root port -- upstream -- slot with one more, for a switch that is pulled
#
# brief: slots of the simulator's own kind
# before: tests/selftests/build
# vm: -t 240 -f build/selftests/gfclient

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/fabric.sh"

# Who reads from such a pipe waits until it is killed.
mkfifo /tmp/forever
clients=()
another=/sys/kernel/config/gpufabric_sim/switches/a

begin()
{
	"$TESTS/gfclient" events end <>/tmp/forever >/tmp/events &
	clients=($!)
	follow
	g compose job "${all[0]}" "$goes" && g attach "$beside" && knob 2 driver probe-fail
}

# drained MS SLOT: by a client that lives until the end
drained()
{
	rm -f /tmp/ticket
	"$TESTS/gfclient" -t "$1" drain "$2" <>/tmp/forever >/tmp/ticket &
	drainer=$!
	clients+=("$drainer")
	wait_for 10 test -s /tmp/ticket
}

ticket()
{
	cut -d' ' -f2 /tmp/ticket
}

# Accepted, and its addition is under way until home is called.
resizing()
{
	generation=$(ticket)
	g -d 60000 resize job "+$comes" "-$goes=$generation" 2>/tmp/error &
	resizer=$!
	seen "slot-changed $comes attaching attached"
}

home()
{
	g list "$comes" | cut -d' ' -f7 >/sys/bus/pci/drivers/gpufabric-sim-gpu/bind
}

# The addition has not come home, and the other is still to go.
undecided()
{
	is "$(states "$goes" "$comes")" "draining attached" "$mode: $1"
}

resized()
{
	wait "$resizer"
}

# The states of the one that is to go, as they were announced since it was drained.
announced()
{
	sed -nE "s/^[0-9]+ (slot-changed|drain) $goes [a-z]+ //p" /tmp/events | sed -n '/^draining$/,$p' | uniq | xargs
}

# All that was announced is written down, and nobody drains any more.
end_all()
{
	wait_for 10 grep -q "operation-done .* resize " /tmp/events
	kill "${clients[@]}" 2>/dev/null
	wait "${clients[@]}" 2>/dev/null
	unfollow
}

back()
{
	g release job && g detach "$beside" && { [ "$(g state "$goes")" = off ] || g detach "$goes"; } &&
		[ "$(states "${all[@]}")" = "$(times 4 off)" ]
}

gone_as_asked()
{
	check "$mode: $1: the addition comes home" home
	check "$mode: $1: the resize succeeds" resized
	is "$(states "$goes" "$comes")" "off ready" "$mode: $1: one has gone, the other has come"
	end_all
	is "$(announced)" "draining detaching off" "$mode: $1: and was never said to be ready"
	check "$mode: $1: all is taken back" back
}

# The driver is awaited for a minute.
drain_ms=$((SLOW < 4 ? 3000 * SLOW : 12000))

deadline()
{
	local what="the drain's deadline"

	check "$mode: $what: two are composed" begin
	check "$mode: $what: one is drained" drained $drain_ms "$goes"
	check "$mode: $what: the resize is accepted" resizing
	# One that began later and ends as soon tells when the deadline has passed.
	check "$mode: $what: another is drained after it" drained $drain_ms "$beside"
	check "$mode: $what passes" seen "slot-changed $beside draining ready"
	undecided "$what: the GPU stays with the operation"
	gone_as_asked "$what"
}

abort()
{
	local what="an abort"

	check "$mode: $what: two are composed" begin
	check "$mode: $what: one is drained" drained 60000 "$goes"
	check "$mode: $what: the resize is accepted" resizing
	is "$(g undrain "$goes" 2>&1)" "EBUSY: an operation is under way on this slot, wait for it to end" \
		"$mode: $what is refused"
	undecided "$what: nothing has changed"
	gone_as_asked "$what"
}

dead_client()
{
	local what="a client that dies"

	check "$mode: $what: two are composed" begin
	check "$mode: $what: one is drained" drained 60000 "$goes"
	check "$mode: $what: the resize is accepted" resizing
	kill -9 "$drainer"
	wait "$drainer" 2>/dev/null
	undecided "$what: the GPU stays with the operation"
	gone_as_asked "$what"
}

failing()
{
	local what="an addition that fails"

	check "$mode: $what: two are composed" begin
	check "$mode: $what: one is drained" drained 60000 "$goes"
	knob 2 driver none
	knob 2 fail link
	check_fails "$mode: $what: the resize fails" g resize job "+$comes" "-$goes=$(ticket)"
	is "$(states "$goes" "$comes")" "ready fault" "$mode: $what: the GPU that was to go is ready again"
	is "$(g list "$goes" | cut -d' ' -f6)" job "$mode: $what: and in its composition"
	like "$(g detach "$goes=$(ticket)" 2>&1)" "^EBUSY: " "$mode: $what: where it belongs"
	like "$(g -f detach "$goes=$(ticket)" 2>&1)" "^ESTALE: " "$mode: $what: the ticket is used up"
	end_all
	is "$(announced)" "draining ready" "$mode: $what: which was announced once"
	g clear "$comes"
	check "$mode: $what: all is taken back" back
}

# Pulled and put in meanwhile, it is another GPU to those who read events, and nobody drained that.
put_in_anew()
{
	local what="a card put in anew"

	check "$mode: $what: two are composed" begin
	check "$mode: $what: one is drained" drained 60000 "$goes"
	check "$mode: $what: the resize is accepted" resizing
	knob 1 surprise remove
	check "$mode: $what: it is lost" seen "slot-changed $goes draining lost"
	knob 1 surprise insert
	check "$mode: $what: it is ready again" seen "slot-changed $goes attached ready"
	check "$mode: $what: the addition comes home" home
	check_fails "$mode: $what: the resize ends with an error" resized
	is "$(cat /tmp/error)" "ESTALE: slot $goes: changed" \
		"$mode: $what: that says why"
	is "$(states "$goes" "$comes")" "ready ready" "$mode: $what: what is ready stays"
	is "$(g list "$goes" | cut -d' ' -f6)" job "$mode: $what: in its composition"
	like "$(g history "$goes" | tail -n 1)" "^$goes ready none resize -116 changed" \
		"$mode: $what: the history has it"
	end_all
	like "$(announced)" "^draining lost attaching attached ready$" "$mode: $what: nothing else was announced"
	check "$mode: $what: all is taken back" back
}

# Nobody has put in another one: it is what was drained, and still to go.
silent()
{
	local what="a GPU that does not answer for a while"

	check "$mode: $what: two are composed" begin
	check "$mode: $what: one is drained" drained 60000 "$goes"
	check "$mode: $what: the resize is accepted" resizing
	echo 500 >/sys/module/gpufabric/parameters/lost_ms
	knob 1 surprise fall-off
	check "$mode: $what: it is lost" seen "slot-changed $goes draining lost"
	knob 1 surprise come-back
	check "$mode: $what: it is drained again" seen "slot-changed $goes attached draining"
	echo 3000 >/sys/module/gpufabric/parameters/lost_ms
	undecided "$what: it stays with the operation"
	is "$(g undrain "$goes" 2>&1)" "EBUSY: an operation is under way on this slot, wait for it to end" \
		"$mode: $what: nothing else ends the drain"
	check "$mode: $what: the addition comes home" home
	check "$mode: $what: the resize succeeds" resized
	is "$(states "$goes" "$comes")" "off ready" "$mode: $what: one has gone, the other has come"
	end_all
	is "$(announced)" "draining lost attached draining detaching off" "$mode: $what: and was never said to be ready"
	check "$mode: $what: all is taken back" back
}

pulled()
{
	local what="a card that is pulled"

	check "$mode: $what: two are composed" begin
	check "$mode: $what: one is drained" drained 60000 "$goes"
	check "$mode: $what: the resize is accepted" resizing
	knob 1 surprise remove
	check "$mode: $what: it is lost" seen "slot-changed $goes draining lost"
	check "$mode: $what: the addition comes home" home
	check "$mode: $what: the resize has nothing to do for it" resized
	is "$(states "$goes" "$comes")" "lost ready" "$mode: $what: it stays lost"
	is "$(g list "$goes" | cut -d' ' -f6)" - "$mode: $what: and is no member any more"
	end_all
	g clear "$goes"
	check "$mode: $what: the slot is empty" g wait "$goes" empty
	knob 1 surprise insert
	check "$mode: $what: it is put in" g wait "$goes" ready
	check "$mode: $what: all is taken back" back
}

# Its switch is pulled: there is no slot any more that anything could be done to.
switch_pulled()
{
	local what="a switch that is pulled"

	check "$mode: $what: two are composed" begin
	check "$mode: $what: one is drained" drained 60000 "$goes"
	check "$mode: $what: the resize is accepted" resizing
	check "$mode: $what: it goes" sh -c "echo 0 >$another/enabled"
	check "$mode: $what: the slot goes" seen "slot-removed $goes "
	check "$mode: $what: the addition comes home" home
	check "$mode: $what: the resize has nothing to do for it" resized
	is "$(states "$comes") $(g compositions | cut -d' ' -f4)" "ready ${all[0]},$comes" "$mode: $what: the others are composed"
	end_all
	is "$(sed -n "/slot-removed $goes /,\$p" /tmp/events | grep -c " $goes ")" 1 "$mode: $what: nothing is told of it any more"
	check "$mode: $what: the composition ends" g release job
	check "$mode: $what: the other is detached" g detach "$beside"
}

for mode in $(brief pciehp "own pciehp"); do
	check "$mode: the modules load" load "$mode" switches=1 slots=4 latency_ms=20 'gpus=*:h100-80:off' ||
		bail_out "no modules"
	read -ra all <<<"$(names 0 3)"
	goes=${all[1]} comes=${all[2]} beside=${all[3]}
	deadline
	abort
	dead_client
	failing
	put_in_anew
	silent
	pulled
	check "$mode: the modules unload" unload || bail_out "the modules stay"
done
mode=own
check "$mode: the modules load once more" load own switches=1 slots=4 latency_ms=20 'gpus=*:h100-80:off' ||
	bail_out "no modules"
read -ra all <<<"$(names 0 3)"
goes=sim1-0 comes=${all[2]} beside=${all[3]}
mkdir $another && echo 1 >$another/slots && mkdir $another/0 && echo h100-80 >$another/0/model && echo 1 >$another/0/off &&
	echo 1 >$another/enabled
check "$mode: there is another switch" wait_for 20 g wait "$goes" off
switch_pulled
rmdir $another/0 $another
check "$mode: they unload" unload
finish
