# SPDX-License-Identifier: MIT
"""One prefill of transformers: transformers_prefill.py FOLDER TOKENS float32|bfloat16 sdpa|eager [capture]"""
import json
import resource
import sys
import time

import torch
from passes import passes
from transformers import AutoModelForCausalLM

folder, tokens, dtype, attention = sys.argv[1], int(sys.argv[2]), getattr(torch, sys.argv[3]), sys.argv[4]
capture = sys.argv[5:] == ["capture"]
model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation=attention).eval()
ids = torch.randint(300, model.config.vocab_size, (1, tokens), generator=torch.Generator().manual_seed(1))
least = float("inf")
with torch.no_grad():
    for _ in passes():
        start = time.perf_counter()
        model(ids, output_attentions=capture, output_hidden_states=capture, logits_to_keep=1, use_cache=True)
        least = min(least, time.perf_counter() - start)
print(json.dumps({"seconds": least, "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
