#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the probes of the papers against numpy, on rows and states that midscope dumps.

    compare_probes.py MIDSCOPE [TOKENS ...]      (needs h5py, numpy, scipy, gguf; default 400 2000)

Two files of one prompt: the attention rows and residual rows, and the probes under test. From the first, numpy makes passages' sums,
Eq. 6 of arXiv 2406.02536, centres, entropies and sink mass again; with the model's output matrix and final norm, read from its GGUF
file by the package gguf, the lens and the perplexity. The batch's rank correlations are held against scipy. Prints the largest
differences; exits with 1 when a bound is passed.
"""
import pathlib
import subprocess
import sys
import tempfile

import gguf
import h5py
import numpy as np
from scipy import stats

FAULTS = []


def check(name, mine, theirs, bound):
    mine, theirs = np.asarray(mine, float), np.asarray(theirs, float)
    assert mine.shape == theirs.shape, (name, mine.shape, theirs.shape)
    assert (np.isnan(mine) == np.isnan(theirs)).all(), name
    difference = np.nanmax(np.abs(mine - theirs), initial=0)
    bad = not difference <= bound
    FAULTS.extend([name] if bad else [])
    print(f"  {name:44}{difference:10.2e}   bound {bound:.0e}{'   <-- beyond the bound' if bad else ''}", flush=True)


def run(midscope, folder, *arguments):
    out = pathlib.Path(folder) / "probe.h5"
    subprocess.run([midscope, "probe", "embedded", *arguments, "--out", str(out), "--overwrite"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    arrays, attributes = {}, {}
    with h5py.File(out) as file:
        for name, group in file["entry"].items():
            attributes[name.removesuffix("_record")] = dict(group.attrs)
            for array, item in group.items():
                if isinstance(item, h5py.Dataset):
                    arrays[array] = item[()]
    return arrays, attributes


class Model:
    """The embedded model's final norm and output matrix, in double."""

    def __init__(self):
        path = next((pathlib.Path.home() / ".cache/midscope/models").glob("*.gguf"))
        tensors = {t.name: t for t in gguf.GGUFReader(path).tensors}
        read = lambda name: gguf.dequantize(tensors[name].data, tensors[name].tensor_type).astype(np.float64)
        self.norm = read("output_norm.weight").reshape(-1)
        self.output = read("output.weight" if "output.weight" in tensors else "token_embd.weight")

    def logits(self, residual):
        x = residual.astype(np.float64)
        x = x / np.sqrt((x ** 2).mean(-1, keepdims=True) + 1e-5) * self.norm
        return x @ self.output.T


def log_softmax(logits):
    top = logits.max(-1, keepdims=True)
    return logits - top - np.log(np.exp(logits - top).sum(-1, keepdims=True))


def spans(arrays):
    names = [n.decode() for n in arrays["span_name"]]
    return {n: (b, e) for n, b, e in zip(names, arrays["span_token_begin"], arrays["span_token_end"])}


def one_prompt(midscope, model, folder, lines):
    task = ["--task", f"kv:pairs={lines}", "--place", str(max(1, lines // 2))]
    dump, _ = run(midscope, folder, *task, "--residual-rows", "1000000", "--probes", "last_query_attention")
    names = "span_attention,key_information,head_scores,logit_lens"
    probes, attributes = run(midscope, folder, *task, "--probes", names, "--lens-top", "3")
    rows = dump["last_query_attention"].astype(np.float64)
    n = rows.shape[-1]
    print(f"kv:pairs={lines}, {n} tokens")
    places = spans(dump)
    names = [s.decode() for s in probes["span_label"]]
    passages = [rows[..., slice(*places[s])] for s in names]
    check("span_attention_sum", probes["span_attention_sum"], np.stack([p.sum(-1) for p in passages], -1), 1e-9)
    check("span_attention_mean", probes["span_attention_mean"], np.stack([p.mean(-1) for p in passages], -1), 1e-9)
    check("sink_mass", probes["sink_mass"], rows[..., :4].sum(-1), 1e-9)
    check("attention_centre (tokens)", probes["attention_centre"], (rows * np.arange(n)).sum(-1) / rows.sum(-1), 1e-6)
    late = rows[..., 4:]
    centre = (late * np.arange(4, n)).sum(-1) / late.sum(-1)
    check("attention_centre_after_sink (tokens)", probes["attention_centre_after_sink"], centre, 1e-6)
    entropy = -(rows * np.log(np.where(rows > 0, rows, 1))).sum(-1)
    check("attention_entropy (nats)", probes["attention_entropy"], entropy, 1e-5)
    check("row_entropy_rotated (nats)", probes["row_entropy_rotated"], entropy, 1e-5)
    reached = dump["last_query_attention"] >= np.float32(3) / np.float32(n)
    check("score_at_least_rotated", probes["score_at_least_rotated"], reached.mean(-1), 1e-12)
    pieces = np.stack([rows[..., slice(*places[f"pair {p}"])].sum(-1) for p in range(1, lines + 1)], -1)
    check("Eq. 6, sum over tokens, mean over heads", probes["piece_attention_sum"], pieces.mean(1), 1e-9)
    sizes = np.array([places[f"pair {p}"][1] - places[f"pair {p}"][0] for p in range(1, lines + 1)])
    check("Eq. 6, mean over tokens", probes["piece_attention_mean"], pieces.mean(1) / sizes, 1e-9)
    ranks = np.stack([np.argsort(np.argsort(-s, kind="stable"), kind="stable") for s in np.rint(probes["score_at_least"] * n)])
    check("head_rank", probes["head_rank"], ranks, 0)
    lens = log_softmax(model.logits(dump["residual"][:, -1]))
    answer = int(attributes["logit_lens"]["answer_token"])
    check("answer_log_probability (nats)", probes["answer_log_probability"], lens[:, answer], 2e-3)
    check("lens_probability", probes["lens_probability"], np.exp(-np.sort(-lens, -1)[:, :3]), 1e-4)
    return dump


def perplexity(midscope, model, folder, dump, lines):
    """One window over the whole prompt, from the residual rows of every position."""
    ids = dump["token_ids"]
    task = ["--task", f"kv:pairs={lines}", "--place", str(max(1, lines // 2))]
    probes, attributes = run(midscope, folder, *task, "--probes", "perplexity")
    parts = []
    for first in range(0, len(ids) - 1, 64):
        targets = ids[first + 1:first + 65]
        logits = model.logits(dump["residual"][-1, first:first + len(targets)])
        parts.append(-log_softmax(logits)[np.arange(len(targets)), targets])
    nll = np.concatenate(parts)
    check("token_nll (nats)", probes["token_nll"], nll, 5e-3)
    check("perplexity, relative", attributes["perplexity"]["perplexity"] / np.exp(nll.mean()), 1, 1e-5)


def batch(midscope, folder):
    print("list:lines=10, 2 samples at places 1, 4, 7, 10")
    probes, attributes = run(midscope, folder, "--task", "list:lines=10", "--places", "1,4,7,10", "--samples", "2",
                             "--probes", "span_attention,head_scores,key_information")
    centre = probes["attention_centre_after_sink"].reshape(2, 4, -1)
    rho = [[stats.spearmanr(centre[s, :, h], [1, 4, 7, 10]).statistic for h in range(centre.shape[-1])] for s in range(2)]
    check("centre_place_correlation", probes["centre_place_correlation"].reshape(-1), np.nanmean(rho, 0), 1e-9)
    scores = probes["score_at_least"].reshape(8, 30, 9)
    pairs = [(a, b) for a in range(8) for b in range(a + 1, 8)]
    for name, function in (("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
        values = [[function(scores[a, layer], scores[b, layer]).statistic for a, b in pairs] for layer in range(30)]
        check("score_" + name, probes["score_" + name], np.nanmean(values, 1), 1e-9)
        whole = np.nanmean([function(scores[a].ravel(), scores[b].ravel()).statistic for a, b in pairs])
        check(name + "_all_heads", attributes["head_score_stability"][name + "_all_heads"], whole, 1e-9)
    check("attention_map_sum", probes["attention_map_sum"], probes["piece_attention"].mean(0), 1e-12)


def main():
    midscope = sys.argv[1]
    model = Model()
    with tempfile.TemporaryDirectory() as folder:
        for tokens in [int(t) for t in sys.argv[2:]] or [400, 2000]:
            lines = max(2, tokens // 78)
            dump = one_prompt(midscope, model, folder, lines)
            perplexity(midscope, model, folder, dump, lines)
        batch(midscope, folder)
    print(f"{len(FAULTS)} beyond a bound")
    sys.exit(1 if FAULTS else 0)


main()
