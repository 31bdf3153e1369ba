#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The driver for Kubernetes with the real gpuctl, module and simulator, between a kubelet and an API
# server of tests/dra: what unit/dra.py does with a stand-in for gpuctl.
#
#   root port -- upstream -- sim0-0 ... sim0-5 with an h100-80 each, off
#
# before: tests/dra/stage
# vm: -t 900 -m 2G -f build/dra-vm

# The inner shell expands its own arguments.
# shellcheck disable=SC2016

. "$TESTS/vm/lib.sh"

dra=$TESTS/dra-vm

modprobe gpufabric_sim mode=own switches=1 slots=6 'gpus=*:h100-80:off' || bail_out "no simulator"
modprobe gpufabric || bail_out "no gpufabric"
gpuctl scan >/dev/null || bail_out "the GPUs are not known"
echo "127.0.0.1 localhost" >/etc/hosts
echo "hosts: files" >>/etc/nsswitch.conf

export LD_LIBRARY_PATH=$dra/lib PYTHONHOME=$dra/python DRA_DRIVER=$dra/gpufabric-dra DRA_GPUCTL
DRA_GPUCTL=$(command -v gpuctl)
# As in a pod: kubelet, driver and API server are in a network namespace of their own, where the
# module does not answer; the driver starts gpuctl in the first one.
export DRA_NETWORK=/proc/1/ns/net
unshare -n sh -c 'ip link set lo up && exec "$0" "$@"' "$dra/python3" "$dra/tests/real.py" sim0-0 sim0-1 sim0-2 sim0-3 sim0-4 sim0-5
