#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The driver for Kubernetes with the real gpuctl, module and simulator, which are in a host of the
# rack, between a kubelet and an API server of tests/dra, which are here: what unit/dra.py does with
# a stand-in for gpuctl.
#
#   root port -- upstream -- sim0-0 ... sim0-5 with an h100-80 each, off; sim0-6, sim0-7 empty, at ports of a
#                            fabric manager
#
# brief: what the driver reads, which unit/dra.py has in full
# before: make -s dra; make -s -f tests/dra/dra.mk python

# shellcheck disable=SC2154 # tests/rack/all sets $top, $build, $rack
# shellcheck source=tests/rack/bed.sh
. "$top/tests/rack/bed.sh"
# shellcheck source=tests/rack/fm.sh
. "$top/tests/rack/fm.sh"
# shellcheck source=tests/rack/sim.sh
. "$top/tests/rack/sim.sh"

# In place of that of sim.sh: GPU0 and so on.
fm_gpu()
{
	printf 'card = h100-80\nserial = 67671111%08x\npci = 6767:0001\nsubsystem = 10de:2331\nclass = 030200\n' "${1#GPU}"
}

pool_is_free()
{
	[ "$(on a gpuctl -j fabric | jq '[.pool[] | select(.state == "free")] | length')" -eq 4 ]
}

sim_start a 8
check "the host boots" rack_await a || bail_out "no host"
check "the modules load" on a "mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
	modprobe gpufabric_sim mode=own switches=1 slots=8 gpus='*:h100-80:off,0.6:none,0.7:none' &&
	modprobe gpufabric && modprobe pci-stub && gpuctl scan" || bail_out "no simulator"
check "so does the agent of the manager" sim_agent a || bail_out "no agent"
check "the manager starts" fm_start a:8 -- GPU0 GPU1 GPU2 GPU3 || bail_out "no manager"
# Of the ports, those of two empty slots.
awk '/^ports = / { print "ports = sim0-6=a/0.6 sim0-7=a/0.7"; next } { print }' "$fm_folder/hosts/a.conf" | give a /etc/gpuctl/fabric.d/Rack.conf
check "the host is told of it" wait_for 60 pool_is_free || bail_out "no pool"

# The host's gpuctl, for the driver and for the test. As in a pod, kubelet, driver and API server are
# in a network namespace of their own, where the host does not answer; the driver starts gpuctl in this one.
export DRA_FAR="$build/far run ${rack_port[a]}" DRA_GPUCTL=$rack/gpuctl DRA_DRIVER=$build/gpufabric-dra DRA_NETWORK=/proc/$$/ns/net
printf '#!/bin/sh\nexec %s gpuctl "$@"\n' "$DRA_FAR" >"$DRA_GPUCTL"
chmod +x "$DRA_GPUCTL"
scenarios()
{
	# shellcheck disable=SC2016 # the inner shell expands it
	unshare -n sh -c 'ip link set lo up && exec "$@"' sh "$top/tests/dra/real.py" "$(brief some all)" \
		sim0-6,sim0-7 sim0-0 sim0-1 sim0-2 sim0-3 sim0-4 sim0-5
}
status=0
scenarios >"$rack/scenarios.tap" || status=$?
grep -v '^1\.\.' "$rack/scenarios.tap"
test_count=$((test_count + $(grep -cE '^(not )?ok ' "$rack/scenarios.tap")))
is "$status" 0 "the scenarios came to their end"
fm_stop TERM
rack_end a
finish
