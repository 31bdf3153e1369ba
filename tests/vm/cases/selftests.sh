#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The self tests of the netlink interface, by kselftest's own runner. Each
# program loads the modules with the topology that it draws in its first lines.
#
# by kernel: generic netlink has changed between kernels
# brief: on another kernel the check has the programs about messages, and not those about operations
# in turn: one program after the other; what races is for the debug kernel
# before: tests/selftests/build
# vm: -t 300 -f build/selftests/install:/tests/selftests

. "$TESTS/vm/lib.sh"

# Results are nested: "# ok 3 fixture.test" within a program, "ok 1 selftests:
# gpufabric: request_test" for it. The inner ones are what counts, and a program
# that failed without having said what. The last line is the number of failures.
flatten()
{
	awk '
		function verdict(good, text) {
			count++
			inner_bad += !good
			bad += !good
			print (good ? "ok " : "not ok ") count " - " text
			fflush()
		}
		/^# selftests: / { program = $4; inner = inner_bad = 0; next }
		/^# (not )?ok [0-9]+ / {
			good = $2 == "ok"
			text = $0
			sub(/^# (not )?ok [0-9]+ (- )?/, "", text)
			inner++
			verdict(good, program ": " text)
			next
		}
		/^ok / { if (!inner) verdict(1, program " # SKIP nothing ran"); next }
		/^not ok / { if (!inner_bad) verdict(0, program " came to its end: " $0); next }
		/^(TAP version|1\.\.)/ { next }
		/^# # count / { print substr($0, 3); next }
		/^# (TAP version|1\.\.|#  RUN|#            OK|# Starting|# PASSED|# Totals)/ { next }
		{ print "# " $0; fflush() }
		END { print "1.." count; exit bad > 0 || !count }
	'
}

# The runner writes to /dev/stdout, which devtmpfs does not have.
[ -e /dev/stdout ] || ln -s /proc/self/fd/1 /dev/stdout
cd /tests/selftests || bail_out "no self tests: run tests/selftests/build"
# What a program may take is for a kernel that does not check itself.
limit=$(sed -n 's/^timeout=//p' gpufabric/settings)
if elsewhere && [ $# -eq 0 ]; then
	for program in dump event parts permission policy read request; do
		set -- "$@" -t "gpufabric:${program}_test"
	done
fi
sh run_kselftest.sh -o $((limit * ${SLOW:-1})) "$@" 2>&1 | flatten
exit "${PIPESTATUS[1]}"
