#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes attribution_golden.json: what the probes of attribution measure, by transformers' own models with hooks and whole
matrices, for attribution_golden_test.

    python tests/probes/make/make_attribution_golden.py OUT.json [EMBEDDED.gguf]      (transformers 5, torch, gguf)

For the tiny models named in MODELS and the embedded one, in float32 with eager attention. Tiny models: the 40 tokens of
expected.json. Every contribution to the logits is a whole vector that is sent forward through the output norm and the
final norm with their statistics held, and through the output matrix.
"""

import json
import os
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import torch
import transformers
from transformers.models.gemma2 import modeling_gemma2
from transformers.models.gpt_neox import modeling_gpt_neox
from transformers.models.llama import modeling_llama
from transformers.models.olmo2 import modeling_olmo2
from transformers.models.smollm3 import modeling_smollm3

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "core", "golden", "tiny_models")
# name: module whose attention is watched; None: MPT, which has no such function.
MODELS = {
    "llama": modeling_llama,
    "smollm3": modeling_smollm3,
    "gemma2": modeling_gemma2,
    "olmo2": modeling_olmo2,
    "gpt-neox": modeling_gpt_neox,
    "mpt": None,
}
GOLD = (12, 16)
QUESTION = (30, 36)
NULL_QUESTION = [34, 35]  # what stands for the question in the second run of qr_heads
BAND_TOKENS = 4
EPSILON = 0.3
EMBEDDED_IDS = [(977 * i + 13) % 49152 for i in range(24)]
EMBEDDED_GOLD = (5, 9)
EMBEDDED_QUESTION = (15, 20)
EMBEDDED_BAND_STEP = 37  # every so manyth number of its bands is kept

seen = {}  # layer: what its attention was given


def watch(module):
    """Has the eager attention of a modelling file keep what it is given."""
    plain = module.eager_attention_forward

    def forward(layer, query, key, value, *args, scaling=None, **kwargs):
        scale = query.shape[-1] ** -0.5 if scaling is None else scaling
        groups = query.shape[1] // key.shape[1]
        seen[layer.layer_idx] = dict(
            q=query[0], k=key[0].repeat_interleave(groups, 0), v=value[0].repeat_interleave(groups, 0), scale=scale
        )
        return plain(layer, query, key, value, *args, scaling=scaling, **kwargs)

    module.eager_attention_forward = forward


class Parts:
    """The modules of a model by the part that they play."""

    def __init__(self, model):
        inner = getattr(model, "model", None) or getattr(model, "gpt_neox", None) or model.transformer
        self.config = model.config
        self.layers = getattr(inner, "layers", None) or inner.blocks
        self.final_norm = next(m for m in (getattr(inner, n, None) for n in ("norm", "final_layer_norm", "norm_f")) if m is not None)
        self.output = model.get_output_embeddings()

    def attention(self, layer):
        return next(m for m in (getattr(layer, n, None) for n in ("self_attn", "attention", "attn")) if m is not None)

    def projection(self, layer):
        attention = self.attention(layer)
        return next(m for m in (getattr(attention, n, None) for n in ("o_proj", "dense", "out_proj")) if m is not None)

    def mlp(self, layer):
        return getattr(layer, "mlp", None) or layer.ffn

    def output_norms(self, layer):
        """After attention and MLP; None where there are none."""
        names = {"gemma2": ("post_attention_layernorm", "post_feedforward_layernorm"), "olmo2": ("post_attention_layernorm", "post_feedforward_layernorm")}
        found = names.get(self.config.model_type)
        return [getattr(layer, name) for name in found] if found else [None, None]


def run(model, ids):
    """Activations of one run: logits, the stream between layers, each layer's z, attention output, MLP output, weights."""
    parts = Parts(model)
    kept = dict(z={}, attention={}, mlp={}, projected={}, qkv={}, final={})
    handles = []

    def keep(module, where, key, of_input=False):
        def hook(_, inputs, output=None):
            value = inputs[0] if of_input else output
            kept[where][key] = (value[0] if isinstance(value, tuple) else value)[0].detach()

        handles.append(module.register_forward_pre_hook(hook) if of_input else module.register_forward_hook(hook))

    keep(parts.final_norm, "final", 0, of_input=True)
    for i, layer in enumerate(parts.layers):
        after_attention, after_mlp = parts.output_norms(layer)
        keep(parts.projection(layer), "z", i, of_input=True)
        keep(parts.projection(layer), "projected", i)
        keep(after_attention or parts.projection(layer), "attention", i)
        if after_mlp is None and model.config.model_type == "mpt":
            keep(layer.ffn.down_proj, "mlp", i)
        else:
            keep(after_mlp or parts.mlp(layer), "mlp", i)
    if model.config.model_type == "mpt":
        for i, layer in enumerate(parts.layers):
            keep(layer.attn.Wqkv, "qkv", i)
    seen.clear()
    with torch.no_grad():
        out = model(torch.tensor([ids]), use_cache=False, output_attentions=True, output_hidden_states=True)
    for handle in handles:
        handle.remove()
    kept["logits"] = out.logits[0]
    kept["weights"] = [a[0] for a in out.attentions]
    streams = [h[0] for h in out.hidden_states]
    kept["streams"] = streams[: len(parts.layers)] + [kept["final"][0]]
    return parts, kept


def held(norm, at):
    """The norm as a linear map of vectors, with the statistics of the row `at`; and its bias."""
    zero = torch.zeros_like(at)
    if isinstance(norm, torch.nn.LayerNorm):
        deviation = torch.sqrt(at.var(unbiased=False) + norm.eps)
        bias = norm.bias if norm.bias is not None else zero
        return lambda v: (v - v.mean(-1, keepdim=True)) / deviation * norm.weight, bias
    rms_norm_of = norm(at)
    scale = torch.where(at.abs() > 1e-12, rms_norm_of / at, zero)
    return lambda v: v * scale, zero


def uncapped(logits, config):
    cap = getattr(config, "final_logit_softcapping", None)
    return logits if not cap else cap * torch.atanh(logits.double() / cap)


def attribution(parts, kept):
    last = kept["logits"][-1]
    order = torch.argsort(last, descending=True)
    token, against = int(order[3]), int(order[0])  # as if the answer were the fourth likeliest token
    difference = (uncapped(last[token], parts.config) - uncapped(last[against], parts.config)).item()
    matrix = parts.output.weight[token] - parts.output.weight[against]
    final, final_bias = held(parts.final_norm, kept["streams"][-1][-1])

    def logit(vectors):
        return (final(vectors) * matrix).sum(-1).double()

    constant = (final_bias * matrix).sum().item()
    if parts.output.bias is not None:
        constant += (parts.output.bias[token] - parts.output.bias[against]).item()
    heads, by_key, biases, mlps = [], [], [], []
    for i, layer in enumerate(parts.layers):
        projection = parts.projection(layer)
        width = kept["weights"][i].shape[0]
        z = kept["z"][i][-1].view(width, -1)
        weight = projection.weight.view(-1, width, z.shape[1])
        after = parts.output_norms(layer)[0]
        through, bias = held(after, kept["projected"][i][-1]) if after is not None else (lambda v: v, torch.zeros(weight.shape[0]))
        update = torch.einsum("ohd,hd->ho", weight, z)
        heads += logit(through(update)).tolist()
        if projection.bias is not None:
            bias = bias + through(projection.bias)
        biases.append(logit(bias).item())
        mlps.append(logit(kept["mlp"][i][-1]).item())
        read = torch.einsum("hk,hkd,ohd->hko", kept["weights"][i][:, -1], seen_values(parts, kept, i), weight)
        by_key += logit(through(read)).flatten().tolist()
    return dict(
        answer=token,
        against=against,
        difference=difference,
        constant=constant,
        embedding=logit(kept["streams"][0][-1]).item(),
        heads=numbers(heads),
        by_key=numbers(by_key),
        attention_bias=numbers(biases),
        mlp=numbers(mlps),
    )


def seen_values(parts, kept, layer):
    if layer in seen:
        return seen[layer]["v"]
    clip = parts.config.attn_config.clip_qkv
    qkv = kept["qkv"][layer].clamp(-clip, clip)
    return qkv.chunk(3, dim=-1)[2].view(qkv.shape[0], parts.config.n_heads, -1).transpose(0, 1)


def bands(parts, gold):
    """[target, layer, head, pair], the unrotated part and the logit [target, layer, head]; gold, first and last tokens."""
    count = seen[0]["q"].shape[1]
    config = parts.config
    rope = getattr(config, "rope_parameters", None) or {}
    share = rope.get("partial_rotary_factor", 1.0) if "rope_type" in rope else 1.0
    head_dim = seen[0]["q"].shape[-1]
    pairs = int(head_dim * share) // 2
    found, rest, logits = [], [], []
    for begin, end in [gold, (0, BAND_TOKENS), (count - BAND_TOKENS, count)]:
        for layer in range(len(parts.layers)):
            rotates = not hasattr(config, "no_rope_layers") or config.no_rope_layers[layer]
            window = window_of(config, layer)
            keys = [j for j in range(begin, end) if not window or count - 1 - j < window]
            q, k, scale = seen[layer]["q"][:, -1], seen[layer]["k"][:, keys], seen[layer]["scale"]
            product = (q[:, None] * k).double() * scale  # [head, key, dim]
            turned = product[..., :pairs] + product[..., pairs:2 * pairs]
            still = product[..., 2 * pairs:] if rotates else product
            logits += (product.sum(-1).mean(1) if keys else torch.full((q.shape[0],), float("nan"))).tolist()
            empty = torch.full((q.shape[0], pairs), float("nan"), dtype=torch.float64)
            found += (turned.mean(1) if rotates and keys else empty).flatten().tolist()
            rest += (still.sum(-1).mean(1) if keys else empty[:, 0]).tolist()
    step = EMBEDDED_BAND_STEP if len(parts.layers) > 10 else 1
    return dict(bands=numbers(found[::step]), band_step=step, unrotated=numbers(rest), logits=numbers(logits))


def window_of(config, layer):
    types = getattr(config, "layer_types", None)
    return config.sliding_window if types and types[layer] == "sliding_attention" else 0


def rollout(parts, kept):
    share = []
    for i in range(len(parts.layers)):
        a, x = kept["attention"][i].double().norm(dim=-1), kept["streams"][i].double().norm(dim=-1)
        share.append((a / (x + a)).mean().item())
    row = torch.zeros(kept["logits"].shape[0], dtype=torch.float64)
    row[-1] = 1
    rows = []
    for i in reversed(range(len(parts.layers))):
        row = (1 - share[i]) * row + share[i] * (kept["weights"][i].double().mean(0).T @ row)
        rows.insert(0, row)
    return dict(share=numbers(share), rows=numbers(torch.stack(rows)))


def sinks(kept):
    """Mean weight on the first three tokens of rows that see them [layer, head, key]."""
    alpha = [[[w[k:, k].mean().item() for k in range(3)] for w in weights.double()] for weights in kept["weights"]]
    return dict(mean_weight=numbers(alpha))


def massive(kept):
    found = []
    for stream in kept["streams"][1:]:
        values = stream.abs()
        at = int(values.argmax())
        token, channel = divmod(at, stream.shape[1])
        found.append([token, channel, stream.flatten()[at].item(), values.flatten().double().median().item()])
    return found


def question_scores(kept, question_begin):
    return torch.stack([w[:, question_begin:].double().mean(1) for w in kept["weights"]])  # [layer, head, key]


def qr_heads(model, kept, ids, gold, question):
    null_ids = ids[: question[0]] + NULL_QUESTION + ids[question[1]:]
    _, null = run(model, null_ids)
    scores = question_scores(kept, question[0])[:, :, gold[0]:gold[1]] - question_scores(null, question[0])[:, :, gold[0]:gold[1]]
    low = scores.mean(-1, keepdim=True) - 2 * scores.std(-1, keepdim=True)
    return dict(score=numbers((scores * (scores > low)).sum(-1)))


def drift(parts):
    """Of rotated q and k pooled: slope of keys, query centroid, correlation with position, plasticity [layer, head]."""
    slope, centroid, key_share, flexible = [], [], [], []
    for layer in range(len(parts.layers)):
        for q, k in zip(seen[layer]["q"].double(), seen[layer]["k"].double()):
            t = torch.arange(q.shape[0], dtype=torch.float64)
            pool, times = torch.cat([q, k]), torch.cat([t, t])
            covariance = ((pool - pool.mean(0)) * (times - times.mean())[:, None]).mean(0)
            a = covariance / covariance.norm()
            along = k @ a
            slope.append((((along - along.mean()) * (t - t.mean())).mean() / t.var(unbiased=False)).item())
            centroid.append((q @ a).mean().item())
            key_share.append(torch.corrcoef(torch.stack([along, t]))[0, 1].item())
            half = q.shape[0] // 2
            scores = q[half:] @ k[:half].T  # [query, key]
            p = (scores[:, :, None] > scores[:, None, :]).double().mean(0)
            pairs = torch.triu_indices(half, half, 1)
            flexible.append((4 * p * (1 - p))[pairs[0], pairs[1]].mean().item())
    return dict(slope=numbers(slope), centroid=numbers(centroid), correlation=numbers(key_share), plasticity=numbers(flexible))


def numbers(values):
    flat = torch.as_tensor(values, dtype=torch.float64).flatten().tolist()
    return [None if x != x else float(f"{x:.8g}") for x in flat]


def case(name, model, ids, gold, question):
    parts, kept = run(model, ids)
    found = dict(model=name, ids=ids, gold=gold, question=question, null_question=NULL_QUESTION, **attribution(parts, kept))
    found["rollout"] = rollout(parts, kept)
    found["sinks"] = sinks(kept)
    found["massive"] = massive(kept)
    if seen:
        found["rope"] = bands(parts, gold)
        found["drift"] = drift(parts)
        found["rot_q"] = numbers(seen[1]["q"][:, -1])
        found["rot_k"] = numbers(seen[1]["k"][:, 3])
    found["qr_heads"] = qr_heads(model, kept, ids, gold, question)
    return found


def main():
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    for module in MODELS.values():
        if module is not None:
            watch(module)
    options = dict(attn_implementation="eager", dtype=torch.float32)
    found = []
    for name in MODELS:
        folder = os.path.join(FOLDER, name)
        with open(os.path.join(folder, "expected.json")) as file:
            ids = json.load(file)["ids"]
        found.append(case(name, transformers.AutoModelForCausalLM.from_pretrained(folder, **options).eval(), ids, GOLD, QUESTION))
    if len(sys.argv) > 2:
        folder, name = os.path.split(os.path.abspath(sys.argv[2]))
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, **options).eval()
        embedded = case("embedded", model, EMBEDDED_IDS, EMBEDDED_GOLD, EMBEDDED_QUESTION)
        for large in ("by_key", "rot_q", "rot_k"):
            del embedded[large]
        found.append(embedded)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(dict(band_tokens=BAND_TOKENS, cases=found), file, separators=(",", ":"))
        file.write("\n")
    print(f"{len(found)} cases, {os.path.getsize(sys.argv[1]) / 1000:.0f} kB", file=sys.stderr)


if __name__ == "__main__":
    main()
