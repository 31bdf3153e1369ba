#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# gpuctl and somebody at a terminal of 80 columns and 24 lines: top, colours, and
# completion of names that are there at the moment.
#
#   switch 0: sim0-0 ... sim0-7 with an h100-80 each, off     switch 1: sim1-0 ... sim1-7, the same
#
# in turn: one key after the other
# before: tests/vm/terminal-root
# vm: -t 600 -f build/terminal/usr:/

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"
. "$TESTS/vm/terminal.sh"

ESC=$'\033'
export LC_ALL=C.UTF-8

# A shell on the terminal, whose modes are noted before anything else has changed them.
shell_there()
{
	terminal "env $* bash --noprofile --norc -i"
	text "PS1='now: '; stty -g >/tmp/modes; clear"
	keys Enter
	shows '^now:$'
}

# top OPTIONS: started from that shell; its screen is there.
top()
{
	rm -f /tmp/rc /tmp/modes.after
	text "gpuctl top $*; echo \$? >/tmp/rc; stty -g >/tmp/modes.after"
	keys Enter
	shows '^SLOT '
}

# The shell has its terminal back as it was.
given_back()
{
	wait_for 20 test -s /tmp/rc && wait_for 20 test -s /tmp/modes.after || return 1
	shows '^now:$' || return 1
	echo "modes $(cat /tmp/modes) and $(cat /tmp/modes.after)"
	cmp /tmp/modes /tmp/modes.after &&
		[ "$(asked '#{alternate_on} #{cursor_flag} #{keypad_flag}')" = "0 1 0" ]
}

has_colours()
{
	attributes | grep -qE "${ESC}\[([0-9;]*;)?3[1-7]m"
}

has_no_colours()
{
	! has_colours
}

slots_shown()
{
	screen | grep -c '^sim'
}

pid_of_top()
{
	pidof gpuctl
}

check "the modules load" modprobe gpufabric_sim mode=own latency_ms=5 'gpus=*:h100-80:off' || bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric
check "the GPUs are known" gpuctl scan
check "a composition" gpuctl compose train70b --gpus 4

note "the screen"
check "a shell" shell_there
check "top starts" top
is "$(asked '#{pane_width}x#{pane_height}')" 80x24 "on 80 columns and 24 lines"
check "slots with their compositions" shows '^sim0-0 +ready .*train70b +H100 PCIe \(sim\)'
check "a summary above" shows '^[0-9:]{8}  2 switches, 16 slots: 4 ready, 12 off; 1 composition'
check "compositions below" shows '^train70b +active +4 +318.6 GiB'
check "keys at the foot" shows '^q quit  s sort: slot .*filter: all .*16 of 16'
is "$(screen | wc -l)" 24 "all lines are in use"
is "$(screen | awk 'length > 80' | wc -l)" 0 "none is longer than it may be"
check "it has colours" has_colours
is "$(slots_shown)" 13 "as many slots as there is room for"

note "events change it"
gpuctl attach sim0-6 >/dev/null
check "a GPU comes" shows '^sim0-6 +ready .*attach 0\.[0-9]+ s'
check "an event of it, with what took the time" shows '^[0-9:.]{12}  slot +sim0-6 .*(-> ready|-> attached)'
gpuctl compose two --gpus 2 >/dev/null
check "a composition comes" shows '^two +active +2'
gpuctl release two >/dev/null
check "and goes" gone '^two +active'
check "which is an event as well" shows 'composition +two +removed'
check "a GPU that nobody uses" gpuctl attach sim0-5
echo remove >"$SIM/slot0.5/surprise"
check "a GPU that is lost" shows '^sim0-5 +lost '
check "is an event" shows 'slot +sim0-5 +ready -> lost'

note "keys"
keys s
check "s sorts" shows 'sort: state'
keys s s s
check "by time in the end" shows 'sort: time'
keys s
check "and by slot again" shows 'sort: slot'
keys r
check "r turns it round" shows '^sim1-7 '
keys r
check "and back" shows '^sim0-0 '
keys f
check "f filters" shows 'filter: used'
keys f
check "what is free" gone '^sim0-0 '
keys f
check "and what is in trouble" shows 'filter: trouble .*1 of 16' && is "$(slots_shown)" 1 "and nothing else"
check "which is what was lost" shows '^sim0-5 +lost '
keys f
check "all again" shows 'filter: all'
echo insert >"$SIM/slot0.5/surprise"
gpuctl clear sim0-5 >/dev/null 2>&1
text /
check "/ asks what for" shows '^find: _'
text sim1-3
check "and finds" gone '^sim0-0 '
keys Enter
check "Enter keeps it" shows 'find: sim1-3 .*1 of 16'
keys Escape
check "Escape ends it" shows '16 of 16'
keys End
check "End goes there" shows '^sim1-7 '
keys Home
check "Home goes back" shows '^sim0-0 '
keys Down Down
check "Down goes down" gone '^sim0-1 '
keys Home
keys Right
check "Right shows what was cut off" shows '^OR|^TATE|^SLOT.*MEMORY|MEMORY'
keys Left

note "another size"
on_tmux resize-window -x 100 -y 40
check "a larger terminal shows more" shows '^sim1-7 '
is "$(screen | wc -l)" 40 "on all of its lines"
on_tmux resize-window -x 40 -y 8
check "a small one shows less" gone '^sim0-6 '
check "but slots" shows '^sim0-0 '
on_tmux resize-window -x 80 -y 24
check "and back" shows '^sim0-7 '

note "every way out"
keys q
check "q gives the terminal back" given_back
is "$(cat /tmp/rc)" 0 "and is its usual end"
for signal in INT TERM HUP QUIT SEGV ABRT; do
		check "top starts" top
	kill "-$signal" "$(pid_of_top)"
	check "SIG$signal gives the terminal back" given_back
	text clear
	keys Enter
	gone 'top'
done
check "top starts" top
keys C-c
check "so does Control-C" given_back
check "top starts" top
keys C-z
check "Control-Z gives it back for a while" shows 'Stopped'
text fg
keys Enter
check "and top comes again" shows '^SLOT '
keys q
check "to end as ever" given_back
check "top starts with a filter" top --filter trouble --sort state --reverse
check "as it was asked for" shows 'sort: state  r reversed  f filter: trouble'
keys q
check "it ends" given_back

note "a module that goes"
check "top starts" top
check "the composition ends" gpuctl release train70b
check "the module unloads below it" wait_for 10 rmmod gpufabric
check "top ends as well" given_back
is "$(cat /tmp/rc)" 6 "because there is no module"
check "gpufabric loads again" modprobe gpufabric
terminal_end

note "NO_COLOR"
check "a shell with NO_COLOR" shell_there NO_COLOR=1
check "top starts" top
check "it has no colours" has_no_colours
check "and shows the same" shows '^sim0-0 +off'
keys q
check "it ends" given_back
text 'clear; gpuctl attach sim0-0; gpuctl detach sim0-0; gpuctl list; gpuctl topo; gpuctl help; echo over'
keys Enter
check "other commands" shows '^over'
check "have none either" has_no_colours
terminal_end
check "a shell with an empty NO_COLOR" shell_there NO_COLOR=
check "top starts" top
gpuctl attach sim0-0 >/dev/null
check "it has colours" wait_for 20 has_colours
keys q
terminal_end
check "a shell on a terminal that cannot be drawn on" shell_there TERM=dumb
text 'gpuctl top --filter used; echo over'
keys Enter
check "has a snapshot" shows '^over'
check "of what there is" shows '^sim0-0 +ready'
terminal_end

note "without a terminal"
is "$(gpuctl top | head -n 2 | tail -n 1 | cut -c 1-15)" "sim0-0  ready  " "top prints a snapshot"
is "$(gpuctl -j top | jq -r '.slots[0] | "\(.slot) \(.state)"')" "sim0-0 ready" "in JSON as well"
is "$(gpuctl top --filter free --find sim1 | grep -c '^sim')" 8 "of what was asked for"
is "$(for command in list show\ sim0-0 topo scan attach\ sim0-1 detach\ sim0-1 clear\ sim0-2 'compose c --gpus 1' \
	'resize c --gpus +1' 'release c' reap history stats metrics features nodes tenants gpus models version help top \
	'size llama-3.1-8b' 'run --gpus 1 -- true' save\ /tmp/saved restore\ /tmp/saved 'watch until sim1-7 off'; do
		eval "gpuctl $command" 2>&1 </dev/null
	done | grep -c "$ESC")" 0 "no command prints a control sequence there"

note "completion"
cp /usr/local/share/bash-completion/completions/gpuctl /tmp/completion 2>/dev/null ||
	cp /usr/share/bash-completion/completions/gpuctl /tmp/completion
check "a composition" gpuctl compose train70b --gpus 2
mkdir -p /etc/gpuctl/tenants.d
printf '[research]\nguarantee = 2\n' >/etc/gpuctl/tenants.d/a.conf
check "a shell" shell_there
text '. /tmp/completion; clear'
keys Enter
shows '^now:$'
# typed TEXT REGEX "description" [KEY...]: REGEX is of what the completion has added. The line is
# erased by a key that waits its turn: bash completes nothing any more when it was interrupted
# while a completion was being looked up.
typed()
{
	text "$1"
	keys Tab "${@:4}"
	check "$3" shows "$2"
	keys C-u C-l
	gone "$2" >/dev/null
}
typed 'gpuctl show tra' 'show train70b *$' "a composition"
typed 'gpuctl detach sim1-' '^sim1-0 .*sim1-7' "a slot" Tab
typed 'gpuctl release t' 'release train70b *$' "what can be released"
typed 'gpuctl compose x --tenant re' '--tenant research *$' "a tenant"
typed 'gpuctl compose x --gpu h' '--gpu h100-pcie-80$' "the one kind of GPU in the fabric"
typed 'gpuctl compose x --model llama-3.1-7' '--model llama-3.1-70b *$' "a model"
typed 'gpuctl watch --composition=tr' '--composition=train70b *$' "behind an equals sign"
check "the composition ends" gpuctl release train70b
text 'gpuctl show tra'
keys Tab
# Keys are taken in their order: what follows the completion tells that it is over.
text 'nothing'
check "a name that is gone is not offered" shows 'show tranothing$'
terminal_end

check "the module unloads" wait_for 10 rmmod gpufabric
check "the simulator, too" rmmod gpufabric_sim
finish
