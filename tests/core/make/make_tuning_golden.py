#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tuning_golden.json and the adapters of golden/adapters: ten steps of PyTorch's AdamW on tiny models, of all
weights and of a LoRA of PEFT, for tuning_golden_test.

    python tests/core/make/make_tuning_golden.py OUT.json ADAPTERS                       (transformers 5, torch, peft 0.21)

In float32, eager. Step s takes the tokens of the model's expected.json, turned by s, under the ids of
make_gradients_golden.py; the loss is the mean cross entropy of the next token. Gradients are clipped, the rate follows
transformers' linear schedule with warm-up. Of each case: losses, norms of gradients before clipping, and of each tensor
that is tuned, [length of the last dimension, norm, signed sum] of its change after the last step.
An adapter is as PEFT saves it before the first step, with random matrices.
"""

import json
import os
import sys

import golden_runs as runs
import make_gradients_golden as gradients
import make_positions_golden as positions
import peft
import safetensors.torch
import torch
import transformers

STEPS, WARM_UP, RATE, DECAY, LARGEST = 10, 3, 2e-3, 0.1, 0.8
LORA = {
    "llama": dict(r=3, lora_alpha=5, target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]),
    "glm4": dict(r=2, lora_alpha=4, target_modules=["q_proj", "k_proj", "down_proj"], use_rslora=True),  # rows in another order than ours
}


def steps(name, model, parameters):
    tokens = runs.prompt_ids(name)
    optimizer = torch.optim.AdamW(parameters, lr=RATE, weight_decay=DECAY)
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, WARM_UP, STEPS)
    losses, norms = [], []
    for step in range(STEPS):
        turned = tokens[step:] + tokens[:step]
        logits = model(input_ids=torch.tensor([turned]), position_ids=torch.tensor([gradients.IDS]), use_cache=False,
                       attention_mask=torch.ones(1, len(tokens), dtype=torch.long)).logits[0]
        loss = torch.nn.functional.cross_entropy(logits[:-1], torch.tensor(turned[1:]))
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(parameters, LARGEST).item())
        losses.append(loss.item())
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
    return dict(model=name, losses=losses, norms=norms)


def changes(before, after):
    return {key: gradients.summary(after[key] - before[key]) for key in sorted(after)}


def full_case(name):
    model = positions.opened(name)
    before = gradients.saved(model)
    result = steps(name, model, list(model.parameters()))
    return result | dict(changes=changes(before, gradients.saved(model)))


def adapter_of(model, folder):
    model.save_pretrained(folder)
    return safetensors.torch.load_file(os.path.join(folder, "adapter_model.safetensors"))


def lora_case(name, adapters):
    folder = os.path.join(adapters, name)
    torch.manual_seed(1)
    config = peft.LoraConfig(task_type="CAUSAL_LM", lora_dropout=0.0, bias="none", **LORA[name])
    model = peft.get_peft_model(positions.opened(name), config)
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    with torch.no_grad():
        for parameter in parameters:
            parameter.copy_(0.3 * torch.randn_like(parameter))
    before = adapter_of(model, folder)
    os.remove(os.path.join(folder, "README.md"))
    path = os.path.join(folder, "adapter_config.json")
    with open(path) as file:
        written = json.load(file)
    written["base_model_name_or_path"] = name
    written["target_modules"].sort()
    with open(path, "w") as file:
        json.dump(written, file, indent=2)
        file.write("\n")
    result = steps(name, model, parameters)
    after = {key: value.detach() for key, value in peft.get_peft_model_state_dict(model).items()}
    return result | dict(adapter=name, changes=changes(before, after))


def main():
    runs.set_up()
    cases = [full_case("llama"), full_case("gemma2"), *(lora_case(name, sys.argv[2]) for name in LORA)]
    settings = dict(position_ids=gradients.IDS, steps=STEPS, warm_up=WARM_UP, rate=RATE, weight_decay=DECAY, largest_norm=LARGEST)
    runs.write(sys.argv[1], cases, settings)


if __name__ == "__main__":
    main()
