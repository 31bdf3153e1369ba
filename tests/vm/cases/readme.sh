#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The tour of docs/tour.md is what the commands really print: every command of it is
# run here, in order, on the fabric that its first command makes, and what it
# prints must be what the page shows. Times, ages and process ids differ from
# run to run, so numbers with a unit of time are compared as one.
#
#   switch 0: 8 x H100 off      switch 1: 4 x L40S off, 4 slots empty
#
# in turn: one command after the other
# vm: -t 200 -f docs/tour.md:/tour.md -f docs/topo.svg:/topo.svg

. "$TESTS/vm/lib.sh"

# The lines of the page between the marks, less the fences.
tour()
{
	sed -n '/<!-- tour -->/,/<!-- end of tour -->/p' "$1" | sed '/^```/d; /^<!--/d'
}

normalise()
{
	sed -E -e 's/[0-9]+(\.[0-9]+)? (ms|s|min|h)\b/N s/g' \
		-e 's/ +(power|link|enumerate|driver|resources|remove|power-off) [0-9]+\.[0-9]+//g' \
		-e 's/^([0-9]+ +)[0-9]+( +root )/\1PID\2/' -e 's/( root +)[0-9]+( +gpuctl)/\1PID\2/' \
		-e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+/DATE/g' \
		-e 's/[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?/TIME/g' \
		-e 's/  +/  /g' -e 's/ +$//'
}

mkdir -p /out
cd /out || exit
tour /tour.md >/tmp/tour.md
: >/out/tour.md
while IFS= read -r line; do
	case $line in
	'$ '*)
		command=${line#\$ }
		printf '%s\n' "$line" >>/out/tour.md
		bash -c "$command" >>/out/tour.md 2>&1 </dev/null
		;;
	'# '* | '')
		printf '%s\n' "$line" >>/out/tour.md
		;;
	esac
done < <(grep -E '^(\$ |# |$)' /tmp/tour.md)

check "there is a tour" grep -q '^\$ gpuctl' /tmp/tour.md
# Blank lines inside an output are the output's own; compare without them.
normalise </tmp/tour.md | grep -v '^$' >/tmp/want
normalise </out/tour.md | grep -v '^$' >/tmp/got
check "the tour is what the commands print" diff -u /tmp/want /tmp/got
check "the picture of the README is that of the tour" cmp /topo.svg /out/topo.svg
finish
