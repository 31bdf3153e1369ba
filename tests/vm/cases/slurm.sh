#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What gpuctl tells Slurm of a fabric, and that it is what gpuctl slurm check wants: without Slurm.
#
#   root port -- upstream -- sim0-0 ... sim0-2 with an h100-80 each, sim0-3 with an l40s; sim0-4, sim0-5 empty
#
# in turn: one command after the other
# vm: -t 200

# Functions are called by their names, through check.
# shellcheck disable=SC2317

. "$TESTS/vm/lib.sh"

fm=/tmp/fabric
folder=/tmp/slurm
export GPUCTL_CONFIG_DIR=/tmp/config

# Put what is printed where Slurm would look for it, with programs that are not printed.
write()
{
	local file

	mkdir -p $folder
	for file in slurm.conf gres.conf plugstack.conf; do
		gpuctl -j slurm config --node n1 | jq -r --arg f $file '.lines[] | select(.file == $f).line' >$folder/$file
	done
	echo ConstrainDevices=yes >$folder/cgroup.conf
}

check "the modules load" modprobe gpufabric_sim mode=own switches=1 slots=6 latency_ms=5 \
	'gpus=*:h100-80:off,0.3:l40s:off,0.4:none,0.5:none' || bail_out "no simulator"
check "gpufabric loads" modprobe gpufabric
check_rc 1 "without any kind that is known there is nothing to print" gpuctl slurm config
check "the GPUs are known" gpuctl scan

note "a host with its own GPUs"
config=$(gpuctl slurm config --node n1)
like "$config" "^Licenses=gf_h100:3,gf_l40s:1$" "licences are counted by kind"
like "$config" "^NodeName=n1 Gres=gpu:h100:3,gpu:l40s:1$" "so is the gres of the node"
is "$(grep -c '^NodeName=n1 Name=gpu Type=h100 File=/dev/gpufabric/sim0-[012]$' <<<"$config")" 3 "each slot has a file"
like "$config" "^NodeName=n1 Name=gpu Type=l40s File=/dev/gpufabric/sim0-3$" "that of the other kind too"
check_rc 2 "a node with a blank is none" gpuctl slurm config --node "n1 Gres=x"
is "$(gpuctl slurm config --node n1 --file gres.conf)" "$(gpuctl slurm config --node n1 | sed -n '/^# gres.conf/,/^# plugstack.conf/p' | sed '$d')" \
	"the lines of one file"
check_rc 2 "another file has none" gpuctl slurm config --file cgroup.conf
write
is "$(gpuctl slurm check --folder $folder)" "nothing is missing" "with the lines alone nothing is missing"
is "$(gpuctl -j slurm check --folder $folder | jq -c .)" '{"findings":[]}' "nor in JSON"
sed -i 's/gpu:h100:3/gpu:h100:4/' $folder/slurm.conf
is "$(gpuctl -j slurm check --folder $folder | jq -r '.findings[].text')" \
	"n1 has gpu:h100:4 in slurm.conf and 3 files here: slurmd sets the node aside ($folder/slurm.conf:$(grep -n ^NodeName $folder/slurm.conf | cut -d: -f1))" "more gres than slots is found"
check_rc 1 "a folder without slurm.conf" gpuctl slurm check --folder /nowhere

note "slots of a fabric manager"
mkdir -p $fm $GPUCTL_CONFIG_DIR/fabric.d
printf 'user = here\npassword = x\n' >$GPUCTL_CONFIG_DIR/login
chmod 600 $GPUCTL_CONFIG_DIR/login
cat >$GPUCTL_CONFIG_DIR/fabric.d/rack.conf <<END
driver = redfish
url = https://manager.example
host = here
credentials = $GPUCTL_CONFIG_DIR/login
ports = sim0-4=sw/p4 sim0-5=sw/p5
END
program=/usr/local/libexec/gpuctl/fabric-redfish
own_folder ${program%/*}
cat >$program <<'END'
#!/bin/bash
cat >/dev/null
[ ! -e /tmp/fabric/down ] || { printf '{"exit":1,"error":"fabric manager rack: cannot reach it","inventory":{"gpus":[],"ports":[]}}\n'; exit 1; }
gpus=()
for i in 0 1 2; do
	gpus+=("{\"id\":\"gpu$i\",\"model\":\"h100-80\",\"state\":\"bound\",\"host\":\"other\"}")
done
gpus+=('{"id":"gpu3","model":"l40s","state":"free"}' '{"id":"gpu4","model":"nothing known","state":"free"}')
printf '{"exit":0,"inventory":{"gpus":[%s],"ports":[]}}\n' "$(IFS=,; echo "${gpus[*]}")"
END
chmod 755 $program
config=$(gpuctl slurm config --node n1)
like "$config" "^Licenses=gf_h100:6,gf_l40s:2$" "its GPUs are licences, wherever they are"
like "$config" "^NodeName=n1 Gres=gpu:h100:5,gpu:l40s:1$" "its slots are for the kind that it has most of"
like "$config" "# not counted: gpu4 of fabric manager rack: its kind is not known" "what is not counted is said"
write
is "$(gpuctl slurm check --folder $folder)" "nothing is missing" "and nothing is missing"
mkdir -p $GPUCTL_CONFIG_DIR/gpus.d
printf '[acme-48]\nname = Acme 48GB\nvendor = qemu\nform = pcie-card\nmemory_mib = 49140\npci = 1234:1111\nsource = this test\n' \
	>$GPUCTL_CONFIG_DIR/gpus.d/acme.conf
sed -i 's/nothing known/acme-48/' $program
kind=$(gpuctl slurm config --node n1 | sed -n 's/^Licenses=.*gf_\(acme[^:]*\):1.*/\1/p')
check "a kind of the admin's has a name that gpuctl knows it by" gpuctl size llama-3.1-8b --gpu "${kind:?}"
: >$fm/down
check_rc 1 "a manager that cannot be asked: no number is right then" gpuctl slurm config
umount ${program%/*}

check "the module unloads" wait_for 10 rmmod gpufabric
check "the simulator, too" rmmod gpufabric_sim
finish
