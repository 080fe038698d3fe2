# SPDX-License-Identifier: MIT
"""One prefill of llama.cpp: llama_prefill.py MODEL.gguf TOKENS THREADS on|off  (flash attention)"""
import json
import resource
import sys

import xllamacpp

path, tokens, threads, flash = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
params = xllamacpp.CommonParams()
params.model.path = path
params.n_ctx = tokens + 64
params.n_batch = params.n_ubatch = 512
params.n_parallel = 1
params.warmup = True
params.flash_attn_type = getattr(xllamacpp.llama_flash_attn_type, "LLAMA_FLASH_ATTN_TYPE_" + {"on": "ENABLED", "off": "DISABLED"}[flash])
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
server = xllamacpp.Server(params)
ids = [300 + i * 7919 % 40000 for i in range(tokens)]
seconds = []
for _ in range(3 if tokens < 8000 else 2):
    reply = server.handle_completions({"prompt": ids, "n_predict": 1, "cache_prompt": False})
    seconds.append(reply["timings"]["prompt_ms"] / 1e3)
print(json.dumps({"seconds": min(seconds), "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
