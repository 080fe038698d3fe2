# SPDX-License-Identifier: MIT
"""Writes tests/core/golden/quantised_models: tiny folders in the quantised formats, and their logits by transformers.

    python tests/core/make/make_quantised_models.py [NAME ...]      (transformers 5, torch, tokenizers, safetensors)
    python tests/core/make/make_quantised_models.py --check         (holds them against transformers' own loaders)

Every matrix of the layers is quantised and packed by the rules of the format's public source, named at each function
below; embeddings stay bfloat16. NAME/expected.json, in float32 with eager attention, of a plain model with the
dequantised weights: ids [24], logits [24, vocabulary] of rows 0, 11 and 23.
"""

import json
import os
import shutil
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import numpy
import safetensors.torch
import torch
import transformers

from make_tiny_models import rounded

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden", "quantised_models")
ROWS = [0, 11, 23]
SMALL = dict(vocab_size=264, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=4, head_dim=16, num_key_value_heads=2, max_position_embeddings=128, tie_word_embeddings=True, bos_token_id=257, eos_token_id=258, pad_token_id=None)
FUSED = {key: value for key, value in SMALL.items() if key != "head_dim"} | dict(num_attention_heads=2, num_key_value_heads=1)
EXPERTS = dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=32, decoder_sparse_step=1, norm_topk_prob=True)


def floats(tensor, dtype):
    """Scales as the file holds them."""
    return tensor.to(dtype), tensor.to(dtype).float()


def to_words(values, bits, dim):
    """n integers in each int32, the first in the lowest bits, along a dimension."""
    values = values.movedim(dim, -1).to(torch.int64)
    count = 32 // bits
    values = torch.nn.functional.pad(values, (0, -values.shape[-1] % count))
    words = (values.unflatten(-1, (-1, count)) << torch.arange(0, 32, bits)).sum(-1)
    return torch.where(words >= 2**31, words - 2**32, words).to(torch.int32).movedim(-1, dim).contiguous()


def by_group(weight, bits, group, symmetric, dtype, group_of=None):
    """Levels [rows, columns], scales and zeros [rows, groups], and what they stand for."""
    rows, columns = weight.shape
    group = columns if group == -1 else group
    group_of = torch.arange(columns) // group if group_of is None else group_of
    scales, zeros = [], []
    for g in range(columns // group):
        part = weight[:, group_of == g]
        if symmetric:
            scales.append(2 * part.abs().amax(1) / (2**bits - 1))
            zeros.append(torch.full((rows,), 2 ** (bits - 1)))
        else:
            low, high = part.amin(1).clamp(max=0), part.amax(1).clamp(min=0)
            scales.append((high - low) / (2**bits - 1))
            zeros.append((-low / scales[-1]).round().long())
    kept, scale = floats(torch.stack(scales, 1), dtype)
    zero = torch.stack(zeros, 1).clamp(0, 2**bits - 1)
    levels = (weight / scale[:, group_of] + zero[:, group_of]).round().clamp(0, 2**bits - 1).long()
    return levels, kept, zero, scale[:, group_of] * (levels - zero[:, group_of])


def gptq(weight, name, bits=4, group=32, symmetric=True, act_order=False, version=1):
    """AutoGPTQ/AutoGPTQ, nn_modules/qlinear/qlinear_cuda_old.py (pack), qlinear_cuda.py (g_idx); version 2 without zero - 1."""
    columns = weight.shape[1]
    group_of = None
    if act_order:
        order = torch.randperm(columns, generator=torch.Generator().manual_seed(columns))
        group_of = torch.empty(columns, dtype=torch.long)
        group_of[order] = torch.arange(columns) // group
    levels, scales, zeros, values = by_group(weight, bits, group, symmetric, torch.float16, group_of)
    if version == 1:
        zeros = (zeros - 1) % 2**bits
    tensors = {"qweight": to_words(levels.T, bits, 0), "qzeros": to_words(zeros.T, bits, 1), "scales": scales.T.contiguous()}
    size = columns if group == -1 else group
    tensors["g_idx"] = (torch.arange(columns) // size if group_of is None else group_of).to(torch.int32)
    return tensors, values


def awq(weight, name):
    """casper-hansen/AutoAWQ, modules/linear/gemm.py (from_linear): nibble i of a word holds column order[i]."""
    order = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])
    levels, scales, zeros, values = by_group(weight, 4, 32, False, torch.float16)
    shuffled = [to_words(part.T.unflatten(1, (-1, 8))[:, :, order].flatten(1), 4, 1) for part in (levels, zeros)]
    return {"qweight": shuffled[0], "qzeros": shuffled[1], "scales": scales.T.contiguous()}, values


def packed(weight, name, symmetric=True, bits=4, group=32):
    """vllm-project/compressed-tensors, compressors/pack_quantized: along columns, zeros along rows; signed, offset 2^(bits-1)."""
    levels, scales, zeros, values = by_group(weight, bits, group, symmetric, torch.bfloat16)
    tensors = {"weight_packed": to_words(levels, bits, 1), "weight_scale": scales, "weight_shape": torch.tensor(weight.shape)}
    if not symmetric:
        tensors["weight_zero_point"] = to_words(zeros, bits, 0)
    return tensors, values


def int8(weight, name):
    """vllm-project/compressed-tensors, compressors/naive_quantized: a scale for each row."""
    scale, used = floats(weight.abs().amax(1, keepdim=True) / 127, torch.bfloat16)
    levels = (weight / used).round().clamp(-128, 127)
    return {"weight": levels.to(torch.int8), "weight_scale": scale}, levels * used


def float8(weight, name, rows=None):
    """As int8, in E4M3; a scale for each row, or one for the matrix."""
    largest = weight.abs().amax(1, keepdim=True) if rows else weight.abs().amax().reshape(1)
    scale, used = floats(largest / 448, torch.bfloat16)
    levels = (weight / used).clamp(-448, 448).to(torch.float8_e4m3fn)
    tensors = {"weight": levels, "weight_scale": scale}
    if not rows:
        tensors["input_scale"] = torch.ones(1, dtype=torch.bfloat16)
    return tensors, levels.float() * used


def float8_blocks(weight, name, block=(24, 16)):
    """huggingface/transformers, integrations/finegrained_fp8.py: blocks of rows and columns, smaller at the edges."""
    rows, columns = (torch.arange(size) // edge for size, edge in zip(weight.shape, block))
    scale = torch.zeros(int(rows[-1]) + 1, int(columns[-1]) + 1)
    scale = torch.stack([torch.stack([weight[rows == i][:, columns == j].abs().max() for j in range(scale.shape[1])]) for i in range(scale.shape[0])]) / 448
    used = scale[rows][:, columns]
    levels = (weight / used).clamp(-448, 448).to(torch.float8_e4m3fn)
    return {"weight": levels, "weight_scale_inv": scale}, levels.float() * used


def nf4(weight, name, nested=True):
    """bitsandbytes-foundation/bitsandbytes, functional.py (QuantState.as_dict): blocks of 32, absmax quantised in blocks of 256.

    The 16 levels of a quantised folder are in it (quant_map), those of Dettmers et al., 2023 (arXiv 2305.14314): quantiles
    of a normal distribution, here computed.
    """
    normal = torch.distributions.Normal(0.0, 1.0)
    outer = 0.9677083
    table = torch.cat([normal.icdf(torch.linspace(outer, 0.5, 9)[:-1]), torch.zeros(1), -normal.icdf(torch.linspace(outer, 0.5, 8)[:-1])]).sort().values
    table = table / table.max()
    flat = weight.reshape(-1, 32)
    absmax = flat.abs().amax(1)
    tensors, state = {}, dict(quant_type="nf4", blocksize=32, dtype="bfloat16", shape=list(weight.shape))
    if nested:
        offset = float(absmax.mean())
        codes = torch.linspace(-1, 1, 256)
        blocks = (absmax - offset).split(256)
        largest = torch.stack([block.abs().max() for block in blocks])
        entries = torch.cat([((block / top)[:, None] - codes).abs().argmin(1) for block, top in zip(blocks, largest)])
        absmax = codes[entries] * largest.repeat_interleave(256)[: len(entries)] + offset
        tensors |= {"weight.absmax": entries.to(torch.uint8), "weight.nested_absmax": largest, "weight.nested_quant_map": codes}
        state |= dict(nested_blocksize=256, nested_dtype="float32", nested_offset=offset)
    else:
        tensors["weight.absmax"] = absmax
    levels = ((flat / absmax[:, None])[..., None] - table).abs().argmin(-1)
    pairs = levels.reshape(-1, 2)
    tensors["weight"] = (pairs[:, 0] << 4 | pairs[:, 1]).to(torch.uint8)[:, None]
    tensors["weight.quant_map"] = table
    tensors["weight.quant_state.bitsandbytes__nf4"] = torch.tensor(list(json.dumps(state).encode()), dtype=torch.uint8)
    return tensors, (table[levels] * absmax[:, None]).reshape(weight.shape)


def llm_int8(weight, name):
    """bitsandbytes-foundation/bitsandbytes, functional.py (int8_vectorwise_dequant): SCB is each row's largest magnitude."""
    largest = weight.abs().amax(1)
    levels = (weight * (127 / largest)[:, None]).round()
    return {"weight": levels.to(torch.int8), "SCB": largest, "weight_format": torch.tensor(0, dtype=torch.uint8)}, levels * largest[:, None] / 127


def compressed(form, **weights):
    weights = dict(dynamic=False, symmetric=True, type="int", observer="minmax", observer_kwargs={}, block_structure=None, actorder=None) | weights
    group = dict(targets=["Linear"], weights=weights, input_activations=None, output_activations=None)
    return dict(quant_method="compressed-tensors", format=form, quantization_status="compressed", config_groups=dict(group_0=group), ignore=["lm_head"])


GPTQ = dict(quant_method="gptq", bits=4, group_size=32, desc_act=False, sym=True, checkpoint_format="gptq")
MODELS = {
    # name: class, options, function, its options, quantization_config
    "gptq": ("Llama", {}, gptq, {}, GPTQ),
    "gptq-act-order": ("Llama", {}, gptq, dict(symmetric=False, group=16, act_order=True, version=2), GPTQ | dict(group_size=16, desc_act=True, sym=False, checkpoint_format="gptq_v2")),
    "gptq-8-bits-fused": ("Phi3", FUSED, gptq, dict(bits=8, group=-1), GPTQ | dict(bits=8, group_size=-1)),
    "gptq-zeros": ("Llama", {}, gptq, dict(symmetric=False, group=16), GPTQ | dict(group_size=16, sym=False)),
    "awq": ("Llama", {}, awq, {}, dict(quant_method="awq", bits=4, group_size=32, version="gemm", zero_point=True)),
    "packed": ("Llama", {}, packed, {}, compressed("pack-quantized", num_bits=4, strategy="group", group_size=32)),
    "packed-zeros": ("Llama", {}, packed, dict(symmetric=False), compressed("pack-quantized", num_bits=4, strategy="group", group_size=32, symmetric=False)),
    "int8": ("Llama", {}, int8, {}, compressed("int-quantized", num_bits=8, strategy="channel")),
    "fp8-rows": ("Llama", {}, float8, dict(rows=True), compressed("float-quantized", num_bits=8, strategy="channel", type="float")),
    "fp8-matrix": ("Llama", {}, float8, {}, compressed("float-quantized", num_bits=8, strategy="tensor", type="float")),
    "fp8-blocks-experts": ("Qwen3Moe", EXPERTS, float8_blocks, {}, dict(quant_method="fp8", activation_scheme="dynamic", weight_block_size=[24, 16], fmt="e4m3")),
    "fp8-blocks": ("Llama", {}, float8_blocks, dict(block=(16, 16)), dict(quant_method="fp8", activation_scheme="dynamic", weight_block_size=[16, 16], fmt="e4m3")),
    "nf4": ("Llama", {}, nf4, {}, dict(quant_method="bitsandbytes", load_in_4bit=True, load_in_8bit=False, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True)),
    "nf4-plain": ("Llama", {}, nf4, dict(nested=False), dict(quant_method="bitsandbytes", load_in_4bit=True, load_in_8bit=False, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=False)),
    "llm-int8": ("Llama", {}, llm_int8, {}, dict(quant_method="bitsandbytes", load_in_4bit=False, load_in_8bit=True)),
}


def logits_of(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids]), use_cache=False).logits[0].float()


def make(name):
    kind, options, quantise, arguments, settings = MODELS[name]
    folder = os.path.join(FOLDER, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    base = FUSED if kind == "Phi3" else SMALL
    config = getattr(transformers, kind + "Config")(**(base | options))
    config._attn_implementation = "eager"
    config._experts_implementation = "eager"
    torch.manual_seed(1)
    model = getattr(transformers, kind + "ForCausalLM")(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.copy_(1 + 0.2 * torch.randn_like(parameter))
            else:
                parameter.copy_(torch.randn_like(parameter) * 1.3 / parameter.shape[-1] ** 0.5)
            parameter.copy_(parameter.to(torch.bfloat16).float())
    model.to(torch.bfloat16).save_pretrained(folder)
    path = os.path.join(folder, "model.safetensors")
    plain, tensors, values = safetensors.torch.load_file(path), {}, {}
    for key, tensor in plain.items():
        if tensor.dim() < 2 or "embed" in key or "lm_head" in key or key.endswith("mlp.gate.weight"):
            tensors[key] = tensor
            continue
        parts, values[key] = quantise(tensor.float(), key, **arguments)
        tensors |= {key.removesuffix("weight") + ending: part.contiguous() for ending, part in parts.items()}
    safetensors.torch.save_file(tensors, path, metadata=dict(format="pt"))
    dequantised = os.path.join(folder, "dequantised")
    os.makedirs(dequantised)
    shutil.copy(os.path.join(folder, "config.json"), dequantised)
    safetensors.torch.save_file({key: value.float().contiguous() for key, value in (plain | values).items()}, os.path.join(dequantised, "model.safetensors"), metadata=dict(format="pt"))
    model = transformers.AutoModelForCausalLM.from_pretrained(dequantised, dtype=torch.float32, attn_implementation="eager", experts_implementation="eager").eval()
    ids = numpy.random.default_rng(1).integers(0, 257, 24).tolist()
    logits = logits_of(model, ids)
    shutil.rmtree(dequantised)
    with open(os.path.join(folder, "config.json")) as file:
        config = json.load(file)
    config["quantization_config"] = settings
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file, indent=1)
    with open(os.path.join(folder, "expected.json"), "w") as file:
        json.dump(dict(ids=ids, rows=ROWS, logits=rounded(logits[ROWS].tolist())), file, separators=(",", ":"))
    os.symlink("../../tiny_models/llama/tokenizer.json", os.path.join(folder, "tokenizer.json"))
    os.remove(os.path.join(folder, "generation_config.json"))
    size = sum(os.path.getsize(os.path.join(folder, file)) for file in os.listdir(folder))
    print(f"{name}: {size / 1000:.0f} kB", flush=True)


def check(name):
    """The folder as transformers itself reads it, in float32 where its scheme allows that."""
    folder = os.path.join(FOLDER, name)
    settings = MODELS[name][4]
    options = {}
    if settings["quant_method"] == "fp8":
        options["quantization_config"] = transformers.FineGrainedFP8Config(dequantize=True, weight_block_size=settings["weight_block_size"])
    if settings["quant_method"] == "compressed-tensors":
        options["quantization_config"] = transformers.CompressedTensorsConfig(dequantize=True)
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager", **options).eval()
    except Exception as error:
        print(f"{name}: transformers does not load it here: {type(error).__name__}: {str(error).splitlines()[0][:150]}")
        return
    with open(os.path.join(folder, "expected.json")) as file:
        expected = json.load(file)
    difference = (logits_of(model, expected["ids"])[ROWS] - torch.tensor(expected["logits"])).abs().max()
    print(f"{name}: largest difference {float(difference):.2g} of logits up to {float(torch.tensor(expected['logits']).abs().max()):.2g}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    names = [name for name in sys.argv[1:] if name != "--check"] or MODELS
    for model_name in names:
        (check if "--check" in sys.argv else make)(model_name)
