# SPDX-License-Identifier: MIT
"""Prefill of transformers with SDPA in bfloat16 on a device: transformers_device.py FOLDER|7b DEVICE TOKENS...

7b: the shape of Llama-2-7B with random weights, as make_large_gguf.py has it. One JSON line per length: milliseconds of the logits
of the last token, the least of four."""
import json
import sys
import time

import torch
from transformers import AutoModelForCausalLM, LlamaConfig

SHAPE_7B = {"hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000}


def load(source, device):
    if source != "7b":
        return AutoModelForCausalLM.from_pretrained(source, dtype=torch.bfloat16, attn_implementation="sdpa").to(device).eval()
    with torch.device(device):
        return AutoModelForCausalLM.from_config(LlamaConfig(**SHAPE_7B), dtype=torch.bfloat16, attn_implementation="sdpa").eval()


def finish(device):
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)


source, device = sys.argv[1:3]
model = load(source, device)
with torch.no_grad():
    for tokens in map(int, sys.argv[3:]):
        ids = torch.randint(300, model.config.vocab_size, (1, tokens), generator=torch.Generator().manual_seed(1)).to(device)
        least = float("inf")
        for _ in range(4):
            start = time.perf_counter()
            model(ids, logits_to_keep=1, use_cache=True)
            finish(device)
            least = min(least, time.perf_counter() - start)
        print(json.dumps({"tokens": tokens, "plain_ms": least * 1e3}), flush=True)
