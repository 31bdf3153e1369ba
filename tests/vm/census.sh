# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced after fabric.sh by cases that look whether something was left behind: in
# the kernel's caches, in its memory, in sysfs.
#
#   cycles COUNT                         so many attach and detach cycles of each of the slots in $all
#   no_growth FIRST COUNT OBJECTS COMMAND    COMMAND COUNT leaves nothing behind; the memory
#                                        in use before and after is in /tmp/census.memory

all=()

# Objects in use in the caches that kernel code allocates from at large, on nobody's account. The
# allocator's spare pages for each CPU are given back first, or they would count.
objects()
{
	local cache

	# What waits to be freed by RCU is freed at once, too.
	echo 2 >/proc/sys/vm/drop_caches
	for cache in /sys/kernel/slab/*/shrink; do
		echo 1 >"$cache"
	done 2>/dev/null
	awk '/^(kmalloc-[0-9]|kernfs_node_cache)/ { print $1, $2 }' /proc/slabinfo
}

# Caches that grew by more than $1 objects between two of these.
grown()
{
	awk -v most="$1" 'NR == FNR { before[$1] = $2; next }
		$2 - before[$1] > most { print $1, before[$1], "->", $2 }' "$2" "$3"
}

# Memory that is neither free nor a cache nor a program's, in KiB. Pages on the
# lists of each CPU are free, though MemFree does not have them.
memory_now()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^ *count:/ { cpu += 4 * $2 } { kib[$1] = $2 } END {
		print kib["MemTotal:"] - kib["MemFree:"] - cpu -
			kib["Cached:"] - kib["Buffers:"] - kib["AnonPages:"]
	}' /proc/zoneinfo /proc/meminfo
}

# The two files are read one after the other, and pages move in between: a figure
# counts when it is found twice.
kernel_memory()
{
	local last now tries

	last=$(memory_now)
	for ((tries = 0; tries < 50; tries++)); do
		now=$(memory_now)
		[ $((now > last ? now - last : last - now)) -ge 512 ] || break
		last=$now
	done
	echo "$now"
}

census()
{
	cat /sys/module/gpufabric/refcnt /sys/module/gpufabric_sim/refcnt
	find /sys/devices -type d | wc -l
	find /sys/class/gpufabric/ /sys/bus/pci/devices/ /sys/bus/pci/slots/ | wc -l
	wc -l </proc/modules
}

# cycles COUNT: so many attach and detach cycles of each slot, in parallel. One
# client for each slot: the history holds on to the number of every process.
cycles()
{
	local slot pid pids=()

	for slot in "${all[@]}"; do
		g cycle "$1" "$slot" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || return 1
	done
}

# What a process leaves is freed some time after its end: what is lost stays
# lost, so it is enough that it is gone once.
nothing_grew()
{
	objects >/tmp/objects.after
	# One object lost each time would be twice as many.
	grown $(($1 / 2)) /tmp/objects.before /tmp/objects.after >/tmp/grown
	[ ! -s /tmp/grown ]
}

memory_is_back()
{
	took=$(($(kernel_memory) - $1))
	[ "$took" -lt 4096 ]
}

# turn_leaves_nothing COUNT OBJECTS COMMAND: one turn, and what it left behind.
turn_leaves_nothing()
{
	local count=$1 lost=$2 command=$3 memory took

	census >/tmp/census.before
	memory=$(kernel_memory)
	objects >/tmp/objects.before
	"$command" "$count" || return 1
	census >/tmp/census.after
	diff /tmp/census.before /tmp/census.after || return 1
	wait_for 30 nothing_grew "$lost" || { cat /tmp/grown; return 2; }
	wait_for 10 memory_is_back "$memory" || { echo "$took KiB"; return 2; }
	echo "$memory KiB before, $((memory + took)) KiB after" >/tmp/census.memory
}

# no_growth FIRST COUNT OBJECTS COMMAND: after a first turn, which fills caches and
# begins the history, a longer one leaves nothing behind; OBJECTS is what it would
# lose if it lost one each time. A leak loses something in every
# turn; what else the kernel allocates comes once, now and then, and stays: a turn
# that grew says nothing, three in a row do.
no_growth()
{
	local first=$1 count=$2 lost=$3 command=$4 rc

	"$command" "$first" || return 1
	for _ in 1 2 3; do
		rc=0
		turn_leaves_nothing "$count" "$lost" "$command" || rc=$?
		[ "$rc" -eq 2 ] || return "$rc"
	done
	return 1
}
