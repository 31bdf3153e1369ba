# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A flavour is a kernel that tests can run on: a directory build/kernel/NAME
# with the files release, vmlinuz, headers and modules (see tests/vm/kernel and
# tests/vm/debug-kernel), and soon vmlinux (see tests/vm/image), or the word "host". Sourced by the scripts beside it,
# which set $top, $build. The flavour "newest" has the system in it that its
# modules are built in: see tests/matrix/newest-kernel.

: "${top:?}" "${build:?}"

flavour_fetch()
{
	local dir=$build/kernel/$1

	[ "$1" != host ] || return 0
	case $1 in
	6.1|6.12)
		"$top/tests/vm/kernel" get "$1" >/dev/null ;;
	newest)
		"$top/tests/matrix/newest-kernel" ;;
	debug-6.1|debug-6.12|gcov-6.1|gcov-6.12)
		"$top/tests/vm/debug-kernel" -v "${1%%-*}" "${1#*-}" ;;
	*)
		[ -s "$dir/release" ] && return
		echo "no kernel \"$1\" below build/kernel: say 6.1, 6.12, debug-6.1, gcov-6.1 or host" >&2
		return 1 ;;
	esac
}

flavour_release()
{
	if [ "$1" = host ]; then
		uname -r
	else
		cat "$build/kernel/$1/release"
	fi
}

# The image that QEMU starts: unpacked, where that can be done.
flavour_image()
{
	local dir=$build/kernel/$1

	if [ -s "$dir/vmlinux" ] || "$top/tests/vm/image" "$dir/vmlinuz" "$dir/vmlinux"; then
		echo "$dir/vmlinux"
	else
		echo "$dir/vmlinuz"
	fi
}

# What to give make -C.
flavour_headers()
{
	local dir

	flavour_fetch "$1" || return
	dir=$build/kernel/$1/headers
	[ "$1" != host ] || dir=/lib/modules/$(uname -r)/build
	if [ ! -e "$dir/Makefile" ]; then
		echo "no headers for kernel $1 at $dir: install linux-headers-$(flavour_release "$1")" >&2
		return 1
	fi
	realpath "$dir"
}

# make for the modules of flavour $1: in the system that its headers are for, where
# this one is another.
flavour_make()
{
	local system=$build/kernel/$1/system
	shift

	if [ -d "$system" ]; then
		"$top/tests/matrix/inside" "$system" make "${@//"$(realpath "$system")"/}"
	else
		make "$@"
	fi
}
