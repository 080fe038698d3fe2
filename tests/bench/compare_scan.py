#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A scan over all heads beside two transformers scripts, in one run.

    compare_scan.py MIDSCOPE MODEL.gguf [--samples 8] [--threads 2]       (needs torch, transformers, gguf, accelerate, h5py)

The list task of 20 lines at five places, float32: every head's output is set to zero for the last prompt row and the answer.
Midscope runs one command (`scan --over heads`; loading the model, tests and the table are in its time). The scripts run ten
heads on the first sample's five prompts, and are scaled to all heads and samples; loading is not in their time. One script
runs prompt and answer whole for every head and place; the other keeps past_key_values of the prompt and runs the last rows
alone, with a copy of the cache for every head. All three must find the same effects on that sample.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TASK, PLACES = "list:lines=20", [1, 5, 10, 15, 20]
LAYER_STEP, HEAD = 3, 1  # ten heads over the whole depth: L0H1, L3H1, ...

PEER = r"""
import copy, json, sys, time, torch
from transformers import AutoModelForCausalLM
request = json.load(open(sys.argv[1]))
torch.set_num_threads(request["threads"])
model = AutoModelForCausalLM.from_pretrained(request["folder"], dtype=torch.float32, attn_implementation="sdpa").eval()
width = model.config.hidden_size // model.config.num_attention_heads
now = {"layer": -1, "head": 0, "rows": 0}

def ablate(layer):
    def hook(module, arguments):
        if now["layer"] != layer:
            return None
        z = arguments[0].clone()
        z[:, -now["rows"]:, now["head"] * width:(now["head"] + 1) * width] = 0
        return (z, *arguments[1:])
    return hook

for i, layer in enumerate(model.model.layers):
    layer.self_attn.o_proj.register_forward_pre_hook(ablate(i))

def nll(logits, answer):
    return float(torch.nn.functional.cross_entropy(logits[0].float(), torch.tensor(answer), reduction="sum"))

def whole(ids, answer):
    out = model(torch.tensor([ids + answer[:-1]]), logits_to_keep=len(answer), use_cache=False)
    return nll(out.logits, answer)

def last_rows(ids, answer, cache):
    out = model(torch.tensor([ids[-1:] + answer[:-1]]), past_key_values=copy.deepcopy(cache), use_cache=True)
    return nll(out.logits, answer)

result = {"effects": [], "whole": 0.0, "last_rows": 0.0, "largest_difference": 0.0}
with torch.no_grad():
    for ids, answer in request["prompts"]:
        now.update(layer=-1, rows=len(answer))
        before = whole(ids, answer)
        cache = model(torch.tensor([ids[:-1]]), use_cache=True).past_key_values
        last_rows(ids, answer, cache)
        for layer, head in request["heads"]:
            now.update(layer=layer, head=head)
            start = time.perf_counter()
            one = whole(ids, answer)
            middle = time.perf_counter()
            two = last_rows(ids, answer, cache)
            result["whole"] += middle - start
            result["last_rows"] += time.perf_counter() - middle
            result["effects"].append(one - before)
            result["largest_difference"] = max(result["largest_difference"], abs(one - two))
print(json.dumps(result))
"""


def call(command, threads):
    # The same waits for all, and those of our programs: long spinning favours whoever runs alone.
    environment = {**os.environ, "GOMP_SPINCOUNT": "3000", "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(f"{command[0]} fails:\n{done.stderr[-2000:]}")
    return done.stdout


def scan(arguments, samples):
    command = [arguments.midscope, "scan", arguments.model, "--task", TASK, "--places", ",".join(map(str, PLACES)),
               "--samples", samples, "--dtype", "float32", "--threads", arguments.threads, "--json"]
    start = time.perf_counter()
    result = json.loads(call(command, arguments.threads))
    return time.perf_counter() - start, result


def prompts(arguments, folder):
    import h5py
    found = []
    for place in PLACES:
        path = os.path.join(folder, f"{place}.h5")
        call([arguments.midscope, "probe", arguments.model, "--task", TASK, "--place", place, "--dtype", "float32", "--out",
              path], arguments.threads)
        with h5py.File(path) as file:
            one = {}
            file.visititems(lambda name, item: one.update({name.split("/")[-1]: item[()].ravel().tolist()})
                            if name.split("/")[-1] in ("token_ids", "answer_ids") else None)
        found.append([one["token_ids"], one["answer_ids"]])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("midscope")
    parser.add_argument("model")
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model")
        call([sys.executable, HERE / "peers" / "gguf_to_folder.py", arguments.model, model, "float32"], arguments.threads)
        one_seconds, one = scan(arguments, 1)
        seconds, _ = scan(arguments, arguments.samples)
        effects = {(e["layer"], e["head"], e["place"]): e["effect"] for e in one["effects"]}
        layers = 1 + max(layer for layer, _, _ in effects)
        heads = [[layer, HEAD] for layer in range(0, layers, LAYER_STEP)]
        request = os.path.join(folder, "request.json")
        with open(request, "w") as file:
            json.dump({"folder": model, "threads": arguments.threads, "prompts": prompts(arguments, folder), "heads": heads}, file)
        peer = json.loads(call([sys.executable, "-c", PEER, request], arguments.threads).strip().splitlines()[-1])
    ours = [effects[layer, head, place] for place in PLACES for layer, head in heads]
    difference = max(abs(a - b) for a, b in zip(ours, peer["effects"]))
    if difference > 1e-3:
        sys.exit(f"the effects differ by {difference} nats")
    all_heads = len(effects) // len(PLACES)
    scale = all_heads / len(heads) * arguments.samples
    print(f"{TASK}, {all_heads} heads x {len(PLACES)} places x {arguments.samples} samples, float32, {arguments.threads} threads")
    print(f"{'':52}{'seconds':>9}{'ratio':>8}")
    for label, value in (("midscope scan (one command)", seconds), ("transformers, whole runs (scaled)", peer["whole"] * scale),
                         ("transformers, past_key_values (scaled)", peer["last_rows"] * scale)):
        print(f"{label:52}{value:9.1f}{value / seconds:8.1f}")
    print(f"a sample costs {(seconds - one_seconds) / max(arguments.samples - 1, 1):.2f} s; largest difference of effects {difference:.1e} nats,"
          f" of the two scripts {peer['largest_difference']:.1e}")


if __name__ == "__main__":
    main()
