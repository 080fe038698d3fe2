# SPDX-License-Identifier: MIT
"""Prefill of transformers with SDPA in bfloat16 on a device: transformers_device.py FOLDER|SHAPE DEVICE TOKENS...

SHAPE: one of large_shapes.py, with random weights. One JSON line per length: milliseconds of the logits of the last token, the least
of four."""
import json
import pathlib
import sys
import time

import torch
from transformers import AutoModelForCausalLM, LlamaConfig

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from large_shapes import LAYERS, SHAPES, VOCABULARY  # noqa: E402


def load(source, device):
    if source not in SHAPES:
        return AutoModelForCausalLM.from_pretrained(source, dtype=torch.bfloat16, attn_implementation="sdpa").to(device).eval()
    shape = SHAPES[source]
    config = LlamaConfig(hidden_size=shape.hidden, intermediate_size=shape.feed_forward, num_hidden_layers=LAYERS,
                         num_attention_heads=shape.heads, num_key_value_heads=shape.key_value_heads, vocab_size=VOCABULARY)
    with torch.device(device):
        return AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16, attn_implementation="sdpa").eval()


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
