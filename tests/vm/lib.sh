# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced by the scripts that run inside a test VM. Prints TAP:
#
#   . "$TESTS/vm/lib.sh"
#   check "module loads" modprobe gpufabric
#   check_fails "second load is refused" mkdir /sys
#   is "$(cat /sys/...)" "expected" "what it is about"
#   finish
#
# A check's own output is shown only when it fails, as TAP comments. A script
# that ends before finish has no plan, and that counts as a failure.

set -uo pipefail

test_count=0
test_failed=0
check_log=/tmp/check.log
export SIM=/sys/kernel/debug/gpufabric_sim
[[ ${FLAVOUR-} != debug-* ]] || : "${SLOW:=4}"
SLOW=$((${SLOW:-1} * ${PATIENCE:-1}))

ok()
{
	test_count=$((test_count + 1))
	echo "ok $test_count - $*"
}

not_ok()
{
	test_count=$((test_count + 1))
	test_failed=$((test_failed + 1))
	echo "not ok $test_count - $*"
	echo "#   at ${BASH_SOURCE[-1]##*/} line ${BASH_LINENO[-2]}"
}

skip()
{
	test_count=$((test_count + 1))
	echo "ok $test_count - $1 # SKIP ${2-}"
}

note()
{
	printf '# %s\n' "${*//$'\n'/$'\n# '}"
}

# count NAME NUMBER: what this run did, for build/check.json. Names are lower case,
# with a dot between the subject and what is counted: count leaks.cycles 200
count()
{
	echo "# count $1 $2"
}

# brief FEW MANY: the first in "make check", else the second. A case with rounds has a line
# "# brief: WHY" for it, see tests/vm/all.
brief()
{
	if [ -n "${BRIEF-}" ]; then echo "$1"; else echo "$2"; fi
}

# The kinds of slots that a case goes through, for one whose subject differs between kernels: in the
# check the simulator's own on the first kernel, and pciehp's, which are the kernel's, on the others.
modes()
{
	case ${BRIEF-} in
	'') echo own pciehp ;;
	other) echo pciehp ;;
	*) echo own ;;
	esac
}

# elsewhere: this is the check on another kernel than the first, which has had the whole case.
elsewhere()
{
	[ "${BRIEF-}" = other ]
}

# not_on_others KIND: one more that the check has on the first kernel alone.
not_on_others()
{
	elsewhere || echo "$1"
}

# own_folder FOLDER: an empty one in its place, until the case ends or unmounts it: others in the
# same machine have the real one.
own_folder()
{
	mkdir -p "$1" && mount -t tmpfs own "$1"
}

# check "description" COMMAND...: must succeed.
check()
{
	local desc=$1 rc=0
	shift

	"$@" >"$check_log" 2>&1 || rc=$?
	if [ "$rc" -eq 0 ]; then
		ok "$desc"
	else
		not_ok "$desc"
		echo "#   exit status $rc: $*"
		tail -n 30 "$check_log" | sed 's/^/#   /'
	fi
	return "$rc"
}

# check_rc STATUS "description" COMMAND...: must end with exactly that status.
check_rc()
{
	local want=$1 desc=$2 rc=0
	shift 2

	"$@" >"$check_log" 2>&1 || rc=$?
	if [ "$rc" -eq "$want" ]; then
		ok "$desc"
		return 0
	fi
	not_ok "$desc"
	echo "#   exit status $rc, not $want: $*"
	tail -n 30 "$check_log" | sed 's/^/#   /'
	return 1
}

# check_fails "description" COMMAND...: must fail, whatever the status.
check_fails()
{
	local desc=$1 rc=0 verb=succeeded
	shift

	"$@" >"$check_log" 2>&1 || rc=$?
	# What cannot be run has not been tried.
	case $rc in
	126 | 127) verb="cannot be run" ;;
	0) ;;
	*)
		ok "$desc"
		return ;;
	esac
	not_ok "$desc"
	echo "#   $verb: $*"
	sed 's/^/#   /' "$check_log" | tail -n 30
	return 1
}

# is ACTUAL EXPECTED "description"
is()
{
	if [ "$1" = "$2" ]; then
		ok "$3"
		return 0
	fi
	not_ok "$3"
	echo "#   expected: $2"
	echo "#   but is:   $1"
	return 1
}

# A few lines are looked at without a process for it.
has_line_like()
{
	local line lines

	mapfile -t lines <<<"$1"
	if [ ${#lines[@]} -gt 20 ]; then
		grep -qE -- "$2" <<<"$1"
		return
	fi
	for line in "${lines[@]}"; do
		[[ ! $line =~ $2 ]] || return 0
	done
	return 1
}

# like ACTUAL REGEX "description"
like()
{
	if has_line_like "$1" "$2"; then
		ok "$3"
		return 0
	fi
	not_ok "$3"
	echo "#   does not match $2:"
	printf '%s\n' "$1" | head -n 30 | sed 's/^/#     /'
	return 1
}

# Where nobody ever writes to. Not opened by the first nap: what the caller put in the
# background last would not be $! any more.
exec {nap_fd}<> <(:)

# nap MILLISECONDS: sleep, without a process for it.
nap()
{
	read -rt "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))" -u "$nap_fd" || :
}

# wait_for SECONDS COMMAND...: poll until it succeeds. For states that have no
# event to wait for; says nothing about how long it took. $SLOW times longer on
# a kernel that is so much slower. To look is most of what an emulated machine does
# meanwhile, so it looks less often in time. Where the end is no check, a comment says
# that the wait was in vain.
wait_for()
{
	local left=$(($1 * 1000 * ${SLOW:-1})) step=50 waited=0
	shift

	while ! "$@" >/dev/null 2>&1; do
		if [ "$left" -le 0 ]; then
			note "waited in vain: $*"
			return 1
		fi
		nap $step
		left=$((left - step))
		waited=$((waited + step))
		step=$((step < 200 ? 2 * step : waited < 8000 ? 400 : waited / 20))
	done
}

# states_of SLOT...: the first word that gpuctl list says of each, in one line. One process
# looks at all of them.
states_of()
{
	local slot state text=''
	local -A is=()

	while read -r slot state _; do
		is[$slot]=${state%,}
	done < <(gpuctl list --noheadings -o slot,state)
	for slot; do
		text+=" ${is[$slot]:-unlisted}"
	done
	echo "${text# }"
}

# is_state SLOT STATE
is_state()
{
	[ "$(states_of "$1")" = "$2" ]
}

# are_empty SLOT...: what the last request left in fault is cleared first.
are_empty()
{
	local states slot

	states=$(states_of "$@")
	[[ " $states " == *" fault "* ]] || { [[ ! " $states " =~ \ [^e] ]]; return; }
	for slot; do
		! is_state "$slot" fault || gpuctl clear "$slot" >/dev/null
	done
	return 1
}

# Slots of a composition.
slots_of()
{
	gpuctl -j list | jq -r --arg c "$1" '.compositions[] | select(.name == $c) | .slots[]'
}

# use_gpus NAME: somebody opens all GPUs of a composition, until let_go.
held=()
use_gpus()
{
	local slot

	for slot in $(slots_of "$1"); do
		# shellcheck disable=SC2217 # held open
		sleep 1000 <"/dev/gpufabric-sim/$slot" &
		held+=($!)
	done
}

let_go()
{
	kill "${held[@]}"
	wait "${held[@]}" 2>/dev/null
	held=()
}

# untainted: no warning, oops, bad page or lockup so far. For runs that are so long
# that the kernel's log may not hold their beginning.
untainted()
{
	local taint

	taint=$(cat /proc/sys/kernel/tainted)
	echo "tainted: $taint"
	[ $((taint & (1 << 5 | 1 << 7 | 1 << 9 | 1 << 14))) -eq 0 ]
}

bail_out()
{
	echo "Bail out! $*"
	exit 1
}

finish()
{
	echo "1..$test_count"
	[ "$test_failed" -eq 0 ] || exit 1
	exit 0
}

# udevd with the rules below /usr/lib and /etc, and all devices announced.
start_udev()
{
	/usr/lib/systemd/systemd-udevd --daemon || return 1
	udevadm trigger --action=add --type=subsystems
	udevadm trigger --action=add --type=devices
	settle
}

settle()
{
	udevadm settle --timeout=60
}

# Lines that the kernel logged since mark_log.
mark_log()
{
	echo "gpufabric-test: mark" >/dev/kmsg
}

log_since_mark()
{
	dmesg | awk '/gpufabric-test: mark$/ { n = 0; next } { line[n++] = $0 } END { for (i = 0; i < n; i++) print line[i] }'
}
