#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The driver for Kubernetes with the real gpuctl, module and simulator, between a kubelet and an API
# server of tests/dra: what unit/dra.py does with a stand-in for gpuctl.
#
#   root port -- upstream -- sim0-0 ... sim0-5 with an h100-80 each, off; sim0-6, sim0-7 empty, at ports of a
#                            fabric manager
#
# brief: what the driver reads, which unit/dra.py has in full
# in turn: one request after the other
# before: tests/dra/stage
# vm: -t 900 -m 2G -f build/dra-vm

# The inner shell expands its own arguments.
# shellcheck disable=SC2016

. "$TESTS/vm/lib.sh"

dra=$TESTS/dra-vm

modprobe gpufabric_sim mode=own switches=1 slots=8 'gpus=*:h100-80:off,0.6:none,0.7:none' || bail_out "no simulator"
modprobe gpufabric || bail_out "no gpufabric"
modprobe pci-stub || bail_out "no pci-stub"
gpuctl scan >/dev/null || bail_out "the GPUs are not known"
echo "127.0.0.1 localhost" >/etc/hosts
echo "hosts: files" >>/etc/nsswitch.conf

program=/usr/local/libexec/gpuctl/fabric-redfish
export GPUCTL_CONFIG_DIR=/tmp/config
own_folder ${program%/*}
mkdir -p $GPUCTL_CONFIG_DIR/fabric.d /tmp/ledger
cp "$dra/tests/manager" $program
for i in 0 1 2 3; do
	: >/tmp/ledger/GPU$i
done
printf 'user = here\npassword = x\n' >$GPUCTL_CONFIG_DIR/login
chmod 600 $GPUCTL_CONFIG_DIR/login
cat >$GPUCTL_CONFIG_DIR/fabric.d/Rack.conf <<END
driver = redfish
url = https://manager.example
host = here
credentials = $GPUCTL_CONFIG_DIR/login
ports = sim0-6=sw/p6 sim0-7=sw/p7
END

export LD_LIBRARY_PATH=$dra/lib PYTHONHOME=$dra/python DRA_DRIVER=$dra/gpufabric-dra DRA_GPUCTL
DRA_GPUCTL=$(command -v gpuctl)
# As in a pod: kubelet, driver and API server are in a network namespace of their own, where the
# module does not answer; the driver starts gpuctl in the first one.
export DRA_NETWORK=/proc/1/ns/net
unshare -n sh -c 'ip link set lo up && exec "$0" "$@"' "$dra/python3" "$dra/tests/real.py" "$(brief some all)" sim0-6,sim0-7 sim0-0 sim0-1 sim0-2 sim0-3 sim0-4 sim0-5
