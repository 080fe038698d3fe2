# SPDX-License-Identifier: MIT
"""Writes tests/core/golden/tiny_models: a tiny random model of every architecture, and what transformers makes of it.

    python tests/core/make/make_tiny_models.py [NAME ...]      (transformers 5, torch, gguf, tokenizers, safetensors)

Each model is a folder NAME: as transformers saves it, or with one file model.gguf. NAME/expected.json, in float32
with eager attention:
    ids        [40] the prompt
    rows       [3]  rows of the prompt with logits
    logits     [3, vocabulary]
    greedy     [20 to 32] the continuation, each token from a whole new run (no cache)
    attention  [layer, head, key] of the last prompt row; 0 in layers without attention
    experts    [layer with experts, token, choice], only of models that have them: expert and weight, largest first
The two best logits of each greedy step stay at least MARGIN of the largest logit apart: seeds are tried until those of
the first 20 steps do, and the continuation ends where later ones do not.
"""

import copy
import json
import os
import shutil
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import numpy
import safetensors.torch
import tokenizers
import torch
import transformers

from tiny_configurations import CLASSES, EDITS, FLAT, MODELS, OLD_ROPE, SHARDED

PROMPT = 40
GREEDY = 20
LONGEST = 32
ROWS = [0, 17, PROMPT - 1]
TOLERANCE = 1e-4  # of the largest logit: what the test allows
MARGIN = 10 * TOLERANCE
FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden", "tiny_models")


def add_alibi_once():
    """Eager attention of transformers 5.23 adds Falcon's ALiBi to the logits and to the mask; its default adds it once."""
    attention = transformers.models.falcon.modeling_falcon.FalconAttention
    forward = attention.forward

    def forward_once(self, hidden_states, alibi=None, **others):
        return forward(self, hidden_states, alibi=None if alibi is None else torch.zeros_like(alibi), **others)

    attention.forward = forward_once


add_alibi_once()


def check_default_attention(model, result):
    """Whether attention that is not eager gives the same logits."""
    eager = model.config._attn_implementation
    model.config._attn_implementation = "sdpa"
    with torch.no_grad():
        logits = model(torch.tensor([result["ids"]]), use_cache=False).logits[0][ROWS]
    model.config._attn_implementation = eager
    difference = (logits - torch.tensor(result["logits"])).abs().max()
    assert difference < 1e-5 * logits.abs().max() + 1e-5, float(difference)


def build(kind, options, seed):
    config_class, model_class = CLASSES.get(kind, (kind + "Config", kind + "ForCausalLM"))
    options = {key: value for key, value in options.items() if value is not None or key in ("pad_token_id", "sliding_window", "q_lora_rank", "mamba_d_ssm")}
    if isinstance(options.get("text_config"), dict) and options["text_config"].get("head_dim", 0) is None:
        options["text_config"] = {key: value for key, value in options["text_config"].items() if key != "head_dim"}
    # A copy: configurations keep and change the dictionaries that they are given.
    config = getattr(transformers, config_class)(**json.loads(json.dumps(options)))
    config._attn_implementation = "eager"
    config._experts_implementation = "eager"
    torch.manual_seed(seed)
    made = getattr(transformers, model_class)
    model = (made.from_config(config, attn_implementation="eager") if model_class.startswith("Auto") else made(config)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            # Large enough that attention is far from even and every part of the model matters.
            if parameter.dim() == 1 or name.endswith(("q_norm.weight", "k_norm.weight")):
                noise = 0.2 * torch.randn_like(parameter)
                is_norm = ("norm" in name or ".ln_" in name) and name.endswith("weight")
                adds_one = kind == "VaultGemma" or kind.startswith("Gemma") and not kind.startswith("Gemma4") or kind == "Nemotron" or kind.startswith(("Qwen3Next", "Qwen3_5")) and "linear_attn" not in name
                if name.endswith("sinks"):
                    noise = 1.0 + 5 * noise
                if name.endswith("A_log"):
                    noise -= 2.0  # states last for tens of tokens
                parameter.copy_(noise + (1.0 if is_norm and not adds_one else 0.0))
                if kind.startswith("Gemma4") and name.endswith("q_norm.weight"):
                    # Its logits are not divided: no rounding may choose another key.
                    parameter.mul_(0.2 if config.get_text_config().num_kv_shared_layers else 0.4)
            elif name.endswith(("e_score_correction_bias", "mlp.expert_bias")):
                parameter.copy_(0.1 * torch.randn_like(parameter))
            else:
                parameter.copy_(torch.randn_like(parameter) * 1.3 / parameter.shape[-1] ** 0.5)
        for name, buffer in model.named_buffers():
            if name.endswith(("e_score_correction_bias", "expert_bias")):
                buffer.copy_(0.2 * torch.randn_like(buffer))
            if name.endswith("layer_scalar"):
                buffer.copy_(0.7 + 0.5 * torch.rand_like(buffer))
    return model


def to_file_precision(model, dtype):
    """Weights become what the file can hold, so that the file's own numbers are what is run."""
    with torch.no_grad():
        biases = [buffer for name, buffer in model.named_buffers() if name.endswith(("e_score_correction_bias", "expert_bias", "layer_scalar"))]
        for values in [*model.parameters(), *biases]:
            values.copy_(values.to(dtype).float())


def to_mxfp4(model):
    """The experts' matrices become what MXFP4 can hold; returns them as published folders have them."""
    import gguf

    kind = gguf.GGMLQuantizationType.MXFP4
    packed = {}
    for name, parameter in model.named_parameters():
        if not name.endswith(("experts.gate_up_proj", "experts.down_proj")):
            continue
        rows = numpy.ascontiguousarray(parameter.detach().numpy().swapaxes(1, 2))
        blocks = gguf.quants.quantize(rows, kind)
        back = gguf.quants.dequantize(blocks, kind)
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(numpy.ascontiguousarray(back.swapaxes(1, 2))))
        blocks = blocks.reshape(*rows.shape[:2], -1, 17)
        low, high = blocks[..., 1:] & 15, blocks[..., 1:] >> 4  # elements 0 to 15, and 16 to 31
        elements = numpy.concatenate([low, high], axis=-1)
        packed[name + "_blocks"] = torch.from_numpy(elements[..., 0::2] | elements[..., 1::2] << 4)
        packed[name + "_scales"] = torch.from_numpy(blocks[..., 0].copy())
    return packed


def write_mxfp4(folder, packed):
    """The folder's experts in MXFP4, and what transformers makes of it, dequantised."""
    path = os.path.join(folder, "model.safetensors")
    tensors = safetensors.torch.load_file(path)
    for name in packed:
        tensors.pop(name.rpartition("_")[0], None)
    safetensors.torch.save_file(tensors | packed, path, metadata=dict(format="pt"))
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        config = json.load(file)
    config["quantization_config"] = dict(quant_method="mxfp4", modules_to_not_convert=["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"])
    with open(path, "w") as file:
        json.dump(config, file, indent=2)
    settings = transformers.Mxfp4Config(dequantize=True)
    return transformers.AutoModelForCausalLM.from_pretrained(folder, quantization_config=settings, attn_implementation="eager", dtype=torch.float32).eval()


def write_internlm(folder):
    """Keys of configuration_internlm.py, for what transformers saved of a Llama."""
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        config = json.load(file)
    settings = config.pop("rope_parameters")
    config |= dict(model_type="internlm", architectures=["InternLMForCausalLM"], bias=True, rotary=dict(base=settings["rope_theta"], type=settings["rope_type"], scaling_factor=settings["factor"]))
    for key in ("attention_bias", "mlp_bias", "head_dim", "num_key_value_heads"):
        config.pop(key)
    with open(path, "w") as file:
        json.dump(config, file, indent=2)


def write_internlm2(folder):
    """Names, fused projections and keys of modeling_internlm2.py, for what transformers saved of a Llama."""
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        config = json.load(file)
    settings = config.pop("rope_parameters")
    config |= dict(model_type="internlm2", architectures=["InternLM2ForCausalLM"], bias=False, rope_theta=settings["rope_theta"], rope_scaling=dict(type=settings["rope_type"], factor=settings["factor"]))
    for key in ("attention_bias", "mlp_bias", "head_dim"):
        config.pop(key)
    with open(path, "w") as file:
        json.dump(config, file, indent=2)
    names = {
        "model.embed_tokens.": "model.tok_embeddings.", "lm_head.": "output.", "input_layernorm": "attention_norm", "post_attention_layernorm": "ffn_norm",
        "self_attn.o_proj": "attention.wo", "mlp.gate_proj": "feed_forward.w1", "mlp.up_proj": "feed_forward.w3", "mlp.down_proj": "feed_forward.w2",
    }
    path = os.path.join(folder, "model.safetensors")
    tensors = safetensors.torch.load_file(path)
    written = {}
    for name, tensor in tensors.items():
        if "q_proj" in name:
            heads, groups = config["num_attention_heads"], config["num_key_value_heads"]
            dim = config["hidden_size"] // heads
            parts = [tensors[name.replace("q_proj", part)].view(groups, -1, dim, tensor.shape[1]) for part in ("q_proj", "k_proj", "v_proj")]
            written[name.replace("self_attn.q_proj", "attention.wqkv")] = torch.cat(parts, dim=1).reshape(-1, tensor.shape[1])
        elif "k_proj" not in name and "v_proj" not in name:
            for old, new in names.items():
                name = name.replace(old, new)
            written[name] = tensor.contiguous()
    safetensors.torch.save_file(written, path, metadata=dict(format="pt"))


def run(model, ids):
    if type(model).__name__ == "Llama4ForConditionalGeneration":
        model = model.language_model  # transformers 5.24 fails on text alone
    with torch.no_grad():
        out = model(torch.tensor([ids]), use_cache=False, output_attentions=True)
    attentions = iter(out.attentions)
    types = getattr(model.config.get_text_config(), "layer_types", None) or ["full_attention"] * len(out.attentions)
    none = torch.zeros_like(out.attentions[0])  # of layers without attention
    return out.logits[0], [none if kind in ("linear_attention", "conv", "moe", "mlp") else next(attentions) for kind in types]


def choices(model, ids):
    """What the routers of transformers choose."""
    found = []

    def keep(module, inputs, output):
        if len(output) == 2:  # llama4: the scores of all, 0 of those that are not chosen
            weights, experts = torch.topk(output[0].float(), module.top_k)
        else:
            weights, experts = output[1].float(), output[2]
        rows = [[[int(e), float(w)] for e, w in zip(*row)] for row in zip(experts, weights)]
        found.append([sorted(row, key=lambda choice: (-choice[1], choice[0])) for row in rows])

    hooks = [module.register_forward_hook(keep) for module in model.modules() if type(module).__name__.lower().endswith(("router", "v1gate"))]
    run(model, ids)
    for hook in hooks:
        hook.remove()
    return found


def expected(model, seed):
    random = numpy.random.default_rng(seed)
    ids = random.integers(0, 259, PROMPT).tolist()
    logits, attentions = run(model, ids)
    result = dict(
        ids=ids,
        rows=ROWS,
        logits=[logits[row].tolist() for row in ROWS],
        greedy=[],
        attention=[layer[0, :, -1, :].numpy().astype(float).round(8).tolist() for layer in attentions],
    )
    sequence = list(ids)
    rope_of = getattr(model.config, "rope_parameters", None) or {}
    # Dynamic scaling holds up to its factor times the context.
    room = model.config.max_position_embeddings * rope_of["factor"] - PROMPT if rope_of.get("rope_type") == "dynamic" else LONGEST
    for step in range(min(LONGEST, int(room))):
        last = run(model, sequence)[0][-1]
        best = torch.topk(last, 2).values
        if best[0] - best[1] < MARGIN * last.abs().max():
            if step < GREEDY:
                return None
            break
        sequence.append(int(last.argmax()))
    result["greedy"] = sequence[PROMPT:]
    routed = choices(model, ids)
    if routed:
        result["experts"] = routed
    if len(set(result["greedy"][:GREEDY])) < 4:
        return None  # a loop says little
    return result


def stays_close(model, result):
    """Whether bfloat16 chooses the same experts: another expert would be another model, not a rounding."""
    if not any("router" in name or name.endswith(("mlp.gate", "feed_forward.gate", "mixer.gate")) for name, _ in model.named_modules()):
        return True
    logits = run(copy.deepcopy(model).to(torch.bfloat16), result["ids"])[0].float()[ROWS]
    exact = torch.tensor(result["logits"])
    return bool((logits - exact).abs().max() < 0.05 * exact.abs().max())


def rounded(value):
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.7g}") if isinstance(value, float) else value


def tokenizer():
    """Byte-level: token b is the byte b in the byte alphabet's order; "ab", <s>, </s> follow."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {character: i for i, character in enumerate(alphabet)}
    vocabulary["ab"] = 256
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[("a", "b")]))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.add_special_tokens(["<s>", "</s>"])
    assert made.token_to_id("<s>") == 257 and made.token_to_id("</s>") == 258
    return made


def write_folder(name, model, folder, dtype):
    model.to(getattr(torch, dtype)).save_pretrained(folder, max_shard_size=SHARDED.get(name, "1GB"))
    tokenizer().save(os.path.join(folder, "tokenizer.json"))
    with open(os.path.join(folder, "tokenizer_config.json"), "w") as file:
        json.dump(dict(bos_token="<s>", eos_token="</s>", tokenizer_class="PreTrainedTokenizerFast"), file, indent=1)
    if name in OLD_ROPE or name in EDITS or name in FLAT:
        path = os.path.join(folder, "config.json")
        with open(path) as file:
            config = json.load(file)
        if name in OLD_ROPE:
            del config["rope_parameters"]
            config.update(OLD_ROPE[name])
        if name in FLAT:
            text = config.pop("text_config")
            del text["rope_parameters"]
            config = dict(text, **FLAT[name]) | config
        config = {key: value for key, value in (config | EDITS.get(name, {})).items() if value is not None or key not in EDITS.get(name, {})}
        with open(path, "w") as file:
            json.dump(config, file, indent=2)
        if name != "longchat":  # transformers itself must read the same model from it
            model_class = CLASSES.get(MODELS[name][0], ("", type(model).__name__))[1]
            again = getattr(transformers, model_class).from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
            return again
    return None


def make(name):
    kind, options, file_type = MODELS[name]
    folder = os.path.join(FOLDER, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    is_gguf = name.startswith("gguf-")
    if is_gguf:
        from tiny_gguf_deepseek import write_deepseek_gguf
        from tiny_gguf_gpt import write_gpt_gguf
        from tiny_gguf import write_gguf  # needs the package gguf, which folders do without
    for seed in range(1, 200):
        model = build(kind, options, seed)
        if is_gguf and kind in ("GPT2", "GPTBigCode", "Bloom", "Falcon"):
            write_gpt_gguf(os.path.join(folder, "model.gguf"), model, tokenizer())
        elif is_gguf and kind.startswith(("Deepseek", "Glm4MoeLite")):
            write_deepseek_gguf(os.path.join(folder, "model.gguf"), model, tokenizer(), split=kind != "DeepseekV2")
        elif is_gguf:
            write_gguf(os.path.join(folder, "model.gguf"), model, file_type, tokenizer(), dict(InternLM2="internlm2", Exaone="exaone", NemotronHMoe="nemotron_h_moe").get(kind))
        else:
            packed = to_mxfp4(model) if name.endswith("mxfp4") else {}
            to_file_precision(model, getattr(torch, file_type))
        result = expected(model, seed)
        if result is not None and stays_close(model, result):
            break
    else:
        raise SystemExit(f"{name}: no seed keeps the best logits apart")
    result["name"] = name
    if kind == "Falcon":
        check_default_attention(model, result)
    if not is_gguf:
        again = write_folder(name, model, folder, file_type)
        if kind == "InternLM":
            write_internlm(folder)
        if kind == "InternLM2":
            write_internlm2(folder)
        if packed:
            again = write_mxfp4(folder, packed)
            again.config._experts_implementation = "eager"
        if again is not None:
            check = expected(again, seed)
            assert check is not None and check["greedy"] == result["greedy"], name
            difference = numpy.abs(numpy.array(check["logits"]) - numpy.array(result["logits"])).max()
            assert difference < 1e-5, (name, difference)
    with open(os.path.join(folder, "expected.json"), "w") as file:
        json.dump({key: rounded(value) for key, value in result.items()}, file, separators=(",", ":"))
    for leftover in ("generation_config.json",):
        path = os.path.join(folder, leftover)
        if os.path.exists(path):
            os.remove(path)
    size = sum(os.path.getsize(os.path.join(folder, file)) for file in os.listdir(folder))
    print(f"{name}: seed {seed}, {size / 1000:.0f} kB, greedy {result['greedy'][:6]}", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    for model_name in sys.argv[1:] or MODELS:
        make(model_name)
