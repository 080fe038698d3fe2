#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prefill with all captures, beside transformers, in one run: tokens a second and peak memory.

    compare_prefill.py RUN_BENCH MODEL.gguf [TOKENS ...]        (needs torch, transformers, gguf, accelerate)

Every row is a process of its own, so that peak memory is its own; times are the least of three. transformers loads the GGUF once
dequantised: the model is converted to a folder first, so that loading does not count into its peak.
"""
import json
import os
import subprocess
import sys
import tempfile

PEER = r"""
import json, resource, sys, time, torch
from transformers import AutoModelForCausalLM
folder, tokens, attention, capture = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4] == "capture"
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16, attn_implementation=attention).eval()
ids = torch.randint(300, model.config.vocab_size, (1, tokens), generator=torch.Generator().manual_seed(1))
least = 1e9
with torch.no_grad():
    for _ in range(3 if tokens < 8000 else 2):
        start = time.perf_counter()
        model(ids, output_attentions=capture, output_hidden_states=capture, logits_to_keep=1, use_cache=True)
        least = min(least, time.perf_counter() - start)
print(json.dumps({"seconds": least, "tokens_per_second": tokens / least,
                  "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
"""

CONVERT = r"""
import os, sys, torch
from transformers import AutoModelForCausalLM
path, name = os.path.split(sys.argv[1])
read = AutoModelForCausalLM.from_pretrained(path, gguf_file=name, dtype=torch.bfloat16)
# transformers will not save what it knows to come from a GGUF, so the weights go into a fresh model.
if hasattr(read.config, "quantization_config"):
    del read.config.quantization_config
plain = AutoModelForCausalLM.from_config(read.config, dtype=torch.bfloat16)
plain.load_state_dict(read.state_dict())
plain.save_pretrained(sys.argv[2])
"""


def measure(command):
    # Sleeping waits for all: spinning ones favour whoever runs alone.
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_WAIT_POLICY": "passive"})
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1][:60]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    bench, gguf = sys.argv[1], sys.argv[2]
    lengths = [int(a) for a in sys.argv[3:]] or [512, 2048, 8000]
    with tempfile.TemporaryDirectory() as folder:
        # In a process of its own: a child's peak begins at its parent's size.
        subprocess.run([sys.executable, "-c", CONVERT, gguf, folder], check=True, stdout=subprocess.DEVNULL)
        print(f"{'tool':44}{'tokens':>8}{'tok/s':>9}{'peak GB':>9}")
        for tokens in lengths:
            rows = [
                ("midscope bf16, all captures and trace", [bench, "prefill", str(tokens), "bfloat16"]),
                ("midscope bf16, plain", [bench, "plain", str(tokens), "bfloat16"]),
                ("midscope float32, all captures and trace", [bench, "prefill", str(tokens), "float32"]),
                ("transformers SDPA bf16, no capture", [sys.executable, "-c", PEER, folder, str(tokens), "sdpa", "none"]),
            ]
            if tokens <= 2048:
                rows.append(("transformers eager bf16, capture",
                             [sys.executable, "-c", PEER, folder, str(tokens), "eager", "capture"]))
            for label, command in rows:
                result = measure(command)
                if "error" in result:
                    print(f"{label:44}{tokens:8} {result['error']}")
                else:
                    print(f"{label:44}{tokens:8}{result['tokens_per_second']:9.0f}{result['peak_bytes'] / 1e9:9.2f}",
                          flush=True)


if __name__ == "__main__":
    main()
