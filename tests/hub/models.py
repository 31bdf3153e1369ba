# SPDX-License-Identifier: GPL-2.0-only
"""Models as folders of small files: true headers, and holes where weights would be."""

import json
import os
import struct

CONFIG = {"model_type": "qwen3", "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28,
          "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936,
          "tie_word_embeddings": True, "max_position_embeddings": 40960, "torch_dtype": "bfloat16"}


def write(folder, name, data):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if isinstance(data, dict):
        data = json.dumps(data).encode()
    with open(path, "wb") as file:
        file.write(data)
    return path


def tensors(config=None):
    """Names and shapes of a Qwen3 of that config."""
    c = config or CONFIG
    hidden, width, head = c["hidden_size"], c["intermediate_size"], c["head_dim"]
    yield "model.embed_tokens.weight", [c["vocab_size"], hidden]
    for i in range(c["num_hidden_layers"]):
        at = f"model.layers.{i}."
        for name, heads in (("q", c["num_attention_heads"]), ("k", c["num_key_value_heads"]), ("v", c["num_key_value_heads"])):
            yield f"{at}self_attn.{name}_proj.weight", [heads * head, hidden]
        yield at + "self_attn.o_proj.weight", [hidden, c["num_attention_heads"] * head]
        for name in ("q", "k"):
            yield f"{at}self_attn.{name}_norm.weight", [head]
        for name in ("gate", "up"):
            yield f"{at}mlp.{name}_proj.weight", [width, hidden]
        yield at + "mlp.down_proj.weight", [hidden, width]
        for name in ("input", "post_attention"):
            yield f"{at}{name}_layernorm.weight", [hidden]
    yield "model.norm.weight", [hidden]


def product(shape):
    n = 1
    for one in shape:
        n *= one
    return n


def safetensors(folder, name, parts, dtype="BF16", size=2, padding=0):
    """A file of these tensors; returns the bytes of its weights."""
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for tensor, shape in parts:
        n = product(shape) * size
        header[tensor] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + n]}
        at += n
    text = json.dumps(header).encode() + b" " * padding
    path = write(folder, name, struct.pack("<Q", len(text)) + text)
    os.truncate(path, 8 + len(text) + at)
    return at


def sharded(folder, shards=3, total=True, **facts):
    config = dict(CONFIG, **facts)
    every, names, bytes_of = list(tensors(config)), {}, 0
    for i in range(shards):
        name = f"model-{i + 1:05}-of-{shards:05}.safetensors"
        mine = every[i::shards]
        bytes_of += safetensors(folder, name, mine)
        names.update({tensor: name for tensor, _ in mine})
    write(folder, "config.json", config)
    write(folder, "model.safetensors.index.json",
          {"metadata": {"total_size": bytes_of} if total else {}, "weight_map": names})
    write(folder, "tokenizer.json", b"{}" + b" " * 300000)
    write(folder, "README.md", b"#")


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def gguf(folder, name, vocabulary=20000, parts=0):
    """A llama of that name in Q8_0; its vocabulary makes the header long."""
    hidden, layers = 256, 4
    numbers = {"block_count": layers, "embedding_length": hidden, "feed_forward_length": 512,
               "attention.head_count": 8, "attention.head_count_kv": 8, "context_length": 4096}
    shapes = [("token_embd.weight", [hidden, vocabulary]), ("output_norm.weight", [hidden])]
    for i in range(layers):
        shapes += [(f"blk.{i}.attn_{part}.weight", [hidden, hidden]) for part in ("q", "k", "v", "output")]
        shapes += [(f"blk.{i}.ffn_{part}.weight", [hidden, 512]) for part in ("gate", "up", "down")]
    out = struct.pack("<IIQQ", 0x46554747, 3, len(shapes), len(numbers) + 2 + bool(parts))
    if parts:
        out += text("split.count") + struct.pack("<IH", 2, parts)
    out += text("general.architecture") + struct.pack("<I", 8) + text("llama")
    for key, value in numbers.items():
        out += text(f"llama.{key}") + struct.pack("<II", 4, value)
    out += text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, vocabulary)
    out += b"".join(text(f"token number {i}") for i in range(vocabulary))
    data = 0
    for tensor, shape in shapes:
        out += text(tensor) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
        out += struct.pack("<IQ", 8, data)
        data += product(shape) // 32 * 34
    path = write(folder, name, out)
    os.truncate(path, len(out) + data)


def pipeline(folder):
    """Of diffusers: a folder for each of its models, one of them twice."""
    write(folder, "model_index.json", {"_class_name": "TestPipeline", "unet": ["diffusers", "UNet2DConditionModel"],
                                       "vae": ["diffusers", "AutoencoderKL"], "safety_checker": [None, None]})
    for name in ("unet", "vae"):
        write(folder, f"{name}/config.json", {"_class_name": name})
        safetensors(folder, f"{name}/diffusion_pytorch_model.safetensors", [("a", [4096, 4096]), ("b", [64])], "F16")
        safetensors(folder, f"{name}/diffusion_pytorch_model.fp16.safetensors", [("a", [4096, 4096])], "F16")
    safetensors(folder, "safety_checker/model.safetensors", [("a", [4096, 4096])], "F16")
    safetensors(folder, "all-in-one.safetensors", [("a", [8192, 8192])], "F16")


def make(folder):
    """All of them, as OWNER/NAME below the folder."""
    sharded(os.path.join(folder, "test/sharded"))
    sharded(os.path.join(folder, "test/no-sum"), total=False)
    sharded(os.path.join(folder, "test/awq4"), quantization_config={"quant_method": "awq", "bits": 4, "group_size": 128})
    os.makedirs(os.path.join(folder, "test/single"))
    write(os.path.join(folder, "test/single"), "config.json", CONFIG)
    write(os.path.join(folder, "test/single"), "hf_quant_config.json",
          {"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}})
    safetensors(os.path.join(folder, "test/single"), "model.safetensors", tensors(), "F8_E4M3", 1, padding=700000)
    gguf(os.path.join(folder, "test/one-gguf"), "model-q8_0.gguf")
    for name in ("b-q8_0.gguf", "a-q8_0.gguf"):
        gguf(os.path.join(folder, "test/ggufs"), name)
    write(os.path.join(folder, "test/ggufs"), "README.md", b"#")
    gguf(os.path.join(folder, "test/part"), "m-00001-of-00003.gguf", parts=3)
    for part in (1, 2):
        gguf(os.path.join(folder, "test/parts"), f"m-0000{part}-of-00002.gguf", parts=2)
    pipeline(os.path.join(folder, "test/pipeline"))
    write(os.path.join(folder, "test/nothing"), "README.md", b"#")
    write(os.path.join(folder, "test/config"), "config.json", CONFIG)
