#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A paired sweep beside a straightforward transformers script, in one run: wall time over all and for each setting.

    compare_sweep.py MIDSCOPE MODEL.gguf [--samples 40] [--threads 2] [--tokens 1024] [--task list|passkey]
                                                            (needs torch, transformers, gguf, accelerate, h5py)

The list task and passkey, five places, four settings: none, two channel scalings, pi. Midscope runs one command a task in
bfloat16 (--score likelihood; loading the model, writing the file and statistics are in its time). The script runs the whole
model once in bfloat16 with SDPA for each sample, place and setting, prompt and answer together as one sequence, with logits
for the answer alone; its time leaves the loading of the model out. It takes prompts of the same lengths, one by one. Its
channel scalings scale the input of the query and key projections of all rows, which is less work than the public code does.
Before that, one prompt is put to both, and the answer's likelihood must agree.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


SETTINGS = ["none", "channel(100, factor=-1, layers=8-25)", "channel(215, factor=0, layers=8-25)", "pi(1.5)"]

PEER = r"""
import json, sys, time, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
request = json.load(open(sys.argv[1]))
torch.set_num_threads(request["threads"])
model = AutoModelForCausalLM.from_pretrained(request["folder"], dtype=torch.bfloat16, attn_implementation="sdpa").eval()
scaled = {"channel": None, "factor": 1.0}

def scale(module, arguments):
    if scaled["channel"] is None:
        return None
    changed = arguments[0].clone()
    changed[..., scaled["channel"]] *= scaled["factor"]
    return (changed, *arguments[1:])

for layer in model.model.layers[8:26]:
    layer.self_attn.q_proj.register_forward_pre_hook(scale)
    layer.self_attn.k_proj.register_forward_pre_hook(scale)

def run(ids, answer, ratio):
    positions = torch.arange(ids.shape[1])[None]
    if ratio != 1:
        positions = positions / ratio
    logits = model(ids, position_ids=positions, logits_to_keep=answer + 1, use_cache=False).logits[0].float()
    nll = torch.nn.functional.cross_entropy(logits[:-1], ids[0, -answer:], reduction="sum")
    return float(nll)

with torch.no_grad():
    check = torch.tensor([request["check_ids"]])
    nll = run(check, request["check_answer"], 1)
    generator = torch.Generator().manual_seed(1)
    prompts = [(torch.randint(300, model.config.vocab_size, (1, prompt + answer), generator=generator), answer)
               for prompt, answer in request["lengths"]]
    seconds = []
    for channel, factor, ratio in [(None, 1.0, 1), (100, -1.0, 1), (215, 0.0, 1), (None, 1.0, 1.5)]:
        scaled.update(channel=channel, factor=factor)
        run(*prompts[0], ratio)
        start = time.perf_counter()
        for ids, answer in prompts:
            run(ids, answer, ratio)
        seconds.append(time.perf_counter() - start)
print(json.dumps({"nll": nll, "seconds": seconds}))
"""


def call(command, threads):
    # The same waits for all, and those of our programs: long spinning favours whoever runs alone.
    environment = {**os.environ, "GOMP_SPINCOUNT": "3000", "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(f"{command[0]} fails:\n{done.stderr[-2000:]}")
    return done.stdout


def sweep(arguments, task, places, settings, samples, out):
    command = [arguments.midscope, "sweep", arguments.model, "--task", task, "--places", places, "--samples", str(samples),
               "--dtype", "bfloat16", "--threads", str(arguments.threads), "--score", "likelihood", "--json", "--out", out]
    for setting in settings:
        command += ["--with", setting]
    start = time.perf_counter()
    result = json.loads(call(command, arguments.threads))
    return time.perf_counter() - start, result


def prompt_lengths(h5py, path):
    with h5py.File(path) as file:
        group = file["entry/sweep_record"] if "entry/sweep_record" in file else file["entry/sweep"]
        prompts, answers = group["prompt_tokens"][:], group["answer_tokens"][:]
    return [[int(p), int(a)] for p, a in zip(prompts.ravel(), answers.ravel())]


def checked_prompt(arguments, h5py, task, folder):
    path = os.path.join(folder, "check.h5")
    call([arguments.midscope, "probe", arguments.model, "--task", task, "--dtype", "bfloat16", "--overwrite", "--out",
          path], arguments.threads)
    with h5py.File(path) as file:
        found = {}
        file.visititems(lambda name, item: found.update({name.split("/")[-1]: item[()]})
                        if isinstance(item, h5py.Dataset) and name.split("/")[-1] in ("token_ids", "answer_ids") else None)
    return found


def compare(arguments, h5py, task, places, model_folder, folder):
    # probe takes the first place of a task, as the first of `places` is in both.
    ids = checked_prompt(arguments, h5py, task, folder)
    one = sweep(arguments, task, places.split(",")[0], SETTINGS[:1], 1, os.path.join(folder, "one.h5"))[1]
    lone = [sweep(arguments, task, places, SETTINGS[:count], arguments.samples, os.path.join(folder, f"{count}.h5"))
            for count in range(1, len(SETTINGS) + 1)]
    lengths = prompt_lengths(h5py, os.path.join(folder, f"{len(SETTINGS)}.h5"))
    prompt = [int(i) for i in ids["token_ids"].ravel()]
    answer = [int(i) for i in ids["answer_ids"].ravel()]
    request = os.path.join(folder, "request.json")
    with open(request, "w") as file:
        json.dump({"folder": model_folder, "threads": arguments.threads, "lengths": lengths, "check_ids": prompt + answer,
                   "check_answer": len(answer)}, file)
    peer = json.loads(call([sys.executable, "-c", PEER, request], arguments.threads).strip().splitlines()[-1])
    ours = one["rows"][0]["answer_nll"]
    if abs(ours - peer["nll"]) > 0.1 + 0.05 * abs(ours):
        sys.exit(f"{task}: the answer's likelihood differs: {ours} nats, transformers {peer['nll']}")
    for name in ["one.h5"] + [f"{i}.h5" for i in range(1, len(SETTINGS) + 1)]:
        os.remove(os.path.join(folder, name))
    total = lone[-1][0]
    print(f"\n{task}, places {places}, {arguments.samples} samples, {sum(p for p, _ in lengths)} prompt tokens a setting")
    print(f"{'setting':44}{'transformers s':>16}{'midscope s':>12}{'ratio':>8}")
    before = 0.0
    for i, setting in enumerate(SETTINGS):
        added = lone[i][0] - before
        before = lone[i][0]
        label = setting if i else setting + " (with opening the model)"
        print(f"{label:44}{peer['seconds'][i]:16.1f}{added:12.1f}{peer['seconds'][i] / max(added, 0.05):8.1f}")
    print(f"{'all in one command':44}{sum(peer['seconds']):16.1f}{total:12.1f}{sum(peer['seconds']) / total:8.1f}", flush=True)
    return sum(peer["seconds"]), total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("midscope")
    parser.add_argument("model")
    parser.add_argument("--samples", type=int, default=40)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--tokens", type=int, default=1024)
    parser.add_argument("--task", choices=["list", "passkey"])
    arguments = parser.parse_args()
    import h5py

    with tempfile.TemporaryDirectory() as folder:
        model_folder = os.path.join(folder, "model")
        convert = pathlib.Path(__file__).parent / "peers" / "gguf_to_folder.py"
        subprocess.run([sys.executable, convert, arguments.model, model_folder], check=True, stdout=subprocess.DEVNULL)
        tasks = {"list": ("list:lines=20", "1,5,10,15,20"),
                 "passkey": (f"passkey:tokens={arguments.tokens}", "0%,25%,50%,75%,100%")}
        totals = [compare(arguments, h5py, *task, model_folder, folder) for name, task in tasks.items()
                  if arguments.task in (None, name)]
    theirs, ours = (sum(t) for t in zip(*totals))
    print(f"\nall: transformers {theirs:.1f} s, midscope {ours:.1f} s, {theirs / ours:.1f} times faster")


main()
