#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The guests' half of "make demo-rack", on this machine: two hosts, one pool of eight GPUs,
# and what their users see. Ends with one line about all of it.

# shellcheck disable=SC2154,SC2317 # tests/demo-rack sets $top, $build, $rack; wait_for calls
# shellcheck source=tests/rack/bed.sh
. "$top/tests/rack/bed.sh"
# shellcheck source=tests/rack/fm.sh
. "$top/tests/rack/fm.sh"

gpus=(gpu0 gpu1 gpu2 gpu3 gpu4 gpu5 gpu6 gpu7)

die()
{
	echo "demo: $*" >&2
	exit 1
}

# run STATUS HOST COMMAND...: as on a terminal of that host.
run()
{
	local want=$1 host=$2 status=0
	shift 2

	printf '\n%s$ %s\n' "$host" "$*"
	on "$host" "$*" || status=$?
	[ "$status" -eq "$want" ] || die "that ended with status $status, not $want"
}

has_pool()
{
	[ "$(on b gpuctl -j fabric | jq '[.pool[] | select(.state == "free")] | length')" -ge "$1" ]
}

echo "demo: two hosts boot, with eight empty slots each"
rack_start a 8
rack_start b 8
rack_await a || die "no host a"
rack_await b || die "no host b"
cat >"$rack/fence" <<END
#!/bin/bash
# Is the host off? Its virtual machine is dead.
! kill -0 "\$(cat "$rack/\$1/pid")" 2>/dev/null
END
chmod 755 "$rack/fence"
fm_fence=$rack/fence
fm_start a:8 b:8 -- "${gpus[@]}" >"$rack/init.log" 2>&1 || die "no manager: see $rack/fm.log"
"$top/tests/rack/ledger" "$rack" "$fm_url" a b -- "${gpus[@]}" >"$rack/ledger.out" 2>&1 &
ledger=$!
rack_others+=("$ledger")
for host in a b; do
	on $host modprobe gpufabric || die "$host: no module"
	fm_introduce $host || die "$host: it cannot be told of the manager"
	fm_name_gpus $host
done

echo; echo "== a trains: six of eight GPUs of the pool"
run 0 a gpuctl size llama-3.1-70b --task lora --context 8192 --gpu demo-80
run 0 a gpuctl compose train --gpu demo-80:6
echo; echo "== b asks four, and is told what is free"
run 3 b gpuctl compose serve --gpus 4
run 0 b gpuctl fabric
echo; echo "== a gives two back, b gets its four"
run 0 a gpuctl resize train --gpus 4
run 0 b gpuctl compose serve --gpus 4
echo; echo "== a loses power; the fence of the rack confirms it, and b grows to eight"
on a dmesg >"$rack/a.dmesg"
rack_cut a
wait_for 60 has_pool 4 || die "the GPUs of the dead host did not become free"
run 0 b gpuctl resize serve --gpus 8
run 0 b gpuctl fabric
run 0 b gpuctl release serve

kill "$ledger"
wait "$ledger" || { cat "$rack/ledger.out"; die "a GPU was in two hosts"; }
moves=$(sed -nE 's/^ledger: .* ([0-9]+) moves.*/\1/p' "$rack/ledger.out")
fm_stop TERM
rack_end b >"$rack/end.log" || { cat "$rack/end.log"; die "the kernel of b has complained"; }
"$top/tests/vm/klog" -f "${KERNEL:-6.1}" "$rack/a.dmesg" || die "the kernel of a has complained"
printf '\nrack: %d GPUs, 2 hosts, %s moves, never two owners; kernel logs clean\n' "${#gpus[@]}" "$moves"
