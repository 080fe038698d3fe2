# SPDX-License-Identifier: MIT
"""One prefill of TransformerLens with run_with_cache: transformer_lens_prefill.py FOLDER TOKENS"""
import json
import resource
import sys
import time

import torch
from passes import passes
from transformer_lens.model_bridge import TransformerBridge

folder, tokens = sys.argv[1], int(sys.argv[2])
torch.set_grad_enabled(False)
model = TransformerBridge.boot_transformers(folder, dtype=torch.float32, device="cpu")
ids = torch.randint(300, model.cfg.d_vocab, (1, tokens), generator=torch.Generator().manual_seed(1))
least = float("inf")
for _ in passes():
    start = time.perf_counter()
    model.run_with_cache(ids)
    least = min(least, time.perf_counter() - start)
print(json.dumps({"seconds": least, "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
