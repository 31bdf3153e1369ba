#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What an admin installs tonight and forgets: a Debian with our packages and nothing
# else of ours. GPUs for a model, a container that sees just them, an upgrade, a
# reboot, a detach of which everybody is told before, a card that is pulled, and the
# packages gone without a trace. tests/system/installed has installed them, and has
# seen DKMS build and upgrade, and in the long part build for a second kernel.
#
#   root port -- upstream -- 100 ... 105 with an h100-80 each
#
# before: tests/system/installed "$KERNEL" "$SECOND"
# system: -d installed -t 480 -m 1536M
# check: packages, units and podman in one machine; a reboot in the middle is for the long part

# Functions are called by their names, through check; what hooks do is for them to expand.
# shellcheck disable=SC2016,SC2317

. "$TESTS/system/lib.sh"

SLOW=$((SLOW * 3))
share=/usr/local/share/gpufabric-test
spec=/run/cdi/gpufabric.json
saved=/var/lib/gpuctl/compositions.json
metrics=/var/lib/prometheus/node-exporter/gpufabric.prom
hooks=/etc/gpuctl/hooks.d
packages=(gpuctl gpufabric-dkms gpufabric-sim-dkms)
image=localhost/tiny

# NAME=SLOT,SLOT... of each composition.
composed()
{
	gpuctl -j list | jq -r '[.compositions[] | "\(.name)=\(.slots | join(","))"] | sort | join(" ")'
}

states()
{
	gpuctl -j list | jq -r '[.slots[].state] | unique | join(" ")'
}

all_ready()
{
	[ "$(states)" = ready ]
}

# Names of the devices that containers can have.
devices()
{
	[ ! -e $spec ] || jq -r '.devices[].name' $spec | xargs
}

devices_are()
{
	[ "$(devices)" = "$1" ]
}

nothing_failed()
{
	[ -z "$(systemctl list-units --failed --no-legend --plain)" ] || {
		systemctl list-units --failed
		systemctl list-units --failed --no-legend --plain | cut -d' ' -f1 |
			xargs -I UNIT journalctl -q -n 20 --no-pager -u UNIT
		return 1
	}
}

# field NAME MATCH...: values of a field in the journal, in order.
field()
{
	local name=$1
	shift

	journalctl -q -o json "$@" | jq -r --arg name "$name" '.[$name] // empty'
}

has_run()
{
	journalctl -q -u "$1" | grep -q Finished
}

make_workload()
{
	mkdir -p /etc/gpuctl/workloads.d
	printf '%s\n' 'sensor = command /bin/echo 50' 'target = 50' 'max = 4' >/etc/gpuctl/workloads.d/train70b
}

# How often units after a measurement were started.
measured_often()
{
	[ "$(journalctl -q -u gpufabric-measured.service | grep -c Finished)" -ge "$1" ]
}

# Without the kernel's overlay file system, and systemd left alone.
in_podman()
{
	podman --storage-driver=vfs --cgroup-manager=cgroupfs "$@"
}

contained()
{
	in_podman run --rm --network none --device "gpufabric.io/gpu=$1" $image \
		find /dev/gpufabric-sim -type c | sort | xargs
}

# What a composition's container has to see, and nothing else.
nodes()
{
	gpuctl -j show "$1" | jq -r '.. | objects | select(has("slots")) | .slots[] | strings' |
		sed 's#^#/dev/gpufabric-sim/#' | sort -u | xargs
}

make_image()
{
	local root=/root/tiny

	mkdir -p $root/bin
	cp /bin/busybox $root/bin/
	ln -s busybox $root/bin/find
	tar -C $root -cf - . | in_podman import - $image
}

# What Prometheus would get from this host.
scraped()
{
	exec 5<>/dev/tcp/127.0.0.1/9100 || return
	printf 'GET /metrics HTTP/1.0\r\n\r\n' >&5
	cat <&5
	exec 5>&-
}

is_served()
{
	scraped | grep -q '^gpufabric_'
}

ready_served()
{
	scraped | awk '/^gpufabric_gpus_ready[{ ]/ { n += $NF } END { print n + 0 }'
}

is_valid()
{
	/usr/bin/python3 - "$share" "$1" <<-'PYTHON'
		import json, pathlib, sys
		import jsonschema
		where = pathlib.Path(sys.argv[1])
		schema = json.loads((where / "schema.json").read_text())
		resolver = jsonschema.RefResolver((where / "schema.json").as_uri(), schema)
		cls = jsonschema.validators.validator_for(schema)
		cls(schema, resolver=resolver).validate(json.loads(pathlib.Path(sys.argv[2]).read_text()))
	PYTHON
}

version_of()
{
	dpkg-query -W -f '${Version}' "$1"
}

comes_up()
{
	check "nothing failed at boot" nothing_failed
	check "the module was loaded, by DKMS's file" grep -q /updates/dkms/ <(modinfo -n gpufabric)
	check "with it came its target" wait_for 30 systemctl is-active gpufabric.target
	check "somebody watches" wait_for 30 systemctl is-active gpufabric-watch.service
	check "restoring is over" wait_for 60 systemctl is-active gpufabric-restore.service
	check "the GPUs are ready" wait_for 60 all_ready
}

first_boot()
{
	local address pid before want

	comes_up
	is "$(systemctl is-enabled gpufabric-{cdi,features,metrics,restore,save,watch}.service | sort -u)" enabled \
		"units that write what has changed are enabled"
	is "$(systemctl is-enabled gpufabric-{demand,reap}.timer gpufabric-{plan,shutdown}.service | sort -u)" disabled \
		"those that move or detach GPUs by themselves are not"
	address=$(gpuctl -j list | jq -r '.slots[] | select(.slot == "100").address')
	like "$(udevadm info -q property "/sys/bus/pci/devices/$address")" \
		"ID_GPUFABRIC_KIND=h100-pcie-80" "the hwdb knows the GPUs"
	check "containers can have what was there at boot" wait_for 30 devices_are "100 101 102 103 104 105"

	note "GPUs for a model"
	check "as many as it needs" gpuctl compose train70b --model llama-3.1-70b --task infer --context 8192 --batch 16
	want=$(composed)
	like "$want" "^train70b=10[0-9](,10[0-9])+$" "are composed"
	check "a few for something else" gpuctl compose other --gpus 1 --tenant web
	check "which is saved without being asked for" wait_for 30 grep -q '"other"' $saved
	is "$(field GPUFABRIC_STATE GPUFABRIC_COMPOSITION=train70b GPUFABRIC_EVENT=composition-changed | tail -n 1)" active \
		"the journal has it"
	is "$(field GPUFABRIC_COMMAND GPUFABRIC_COMPOSITION=train70b GPUFABRIC_OPERATION=compose | sort -u)" gpuctl "with who did it"

	note "a container"
	check "the specification is valid by CDI's schema" is_valid $spec
	check_fails "which refuses one without a kind" is_valid <(jq "del(.kind)" $spec)
	check "an image" make_image
	is "$(contained train70b)" "$(nodes train70b)" "sees the GPUs of the composition, and no other"
	is "$(contained 100)" /dev/gpufabric-sim/100 "or the one in a slot"

	note "metrics"
	check "are as promtool wants them" bash -c "$share/promtool check metrics <$metrics"
	check "the node exporter" systemctl start prometheus-node-exporter
	check "passes them on" wait_for 60 is_served
	is "$(ready_served)" 6 "and counts the GPUs"

	note "metrics of workloads"
	check "a workload is to be measured" make_workload
	rm "$metrics"
	check "a measurement" systemctl start gpufabric-demand.service
	check "is followed by metrics" wait_for 30 grep -q '^gpufabric_workload_.*workload="train70b"' "$metrics"
	check "only where they are wanted" systemctl disable gpufabric-metrics.service
	rm "$metrics"
	check "another measurement" systemctl start gpufabric-demand.service
	check "has ended" wait_for 30 measured_often 2
	check_fails "and wrote none" test -e "$metrics"
	check "they are wanted again" systemctl enable --now gpufabric-metrics.service
	rm -r /etc/gpuctl/workloads.d

	note "an upgrade of gpuctl"
	before=$(gpuctl -j list | jq -cS '[.compositions[], (.slots[] | {slot, state, generation})]')
	pid=$(systemctl show -p MainPID --value gpufabric-watch.service)
	check "goes well" dpkg -i /var/lib/gpufabric-test/packages/gpuctl_*.deb
	check "is one" dpkg --compare-versions "$(version_of gpuctl)" gt 0.0.9
	is "$(gpuctl -j list | jq -cS '[.compositions[], (.slots[] | {slot, state, generation})]')" "$before" "leaves GPUs and compositions alone"
	check "somebody watches again" wait_for 30 systemctl is-active gpufabric-watch.service
	check "who is of the newer one" [ "$(systemctl show -p MainPID --value gpufabric-watch.service)" != "$pid" ]
	check "nothing failed" nothing_failed
	composed >/root/composed
}

# A hook after ours writes down what others are told when GPUs are about to go, and
# the events go to the same place, so that their order is that of the lines.
watch_order()
{
	mkdir -p $hooks/pre-detach.d
	{
		echo '#!/bin/bash'
		echo "spec=$spec"
		declare -f scraped ready_served look
		echo '[ "$1" != pre-detach ] || look'
	} >$hooks/pre-detach.d/95-look
	chmod 755 $hooks/pre-detach.d/95-look
	: >/root/order
	gpuctl -j watch --kind slot-changed --changes |
		jq -r --unbuffered 'select(.slot) | "\(.slot.state) \(.slot.slot)"' >>/root/order &
	wait_for 20 pgrep -f 'gpuctl -j watch' >/dev/null
}

# One line of the hook: slot, GPUs that Prometheus counts, is it there for containers,
# does it have links, and is the GPU itself still there.
look()
{
	local cdi=gone link=gone gpu=gone

	[ ! -e $spec ] || ! grep -q "\"$GPUFABRIC_SLOT\"" $spec || cdi=there
	[ ! -e "/dev/gpufabric/by-slot/$GPUFABRIC_SLOT" ] || link=there
	[ ! -e "/sys/bus/pci/devices/$GPUFABRIC_ADDRESS" ] || gpu=there
	echo "told $GPUFABRIC_SLOT ready=$(ready_served) cdi=$cdi link=$link gpu=$gpu" >>/root/order
}

is_gone()
{
	! gpuctl show "$1" >/dev/null 2>&1
}

after_reboot()
{
	local want

	want=$(cat /root/composed)
	comes_up
	is "$(composed)" "$want" "what was composed is composed again"
	check "nothing failed" nothing_failed
	check "containers can have it" wait_for 30 grep -q '"train70b"' $spec
	is "$(contained train70b)" "$(nodes train70b)" "and see it"
}

second_half()
{
	local want slots slot error rc

	want=$(cat /root/composed)
	note "a detach"
	check "the node exporter" systemctl start prometheus-node-exporter
	check "serves" wait_for 60 is_served
	watch_order
	slots=$(sed -n 's/.*train70b=//p' <<<"$want" | tr , ' ')
	check "the composition is released" gpuctl release train70b
	for slot in $slots; do
		check "$slot is off" wait_for 30 grep -qx "off $slot" /root/order
		like "$(grep "^told $slot " /root/order)" " cdi=gone link=gone gpu=there$" \
			"$slot: others were told while the GPU was there"
		is "$(grep -E "^(told|detaching|off) $slot" /root/order | cut -d' ' -f1 | uniq | xargs)" \
			"told detaching off" "$slot: in this order"
		check "$slot: units that want to know are told" wait_for 30 has_run "gpufabric-detached@$slot.service"
	done
	is "$(grep -c "^told .* ready=$((6 - $(wc -w <<<"$slots"))) " /root/order)" "$(wc -w <<<"$slots")" \
		"Prometheus counted what is left before any of them went"
	rc=0
	error=$(contained train70b 2>&1) || rc=$?
	check "a container with it is refused" [ $rc -ne 0 ]
	like "$error" "gpufabric.io/gpu=train70b" "by name"
	note "$error"
	rm $hooks/pre-detach.d/95-look

	note "a card that is pulled"
	check "slot 105 has one" wait_for 20 grep -q '"105"' $spec
	echo remove >"$SIM/slot0.5/surprise"
	check "units that want to know are told" wait_for 30 has_run gpufabric-fault@105.service
	is "$(field PRIORITY GPUFABRIC_SLOT=105 GPUFABRIC_STATE=lost | sort -u)" 3 "it is an error in the journal"
	check "containers cannot have it" wait_for 30 bash -c "! grep -q '\"105\"' $spec"
	check "nor is it in the metrics" wait_for 30 grep -q '^gpufabric_slots{state="lost"} 1' $metrics

	note "a lease"
	check "for a second" gpuctl compose short --gpus 1 --for 1s
	check "ends by itself" wait_for 60 is_gone short
	check "and is not saved any more" wait_for 30 bash -c "! grep -q short $saved"

	note "unloading and loading"
	check "the rest is released" gpuctl release other
	check "the module unloads" wait_for 20 rmmod gpufabric
	check "its units go with it" wait_for 120 bash -c '! systemctl is-active gpufabric.target gpufabric-watch.service'
	check "it loads" modprobe gpufabric
	check "and they are back" wait_for 120 systemctl is-active gpufabric-watch.service
	check "nothing failed" nothing_failed
	leave_nothing
	finish
}

# As tests/system/installed made its list before it installed anything of ours.
files()
{
	(cd / && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./run -o -path ./tmp \
		-o -path ./var/lib/gpufabric-test \) -prune -o -printf '/%P\n') | LC_ALL=C sort
}

# What the test, containers and the system itself have made since.
not_ours='/(tests|out|root|lost\+found)(/|$)|/var/(log|tmp|lib/(cni|containers|systemd|private))(/|$)'
not_ours+='|/etc/cni/|/etc/(modprobe|modules-load)\.d/|/etc/systemd/system/.*gpufabric-test\.service$'
not_ours+='|/var/lib/dpkg/info/linux-(headers|kbuild)-'

leave_nothing()
{
	note "removing"
	mkdir -p /run/systemd/system/gpufabric-lease@rack.service.d
	printf '[Service]\nType=exec\nExecStart=\nExecStart=sleep infinity\n' \
		>/run/systemd/system/gpufabric-lease@rack.service.d/test.conf
	check "the service of a lease" systemctl enable --now gpufabric-lease@rack.service
	check "the packages are removed" dpkg -r "${packages[@]}"
	check_fails "the service does not run on" systemctl -q is-active gpufabric-lease@rack.service
	is "$(find /etc/systemd/system -name 'gpufabric-lease*')" "" "nor is it started at the next boot"
	rm -r /run/systemd/system/gpufabric-lease@rack.service.d
	systemctl daemon-reload
	check "the modules are gone" bash -c "! find /lib/modules -name 'gpufabric*' | grep ."
	is "$(dkms status)" "" "DKMS knows nothing of them"
	check "units are gone" bash -c "! systemctl list-unit-files --no-legend 'gpufabric*' | grep -v gpufabric-test"
	check "containers are told of no GPU" test ! -e $spec
	check "nor is Prometheus" test ! -e $metrics
	check "what was saved is kept" test -e $saved
	check "they are purged" dpkg -P "${packages[@]}"
	is "$(find /run -maxdepth 1 \( -name 'gpuctl*' -o -name 'gpufabric*' \) ! -name gpuctl-leases -printf '%f ')" "" "nothing is left in /run"
	files >/root/files
	diff /var/lib/gpufabric-test/files /root/files | grep '^[<>]' | grep -vE "^[<>] ($not_ours)" >/out/left
	is "$(head -n 20 /out/left)" "" "and no file is left, nor one missing"
}

case $PHASE in
1)
	first_boot
	[ ! -e /var/lib/gpufabric-test/reboots ] || boot_again reboot
	second_half ;;
2)
	after_reboot
	second_half ;;
esac
