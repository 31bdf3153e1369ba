# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What takes long to make and is the same for every checkout lies in a cache outside of
# them: ${XDG_CACHE_HOME:-~/.cache}/gpufabric. An entry is $cache/NAME/KEY, where KEY stands
# for all that it was made from, and is never changed once it is complete, so that
# checkouts and runs share it without knowing of each other.
#
#   cache_have NAME KEY             sets $entry; succeeds when it is complete
#   cache_begin NAME KEY            the same, alone; fails when somebody else completed it
#   cache_end                       it is complete
#   cache_link LINK                 makes LINK point to it
#
# Whoever sources this uses the cache to its end: tests/cache-clean waits for nobody
# and takes nothing away from them.

cache_home()
{
	local home=${HOME:-}

	[ -n "$home" ] || home=$(getent passwd "$(id -u)" | cut -d: -f6)
	echo "${XDG_CACHE_HOME:-$home/.cache}/gpufabric"
}

cache=${GPUFABRIC_CACHE:-$(cache_home)}
export GPUFABRIC_CACHE=$cache
# What compilers that remember are told, wherever they run. CCACHE_DEPEND: what a file includes is
# known from -MMD, which all builds here have; without it the preprocessor runs twice for each file
# that is new, a fifth of what the compiler takes.
# shellcheck disable=SC2034 # for who sources this
ccache_settings="CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 CCACHE_MAXSIZE=2G CCACHE_SLOPPINESS=include_file_ctime,time_macros"
mkdir -p "$cache"
exec 6>>"$cache/users"
flock -s 6

# What nobody has asked for in two months is in nobody's way but the disk's.
cache_expire()
{
	find "$cache" -mindepth 3 -maxdepth 3 -name .complete -mtime +60 -printf '%h\n' 2>/dev/null |
	while read -r old; do
		[ "$old" = "$entry" ] || rm -rf --one-file-system "$old" "$old.lock"
	done
}

cache_have()
{
	entry=$cache/$1/$2
	[ -e "$entry/.complete" ] && touch "$entry/.complete"
}

cache_begin()
{
	! cache_have "$1" "$2" || return 1
	mkdir -p "$cache/$1"
	exec 5>"$entry.lock"
	flock 5
	if cache_have "$1" "$2"; then
		exec 5>&-
		return 1
	fi
	cache_expire
	rm -rf --one-file-system "$entry"
	mkdir -p "$entry"
}

cache_end()
{
	touch "$entry/.complete"
	exec 5>&-
}

cache_link()
{
	mkdir -p "$(dirname "$1")"
	[ -L "$1" ] || rm -rf --one-file-system "$1"
	ln -sfn "$entry" "$1"
}

# cache_key FILE...: of their contents, and of what is on standard input.
cache_key()
{
	{ cat; [ $# -eq 0 ] || sha256sum "$@" | cut -d' ' -f1; } | sha256sum | cut -c1-16
}
