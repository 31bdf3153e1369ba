#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s gpuctl
"""
Folders that are laid out otherwise than most: GGUF models in several files, of which any
part stands for all, Mistral's params.json, PyTorch's pickles.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
U32, STRING = 4, 8
F16, Q8_0 = 1, 8
HIDDEN, LAYERS, VOCAB, FFN = 256, 2, 512, 1024

TENSORS = [("token_embd.weight", (HIDDEN, VOCAB), F16)]
for i in range(LAYERS):
    TENSORS += [(f"blk.{i}.attn_q.weight", (HIDDEN, HIDDEN), Q8_0),
                (f"blk.{i}.ffn_up.weight", (HIDDEN, FFN), Q8_0)]
TENSORS += [("output.weight", (HIDDEN, VOCAB), F16)]

SHAPE = [("general.architecture", "llama"), ("llama.embedding_length", HIDDEN),
         ("llama.block_count", LAYERS), ("llama.attention.head_count", 4),
         ("llama.feed_forward_length", FFN), ("llama.vocab_size", VOCAB)]


# Published counts: 46.7 B; 675 B with an encoder of 2.5 B; 3.4 B and an encoder of 0.4 B
MISTRAL = [
    ("Mixtral-8x7B", {
        "dim": 4096, "n_layers": 32, "head_dim": 128, "hidden_dim": 14336, "n_heads": 32,
        "n_kv_heads": 8, "vocab_size": 32000,
        "moe": {"num_experts_per_tok": 2, "num_experts": 8}}, 46702792704),
    ("Mistral-Large-3", {
        "dim": 7168, "n_layers": 61, "head_dim": 128, "hidden_dim": 16384, "n_heads": 128,
        "n_kv_heads": 128, "vocab_size": 131072, "tied_embeddings": False, "q_lora_rank": 1536,
        "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "kv_lora_rank": 512, "v_head_dim": 128,
        "moe": {"first_k_dense_replace": 3, "num_experts": 128, "num_experts_per_tok": 4,
                "expert_hidden_dim": 4096, "num_shared_experts": 1},
        "vision_encoder": {"hidden_size": 1664, "num_channels": 3, "patch_size": 14,
                           "intermediate_size": 8192, "num_hidden_layers": 48,
                           "num_attention_heads": 16}}, 675980114048),
    ("Ministral-3-3B", {
        "dim": 3072, "n_layers": 26, "head_dim": 128, "hidden_dim": 9216, "n_heads": 32,
        "n_kv_heads": 8, "vocab_size": 131072, "tied_embeddings": True,
        "vision_encoder": {"hidden_size": 1024, "num_channels": 3, "patch_size": 14,
                           "intermediate_size": 4096, "num_hidden_layers": 24,
                           "num_attention_heads": 16, "adapter_bias": False,
                           "mm_projector_id": "patch_merge", "spatial_merge_size": 2,
                           "add_pre_mm_projector_layer_norm": True}}, 3849090048)]


def text(word):
    raw = word.encode()
    return struct.pack("<Q", len(raw)) + raw


def gguf(pairs, tensors):
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    for key, value in pairs:
        out += text(key)
        if isinstance(value, str):
            out += struct.pack("<I", STRING) + text(value)
        else:
            out += struct.pack("<II", U32, value)
    for name, dims, kind in tensors:
        out += text(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims)
        out += struct.pack("<IQ", kind, 0)
    return out


def write(folder, name, content):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(content)


def write_parts(folder, name):
    count = [("split.count", 3)]
    write(folder, f"{name}-00001-of-00003.gguf", gguf(SHAPE + count, []))
    write(folder, f"{name}-00002-of-00003.gguf", gguf(count, TENSORS[:3]))
    write(folder, f"{name}-00003-of-00003.gguf", gguf(count, TENSORS[3:]))


def shard(name, lacks):
    """A file of safetensors with one tensor, of which the last bytes are not there."""
    head = json.dumps({name: {"dtype": "F16", "shape": [1000, 256], "data_offsets": [0, 512000]}}).encode()
    return struct.pack("<Q", len(head)) + head + bytes(512000 - lacks)


def size(path):
    run = subprocess.run([os.path.join(TOP, "build/gpuctl"), "size", path, "-j"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode not in (0, 3):
        return {"error": run.stderr, "weights": None, "remarks": ""}
    said = json.loads(run.stdout)
    return {"error": "", "remarks": " ".join(said["remarks"]), "model": said["model"],
            "kv": said.get("kv_bytes_per_token"), "parameters": said["parameters"],
            "weights": sum(t["bytes"] for t in said["terms"] if "weights" in t["name"])}


def main():
    checks = []

    def check(good, what):
        checks.append((good, what))

    with tempfile.TemporaryDirectory() as folder:
        write(folder, "whole.gguf", gguf(SHAPE, TENSORS))
        want = size(os.path.join(folder, "whole.gguf"))
        check(want["weights"] is not None, f"one file {want}")
        check(size(folder)["weights"] == want["weights"], "a folder of one file")
        write(folder, "mmproj-whole.gguf", gguf(SHAPE, TENSORS))
        check(size(folder)["weights"] == want["weights"], "an encoder beside it is none")
        write_parts(folder, "split")
        for part in (1, 2, 3):
            said = size(os.path.join(folder, f"split-0000{part}-of-00003.gguf"))
            check({**said, "model": ""} == {**want, "model": ""}, f"part {part} of three stands for all: {said}")
        said = size(folder)
        check("2 GGUF models: name one, such as" in said["error"], said["error"].strip())
        os.unlink(os.path.join(folder, "split-00003-of-00003.gguf"))
        said = size(os.path.join(folder, "split-00001-of-00003.gguf"))
        check("2 of 3 parts are here" in said["remarks"], f"a part is missing: {said}")
        check(said["weights"] and said["weights"] < want["weights"], "and is not counted")
        os.unlink(os.path.join(folder, "split-00002-of-00003.gguf"))
        said = size(os.path.join(folder, "split-00001-of-00003.gguf"))
        check("put the others beside it" in said["error"], said["error"].strip())

    with tempfile.TemporaryDirectory() as folder:
        write(folder, "params.json", json.dumps({
            "dim": 5120, "n_layers": 40, "head_dim": 128, "hidden_dim": 14336, "n_heads": 32,
            "n_kv_heads": 8, "vocab_size": 131072}).encode())
        said = size(folder)
        check(said.get("parameters") == 12247782400 and said["kv"] == 40 * 2 * 8 * 128 * 2,
              f"params.json has a shape: {said}")
    for name, params, count in MISTRAL:
        with tempfile.TemporaryDirectory() as folder:
            write(folder, "params.json", json.dumps(params).encode())
            said = size(folder)
            check(said.get("parameters") == count and "width of an expert" not in said["remarks"],
                  f"params.json of {name}: {said}")
    with tempfile.TemporaryDirectory() as folder:
        params = dict(MISTRAL[0][1], multimodal={"whisper": {"dim": 1}})
        write(folder, "params.json", json.dumps(params).encode())
        said = size(folder)
        check("multimodal of the file is not counted" in said["remarks"], f"what is not read is named: {said}")
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "config.json", json.dumps({
            "model_type": "llama", "hidden_size": 256, "num_hidden_layers": 1, "num_attention_heads": 4,
            "num_key_value_heads": 4, "intermediate_size": 512, "vocab_size": 1000}).encode())
        write(folder, "model-00001-of-00002.safetensors", shard("a", 0))
        write(folder, "model-00002-of-00002.safetensors", shard("b", 1234))
        said = size(folder)
        check("1234 bytes are missing" in said["remarks"], f"a shard that was not copied whole: {said}")
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "config.json", b'{"model_type": "nobody_knows", "depth": 3}')
        for name, length in (("pytorch_model-00001-of-00002.bin", 3000),
                             ("pytorch_model-00002-of-00002.bin", 1000),
                             ("training_args.bin", 7000), ("optimizer.pth", 7000)):
            write(folder, name, bytes(length))
        said = size(folder)
        check(said["weights"] == 4000, f"pickles are as large as their files: {said}")
        check(said["model"] == os.path.basename(folder), "and have the folder's name")

    for number, (good, what) in enumerate(checks, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {what}")
    print(f"1..{len(checks)}")
    return 0 if all(good for good, _ in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
