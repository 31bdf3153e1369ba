#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The lint for rooms: an include that climbs is found, one that goes down is not.

set -uo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/report.sh
. "$top/tests/report.sh"

# rooms "DESCRIPTION" "VERDICT": over the folder that was made below $work/ctl.
rooms()
{
	local said rc=0

	said=$("$top/tests/rooms.py" "$work/ctl") || rc=$?
	report "$rc ${said//$work\//}" "$2" "$1"
	rm -r "$work/ctl"
}

# file PATH INCLUDE...: a source of the folder
file()
{
	local path=$work/ctl/$1
	shift

	mkdir -p "${path%/*}"
	printf '#include "%s"\n' "$@" >"$path"
}

file base/text.h stdio.h
file plan/solver/beam.c base/text.h plan/solver/beam.h beam.h
file plan/solver/beam.h linux/gpufabric.h
file plan/file.c plan/solver/beam.h
file main.c plan/file.h
rooms "what looks downwards is in order" "0 "
file base/text.c base/text.h cmd/cmd.h
file cmd/cmd.h stdio.h
rooms "an include that climbs" "1 ctl/base/text.c:2: base may not know cmd/cmd.h, which is above it"
file plan/file.h stdio.h
file plan/solver/beam.c plan/file.h
rooms "out of a room within a room, too" \
	"1 ctl/plan/solver/beam.c:1: plan/solver may not know plan/file.h, which is above it"
file cli/given.h stdio.h
file cmd/list.c cli/given.h
file op/hooks.c cli/given.h
rooms "the options that were given are for commands" \
	"1 ctl/op/hooks.c:1: cli/given.h is for cli and cmd alone"
file lib/text.c stdio.h
rooms "a folder that is no room" "1 ctl/lib: no room of the list in tests/rooms.py"

echo "1..$count"
[ "$failed" -eq 0 ]
