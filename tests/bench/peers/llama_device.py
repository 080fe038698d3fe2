# SPDX-License-Identifier: MIT
"""llama.cpp with all layers on a device: llama_device.py MODEL.gguf TOKENS...

One JSON line per length: milliseconds of the logits of the last token, and of a token after them, the least of four; flash attention
on. The package is compiled for the device where it is installed (CMAKE_ARGS)."""
import json
import sys
import time

import llama_cpp

path, lengths = sys.argv[1], [int(word) for word in sys.argv[2:]]
ROUNDS = 4
model = llama_cpp.Llama(path, n_ctx=max(lengths) + 16, n_batch=2048, n_ubatch=2048, n_gpu_layers=-1, flash_attn=True, verbose=False)
span = max(model.n_vocab() - 300, 1)


def milliseconds(ids):
    start = time.perf_counter()
    model.eval(ids)
    llama_cpp.llama_synchronize(model.ctx)
    return (time.perf_counter() - start) * 1e3


for tokens in lengths:
    ids = [300 + i * 7919 % span for i in range(tokens)]
    plain, token = [], []
    for _ in range(ROUNDS):
        model.reset()
        plain.append(milliseconds(ids))
    for _ in range(ROUNDS):
        model.n_tokens = tokens  # eval drops what lies after it
        token.append(milliseconds(ids[:1]))
    print(json.dumps({"tokens": tokens, "plain_ms": min(plain), "token_ms": min(token)}), flush=True)
