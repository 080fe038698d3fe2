# SPDX-License-Identifier: MIT
"""One prefill of ONNX Runtime GenAI: onnxruntime_prefill.py FOLDER TOKENS      (a folder made by its own model builder)"""
import json
import resource
import sys
import time

import onnxruntime_genai
from passes import passes

folder, tokens = sys.argv[1], int(sys.argv[2])
model = onnxruntime_genai.Model(folder)
ids = [300 + i * 7919 % 40000 for i in range(tokens)]
seconds = []
for _ in passes():
    params = onnxruntime_genai.GeneratorParams(model)
    params.set_search_options(max_length=tokens + 8)
    generator = onnxruntime_genai.Generator(model, params)
    start = time.perf_counter()
    generator.append_tokens(ids)
    generator.generate_next_token()
    seconds.append(time.perf_counter() - start)
print(json.dumps({"seconds": min(seconds), "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
