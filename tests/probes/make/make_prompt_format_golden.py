#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes prompt_format_golden.json: what transformers, with the tokenizer as it is, makes of plain prompts and of chats, for
program_prompt_format_test.

    python tests/probes/make/make_prompt_format_golden.py      (transformers 5, torch)

"models": tiny models of tests/core/golden/tiny_models with a longer context, a post-processor and a chat template, and for each
arm (plain; chat; chat with a system message and an option) ids, the last row's logits, the answer's nats, the greedy
continuation; and the perplexity of the text over sliding windows, in float32 with eager attention.
"templates": ids of apply_chat_template(tokenize=True) for published templates (tests/core/make/chat_templates.py), on the first
of these models, whose tokenizer asks for BOS.
"""

import json
import os
import shutil
import sys
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import torch
import transformers

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "core", "make"))
from chat_templates import TEMPLATES  # noqa: E402

TINY = os.path.join(HERE, "..", "..", "core", "golden", "tiny_models")
CONTEXT = 1024
PROMPT = "The mill by the river stood still. Who owned the"
ANSWER = " mill"
# A line of the task jsonl, and the prompt that it makes.
QUESTION = {"context": [], "question": "Who owned the mill?", "answers": ["Tom"]}
QUESTION_PROMPT, QUESTION_ANSWER = "Question: Who owned the mill?\nAnswer:", " Tom"
SYSTEM = "Be brief."
GREEDY = 6
WINDOW, STRIDE = 24, 8
MARGIN = 1e-3  # of the largest logit, between the two best of every greedy step

PUTS_BOS_FIRST = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [257], "tokens": ["<s>"]}},
}
THINKING = (
    "{% for message in messages %}{{ '[' + message['role'] + ']' + message['content'] + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '[assistant]' }}{% if enable_thinking is defined and not enable_thinking %}"
    "{{ '<think></think>\\n' }}{% endif %}{% endif %}"
)
# Asks for BOS and its template writes it; asks for it and the template does not; Gemma's; does not ask for it.
MODELS = [
    dict(name="llama-like", base="llama", post_processor=PUTS_BOS_FIRST, template=TEMPLATES["llama2"]),
    dict(name="zephyr-like", base="llama", post_processor=PUTS_BOS_FIRST, template=THINKING),
    dict(name="gemma-like", base="gemma", post_processor=PUTS_BOS_FIRST,
         template="{{ bos_token }}{% for message in messages %}{{ '<' + message['role'] + '>' + message['content'] | trim "
                  "+ '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<model>\\n' }}{% endif %}"),
    dict(name="qwen-like", base="qwen2", post_processor=None, template=THINKING),
]
ARMS = [
    dict(name="plain"),
    dict(name="chat", chat=True),
    dict(name="system", chat=True, system=SYSTEM, options={"enable_thinking": False}),
]


def make_folder(model, folder):
    shutil.copytree(os.path.join(TINY, model["base"]), folder)
    with open(os.path.join(folder, "config.json")) as file:
        config = json.load(file)
    config["max_position_embeddings"] = CONTEXT
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file)
    with open(os.path.join(folder, "tokenizer.json")) as file:
        tokenizer = json.load(file)
    tokenizer["post_processor"] = model["post_processor"]
    with open(os.path.join(folder, "tokenizer.json"), "w") as file:
        json.dump(tokenizer, file)
    with open(os.path.join(folder, "chat_template.jinja"), "w") as file:
        file.write(model["template"])


def messages_of(arm, prompt=PROMPT):
    system = [{"role": "system", "content": arm["system"]}] if "system" in arm else []
    return system + [{"role": "user", "content": prompt}]


def prompt_of(tokenizer, arm, prompt=PROMPT, answer=ANSWER):
    """Text, ids, and what follows as the answer: without its space behind white space."""
    if not arm.get("chat"):
        return prompt, tokenizer(prompt).input_ids, answer
    messages, options = messages_of(arm, prompt), arm.get("options", {})
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **options)
    ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False, **options)
    return text, ids, answer.lstrip() if text[-1] in " \n" else answer


def logits_of(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].double()


def greedy(model, ids):
    made = []
    for _ in range(GREEDY):
        row = logits_of(model, ids + made)[-1]
        best = torch.topk(row, 2).values
        assert best[0] - best[1] > MARGIN * row.abs().max(), "two tokens are as likely: take another prompt"
        made.append(int(row.argmax()))
    return made


def nats(model, ids, answer_ids):
    rows = torch.log_softmax(logits_of(model, ids + answer_ids), -1)
    return -sum(float(rows[len(ids) - 1 + i, token]) for i, token in enumerate(answer_ids))


def perplexity(model, ids):
    """As the documentation of transformers: every token once, with what stands before it in its window."""
    total, count, end = 0.0, 0, 0
    for begin in range(0, len(ids), STRIDE):
        stop = min(begin + WINDOW, len(ids))
        rows = torch.log_softmax(logits_of(model, ids[begin:stop]), -1)
        for target in range(max(end, begin + 1), stop):
            total -= float(rows[target - begin - 1, ids[target]])
            count += 1
        end = stop
        if stop == len(ids):
            break
    return float(torch.exp(torch.tensor(total / count, dtype=torch.float64)))


def run(model):
    with tempfile.TemporaryDirectory() as parent:
        folder = os.path.join(parent, "model")
        make_folder(model, folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        network = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
        arms = []
        for arm in ARMS:
            text, ids, answer = prompt_of(tokenizer, arm)
            _, question_ids, question_answer = prompt_of(tokenizer, arm, QUESTION_PROMPT, QUESTION_ANSWER)
            plain_ids = lambda plain: tokenizer(plain, add_special_tokens=False).input_ids  # of single bytes, so ids join
            arms.append(dict(arm, text=text, ids=ids, answer_nll=nats(network, ids, plain_ids(answer)), greedy=greedy(network, ids),
                             question_tokens=len(question_ids), question_nll=nats(network, question_ids, plain_ids(question_answer)),
                             logits=[float(f"{value:.7g}") for value in logits_of(network, ids)[-1]]))
        return dict(name=model["name"], base=model["base"], post_processor=model["post_processor"], template=model["template"],
                    arms=arms, perplexity=perplexity(network, tokenizer(PROMPT).input_ids))


def template_cases():
    cases = []
    with tempfile.TemporaryDirectory() as parent:
        folder = os.path.join(parent, "model")
        make_folder(MODELS[0], folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        for name, template in TEMPLATES.items():
            for arm in (ARMS[1], dict(ARMS[2], options={})):
                try:
                    text = tokenizer.apply_chat_template(messages_of(arm), tokenize=False, add_generation_prompt=True, chat_template=template)
                    ids = tokenizer.apply_chat_template(messages_of(arm), add_generation_prompt=True, chat_template=template, return_dict=False)
                except Exception:  # such as templates without a system message, or that ask for today
                    continue
                if PROMPT not in text or "strftime" in template:
                    continue
                cases.append(dict(name=name, system=arm.get("system", ""), text=text, ids=ids))
                break
    return cases


def main():
    golden = dict(context=CONTEXT, prompt=PROMPT, answer=ANSWER, question=QUESTION, window=WINDOW, stride=STRIDE,
                  models=[run(model) for model in MODELS], templates=template_cases())
    with open(os.path.join(HERE, "..", "golden", "prompt_format_golden.json"), "w") as file:
        json.dump(golden, file)
        file.write("\n")
    print(len(golden["templates"]), "templates:", [case["name"] for case in golden["templates"]])


main()
