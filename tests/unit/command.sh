#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# gpuctl as a program, with what needs no module: help, catalogues, sizes,
# completion, and the words for what was typed wrongly.
#
# before: make -s gpuctl

set -uo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 1
gpuctl=${GPUCTL:-${GPUFABRIC_BUILD:-$top/build}/gpuctl}
export GPUCTL_DATA_DIR=ctl/catalogue GPUCTL_CONFIG_DIR=/nowhere
count=0
failed=0

# gives STATUS REGEX ARGUMENT...: ends so, and says that on either channel.
gives()
{
	local status=$1 regex=$2 text rc=0
	shift 2

	text=$("$gpuctl" "$@" 2>&1) || rc=$?
	count=$((count + 1))
	if [ "$rc" -eq "$status" ] && grep -qE -- "$regex" <<<"$text"; then
		echo "ok $count - gpuctl $*"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $count - gpuctl $*"
	echo "#   status $rc, expected $status with $regex"
	head -n 5 <<<"$text" | sed 's/^/#   /'
}

# json FILTER WANT ARGUMENT...
json()
{
	local filter=$1 want=$2 is
	shift 2

	is=$("$gpuctl" -j "$@" 2>/dev/null | jq -c "$filter" 2>&1)
	count=$((count + 1))
	if [ "$is" = "$want" ]; then
		echo "ok $count - gpuctl -j $*: $filter"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $count - gpuctl -j $*: $filter"
	echo "#   is $is, expected $want"
}

gives 0 '^usage: gpuctl ' help
gives 0 '^usage: gpuctl ' --help
gives 0 '^Sizing and planning:$' help
gives 0 '^  plan +VERB ' help
gives 2 '^  GPUs: scan attach detach clear locate fabric$'
gives 0 '^no fabric manager: there is no file in .*/fabric.d$' fabric
gives 0 '^no fabric manager' fabric list
gives 0 '^usage: gpuctl fabric ' help fabric
gives 2 'no command fabric bond: did you mean fabric bind' fabric bond
gives 2 'h100:x.*write KIND:COUNT' fabric bind h100:x
gives 2 'h100:0.*write KIND:COUNT' fabric bind h100:0
json '.pool, .managers' '[]
[]' fabric
gives 0 '^usage: gpuctl compose ' help compose
gives 0 '^usage: gpuctl detach ' detach --help
gives 0 '^usage: gpuctl detach ' -j detach -h
gives 2 'no command given' -j
gives 2 'no command atach: did you mean attach\?' atach
gives 2 'no command xyzzy: see gpuctl help' xyzzy
gives 2 'no command nothing: see gpuctl help' help nothing
gives 2 'too many operands: usage: gpuctl help' help a b c
gives 2 'missing operands: usage: gpuctl attach' attach
gives 2 'no option --tmeout: did you mean --timeout\?' attach --tmeout 3s 3-2
gives 2 'no option --xyzzy: see gpuctl help attach' attach --xyzzy 3-2
gives 2 'no option -Z: see gpuctl help list' list -Z
gives 2 'no option --xyzzy: see gpuctl --help' --xyzzy list
gives 2 'option --timeout needs an argument' attach 3-2 --timeout
gives 2 'option -g needs an argument' compose a -g
gives 2 'option --json takes no argument' list --json=yes
gives 2 'list changes nothing: leave -n out' -n list
gives 0 '^gpuctl +[0-9]' --version
gives 0 '^gpuctl +[0-9]' list --version
gives 0 '^gpuctl +[0-9]' version
gives 2 'too many operands' version 2

gives 0 '^h100-pcie-80 ' gpus
gives 0 '^h100-pcie-80 ' gpus --cards
gives 0 '^name +H100 PCIe 80GB' gpus h100-pcie-80
gives 2 'h101' gpus h101
gives 0 'llama-3.1-70b' models
gives 0 '70.55 B' models llama-3.1-70b
gives 2 'llama-9' models llama-9
json '[.gpus[] | select(.id == "h100-pcie-80")] | length' 1 gpus
json '.gpu.id // .id // .gpus[0].id' '"h100-pcie-80"' gpus h100-pcie-80
json '.models | length > 20' true models

gives 0 'GiB' size llama-3.1-70b
gives 0 'GiB' size llama-3-8b --context 32K --batch 4 --precision fp8 --kv-precision fp8
gives 0 'GiB' size llama-3-8b --task lora --rank 64
gives 0 'GiB' size --params 70B --task train
gives 0 '.' size compare llama-3-8b
gives 0 '.' size --params 7B --task train --method fleet-training --tokens 2T --hours 720
gives 2 'either a model or --params, not both' size llama-3-8b --params 8B
gives 2 'the model is named twice' size llama-3-8b --model llama-3.1-70b
gives 2 '--params: "70" parameters need a unit: did you mean 70B\?' size --params 70
gives 2 '--context: "8Q" is not a number' size llama-3-8b --context 8Q
gives 2 '--batch: ' size llama-3-8b --batch 0
gives 2 '--rank: "x" is not a whole number' size llama-3-8b --task lora --rank x
gives 2 '--task: ' size llama-3-8b --task dance
gives 2 '--precision: ' size llama-3-8b --precision fp3
gives 2 '--kv-precision: ' size llama-3-8b --kv-precision fp3
gives 2 '--method: ' size llama-3-8b --method guess
gives 2 '--mfu: ' size --params 7B --task train --method fleet-training --tokens 2T --hours 720 --mfu 2
gives 2 '--epochs: ' size --params 7B --task train --method fleet-training --tokens 2T --hours 720 --epochs 0
gives 2 '--hours: ' size --params 7B --task train --method fleet-training --tokens 2T --hours -1
gives 2 '--throughput: ' size --params 7B --method fleet-inference --output-tokens 500 --qpm 60 --throughput x
gives 2 '--qpm: ' size --params 7B --method fleet-inference --output-tokens 500 --qpm x
gives 2 '--output-tokens: ' size --params 7B --method fleet-inference --output-tokens x --qpm 5
gives 0 '.' size --params 7B --method fleet-inference --output-tokens 500 --qpm 60 --throughput 900
gives 2 'size estimate changes nothing: leave -n out' size llama-3-8b -n
gives 2 'no option --smi: gpuctl size check has it' size llama-3-8b --smi x
gives 2 'no option --ttft=1s: gpuctl size machines has it' size --ttft=1s llama-3-8b
gives 2 'size table' size table llama-3-8b
gives 0 'GiB' size --context 4K llama-3-8b
gives 0 'GiB' size -j estimate llama-3-8b
gives 2 'too many operands' size machine llama-3-8b
gives 2 'options of size learn|usage: gpuctl size learn LOG' size learn
gives 2 'no command watch untl: did you mean watch until' watch untl sim0-0 off
gives 2 'usage: gpuctl watch until' watch until sim0-0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What would be dropped in silence, or cannot be, is refused before anything is printed.
gives 2 '^gpuctl: engine vllm serves models and cannot do the task train' size llama-3-8b --engine vllm --task train
gives 2 '^gpuctl: engine llama.cpp serves models' size llama-3-8b --engine llama.cpp --task qlora
gives 0 'GiB' size llama-3-8b --engine hf --task train
gives 2 '^gpuctl: --rank is for adapters' size llama-3-8b --rank 8
gives 2 '^gpuctl: --lora-rank is for adapters' size llama-3-8b --task train --lora-rank 8
gives 2 '^gpuctl: --batch and --micro-batch mean the same' size llama-3-8b --task train --batch 8 --micro-batch 2
gives 2 '^gpuctl: --rank and --lora-rank mean the same' size llama-3-8b --task lora --rank 8 --lora-rank 8
gives 2 '^gpuctl: --qpm needs --output-tokens' size llama-3-8b --qpm 60
gives 2 '^gpuctl: --epochs needs --tokens' size llama-3-8b --task train --epochs 2
gives 2 '^gpuctl: --hours is for --method fleet-training' size llama-3-8b --task train --hours 5
gives 0 'fleet-training' size compare llama-3-8b --task train --tokens 1T --hours 5
gives 2 '^gpuctl: --best: "beauty" is none of' size machines llama-3-8b --best beauty
gives 2 '^gpuctl: --deadline is for training' size machines llama-3-8b --deadline 30d --tokens 1T
gives 2 '^gpuctl: --tpot is for inference' size machines llama-3-8b --task train --tpot 50ms
gives 0 'TPOT >=' size machines llama-3-8b --gpu h100-pcie --tpot 20ms
gives 0 '"ttft_limit":' size machines llama-3-8b --gpu h100-pcie -j
gives 3 'is fast enough: .* needs at least .* ms from token to token \(memory\)' size machines llama-3-8b --gpu h100-pcie --tpot 1ms --gpus-max 1
gives 2 '^gpuctl: --ttft: "soon" is not a time' size machines llama-3-8b --ttft soon
gives 2 '^gpuctl: --price: "x" is neither a number .* nor a file' size machines llama-3-8b --price x
gives 0 '^ARRANGEMENT' size machines llama-3-8b --gpus-max 2
echo '{"hidden_size": 4096, ' >"$work/config.json"
gives 2 'config.json: not a JSON object \(cut off before its end\)' size "$work/config.json"
gives 2 'not a JSON object \(cut off before its end\): write options' size --spec "$work/config.json"
echo '[]' >"$work/config.json"
gives 2 'not a JSON object \(it is another value\)' size "$work/config.json"

# A log is compared and learned from; with -n it is compared alone.
echo 'INFO Loading model weights took 14.9888 GB' >"$work/vllm.log"
learn=(size learn "$work/vllm.log" llama-3.1-8b --engine vllm)
export GPUCTL_CONFIG_DIR=$work/etc
gives 2 'the engine that wrote the log is missing: add --engine' size learn "$work/vllm.log" llama-3-8b
gives 2 'no memory line of PyTorch' size learn /dev/null llama-3-8b --engine vllm
gives 0 'nothing was stored' "${learn[@]}" -n
json '[.engine, .logs, .stored]' '["vllm",1,false]' "${learn[@]}" -n
count=$((count + 1))
if [ -e "$work/etc" ]; then
	failed=$((failed + 1))
	printf 'not '
fi
echo "ok $count - nothing was written"
gives 0 'stored in .*/etc/engines.d/learned.conf' "${learn[@]}"
json '[.logs, .stored]' '[2,false]' "${learn[@]}" -n
json '.learned_logs' 1 size llama-3.1-8b --engine vllm
export GPUCTL_CONFIG_DIR=/nowhere

json '.terms // .needs // .method | type != "null"' true size llama-3-8b

gives 2 'missing operands: usage: gpuctl completion KIND' completion
gives 0 '^llama-3[.]1-70b$' completion models
gives 0 '^h100-pcie-80$' completion gpus
gives 2 'there is no kind cards: the kinds are slots, compositions, ' completion cards
gives 2 'too many operands: usage: gpuctl metrics \[FILE\]' metrics a b
gives 2 'too many operands: usage: gpuctl features \[FILE\]' features a b
gives 1 'cannot write /nowhere/a.prom: No such file' metrics /nowhere/a.prom
gives 2 'no device: give a path below /sys/devices' udev
gives 2 'no device: give a path below /sys/devices' udev /etc/passwd
gives 0 '' udev /sys/devices/virtual/mem/null
gives 2 'udev changes nothing: leave -n out' -n udev /sys/devices/x
gives 2 '"a/b" is not the name of a device' cdi --remove a/b
gives 2 '"-" is not the name of a device' cdi --remove -
gives 2 'needs a file: name its directory' cdi --remove a --output -
gives 1 'cannot write /nowhere/gpufabric.json: No such file' cdi --output /nowhere
gives 2 'too many operands' nodes a

# traces: what is refused names file, line and column
trace=$(mktemp -d)
tests/bench/plan/made.py "$trace"
jobs=$trace/jobs.csv
demand=("$trace"/demand/*.csv)
gives 0 'gpuctl, runtimes learned' plan replay "$jobs" --pool 256 --warm 1d
gives 0 'gpuctl, runtimes known' plan replay "$jobs" --pool 256 --warm 1d --runtimes known
gives 0 'static GPUs for our JCT +[0-9]+' plan replay "$jobs" --pool 640 --warm 1d --equal-jct
gives 0 'reactive, every 5 min' plan replay "${demand[@]}" --pool 160 --warm 1d --hold 30min
gives 0 'energy is modelled.*PUE 1.5, 50 g CO2' plan replay "$jobs" --pool 640 --warm 1d --pue 1.5 --carbon 50
gives 0 '^</svg>' plan replay "$jobs" --pool 640 --warm 1d --svg -
gives 2 'add --pool|Add --pool' plan replay "$jobs"
gives 2 '^gpuctl: .*:[0-9]+:[0-9]+: [0-9]+ GPUs are more than the pool of 8 has' plan replay "$jobs" --pool 8
gives 2 'shorten --warm' plan replay "$jobs" --pool 64 --warm 99d
gives 2 'neither known nor unknown' plan replay "$jobs" --pool 64 --runtimes perhaps
gives 2 '/nowhere/x: No such file' plan replay /nowhere/x --pool 64
gives 2 'tenant east has a file already' plan replay "${demand[@]}" "$trace/demand/east.csv" --pool 160
: >"$trace/empty.csv"
gives 2 'empty.csv:1:1: the file is empty' plan replay "$trace/empty.csv" --pool 64
printf 'submit_s,duration_s,gpus,tenant\n5,1,1,a\n4,1,1,a\n' >"$trace/unsorted.csv"
gives 2 'unsorted.csv:3:1: submit_s is before' plan replay "$trace/unsorted.csv" --pool 64
json '[.policies[].policy]' '["static","fifo","easy","greedy","sjf","hold","ours","bound"]' \
	plan replay "$jobs" --pool 640 --warm 1d
json '[.policies[] | select(.policy == "ours" or .policy == "optimum") | .cost_over_bound >= 1]' \
	'[true,true]' plan replay "${demand[@]}" --pool 160 --warm 1d
json '(.tenants | length == 12) and ([.days[].kwh] | add > 0)' true plan replay "$jobs" --pool 640 --warm 1d

# costs of moves as they were measured
cat >"$trace/rack.json" <<'RACK'
{ "gpufabric_plan": 1, "intervals": 2, "interval_s": 600, "attach_s": 12,
  "kinds": [ { "name": "k" } ], "switches": [ { "name": "s" } ],
  "pools": [ { "switch": "s", "kind": "k", "gpus": 4 } ], "hosts": [ { "name": "h" } ],
  "workloads": [ { "name": "a", "kinds": [ "k" ], "gpus": [ 1, 4 ] } ] }
RACK
echo '{"stats":[{"operation":"attach","phase":"total","count":2,"microseconds":7000000}]}' >"$trace/stats.json"
gives 0 'cost 48.0: the best' plan solve "$trace/rack.json"
gives 0 'cost 14.0: the best' plan solve "$trace/rack.json" --costs "$trace/stats.json"
gives 0 'attach_s 3.500: measured, mean of 2' plan solve "$trace/rack.json" --costs "$trace/stats.json"
gives 0 'detach_s was not measured yet' plan solve "$trace/rack.json" --costs "$trace/stats.json"
# energy of a plan and of a journal
"$gpuctl" plan solve -j "$trace/rack.json" >"$trace/plan.json"
json '[.energy.gpu_hours_basis, .energy.kwh_basis, .energy.counterfactual, .energy.avoided_kwh >= 0]' \
	'["modelled","modelled","always-on",true]' plan energy "$trace/plan.json"
for entry in '"7200000000","GPUFABRIC_STATE":"ready","GPUFABRIC_COMPOSITION":"a","GPUFABRIC_TENANT":"red"' \
	'"10800000000","GPUFABRIC_STATE":"ready"' '"18000000000","GPUFABRIC_STATE":"off"'; do
	echo '{"GPUFABRIC_EVENT":"slot-changed","GPUFABRIC_SLOT":"3-1","__REALTIME_TIMESTAMP":'"$entry}"
done >"$trace/journal.json"
json '[.energy.gpu_hours, .energy.idle_gpu_hours, .energy.gpu_hours_basis, .tenants[0].tenant, (.periods | length)]' \
	'[1,2,"measured","red",2]' plan energy "$trace/journal.json" --period 3h
gives 0 'against +static, each tenant keeps its peak: 1 GPUs' plan energy "$trace/journal.json" --against static
gives 0 'watts are given.* 500 W busy' plan energy "$trace/journal.json" --busy-watts 500 --idle-watts 90
gives 2 'rack.json:1:1: "use" is missing' plan energy "$trace/rack.json"
gives 2 'neither always-on nor static' plan energy "$trace/plan.json" --against nothing
gives 2 'pool 1: 4 GPUs were in use' plan energy "$trace/plan.json" --pool 1
gives 2 'not a time of a minute or more' plan energy "$trace/plan.json" --period 1s
gives 2 'rack.json:1:1: "stats" is missing' plan solve "$trace/rack.json" --costs "$trace/rack.json"
# the smallest pool there is, and GPUs that are held twice
printf 'submit_s,duration_s,gpus,tenant\n0,100,1,a\n700000,100,1,a\n' >"$trace/two-jobs.csv"
gives 0 'static GPUs for our JCT +8' plan replay "$trace/two-jobs.csv" --pool 8 --equal-jct
rack()
{
	printf '{ "gpufabric_plan": 1, "intervals": 30, "interval_s": 60, "attach_s": 100, "detach_s": 5, %s %s, "workloads": [%s] }' \
		'"kinds": [{ "name": "h100" }], "switches": [{ "name": "sw0" }], "hosts": [{ "name": "node1" }],' \
		'"pools": [{ "switch": "sw0", "kind": "h100", "gpus": 8 }]' "$1"
}
held='"now": [{ "switch": "sw0", "kind": "h100", "gpus": %d }]'
# shellcheck disable=SC2059 # the number of GPUs
held6=$(printf "$held" 6) held4=$(printf "$held" 4)
rack "{ \"name\": \"a\", \"gpus\": 8, \"kinds\": [\"h100\"], $held6 }, { \"name\": \"b\", \"gpus\": 8, \"kinds\": [\"h100\"], $held6 }" \
	>"$trace/twice.json"
json '[.use[] | select(.first_interval == 0) | .gpus] | add <= 8' true plan solve "$trace/twice.json"
# a series that begins later, as on a host whose clock is not set
rack "{ \"name\": \"serve\", \"kinds\": [\"h100\"], $held4 }, { \"name\": \"batch\", \"kinds\": [\"h100\"], \"gpus\": 8, \"weight\": 0.2 }" \
	>"$trace/later.json"
printf 'minute,quota_gpus,running_gpus,pending_gpus\n1000,4,4,0\n1001,4,4,0\n' >"$trace/serve.csv"
json '[.steps[] | .workload + " " + .action]' '["batch compose"]' plan step --state file --minute 5 "$trace/later.json" "$trace/serve.csv"
# a part of a GPU is asked for, however long its history is
rack "{ \"name\": \"serve\", \"kinds\": [\"h100\"], \"history\": [$(printf '0.4, %.0s' {1..199})0.4] }" >"$trace/part.json"
gives 0 'serve +compose' plan step --state file --minute 9 "$trace/part.json"
# flags in a file
echo '{ "model": "llama-3.1-8b", "task": "train", "offload": 0 }' >"$trace/flag.json"
gives 2 '--spec: offload must be true or false' size --spec "$trace/flag.json"
for word in true false; do
	echo "{ \"model\": \"llama-3.1-8b\", \"task\": \"train\", \"flash\": $word, \"offload\": false, \"context\": 8192 }" >"$trace/$word.json"
done
json .total_bytes "$("$gpuctl" -j size llama-3.1-8b --task train --flash off --context 8192 | jq .total_bytes)" size --spec "$trace/false.json"
json .total_bytes "$("$gpuctl" -j size llama-3.1-8b --task train --context 8192 | jq .total_bytes)" size --spec "$trace/true.json"
rm -r "$trace"

gives 0 'replay	+run a trace' completion -- plan ''
gives 0 '^from-stats' completion -- plan solve --costs ''

gives 0 '^\.TH ' man
GPUCTL_DATA_DIR=/nowhere gives 1 '/nowhere/gpus.d: No such file' gpus
GPUCTL_DATA_DIR=/nowhere gives 1 '/nowhere/models.d: No such file' completion models
gives 0 '^\.TH GPUCTL-LIST 8' man list
gives 2 'no command 1: see gpuctl help' man 1
gives 2 '^gpuctl: --sort size: write one of slot, state, composition, gpu, time' top --sort size
gives 2 '^gpuctl: --filter some: write one of all, used, free, trouble' top --filter some
gives 6 'module gpufabric is not loaded' top

# Where it was built it finds the catalogue beside its sources, whose only GPUs are these.
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
unset GPUCTL_DATA_DIR
mkdir -p "$built/build" "$built/ctl"
cp -rL "$top/ctl/catalogue" "$built/ctl/"
find "$built/ctl/catalogue/gpus.d" -type f ! -name nvidia-hopper.conf -delete
cp "$gpuctl" "$built/build/gpuctl"
gpuctl=$built/build/gpuctl
gives 0 'H100 SXM5 80GB' gpus h100-sxm5-80
gives 2 'no GPU is called "a100-sxm4-80"' gpus a100-sxm4-80
echo "1..$count"
[ "$failed" -eq 0 ]
