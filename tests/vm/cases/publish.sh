#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What others are told of the GPUs: files for Prometheus, node feature discovery and
# container runtimes, links to nodes. By hand, and by the hook, which must tell
# less before a GPU goes and more only when it is ready.
#
#   root port -- upstream -- sim0-0 ... sim0-3 with an h100-80 each, off
#
# in turn: one command after the other
# vm: -t 400

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"

metrics=/var/lib/prometheus/node-exporter
features=/etc/kubernetes/node-feature-discovery/features.d
spec=/var/run/cdi/gpufabric.json
hooks=/etc/gpuctl/hooks.d
kind=h100-pcie-80-sim

# devices: names in the specification
devices()
{
	[ ! -e $spec ] || jq -r '.devices[].name' $spec | xargs
}

# nodes NAME: paths and numbers of its nodes
nodes()
{
	jq -r --arg name "$1" '.devices[] | select(.name == $name).containerEdits.deviceNodes[] |
		"\(.path) \(.type) \(.major):\(.minor)"' $spec
}

# node SLOT: the same of the simulated GPU's node, as the kernel has it
node()
{
	echo "/dev/gpufabric-sim/$1 c $(cat "/sys/class/gpufabric_sim_gpu/gpufabric-sim!$1/dev")"
}

ready()
{
	sed -n "s/^gpufabric_gpus_ready{kind=\"$kind\"} //p" "$1"
}

mode()
{
	stat -c %a "$1"
}

mkdir -p $metrics $features /dev/char
check "the modules load" modprobe gpufabric_sim mode=own switches=1 slots=4 'gpus=*:h100-80:off' ||
	bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric
check "the GPUs are known" gpuctl scan

note "before anything is attached"
check "metrics" gpuctl metrics /tmp/m.prom
is "$(ready /tmp/m.prom)" "" "no GPU is ready"
is "$(grep -c '^gpufabric_slots{state="off"} 4$' /tmp/m.prom)" 1 "four slots are off"
check "a specification" gpuctl cdi
check_fails "without devices is no file" test -e $spec
is "$(gpuctl features)" $'gpufabric.io/slots=4\ngpufabric.io/gpus.ready=0\ngpufabric.io/gpus.free=0' "features"
check "links" gpuctl nodes
check_fails "none" test -e /dev/gpufabric/by-slot

note "a composition"
check "two GPUs" gpuctl compose train70b --gpus 2
check "metrics once more" gpuctl metrics /tmp/m.prom
is "$(ready /tmp/m.prom)" 2 "two GPUs are ready"
is "$(mode /tmp/m.prom)" 644 "all can read it"
is "$(sed -n 's/^gpufabric_operation_duration_seconds_count{operation="attach",phase="total"} //p' /tmp/m.prom)" \
	"$(gpuctl -j stats | jq '[.stats[] | select(.operation == "attach" and .phase == "total").count] | add // 0')" \
	"as many attaches are in the histogram as stats says"
is "$(find /tmp -maxdepth 1 -name '.m.prom*' ! -name '*.lock' | wc -l)" 0 "nothing else is left"
like "$(gpuctl features)" "gpufabric.io/$kind.driver=gpufabric-sim-gpu" "features name the driver"
check "a dry run" gpuctl -n cdi
check_fails "writes nothing" test -e $spec
check "the specification" gpuctl cdi
is "$(devices)" "train70b sim0-0 sim0-1" "has the composition and its GPUs"
is "$(jq -r '"\(.cdiVersion) \(.kind)"' $spec)" "0.3.0 gpufabric.io/gpu" "in the lowest version"
is "$(nodes sim0-0)" "$(node sim0-0)" "a GPU has its node"
is "$(nodes train70b)" "$(node sim0-0; node sim0-1)" "the composition those of both"
is "$(gpuctl cdi --output - | jq -c .)" "$(jq -c . $spec)" "it can be printed as well"

note "links"
check "are made" gpuctl nodes
is "$(readlink -f /dev/gpufabric/by-slot/sim0-0/sim0-0)" /dev/gpufabric-sim/sim0-0 "to a slot's node"
is "$(readlink -f /dev/gpufabric/by-composition/train70b/sim0-1/sim0-1)" /dev/gpufabric-sim/sim0-1 \
	"and to a composition's"
number=$(cat '/sys/class/gpufabric_sim_gpu/gpufabric-sim!sim0-0/dev')
is "$(readlink -f "/dev/char/$number")" /dev/gpufabric-sim/sim0-0 "/dev/char has it, too"

note "what doctor says of it"
# cdi_findings: reasons of what is wrong with specifications
cdi_findings()
{
	gpuctl -j doctor | jq -r '.findings[] | select(.check == "cdi" and .level == "warn").reason'
}
is "$(cdi_findings)" "" "nothing, while all nodes are there"
cp $spec /tmp/spec
jq '(.devices[] | select(.name == "sim0-1").containerEdits.deviceNodes[0].path) = "/dev/gone"' /tmp/spec >$spec
is "$(cdi_findings)" "/run/cdi/gpufabric.json: gpufabric.io/gpu=sim0-1 has /dev/gone, which does not exist" \
	"a node that is not there is named"
cp /tmp/spec $spec
mkdir -p /etc/cdi
cp /tmp/spec /etc/cdi/second.json
like "$(cdi_findings)" "gpufabric.io/gpu=train70b is in /etc/cdi/second.json and in /.*: container runtimes refuse it" \
	"so is a device that is there twice"
rm /etc/cdi/second.json

note "taken out"
check "a slot" gpuctl cdi --remove sim0-0
is "$(devices)" sim0-1 "takes its composition with it"
check "written anew" gpuctl cdi
check "a composition" gpuctl cdi --remove train70b
check_fails "takes its slots, and the file when nothing is left" test -e $spec
check "released" gpuctl release train70b
check "links" gpuctl nodes
check_fails "are gone" test -e /dev/gpufabric/by-slot -o -L "/dev/char/$number"

note "what is in the way"
echo '{}' >$spec
like "$(gpuctl cdi --remove sim0-0 2>&1)" 'is not what gpuctl cdi writes' "another file is not changed"
rm $spec
mkdir -m 777 /tmp/shared
like "$(gpuctl metrics /tmp/shared/m.prom 2>&1)" 'anybody may rename' "nor is one put where anybody may exchange it"
is "$(ls -A /tmp/shared)" "" "nothing is left there"
ln -s /etc/passwd /tmp/link.prom
check "a link" gpuctl metrics /tmp/link.prom
check "is replaced" test ! -L /tmp/link.prom
check_fails "not followed" grep -q gpufabric /etc/passwd

note "by the hook"
for hook in post-attach pre-detach post-detach; do
	mkdir -p $hooks/$hook.d
	ln -s /usr/local/share/gpuctl/hooks/publish $hooks/$hook.d/90-publish
	check "the hook $hook is there" test -x $hooks/$hook.d/90-publish
done
check "a composition" gpuctl compose train70b --gpus 2
is "$(devices)" "train70b sim0-0 sim0-1" "is there for containers when compose ends"
is "$(ready $metrics/gpufabric.prom)" 2 "is counted"
check "has labels" grep -qx "gpufabric.io/$kind.ready=2" $features/gpufabric
check "has links" test -e /dev/gpufabric/by-composition/train70b/sim0-0/sim0-0

# A hook after ours sees what others are told while the GPUs are still there.
cat >$hooks/pre-detach.d/95-look <<END
#!/bin/bash
[ "\$1" = pre-detach ] || exit 0
{
	[ ! -e $spec ] || jq -r '.devices[].name' $spec | grep -x "\$GPUFABRIC_SLOT"
	[ ! -e $spec ] || jq -r '.devices[].name' $spec | grep -x train70b
	ls -d /dev/gpufabric/by-slot/"\$GPUFABRIC_SLOT" 2>/dev/null
	ls -d /sys/bus/pci/devices/"\$GPUFABRIC_ADDRESS"
} >>/tmp/look
exit "\$(cat /tmp/verdict)"
END
chmod 755 $hooks/pre-detach.d/95-look
echo 1 >/tmp/verdict
check_fails "a detach that a hook refuses" gpuctl release train70b
is "$(grep -c /sys/bus/pci /tmp/look)$(grep -vc /sys/bus/pci /tmp/look)" 20 \
	"all was taken out before, with the GPUs there"
is "$(devices)" "train70b sim0-0 sim0-1" "and is back afterwards"
is "$(ready $metrics/gpufabric.prom)" 2 "as are the figures"
: >/tmp/look
echo 0 >/tmp/verdict
check "one that goes on" gpuctl release train70b
is "$(grep -c /sys/bus/pci /tmp/look)$(grep -vc /sys/bus/pci /tmp/look)" 20 "takes all out before"
check_fails "no device is left" test -e $spec
is "$(ready $metrics/gpufabric.prom)" "" "no GPU is counted"
check_fails "no link is left" test -e /dev/gpufabric/by-slot

check "the module unloads" wait_for 10 rmmod gpufabric
finish
