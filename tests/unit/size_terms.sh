#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# before: make -s build/size-terms
#
# What engines print of their memory is read and judged: one row of each kind, with the
# figures of its log, and one whose figures are wrong.

set -uo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/report.sh
. "$top/tests/report.sh"
cd "$top" || exit 1

cat >"$work/terms.csv" <<'END'
row,source,engine,engine_version,task,model,params_b,hidden,layers,heads,kv_heads,head_dim,ffn,vocab,tied,kind,precision,quant,kv_dtype,ctx,ubatch,gpus,gpu_model,gpu_mem_gib,tp,pp,dp,zero,offload_layers,flash_attn,optimizer,weights_gib,kv_gib,kv_tokens,activation_or_compute_gib,state_gib,notes
a,ggml-org/llama.cpp#10701,llama.cpp,,infer,Meta Llama 3.1 8B Instruct,8.03,4096,32,32,8,128,14336,128256,,dense,gguf,Q4_K - Medium,f16,2048,512,1,,,,,,,33/33,0,,4.3003,0.25,,0.2524,,file 4.58 GiB (4.89 BPW)
b,ggml-org/llama.cpp#9949,llama.cpp,,infer,Meta Llama 3.1 8B Instruct,8.03,4096,32,32,8,128,14336,128256,,dense,gguf,Q8_0,f16,131072,512,1,,,,,,,33/33,1,,,16,,0.4062,,
c,ggml-org/llama.cpp#8551,llama.cpp,,infer,LLaMA v2 half,,4096,32,32,32,128,11008,32000,0,dense,gguf,Q4_K - Medium,f16,4096,512,1,,,,,,,16/33,0,,,2,,,,
d,"empirical results, a file",vllm,V1 0.11,infer,Llama-3.1-8B-Instruct,8.030261,4096,32,32,8,128,14336,128256,0,dense,bf16,,auto,16000,,1,H100,79.18,1,1,1,,,,,14.99,55.79,457024,4.76,,
e,vllm-project/vllm#13882,vllm,V0 0.7.3,infer,Qwen2.5-7B,7.615617,3584,28,28,4,128,18944,152064,0,dense,bf16,4-bit,auto,4096,,1,RTX4060,8,1,1,1,,,,,5.2032,,,1.42,,
f,golden values,megatron,,train,gpt 12L-512h,,512,12,8,8,64,2048,,,dense,bf16,,,1024,,8,H100,80,1,1,8,0,,,Adam,,,,,1.17324,tiny
g,golden values,megatron,,train,gpt 12L-512h shared,,512,12,8,8,64,2048,,,dense,bf16,,,1024,,8,H100,80,1,1,8,1,,,Adam,,,,,0.54155,tiny
h,nobody,llama.cpp,,infer,Meta Llama 3.1 8B Instruct,8.03,4096,32,32,8,128,14336,128256,,dense,gguf,Q8_0,f16,8192,512,1,,,,,,,33/33,1,,,8,,0.2524,,
END
build/size-terms "$work/terms.csv" ctl/catalogue >"$work/out" || echo "status $?"
json=$(tail -n 1 "$work/out")

# at_most GROUP ENGINE MEDIAN "description"
at_most()
{
	report "$(jq -r --arg group "$1" --arg engine "$2" --argjson most "$3" \
		'.engines[$engine][$group] | .n > 0 and .median <= $most' <<<"$json")" true "$4"
}

report "$(jq -r .rows <<<"$json")" 8 "rows"
at_most weights.file llama.cpp 0.002 "a file without its input table"
at_most compute.one llama.cpp 0.001 "compute buffers, to the last digit"
at_most kv.standard llama.cpp 0.001 "a cache by its cells"
at_most kv.standard vllm 0.001 "a cache by the tokens that were printed"
at_most weights.plain vllm 0.01 "weights in 16 bits"
at_most weights.quantized vllm 0.01 "weights in 4 bits"
at_most activations.text vllm 0.05 "a sampler, on a large GPU and on a small one"
at_most states.toy megatron 0.03 "states, with and without a shared optimizer"
report "$(jq -r '.engines["llama.cpp"]["kv.standard"].p90 > 0.5' <<<"$json")" true "a wrong figure shows"
report "$(jq -r '.terms["kv.standard"].sources' <<<"$json")" 5 "sources count once"

# What a row does not tell is not judged, and a machine's GPUs are not a run's.
cat >"$work/training.csv" <<'END'
row,source,engine,task,model,params_b,hidden,layers,heads,kv_heads,head_dim,ffn,vocab,tied,kind,precision,ctx,micro_batch,global_batch,gpus,tp,pp,dp,zero,optimizer,weights_gib,state_gib,total_gib,memory_kind,usable,notes
a,golden values,megatron,train,gpt 12L-512h,,512,12,8,8,64,2048,,,dense,bf16,1024,2,2,8,1,1,8,1,Adam,,1.17324,,allocated,yes,
b,a table,deepspeed,train,no layout,8.030261,4096,32,32,8,128,14336,128256,0,dense,bf16,4096,1,,8,,,,3,AdamW,,,40,allocated,yes,
c,a table,deepspeed,train,no GPUs,8.030261,4096,32,32,8,128,14336,128256,0,dense,bf16,4096,1,,,,,,3,AdamW,,,40,allocated,yes,
d,a table,deepspeed,train,no length,8.030261,4096,32,32,8,128,14336,128256,0,dense,bf16,,1,,8,1,1,8,3,AdamW,,,40,allocated,yes,
e,a table,deepspeed,train,stale,8.030261,4096,32,32,8,128,14336,128256,0,dense,bf16,4096,1,,8,1,1,8,3,AdamW,,,40,allocated,no: see notes,
f,a table,deepspeed,train,told,8.030261,4096,32,32,8,128,14336,128256,0,dense,bf16,4096,1,,8,1,1,8,3,AdamW,,,40,allocated,yes,
g,a table,fsdp,train,16 bits alone,8.030261,4096,32,32,8,128,14336,128256,0,dense,pure_bf16,4096,1,,1,1,1,1,0,AdamW,,,75,allocated,yes,
h,a table,hf-peft,train,16 bits,8.030261,4096,32,32,8,128,14336,128256,0,dense,bfloat16,4096,1,,1,1,1,1,0,AdamW,,,75,allocated,yes,
i,a table,torchtune,train,16 bits as well,8.030261,4096,32,32,8,128,14336,128256,0,dense,bf16,4096,1,,1,1,1,1,0,AdamW bf16,,,75,allocated,yes,
END
build/size-terms "$work/training.csv" ctl/catalogue -v >"$work/out" || echo "status $?"
json=$(tail -n 1 "$work/out")
at_most states.toy megatron 0.03 "more replicas than micro-batches: those of the machine"
report "$(jq -r '.engines.deepspeed.total.n' <<<"$json")" 1 "rows without length, GPUs or layout, and stale ones"
report "$(jq -r '.engines.deepspeed.total.coverage' <<<"$json")" 1 "40 GiB are below P95 of 30"
for engine in fsdp hf-peft torchtune; do
	at_most total "$engine" 0.25 "states in 16 bits alone, $engine"
done

echo "1..$count"
[ "$failed" -eq 0 ]
