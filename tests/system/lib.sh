# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced by the cases of tests/system, which run as root on a Debian with systemd.
# Checks are those of tests/vm/lib.sh. A case that reboots is called again, with
# $PHASE one higher, and its checks are counted on:
#
#   case $PHASE in
#   1)	check ...
#	boot_again ;;
#   2)	check ...
#	finish ;;
#   esac

# shellcheck source=tests/vm/lib.sh
. "$TESTS/vm/lib.sh"

state=/var/lib/gpufabric-test
# The kernel's own messages belong to its log, not between ours.
[ ! -e "$state/counts" ] || . "$state/counts"

# boot_again [cut]: end this phase by an orderly reboot, or as if by a power cut.
boot_again()
{
	printf 'test_count=%d\ntest_failed=%d\n' "$test_count" "$test_failed" >"$state/counts"
	sync "$state/counts"
	echo "${1:-reboot}" >"$state/next"
	exit 0
}
