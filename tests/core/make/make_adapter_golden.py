#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes adapter_golden.json: logits of tiny models with LoRA adapters of PEFT, for adapter_golden_test, and adapters for it into
golden/adapters: of models with fused projections, and of a quantised GGUF model, in both formats.

    python tests/core/make/make_adapter_golden.py OUT.json ADAPTERS                      (transformers 5, torch, peft 0.21, gguf)

In float32, eager, of the 40 tokens of the model's expected.json: logits [row of ROWS, every LOGIT_STEP-th of the vocabulary]. The
adapters of OLD exist already (make_tuning_golden.py). ADAPTERS/NAME.gguf holds the numbers of ADAPTERS/NAME as llama.cpp's
convert_lora_to_gguf.py writes them: rows of q and k of lora_b in the order of GGUF's llama.
"""

import json
import os
import sys

import golden_runs as runs
import gguf
import peft
import safetensors.torch
import torch
import transformers
from tiny_configurations import MODELS

OLD = ["llama", "glm4"]
NEW = {
    "phi3": dict(r=2, lora_alpha=3, target_modules=["qkv_proj", "gate_up_proj", "o_proj"]),
    "gpt2": dict(r=2, lora_alpha=4, target_modules=["c_attn", "c_fc"]),
    "gguf-llama-q8_0": dict(r=2, lora_alpha=5, target_modules=["q_proj", "k_proj", "v_proj", "down_proj"]),
}
GGUF = ["gpt2", "gguf-llama-q8_0"]
SCALES = {"llama": [1.0, 0.5, -1.0]}
ROWS, LOGIT_STEP = [3, 21, 39], 17
# Module of a layer -> name in GGUF files.
GGUF_NAMES = {"attn.c_attn": "attn_qkv", "mlp.c_fc": "ffn_up", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "mlp.down_proj": "ffn_down"}


def opened(name):
    if name.startswith("gguf-"):  # transformers reads no rope scaling from a GGUF file
        dequantised = runs.opened_gguf(os.path.join(runs.FOLDER, name, "model.gguf"))
        kind, options, _ = MODELS[name]
        config = getattr(transformers, kind + "Config")(attn_implementation="eager", **options)
        model = getattr(transformers, kind + "ForCausalLM")(config)
        model.load_state_dict(dequantised.state_dict())
        return model.float().eval()
    return runs.opened(name)


def make(name, folder):
    torch.manual_seed(2)
    model = peft.get_peft_model(opened(name), peft.LoraConfig(task_type="CAUSAL_LM", lora_dropout=0.0, bias="none", **NEW[name]))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.copy_(0.3 * torch.randn_like(parameter))
    model.save_pretrained(folder)
    os.remove(os.path.join(folder, "README.md"))
    path = os.path.join(folder, "adapter_config.json")
    with open(path) as file:
        written = json.load(file)
    written["base_model_name_or_path"] = name
    written["target_modules"].sort()
    with open(path, "w") as file:
        json.dump(written, file, indent=2)
        file.write("\n")


def permuted(b, heads):
    return b.reshape(heads, 2, b.shape[0] // heads // 2, b.shape[1]).swapaxes(1, 2).reshape(b.shape)


def write_gguf(name, folder):
    config = opened(name).config
    tensors = safetensors.torch.load_file(os.path.join(folder, "adapter_model.safetensors"))
    writer = gguf.GGUFWriter(folder + ".gguf", config.model_type)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(NEW[name]["lora_alpha"]))
    for full, value in sorted(tensors.items()):
        layer, *module, matrix, _ = full.replace("transformer.h.", "model.layers.").removeprefix("base_model.model.model.layers.").split(".")
        module, which = ".".join(module), matrix[-1].lower()
        array = value.numpy()
        if which == "b" and module in ("self_attn.q_proj", "self_attn.k_proj"):
            array = permuted(array, config.num_attention_heads if "q_proj" in module else config.num_key_value_heads)
        writer.add_tensor(f"blk.{layer}.{GGUF_NAMES[module]}.weight.lora_{which}", array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def cases(name, folder):
    model = peft.PeftModel.from_pretrained(opened(name), folder).eval()
    for scale in SCALES.get(name, [1.0]):
        for module in model.modules():
            if isinstance(module, peft.tuners.lora.LoraLayer):
                module.set_scale("default", scale)
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([runs.prompt_ids(name)]), use_cache=False).logits[0]
        yield dict(model=name, scale=scale, logits=[[round(x, 6) for x in row] for row in logits[ROWS, ::LOGIT_STEP].tolist()])


def main():
    runs.set_up()
    for name in NEW:
        make(name, os.path.join(sys.argv[2], name))
    for name in GGUF:
        write_gguf(name, os.path.join(sys.argv[2], name))
    runs.write(sys.argv[1], [case for name in OLD + list(NEW) for case in cases(name, os.path.join(sys.argv[2], name))],
               dict(rows=ROWS, logit_step=LOGIT_STEP))


if __name__ == "__main__":
    main()
