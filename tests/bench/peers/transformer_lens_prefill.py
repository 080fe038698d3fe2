# SPDX-License-Identifier: MIT
"""One prefill of TransformerLens with run_with_cache: transformer_lens_prefill.py FOLDER TOKENS"""
import json
import resource
import sys
import time

import torch
from transformer_lens import HookedTransformer
from transformers import AutoModelForCausalLM, AutoTokenizer

folder, tokens = sys.argv[1], int(sys.argv[2])
torch.set_grad_enabled(False)
plain = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
model = HookedTransformer.from_pretrained_no_processing(
    "HuggingFaceTB/SmolLM2-135M-Instruct", hf_model=plain, tokenizer=AutoTokenizer.from_pretrained(folder), dtype=torch.float32)
ids = torch.randint(300, plain.config.vocab_size, (1, tokens), generator=torch.Generator().manual_seed(1))
least = float("inf")
for _ in range(3 if tokens < 2048 else 2):
    start = time.perf_counter()
    model.run_with_cache(ids)
    least = min(least, time.perf_counter() - start)
print(json.dumps({"seconds": least, "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
