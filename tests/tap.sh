# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For programs that run tests on the host: results go to build/results/*.tap,
# which tests/summary counts. Sourced with $build set.

results=${build:?}/results
mkdir -p "$results"

# note_run NAME ok|failed: for tests/left, which says what has not run for how long.
note_run()
{
	"${top:?}/tests/ran" "$1" "$2" || true
}

# run_tap NAME SECONDS COMMAND...: a command that prints TAP itself. On the
# terminal only failures and comments are shown. A command that fails without
# having said what is recorded as one failure. None of its processes may compute for
# longer than that; how long it takes is the machine's business, so the clock only
# ends what would never end.
run_tap()
{
	local name=$1 limit=$2 file=$results/$1.tap rc=0
	shift 2

	(ulimit -t "$limit" && exec timeout -k 10 "$((limit * 15))" "$@") >"$file" 2>&1 </dev/null || rc=$?
	close_tap "$name" "$rc"
}

# close_tap NAME STATUS: what run_tap does when the output is there already.
close_tap()
{
	local file=$results/$1.tap rc=$2 complaint

	if [ "$rc" -ne 0 ] && ! grep -q '^not ok' "$file"; then
		# The summary shows this line alone: what the kernel said first is worth its place.
		complaint=$(sed -nE '/^# klog: complaint in line/{n;s/^# *//p;q}' "$file")
		echo "Bail out! $1 ended with status $rc${complaint:+: $complaint}" >>"$file"
		tail -n 30 "$file"
		note_run "$1" failed
		return 1
	fi
	if grep -A 12 '^not ok' "$file"; then
		note_run "$1" failed
		return 1
	fi
	note_run "$1" ok
}

# For a runner whose own checks are the tests: open_tap, verdict..., end_tap.
open_tap()
{
	tap_file=$results/$1.tap
	tap_count=0
	tap_failed=0
	: >"$tap_file"
}

# verdict "description" COMMAND...: one line; the output only on failure.
verdict()
{
	local desc=$1 rc=0 log
	shift
	log=$(mktemp)

	tap_count=$((tap_count + 1))
	"$@" >"$log" 2>&1 </dev/null || rc=$?
	{
		if [ "$rc" -eq 0 ]; then
			echo "ok $tap_count - $desc"
		else
			echo "not ok $tap_count - $desc"
			tail -n "${TAP_LINES:-40}" "$log" | sed 's/^/#   /'
		fi
	} | tee -a "$tap_file"
	rm -f "$log"
	[ "$rc" -eq 0 ] || tap_failed=$((tap_failed + 1))
	return 0
}

end_tap()
{
	local name=${tap_file##*/}

	echo "1..$tap_count" >>"$tap_file"
	if [ "$tap_failed" -gt 0 ]; then
		note_run "${name%.tap}" failed
		return 1
	fi
	note_run "${name%.tap}" ok
}
