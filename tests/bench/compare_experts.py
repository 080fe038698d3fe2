#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prompts and single tokens of models with experts, beside transformers, in one run.

    compare_experts.py BUILD/bin FOLDER [SHAPE ...] [--dtype bfloat16|float32] [--tokens 512,2048] [--repeats 3] [--make]

Needs torch and transformers. Models of random weights (bfloat16, 0.6 to 0.8 billion parameters, widths and ratios of the
published ones made small) are made in FOLDER where they are missing; --make makes them and stops. Every program runs in a
process of its own, one after the other; the least of --repeats counts. transformers runs with SDPA (gpt-oss, whose sinks
SDPA does not know: eager) and with each of its ways to run experts (eager, grouped_mm; Llama 4 has one),
of which the faster one counts.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

ROPE = {"rope_type": "default", "rope_theta": 10000.0}
COMMON = {"hidden_size": 1024, "num_hidden_layers": 8, "num_attention_heads": 16, "num_key_value_heads": 4,
          "vocab_size": 4096, "max_position_embeddings": 8192, "tie_word_embeddings": False, "rope_parameters": ROPE,
          "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
LATENT = COMMON | {"num_key_value_heads": 16, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
                   "v_head_dim": 128, "intermediate_size": 3584, "moe_intermediate_size": 512, "n_routed_experts": 64,
                   "first_k_dense_replace": 1}
# Name: the class of transformers and its settings.
SHAPES = {
    "mixtral": ("Mixtral", COMMON | {"intermediate_size": 3584, "num_local_experts": 8, "num_experts_per_tok": 2}),
    "gpt_oss": ("GptOss", COMMON | {
        "hidden_size": 960, "intermediate_size": 960, "head_dim": 64, "num_local_experts": 32, "num_experts_per_tok": 4,
        "sliding_window": 128}),
    "llama4": ("Llama4", COMMON | {
        "intermediate_size": 2048, "intermediate_size_mlp": 4096, "num_local_experts": 16, "num_experts_per_tok": 1,
        "head_dim": 64, "interleave_moe_layer_step": 1}),
    "deepseek_v2": ("DeepseekV2", LATENT | {
        "q_lora_rank": None, "num_experts_per_tok": 6, "n_shared_experts": 2, "topk_method": "greedy",
        "n_group": 1, "topk_group": 1}),
    "deepseek_v3": ("DeepseekV3", LATENT | {
        "q_lora_rank": 768, "num_experts_per_tok": 8, "n_shared_experts": 1, "n_group": 8, "topk_group": 4}),
}

MAKE = r"""
import json, sys
import torch, transformers
name, settings, folder = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
torch.manual_seed(1)
torch.set_default_dtype(torch.bfloat16)
text = "Text" if name == "Llama4" else ""
config = getattr(transformers, name + text + "Config")(**settings)
model = getattr(transformers, name + "ForCausalLM")(config).eval()
model.save_pretrained(folder)
tokenizer = {"version": "1.0", "added_tokens": [], "normalizer": None, "decoder": None, "post_processor": None,
             "truncation": None, "padding": None, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
             "model": {"type": "BPE", "vocab": {chr(i): i for i in range(33, 127)}, "merges": []}}
json.dump(tokenizer, open(folder + "/tokenizer.json", "w"))
"""

PEER = r"""
import json, resource, sys, time
import torch
from transformers import AutoModelForCausalLM
folder, lengths, dtype, repeats = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3], int(sys.argv[4])
attention, experts = sys.argv[5], sys.argv[6]
more = {"experts_implementation": experts} if experts else {}
model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype), attn_implementation=attention, **more).eval()
def least(work):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)
out = {}
with torch.no_grad():
    for tokens in lengths:
        ids = torch.randint(300, model.config.vocab_size, (1, tokens), generator=torch.Generator().manual_seed(1))
        out[str(tokens)] = least(lambda: model(ids, logits_to_keep=1, use_cache=True))
    ids = torch.randint(300, model.config.vocab_size, (1, lengths[0]), generator=torch.Generator().manual_seed(1))
    cache = model(ids, logits_to_keep=1, use_cache=True).past_key_values
    def decode():
        for i in range(10):
            model(ids[:, i:i + 1], past_key_values=cache, use_cache=True)
    out["token"] = least(decode) / 10
out["peak_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps(out))
"""


def json_of(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")
    return json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])


def make(shape, folder):
    name, settings = SHAPES[shape]
    subprocess.run([sys.executable, "-c", MAKE, name, json.dumps(settings), str(folder)], check=True)


def ours(bench, kind, tokens, folder, options):
    return json_of([bench, kind, tokens, options.dtype, options.repeats, folder, "stored"])


def theirs(folder, shape, lengths, options):
    attention = "eager" if shape == "gpt_oss" else "sdpa"
    results = [json_of([sys.executable, "-c", PEER, folder, json.dumps(lengths), options.dtype, options.repeats, attention,
                        experts]) for experts in (("",) if shape == "llama4" else ("eager", "grouped_mm"))]
    return {key: min(result[key] for result in results) for key in results[0]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("shapes", nargs="*", default=list(SHAPES))
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--tokens", default="512,2048")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--make", action="store_true")
    options = parser.parse_args()
    lengths = [int(length) for length in options.tokens.split(",")]
    columns = [str(length) for length in lengths] + ["token"]
    print(f"{'shape':14}{'program, ' + options.dtype:32}" + "".join(f"{column:>10}" for column in columns) + f"{'peak MB':>10}")
    for shape in options.shapes:
        folder = options.folder / shape
        if not (folder / "tokenizer.json").exists():
            make(shape, folder)
        if options.make:
            continue
        bench = options.bin / "run_bench"
        rows = {}
        for kind, name in (("plain", "midscope, logits"), ("prefill", "midscope, all captures")):
            results = {str(length): ours(bench, kind, length, folder, options) for length in lengths}
            rows[name] = {length: result["seconds"] for length, result in results.items()}
            rows[name]["peak_bytes"] = max(result["peak_bytes"] for result in results.values())
        decoded = ours(bench, "decode", lengths[0], folder, options)
        rows["midscope, logits"]["token"] = decoded["seconds"] / decoded["tokens"]
        peer = rows["transformers, no captures"] = theirs(folder, shape, lengths, options)
        for name, row in rows.items():
            text = "".join(f"{row[c]:10.4f}" if c in row else " " * 10 for c in columns)
            print(f"{shape:14}{name:32}{text}{row['peak_bytes'] / 1e6:10.0f}")
        plain = rows["midscope, logits"]
        print(f"{shape:14}{'ratio, logits':32}" + "".join(f"{peer[c] / plain[c]:10.2f}" for c in columns), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))
    main()
