#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# gpuctl as a user and as scripts meet it: exit codes, the words of refusals,
# JSON, holders, races, lost events, interrupts.
#
#   switch 0: sim0-0 ... sim0-7   H100, off
#   switch 1: sim1-0 ... sim1-3   L40S, off     sim1-4, sim1-5   A100, off     two empty slots
#
# alone: the modprobe that the kernel starts reads the machine's own /etc
# vm: -t 300

. "$TESTS/vm/lib.sh"

state()
{
	gpuctl -j show "$1" | jq -r .slot.state
}

# shellcheck disable=SC2317  # called through wait_for
in_state()
{
	[ "$(state "$1")" = "$2" ]
}

# The error line of a command; its output is dropped.
error_of()
{
	{ "$@" >/dev/null; } 2>&1
}

has_snapshots() { [ "$(grep -c snapshot-done /tmp/watch.json)" -ge "$1" ]; }
is_sleep() { [ "$(readlink "/proc/$1/exe")" != /bin/bash ]; }

holder=
hold()
{
	exec 9<"/dev/gpufabric-sim/$1"
	sleep 1000 &
	holder=$!
	exec 9<&-
	wait_for 10 is_sleep "$holder"
}

modprobe -r gpufabric
mkdir -p /etc/modprobe.d
echo 'install gpufabric /bin/false' >/etc/modprobe.d/no.conf
check_rc 6 "without the module: exit code 6" gpuctl list
like "$(error_of gpuctl list)" '^gpuctl: module gpufabric is not loaded: modprobe gpufabric$' "and what to do"
is "$(gpuctl -j version | jq -r .module)" null "version works without the module"
is "$(gpuctl -j --version)" "$(gpuctl -j version)" "so does --version"
is "$(gpuctl -j compose --version)" "$(gpuctl -j version)" "also behind a command"

rm /etc/modprobe.d/no.conf

check "the simulator loads" modprobe gpufabric_sim mode=own
check "the module loads" modprobe gpufabric
is "$(gpuctl -j list | jq -r '.slots | length')" 16 "list shows every slot"
is "$(gpuctl -j list | jq -r '[.slots[] | select(.identity == "unknown" and .state == "off")] | length')" 14 \
	"a slot that is off is unknown"
check_rc 3 "compose refuses GPUs that nobody knows" gpuctl compose early --gpus 1
like "$(error_of gpuctl compose early --gpus 1)" '14 unknown \(gpuctl scan\)' "and says how to learn of them"

# --- scan ---------------------------------------------------------------
check "scan" gpuctl scan
is "$(gpuctl -j list | jq -r '[.slots[] | select(.identity == "last-seen")] | length')" 14 "now all are known"
is "$(gpuctl -j list | jq -r '[.slots[] | select(.state == "off")] | length')" 14 "and off again"
is "$(gpuctl -j list | jq -r '.slots[0] | [.gpu, .simulated, .gpu_id] | join(" ")')" \
	"H100 PCIe (sim) true h100-pcie-80" "a simulated GPU says that it is"
like "$(gpuctl scan)" 'every occupied slot is known' "a second scan powers nothing"
echo $((2000 * SLOW)) >/sys/module/gpufabric_sim/parameters/latency_ms
gpuctl scan --all >/tmp/scan 2>&1 &
scan=$!
check "a scan powers them" wait_for 10 in_state sim0-7 attaching
kill -INT "$scan"
check_rc 1 "a scan that is interrupted" wait "$scan"
like "$(cat /tmp/scan)" '^gpuctl: interrupted: 14 of 14 slots were scanned' "says how far it came"
is "$(gpuctl -j list | jq -r '[.slots[] | select(.state == "off")] | length')" 14 "and leaves all off"
echo 100 >/sys/module/gpufabric_sim/parameters/latency_ms

# --- attach, detach -----------------------------------------------------
check "attach two slots" gpuctl attach sim0-0 sim0-1
is "$(state sim0-0) $(state sim0-1)" "ready ready" "both are ready"
check "attach again: nothing to do, no error" gpuctl attach sim0-0
check "-n attaches nothing" gpuctl -n attach sim0-2
is "$(state sim0-2)" off "really"
check_rc 2 "an unknown slot" gpuctl attach sim0-9
like "$(error_of gpuctl attach sim0-9)" 'no slot sim0-9: did you mean sim0-' "says which are near"
check_rc 2 "a slot named twice" gpuctl attach sim0-3 sim0-3
check_rc 1 "an empty slot" gpuctl attach sim1-7
like "$(error_of gpuctl attach sim1-7)" '^gpuctl: sim1-7: the slot is empty' "names the slot that the module refused"

hold sim0-0
check_rc 4 "detach of a GPU that is held open" gpuctl detach sim0-0
is "$(state sim0-0)" ready "changes nothing"
like "$(error_of gpuctl detach sim0-0)" "$holder +root +sleep 1000 .*/dev/gpufabric-sim/sim0-0" "lists the holder"
like "$(error_of gpuctl detach sim0-0)" 'also at risk: sim0-1 \(same driver\)' "and who may be disturbed"
is "$(gpuctl -j detach sim0-0 2>/dev/null | jq -r '.holders[0].pid')" "$holder" "in JSON, too"
check_rc 4 "with a wait that is too short" gpuctl detach sim0-0 --wait 1s
is "$(state sim0-0)" ready "the drain is taken back"
check_rc 4 "-n tells of holders as well" gpuctl -n detach sim0-0
gpuctl detach sim0-0 --wait 60s >/tmp/waiting 2>&1 &
waiting=$!
wait_for 10 grep -q announced /tmp/waiting
is "$(state sim0-0)" draining "with a long wait the removal is announced"
kill "$holder"
check "and done once the holder is gone" wait "$waiting"
is "$(state sim0-0)" off "off"
hold sim0-1
check "--force goes on regardless" gpuctl detach --force sim0-1
kill "$holder"

# --- compose ------------------------------------------------------------
check_rc 2 "a bad name" gpuctl compose 1st --gpus 1
check_rc 2 "nothing asked for" gpuctl compose nothing
check_rc 2 "no GPUs" gpuctl compose zero --gpus 0
check_rc 2 "a size that is none" gpuctl compose bad --memory 160
check_rc 2 "a GPU that nobody makes" gpuctl compose bad --gpu h1000:1
check_rc 3 "more than there is" gpuctl compose big --gpus 15
like "$(error_of gpuctl compose big --gpu h100:9)" 'asked 9 h100, free 14: 8 H100 PCIe \(sim\), 4 L40S' "says what there is"
like "$(gpuctl compose one --gpu h100:4 -n)" 'one would get sim0-0 sim0-1 sim0-2 sim0-3; nothing was changed' "-n prints the choice"
is "$(gpuctl -j list | jq -r '.compositions | length')" 0 "and makes nothing"
check "compose" gpuctl compose one --gpu h100:4 --tenant ml --label night --job 4711 --for 8h --reason nightly
is "$(gpuctl -j show one | jq -r '.composition | [.state, .gpus, .tenant, .label, .job] | join(" ")')" \
	"active 4 ml night 4711" "the composition as it was asked for"
check_rc 1 "a name that is taken" gpuctl compose one --gpus 1
check_rc 4 "detach of a member" gpuctl detach sim0-0
like "$(error_of gpuctl detach sim0-0)" 'gpuctl release one' "says what to do instead"
llm=(compose llm --model llama-3.1-70b --task infer --method formula)
like "$(gpuctl "${llm[@]}" -n)" 'decided by memory: on 1 each would have to hold' "-n says which limit decided about a model"
is "$(gpuctl -j "${llm[@]}" -n | jq -r '[.limit, .tensor_parallel, .data_parallel, (.slots | length)] | join(" ")')" \
	"memory 2 1 2" "and -j has it as fields"
check_rc 2 "--mixed is about a model" gpuctl compose mix --gpus 2 --mixed
check "compose by model" gpuctl compose llm --model llama-3.1-70b --task infer --method formula
is "$(gpuctl -j show llm | jq -r '.composition.slots | join(" ")')" "sim0-4 sim0-5" "two H100 hold it"
# Index, GiB and properties of the first BAR, and how many windows of the port have addresses.
is "$(gpuctl -j show sim0-4 | jq -r '[(.slot.functions[0].bars[0] | .index, .size / 1073741824, .flags[]), (.slot.windows | length > 0)] | map(tostring) | join(" ")')" \
	"1 128 assigned wide prefetchable true" "show has BARs and windows"
like "$(gpuctl size check llm llama-3.1-70b)" 'sim0-4 .* 0 B .*driver' "the driver says what a GPU uses"
gpuctl -j show llm | jq -r '.composition.slots[]' | while read -r slot; do
	echo "$(gpuctl -j show "$slot" | jq -r '.slot.functions[0].address // empty'), 70000 MiB"
done >/tmp/smi
like "$(gpuctl size check llm llama-3.1-70b --smi /tmp/smi)" 'within P95' "what nvidia-smi says is compared with the estimate"
check_rc 3 "a model that fits on nothing that is left" gpuctl compose huge --model llama-3.1-405b
like "$(error_of gpuctl compose huge --model llama-3.1-405b)" 'decided by pool: the workload needs .*; free: ' "and which limit decided"
check "resize: one more" gpuctl resize one --gpus +1
check "resize: back to two" gpuctl resize one --gpus 2
is "$(gpuctl -j show one | jq -r '.composition.slots | join(" ")')" "sim0-0 sim0-1" "the first stay"
check "resize: one for another" gpuctl resize one --remove sim0-0 --gpus +1
check_rc 2 "resize to nothing" gpuctl resize one --gpus -2
check "release" gpuctl release one
check "release and keep" gpuctl release llm --keep
is "$(state sim0-4)" ready "the GPUs stay attached"
check "free and attached GPUs are taken as they are" gpuctl compose warm --gpu h100:2
is "$(gpuctl -j show warm | jq -r '.composition.slots | join(" ")')" "sim0-4 sim0-5" "before cold ones"
check "release" gpuctl release warm
check_rc 2 "release of what is not there" gpuctl release warm

# --- all or none --------------------------------------------------------
echo link >"$SIM/slot0.3/fail"
check_rc 7 "one slot of four does not train" gpuctl compose four --gpu h100:4
is "$(gpuctl -j list | jq -r '[.slots[] | select(.state == "ready")] | length')" 0 "all are off again"
is "$(state sim0-3)" fault "but the one at fault"
like "$(gpuctl list)" '^! sim0-3: fault \(link\)' "which list points out"
check "clear" gpuctl clear sim0-3
is "$(state sim0-3)" off "off again"
check_rc 1 "nothing to clear" gpuctl clear sim0-3

# What was seen last is what must be found.
echo a100-80 >"$SIM/slot0.0/model"
check_rc 1 "another GPU than expected rolls back" gpuctl compose swapped --gpu h100:1 -x sim0-1
like "$(gpuctl list)" '^! sim0-0: fault \(identity\)' "and is told"
echo h100-80 >"$SIM/slot0.0/model"
check "clear" gpuctl clear sim0-0
check "scan reads it again" gpuctl scan --all

# --- many at once -------------------------------------------------------
pids=()
for i in 1 2 3 4 5 6 7 8; do
	gpuctl compose "race$i" --gpu h100:1 >"/tmp/race$i" 2>&1 &
	pids+=("$!")
done
lost=0
for pid in "${pids[@]}"; do wait "$pid" || lost=$((lost + 1)); done
is "$lost" 0 "eight composers at once each get one of eight GPUs"
is "$(gpuctl -j list | jq -r '[.slots[].composition // empty] | unique | length')" 8 "and nobody the same"
check_rc 3 "a ninth is told that there is none" gpuctl compose race9 --gpu h100:1
for i in 1 2 3 4 5 6 7 8; do gpuctl release "race$i" >/dev/null || echo "# release race$i failed"; done

# --- watch --------------------------------------------------------------
gpuctl -j watch >/tmp/watch.json &
watch=$!
wait_for 10 grep -q snapshot-done /tmp/watch.json
is "$(jq -r 'select(.event == "exists" and .slot) | .slot.slot' /tmp/watch.json | wc -l)" 16 "watch begins with every slot"
gpuctl attach sim1-0 >/dev/null
gpuctl detach sim1-0 >/dev/null
wait_for 10 grep -q '"kind":"detach"' /tmp/watch.json
sequences=$(jq -r 'select(.sequence and .event != "snapshot-done") | .sequence' /tmp/watch.json)
first=$(jq -r 'select(.event == "snapshot-done") | .sequence' /tmp/watch.json)
is "$(tr '\n' ' ' <<<"$sequences")" "$(seq -s ' ' $((first + 1)) "$(tail -n 1 <<<"$sequences")") " "then every change, without a gap"

# A reader that stops reading: events overflow, and it says so and starts anew.
kill -STOP "$watch"
mapfile -t slots < <(gpuctl completion slots | grep -E '^sim(0-[0-5]|1-[0-4])$')
for i in $(seq 25); do
	gpuctl attach "${slots[@]}" >/dev/null
	gpuctl detach "${slots[@]}" >/dev/null
done
gpuctl attach sim1-5 >/dev/null
kill -CONT "$watch"
wait_for 20 grep -q '"event":"overrun"' /tmp/watch.json
check "lost events are told, and a new snapshot follows" wait_for 20 has_snapshots 2
is "$(jq -r 'select(.slot.slot == "sim1-5") | .slot.state' /tmp/watch.json | tail -n 1)" ready "which knows the present state"
kill "$watch"
check "and ends well when it is told to" wait "$watch"
check "watch ends when its reader is gone" bash -c 'set -o pipefail; gpuctl watch | head -n 1'

# --- stuck --------------------------------------------------------------
gpuctl attach sim0-6 >/dev/null
echo remove-block >"$SIM/slot0.6/driver"
check_rc 7 "a driver that does not let go: exit code 7" gpuctl detach sim0-6 --timeout 2s
is "$(state sim0-6)" stuck "stuck"
like "$(gpuctl list)" '^! sim0-6: stuck in detach: driver gpufabric-sim-gpu does not let go of' "list says who"
check_rc 7 "nothing else can be done with the slot" gpuctl detach sim0-6
echo remove-release >"$SIM/slot0.6/driver"
wait_for 20 in_state sim0-6 off
is "$(state sim0-6)" off "until the kernel comes back"

# --- interrupts ---------------------------------------------------------
echo probe-slow 3000 >"$SIM/slot0.7/driver"
gpuctl attach sim0-7 >/tmp/interrupted 2>&1 &
attach=$!
wait_for 10 in_state sim0-7 attaching
kill -INT "$attach"
check_rc 1 "an interrupted wait" wait "$attach"
like "$(cat /tmp/interrupted)" 'interrupted: the attach continues' "says that the operation goes on"
wait_for 20 in_state sim0-7 ready
is "$(state sim0-7)" ready "which it does"

# --- who may, and what is read -----------------------------------------
as_nobody()
{
	su nobody -s /bin/bash -c "$*"
}
check "anybody may look" as_nobody gpuctl list
check_rc 5 "and change nothing: exit code 5" as_nobody gpuctl attach sim0-1
is "$(as_nobody gpuctl -j history | jq -r '[.history[] | .pid // .reason // empty] | length')" 0 "history tells others neither who nor why"
is "$(gpuctl -j history | jq -r '[.history[] | select(.reason == "nightly")] | length')" 4 "root is told"
check "stats" gpuctl stats
is "$(gpuctl -j stats | jq -r '[.stats[] | select(.operation == "attach" and .phase == "total")] | length')" 1 "one histogram a phase"
check_rc 1 "a full disk is an error" bash -c 'gpuctl list >/dev/full'
check "topo" gpuctl topo --pairs
is "$(gpuctl -j topo --pairs | jq -r '[.pairs[] | select(.from == "sim0-7" and .to == "sim1-5")][0].relation')" host "two root ports"

# --- declarations -------------------------------------------------------
mkdir -p /etc/gpuctl/slots.d
gpuctl detach sim0-7 sim1-5 >/dev/null
check "unload" wait_for 10 rmmod gpufabric
check "load" modprobe gpufabric
printf '# what sits where\nsim0-* h100-pcie-80\nsim0-7 6767:0001/10de:2331\n' >/etc/gpuctl/slots.d/rack.conf
is "$(gpuctl -j show sim0-7 | jq -r '[.slot.identity, .slot.gpu] | join(" ")')" "declared H100 PCIe (sim)" "a declaration by PCI ids"
check "is good enough to compose by" gpuctl compose declared --gpu h100:1 -x sim0-0 -x sim0-1 -x sim0-2 -x sim0-3 -x sim0-4 -x sim0-5 -x sim0-6
check_rc 1 "one that is not true is found out" gpuctl compose wrong --gpu h100:1
like "$(gpuctl list)" '^! sim0-0: fault \(identity\)' "and told"
echo "sim0-1 nonsense-gpu" >/etc/gpuctl/slots.d/rack.conf
check_rc 1 "a line that makes no sense stops a change" gpuctl compose other --gpus 1
like "$(error_of gpuctl compose other --gpus 1)" '/etc/gpuctl/slots.d/rack.conf:1: ' "with its place"
check "but not a look" gpuctl list
check "release" gpuctl release declared
finish
