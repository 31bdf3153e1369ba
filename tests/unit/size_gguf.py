#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s gpuctl
"""
GGUF files of many architectures: what their metadata say of caches, windows and states. Their
tensors are a table of tokens alone, so the weights are not those of the model.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

U32, I32, STRING, ARRAY = 4, 5, 8, 9

FULL = (0, 5, 11, 17, 23, 29, 35, 41, 47)

# architecture, metadata, growing bytes of a token, layers with a window, bytes of state
FILES = [
    ("qwen3moe", {"block_count": 48, "embedding_length": 2048, "feed_forward_length": 6144,
                  "attention.head_count": 32, "attention.head_count_kv": 4,
                  "attention.key_length": 128, "expert_count": 128, "expert_used_count": 8,
                  "expert_feed_forward_length": 768}, 98304, 0, 0),
    ("gemma3", {"block_count": 48, "embedding_length": 3840, "feed_forward_length": 15360,
                "attention.head_count": 16, "attention.head_count_kv": 8,
                "attention.key_length": 256, "attention.sliding_window": 1024}, 65536, 40, 0),
    ("lfm2", {"block_count": 16, "embedding_length": 2048, "feed_forward_length": 8192,
              "attention.head_count": 32, "shortconv.l_cache": 3,
              "attention.head_count_kv": [0, 0, 8, 0, 0, 8, 0, 0, 8, 0, 8, 0, 8, 0, 8, 0]},
     12288, 0, 81920),
    # Gemma 4 31B: every sixth layer is wider, has fewer heads and no window
    ("gemma4", {"block_count": 60, "embedding_length": 5376, "feed_forward_length": 21504,
                "attention.head_count": 32, "attention.head_count_kv": [16, 16, 16, 16, 16, 4] * 10,
                "attention.key_length": 512, "attention.value_length": 512,
                "attention.key_length_swa": 256, "attention.value_length_swa": 256,
                "attention.sliding_window": 1024,
                "attention.sliding_window_pattern": [1, 1, 1, 1, 1, 0] * 10}, 81920, 50, 0),
    # MiMo-V2-Flash: keys are wider than values, layers without a window have half of the heads
    ("mimo2", {"block_count": 48, "embedding_length": 4096, "feed_forward_length": 16384,
               "attention.head_count": [64] * 48,
               "attention.head_count_kv": [4 if i in FULL else 8 for i in range(48)],
               "attention.key_length": 192, "attention.value_length": 128,
               "attention.sliding_window": 128,
               "attention.sliding_window_pattern": [int(i not in FULL) for i in range(48)],
               "expert_count": 256, "expert_used_count": 8, "expert_feed_forward_length": 2048,
               "leading_dense_block_count": 1}, 23040, 39, 0),
    # DeepSeek V3.2: an indexer beside latent attention, whose keys are not in these bytes
    ("deepseek32", {"block_count": 61, "embedding_length": 7168, "feed_forward_length": 18432,
                    "attention.head_count": 128, "attention.head_count_kv": 1,
                    "attention.key_length": 576, "attention.value_length": 512,
                    "attention.key_length_mla": 192, "attention.value_length_mla": 128,
                    "attention.q_lora_rank": 1536, "attention.kv_lora_rank": 512,
                    "rope.dimension_count": 64, "attention.indexer.head_count": 64,
                    "attention.indexer.key_length": 128, "expert_count": 256,
                    "expert_used_count": 8, "expert_feed_forward_length": 2048,
                    "expert_shared_count": 1, "leading_dense_block_count": 3}, 70272, 0, 0),
    # Trinity Mini: every fourth layer has no window; SmallThinker: the first of four
    ("afmoe", {"block_count": 32, "embedding_length": 2048, "feed_forward_length": 6144,
               "attention.head_count": 32, "attention.head_count_kv": 4,
               "attention.key_length": 128, "attention.sliding_window": 2048, "expert_count": 128,
               "expert_used_count": 8, "expert_feed_forward_length": 1024,
               "expert_shared_count": 1, "leading_dense_block_count": 2}, 16384, 24, 0),
    ("smallthinker", {"block_count": 52, "embedding_length": 2560, "feed_forward_length": 768,
                      "attention.head_count": 28, "attention.head_count_kv": 4,
                      "attention.key_length": 128, "attention.sliding_window": 4096,
                      "expert_count": 64, "expert_used_count": 6,
                      "expert_feed_forward_length": 768}, 26624, 39, 0),
    # Jamba Reasoning 3B: two layers of attention, no experts
    ("jamba", {"block_count": 28, "embedding_length": 2560, "feed_forward_length": 8192,
               "attention.head_count": 20,
               "attention.head_count_kv": [int(i in (13, 27)) for i in range(28)],
               "ssm.conv_kernel": 4, "ssm.inner_size": 5120, "ssm.state_size": 16,
               "ssm.time_step_rank": 160}, 1024, 0, 5058560),
    # Qwen3.5 35B: experts in all layers, so that there is no other width
    ("qwen35moe", {"block_count": 40, "embedding_length": 2048, "attention.head_count": 16,
                   "attention.head_count_kv": 2, "attention.key_length": 256,
                   "expert_count": 256, "expert_used_count": 8,
                   "expert_feed_forward_length": 512, "expert_shared_feed_forward_length": 512,
                   "ssm.conv_kernel": 4, "ssm.state_size": 128, "ssm.group_count": 16,
                   "ssm.time_step_rank": 32, "ssm.inner_size": 4096,
                   "full_attention_interval": 4}, 20480, 0, 64389120),
    # 47 blocks, of which the last predicts further tokens
    ("glm4moe", {"block_count": 47, "nextn_predict_layers": 1, "embedding_length": 4096,
                 "feed_forward_length": 10944, "attention.head_count": 96,
                 "attention.head_count_kv": 8, "attention.key_length": 128, "expert_count": 128,
                 "expert_used_count": 8, "expert_feed_forward_length": 1408,
                 "expert_shared_count": 1, "leading_dense_block_count": 1}, 188416, 0, 0),
    ("mistral4", {"block_count": 36, "embedding_length": 4096, "feed_forward_length": 12288,
                  "attention.head_count": 32, "attention.head_count_kv": 1,
                  "attention.key_length": 320, "attention.value_length": 256,
                  "attention.key_length_mla": 128, "attention.value_length_mla": 128,
                  "attention.q_lora_rank": 1024, "attention.kv_lora_rank": 256,
                  "rope.dimension_count": 64, "expert_count": 128, "expert_used_count": 4,
                  "expert_feed_forward_length": 2048, "expert_shared_count": 1}, 23040, 0, 0),
    ("rwkv7", {"block_count": 24, "embedding_length": 2048, "feed_forward_length": 8192,
               "attention.head_count": 0, "wkv.head_size": 64, "attention.decay_lora_rank": 96,
               "attention.iclr_lora_rank": 96, "attention.value_residual_mix_lora_rank": 64,
               "attention.gate_lora_rank": 256}, 0, 0, 12779520),
    # what reads or writes all of a text at once keeps nothing of it
    ("jina-bert-v2", {"block_count": 12, "embedding_length": 768, "feed_forward_length": 3072,
                      "attention.head_count": 12}, 0, 0, 0),
    ("jina-bert-v3", {"block_count": 24, "embedding_length": 1024, "feed_forward_length": 4096,
                      "attention.head_count": 16}, 0, 0, 0),
    ("eurobert", {"block_count": 12, "embedding_length": 768, "feed_forward_length": 3072,
                  "attention.head_count": 12, "attention.head_count_kv": 12}, 0, 0, 0),
    ("neo-bert", {"block_count": 28, "embedding_length": 768, "feed_forward_length": 2048,
                  "attention.head_count": 12}, 0, 0, 0),
    ("gemma-embedding", {"block_count": 24, "embedding_length": 768, "feed_forward_length": 1152,
                         "attention.head_count": 3, "attention.head_count_kv": 1,
                         "attention.key_length": 256, "attention.sliding_window": 512}, 0, 0, 0),
    ("llama-embed", {"block_count": 16, "embedding_length": 2048, "feed_forward_length": 8192,
                     "attention.head_count": 32, "attention.head_count_kv": 8}, 0, 0, 0),
    ("t5encoder", {"block_count": 24, "embedding_length": 4096, "feed_forward_length": 10240,
                   "attention.head_count": 64, "attention.key_length": 64}, 0, 0, 0),
    ("llada", {"block_count": 32, "embedding_length": 4096, "feed_forward_length": 12288,
               "attention.head_count": 32, "attention.head_count_kv": 32}, 0, 0, 0),
    ("dream", {"block_count": 28, "embedding_length": 3584, "feed_forward_length": 18944,
               "attention.head_count": 28, "attention.head_count_kv": 4}, 0, 0, 0),
]


def text(word):
    raw = word.encode()
    return struct.pack("<Q", len(raw)) + raw


def value(of):
    if isinstance(of, str):
        return struct.pack("<I", STRING) + text(of)
    if isinstance(of, list):
        return struct.pack(f"<IIQ{len(of)}i", ARRAY, I32, len(of), *of)
    return struct.pack("<II", U32, of)


def gguf(arch, metadata):
    pairs = [("general.architecture", arch), (f"{arch}.vocab_size", 1000)]
    pairs += [(f"{arch}.{key}", of) for key, of in metadata.items()]
    out = b"GGUF" + struct.pack("<IQQ", 3, 1, len(pairs))
    for key, of in pairs:
        out += text(key) + value(of)
    width = metadata["embedding_length"]
    return out + text("token_embd.weight") + struct.pack("<IQQIQ", 2, width, 1000, 1, 0)


def size(path):
    run = subprocess.run([os.path.join(TOP, "build/gpuctl"), "size", path, "-j"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode not in (0, 3):
        return {"error": run.stderr}
    return json.loads(run.stdout)


def main():
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for number, (arch, metadata, growing, windowed, state) in enumerate(FILES, 1):
            path = os.path.join(folder, f"{arch}.gguf")
            with open(path, "wb") as file:
                file.write(gguf(arch, metadata))
            said = size(path)
            seen = [said.get(key) for key in ("kv_bytes_per_token", "kv_windowed_layers",
                                              "state_bytes_per_sequence")]
            guessed = "is not known" in " ".join(said.get("remarks", []))
            good = seen == [growing, windowed, state] and not guessed
            failed |= not good
            print("ok" if good else "not ok", number, "-", arch, seen, said.get("error", ""))
    print(f"1..{len(FILES)}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
