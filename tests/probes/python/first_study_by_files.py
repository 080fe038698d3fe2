# SPDX-License-Identifier: MIT
"""The study of probes/python/first_study.ipynb without the Python package: by the program's commands and their files.

    first_study_by_files.py MIDSCOPE FOLDER
"""
import csv
import json
import os
import subprocess
import sys

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

PROGRAM, FOLDER = sys.argv[1:]
TASK = ["--task", "list:lines=10"]
ONE = [*TASK, "--place", "5", "--sample", "3"]
FLIPPED = "channel(100, factor=-1, layers=8-25)"


def midscope(*arguments, text=None):
    done = subprocess.run([PROGRAM, *arguments], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout


def probe(name, setting="none", *more):
    file = os.path.join(FOLDER, name + ".h5")
    printed = midscope("probe", "embedded", *ONE, "--with", setting, "--out", file, "--overwrite", "--json", *more)
    return json.loads(printed), h5py.File(file)["entry"]


def save(name):
    plt.savefig(os.path.join(FOLDER, name + ".png"))
    plt.close()


print(midscope("info", "embedded"))

# One prompt.
printed, entry = probe("plain")
span = {name.decode(): at for at, name in enumerate(entry["prompt/span_name"][:])}["gold"]
begin, end = entry["prompt/span_token_begin"][span], entry["prompt/span_token_end"][span]
text = printed["prompt_text"].encode()
first, last = entry["prompt/token_begin"][begin], entry["prompt/token_begin"][end]
print(text[:first].decode() + "[" + text[first:last].decode() + "]" + text[last:].decode())
attention = entry["last_query_attention_record/last_query_attention"][:]
logits = entry["last_logits_record/last_logits"][:]
plain_nll = printed["answer_nll"]
generated = json.loads(midscope("generate", "embedded", *ONE, "--new-tokens", "3", "--json"))
print("continued with", repr(generated["text"]))
print(f"answer_nll {plain_nll:.2f}: probability {np.exp(-plain_nll):.3f}")

# The outcome by place.
file = os.path.join(FOLDER, "sweep.h5")
sweep = json.loads(midscope("sweep", "embedded", *TASK, "--places", "1,3,5,8,10", "--with", "none", "--with", FLIPPED,
                            "--samples", "8", "--score", "likelihood", "--out", file, "--overwrite", "--json"))
for measure in ["answer_nll", "answer_nll_difference"]:
    for shift, setting in [(-0.1, "none"), (0.1, FLIPPED)]:
        rows = [row for row in sweep["rows"] if row["setting"] == setting]
        mean, low, high = (np.array([row[measure + end] for row in rows]) for end in ["", "_low", "_high"])
        places = [row["place"] + shift for row in rows]
        plt.errorbar(places, mean, yerr=[mean - low, high - mean], marker="o", capsize=3, label=setting)
    plt.xlabel("place of the gold passage")
    plt.ylabel(measure + " (nats)")
    plt.legend()
    save(measure)

# The heads that read the gold line.
on_gold = attention[:, :, begin:end].sum(axis=2)
plt.figure(figsize=(10, 3))
plt.imshow(on_gold.T, aspect="auto")
plt.colorbar(label="attention on the gold line")
plt.xlabel("layer")
plt.ylabel("head")
save("heads")

# A knob on one channel.
factors = np.linspace(-1, 1, 7)
lines = "".join(f"channel(100, factor={factor}, layers=8-25)\n" for factor in factors)
for place in ["1", "5", "10"]:
    answers = midscope("whatif", "embedded", *TASK, "--place", place, "--sample", "3", "--json", text=lines)
    nll = [json.loads(line)["answer_nll"] for line in answers.splitlines()]
    plt.plot(factors, nll, marker="o", label=f"gold at place {place}")
plt.xlabel("factor on channel 100 in layers 8-25")
plt.ylabel("answer_nll (nats)")
plt.legend()
save("knob")

# A head without output: only the term that the program has, because a command calls no function of ours.
printed, entry = probe("ablated", "ablate(L12H3, with=zero)")
assert np.abs(entry["last_logits_record/last_logits"][:] - logits).max() > 0
print(f"without L12H3 answer_nll changes by {printed['answer_nll'] - plain_nll:+.3f} nats")

# Ratios of our own.
readers = np.where(on_gold > np.quantile(on_gold, 0.9), 1.5, 1.0)
others = np.random.default_rng(1).permuted(readers)
settings = {"no head": "none", "all heads": "pi(1.5)"}
for name, ratios in {"heads that read gold": readers, "heads by chance": others}.items():
    file = os.path.join(FOLDER, name.replace(" ", "_") + ".csv")
    with open(file, "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["layer", "head", "ratio"])
        for (layer, head), ratio in np.ndenumerate(ratios):
            writer.writerow([layer, head, ratio])
    settings[name] = f"ratios({file})"
for name, setting in settings.items():
    print(f"{name:20} answer_nll {probe('ratios', setting)[0]['answer_nll']:.2f}")

# The entropy of attention.
for setting in ["none", FLIPPED]:
    _, entry = probe("entropy", setting)
    weights = entry["last_query_attention_record/last_query_attention"][:].astype("float64")
    entropy = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=2)
    plt.plot(entropy.mean(axis=1), label=setting)
plt.xlabel("layer")
plt.ylabel("entropy (nats), mean over heads")
plt.legend(loc="upper right")
save("entropy")
