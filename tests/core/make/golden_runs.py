# SPDX-License-Identifier: MIT
"""What the makers of golden files of edits and schemes share: the sequence, the numbers that are kept of each setting, the file,
and transformers' models with their eager attention replaced by a plain computation.

The sequence is the 40 tokens of the model's expected.json and 4 more, of which the first 40 are the prompt. Of each setting:
logits [row of ROWS, every LOGIT_STEP-th of the vocabulary], and attention [head, key] of the last prompt row in the last layer.
"""

import importlib
import json
import os
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import torch
import transformers

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden", "tiny_models")
PROMPT = 40
ANSWER = [7, 130, 31, 200]
ROWS = [33, 39, 42]
LOGIT_STEP = 17
FRAME = dict(answer=ANSWER, rows=ROWS, logit_step=LOGIT_STEP)
EMBEDDED = "embedded"
EMBEDDED_LOGIT_STEP = 997

ANSWER_ROWS = slice(PROMPT - 1, None)
LAST_ROW = slice(PROMPT - 1, PROMPT)
ALL_ROWS = slice(0, None)

now = {}  # the plain computation, and what the attention of its last layer was


def set_up():
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()


def prompt_ids(name):
    with open(os.path.join(FOLDER, name, "expected.json")) as file:
        return json.load(file)["ids"]


def opened(name, **options):
    return opened_path(os.path.join(FOLDER, name), **options)


def opened_gguf(path):
    folder, file = os.path.split(os.path.abspath(path))
    return opened_path(folder, gguf_file=file)


def opened_path(folder, **options):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32,
                                                              **options).eval()
    model.config._experts_implementation = "eager"  # grouped products want rows of 16 bytes
    return model


def modeling(name):
    """transformers' module of a tiny model."""
    kind = transformers.AutoConfig.from_pretrained(os.path.join(FOLDER, name)).model_type
    return importlib.import_module(f"transformers.models.{kind}.modeling_{kind}")


def replace_attention(names, attend):
    """attend(layer, q, k, v, scaling, softcap, bias, visible) -> output, weights: q, k, v [1, head, token, dim], k and v once a
    query head; bias (ALiBi) or None; visible [token, token]."""
    now["attend"] = attend
    for name in names:
        if name == "mpt":
            modeling(name).MptAttention.forward = mpt_forward
        else:
            modeling(name).eager_attention_forward = eager


def attended(*inputs):
    out, now["attention"] = now["attend"](*inputs)
    return out, now["attention"]


def eager(module, query, key, value, attention_mask, dropout=0.0, scaling=None, softcap=None, **kwargs):
    groups = query.shape[1] // key.shape[1]
    k, v = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
    out, weights = attended(module.layer_idx, query, k, v, scaling, softcap, None, attention_mask[0, 0] == 0)
    return out.transpose(1, 2).contiguous(), weights


def mpt_forward(self, hidden_states, position_bias, past_key_values=None, attention_mask=None, **kwargs):
    qkv = self.Wqkv(hidden_states).clamp(-self.clip_qkv, self.clip_qkv)
    q, k, v = (x.reshape(1, -1, self.n_heads, self.head_dim).transpose(1, 2) for x in qkv.chunk(3, dim=2))
    count = q.shape[2]
    bias = position_bias[:, -count:, -count:] if position_bias.shape[1] > 1 else position_bias[:, :, -count:]
    visible = torch.ones(count, count, dtype=torch.bool).tril()
    out, weights = attended(self.layer_idx, q, k, v, self.softmax_scale, None, bias, visible)
    return self.out_proj(out.transpose(1, 2).reshape(1, count, -1)), weights


def numbers(tensor):
    return [float(f"{x:.7g}") for x in tensor.flatten().tolist()]


def logit_step(name):
    return EMBEDDED_LOGIT_STEP if name == EMBEDDED else LOGIT_STEP


def case(name, setting, logits, attention, **more):
    """Of logits [row, vocabulary], and attention [head, row, key] of the last layer."""
    return dict(
        model=name,
        setting=setting,
        **more,
        logits=numbers(logits[ROWS][:, ::logit_step(name)]),
        attention=[round(x, 7) for x in attention[:, PROMPT - 1, :PROMPT].flatten().tolist()],
    )


def replaced_case(name, setting, model):
    """Of a run of the model with replaced attention."""
    with torch.no_grad():
        logits = model(torch.tensor([prompt_ids(name) + ANSWER]), use_cache=False).logits[0]
    return case(name, setting, logits, now["attention"][0])


def make(names, attend, cases):
    """The file named on the command line: cases(name) of each model, with replaced attention."""
    set_up()
    replace_attention(names, attend)
    write(sys.argv[1], [case for name in names for case in cases(name)])


def write(path, cases, frame=FRAME):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(frame | dict(cases=cases), file, separators=(",", ":"))
        file.write("\n")
    print(f"{len(cases)} cases, {os.path.getsize(path) / 1000:.0f} kB", file=sys.stderr)
