# SPDX-License-Identifier: MIT
"""One prefill of OpenVINO GenAI, which reads GGUF by itself: openvino_prefill.py MODEL.gguf TOKENS THREADS f32|bf16

The time is that to the first token. Every prompt is another one, since the pipeline keeps what it has seen."""
import json
import resource
import sys

import numpy
import openvino
import openvino_genai
from passes import passes

path, tokens, threads, precision = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
pipeline = openvino_genai.LLMPipeline(path, "CPU", INFERENCE_NUM_THREADS=threads, INFERENCE_PRECISION_HINT=precision)
seconds = []
for prompt in passes():
    ids = numpy.array([[300 + (i * 7919 + prompt * 104729) % 40000 for i in range(tokens)]], dtype=numpy.int64)
    inputs = openvino_genai.TokenizedInputs(openvino.Tensor(ids), openvino.Tensor(numpy.ones_like(ids)))
    reply = pipeline.generate(inputs, max_new_tokens=1)
    seconds.append(reply.perf_metrics.get_ttft().mean / 1e3)
print(json.dumps({"seconds": min(seconds), "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
