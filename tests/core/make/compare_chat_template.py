#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Renders seeded conversations by templates with Midscope and with transformers, and counts those that differ.

    compare_chat_template.py RENDER_CHAT_LINES [--folder FOLDER] [--conversations 300] [--seed 1] [--golden OUT.jsonl]

RENDER_CHAT_LINES is the built program tests/core/render_chat_lines. The templates are those of chat_templates.py and the *.jinja files in
FOLDER. --golden writes what transformers makes of the first five conversations of each in chat_templates.py. Where transformers raises an error,
Midscope must refuse, too. Both are given the same further variables and the same date for strftime_now. Exits with 1 where one differs.
"""
import argparse
import datetime
import json
import pathlib
import random
import subprocess
import sys

from transformers.utils.chat_template_utils import _compile_jinja_template

from chat_templates import DATES, TEMPLATES, VARIABLES

CONTENTS = ["hi", " Two words. ", "\n\nlines\nand more\n", "", "<think>\nso\n</think>\n\nyes", "it's \"quoted\" {{ braces }}", "été 中文 😀",
            "<tool_response>x</tool_response>", "\u00a0nbsp\u2003", "a\\nb"]


def conversation(rng):
    messages = []
    if rng.random() < 0.4:
        messages.append({"role": "system", "content": rng.choice(CONTENTS)})
    for i in range(rng.randint(1, 5)):
        role = ("user", "assistant")[i % 2] if rng.random() < 0.95 else rng.choice(["user", "assistant", "system", "tool"])
        messages.append({"role": role, "content": rng.choice(CONTENTS)})
    return messages


def render(template, request):
    compiled = _compile_jinja_template(template)
    date = datetime.datetime.fromisoformat(request["date"])
    variables = {"tools": None, "documents": None, "bos_token": request["bos"], "eos_token": request["eos"], "strftime_now": date.strftime}
    try:
        return compiled.render(messages=request["messages"], add_generation_prompt=request["add_generation_prompt"],
                               **(variables | request["variables"]))
    except Exception as error:
        return error


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--golden", type=pathlib.Path)
    parser.add_argument("--conversations", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    failed = False
    golden = []
    templates = dict(TEMPLATES)
    if args.folder:
        templates |= {path.name: path.read_text(encoding="utf-8") for path in sorted(args.folder.glob("*.jinja"))}
    for name, template in templates.items():
        requests = [{"template": template, "messages": conversation(rng), "add_generation_prompt": rng.random() < 0.5, "bos": "<s>",
                     "eos": "</s>", "variables": rng.choice(VARIABLES.get(name, [{}])), "date": rng.choice(DATES)} for _ in range(args.conversations)]
        done = subprocess.run([args.program], input="".join(json.dumps(request) + "\n" for request in requests), capture_output=True, text=True,
                              check=True)
        answers = [json.loads(line) for line in done.stdout.split("\n")[:-1]]
        expected = [render(template, request) for request in requests]
        differ = [i for i, want in enumerate(expected)
                  if ("error" not in answers[i] if isinstance(want, Exception) else answers[i].get("text") != want)]
        refused = sum(isinstance(want, Exception) for want in expected)
        print(f"{name}: {len(requests)} conversations, {refused} refused by both, {len(differ)} differ")
        for i in differ[:2]:
            print(f"  {requests[i]['messages']} {requests[i]['add_generation_prompt']}\n    transformers {expected[i]!r}\n    midscope     {answers[i]}")
        failed = failed or bool(differ)
        if name in TEMPLATES:
            first = [{"name": name, **request, "text": None if isinstance(want, Exception) else want}
                     for request, want in list(zip(requests, expected))[:5]]
            for entry in first[1:]:
                entry["template"] = None  # as in the line before
            golden += first
    if args.golden:
        args.golden.write_text("".join(json.dumps(entry) + "\n" for entry in golden), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
