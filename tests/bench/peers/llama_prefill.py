# SPDX-License-Identifier: MIT
"""One prefill of llama.cpp, or ten tokens one by one after it: llama_prefill.py MODEL.gguf TOKENS THREADS on|off [decode]

on, off: flash attention. The package is compiled where it is installed (CMAKE_ARGS says for which CPU)."""
import json
import resource
import sys
import time

import llama_cpp
from passes import passes

path, tokens, threads, flash = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
decode = sys.argv[5:] == ["decode"]
model = llama_cpp.Llama(path, n_ctx=tokens + 64, n_batch=512, n_ubatch=512, n_threads=threads, n_threads_batch=threads,
                        flash_attn=flash == "on", verbose=False)
span = model.n_vocab() - 300 if model.n_vocab() > 1000 else 0
ids = [300 + i * 7919 % span for i in range(tokens)]
DECODED = 10
seconds = []
for _ in passes():
    model.reset()
    start = time.perf_counter()
    model.eval(ids)
    if decode:
        start = time.perf_counter()
        for i in range(DECODED):
            model.eval([ids[i]])
    seconds.append(time.perf_counter() - start)
print(json.dumps({"seconds": min(seconds), "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
