# SPDX-License-Identifier: GPL-2.0-only
# Source this: small programs for the machine that runs the virtual ones.
# shellcheck shell=bash disable=SC2154

# program NAME: build/NAME, made of tests/vm/NAME.c when that is newer.
program()
{
	local program=$build/$1

	if [ ! "$program" -nt "$top/tests/vm/$1.c" ]; then
		mkdir -p "$build"
		${CC:-gcc} -O2 -Wall -Wextra -o "$program.$$" "$top/tests/vm/$1.c" &&
			mv "$program.$$" "$program" || return
	fi
	echo "$program"
}
