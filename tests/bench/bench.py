#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prefill by length, with the machine's name on it, beside other programs if asked.

    ./midscope bench [--peers] [--json] [--tokens 512,2048,8000] [--instructions native,avx2] [--rounds N]

Every measurement is a process of its own, so that peak memory is its own; the programs take turns, and the least time of all rounds
counts: other work on the machine only adds. Shares are of the float32 or bfloat16 products alone, measured in the same run at this
model's shapes; only matrix products with weights count as work (2 x weights of the layers a token), attention does not.
Peers live in virtual environments in the cache folder, which --peers makes; one that cannot be had is named with the reason.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "midscope"
MODEL = pathlib.Path(os.environ.get("MIDSCOPE_MODELS") or CACHE / "models") / "SmolLM2-135M-Instruct.Q4_1.gguf"
# SmolLM2-135M: weights of the 30 layers, which a token is multiplied with.
WEIGHTS = 30 * (960 * 576 + 576 * 576 + 3072 * 576 + 576 * 1536)
# What each class of machine is limited to, for all programs alike.
LIMITS = {"native": {}, "avx2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}}
# The wheel loads its libraries for GPUs even where there is none: 3 GB.
TORCH = [["torch==2.11.0", "numpy", "setuptools"]]
HUGGING_FACE = [["--no-deps", "transformers", "accelerate", "gguf"],
                ["huggingface-hub", "tokenizers", "safetensors", "regex", "requests", "pyyaml", "tqdm", "packaging", "psutil", "typer"]]
PEERS = {
    "transformers": TORCH + HUGGING_FACE,
    "transformer_lens": TORCH + HUGGING_FACE + [["--no-deps", "transformer-lens", "beartype", "jaxtyping", "fancy-einsum", "einops",
                                                 "better-abc", "transformers-stream-generator", "wadler-lindig"],
                                                ["datasets", "pandas", "rich", "sentencepiece", "wandb", "typeguard"]],
    "llama": [["xllamacpp"]],
}
NOT_MEASURED = {
    "openvino-genai": "it reads models in a format of its own, and nothing here converts to it yet",
    "onnxruntime-genai": "it reads models in a format of its own, and nothing here converts to it yet",
}


def machine():
    info = {}
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        info.setdefault(key.strip(), value.strip())
    flags = set(info.get("flags", info.get("Features", "")).split())
    wanted = ["avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_bf16", "asimd", "bf16"]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"cpu": info.get("model name", "unknown"), "family": info.get("cpu family", ""), "cores": os.cpu_count(),
            "memory_gb": round(memory / 2**30), "flags": [flag for flag in wanted if flag in flags]}


def python_of(peer):
    """The peer's Python, or the reason why there is none."""
    venv = CACHE / "bench" / peer
    python = venv / "bin" / "python"
    if not (venv / "complete").exists():
        print(f"bench: installing {peer}", file=sys.stderr)
        made = subprocess.run([sys.executable, "-m", "venv", venv], capture_output=True, text=True)
        for packages in PEERS[peer] if made.returncode == 0 else []:
            made = subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages],
                                  capture_output=True, text=True)
            if made.returncode:
                break
        if made.returncode:
            return None, (made.stderr.strip().splitlines() or ["could not be installed"])[-1]
        (venv / "complete").touch()
    return python, ""


def run(command, limits):
    # The same waits for all, and those of our programs: long spinning favours whoever runs alone.
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          env={**os.environ, "GOMP_SPINCOUNT": "3000", "HF_HUB_OFFLINE": "1", **limits})
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        return {"error": (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1][:90]}
    return json.loads(lines[-1])


def own_rows(build):
    bench = build / "bin" / "run_bench"
    return [(f"midscope {dtype}, {what}", dtype, lambda tokens, d=dtype, k=kind: [bench, k, tokens, d])
            for dtype in ("float32", "bfloat16") for what, kind in (("all captures and trace", "prefill"), ("plain", "plain"))]


def peer_rows(folder):
    rows, missing = [], dict(NOT_MEASURED)
    pythons = {}
    for peer in PEERS:
        pythons[peer], reason = python_of(peer)
        if pythons[peer] is None:
            missing[peer] = reason
    if pythons["transformers"]:
        python, script = pythons["transformers"], HERE / "peers" / "transformers_prefill.py"
        done = subprocess.run([python, HERE / "peers" / "gguf_to_folder.py", MODEL, folder], capture_output=True, text=True)
        if done.returncode:
            missing["transformers"] = (done.stderr.strip().splitlines() or ["the model could not be converted"])[-1]
        for dtype in ("float32", "bfloat16") if not done.returncode else ():
            rows.append((f"transformers {dtype}, SDPA", dtype,
                         lambda tokens, d=dtype: [python, script, folder, tokens, d, "sdpa"]))
            rows.append((f"transformers {dtype}, eager, capture", dtype,
                         lambda tokens, d=dtype: [python, script, folder, tokens, d, "eager", "capture"] if tokens <= 2048 else None))
    if pythons["transformer_lens"]:
        rows.append(("TransformerLens float32, run_with_cache", "float32",
                     lambda tokens: [pythons["transformer_lens"], HERE / "peers" / "transformer_lens_prefill.py", folder, tokens]
                     if tokens <= 1024 else None))
    if pythons["llama"]:
        for flash in ("on", "off"):
            rows.append((f"llama.cpp Q4_1, flash attention {flash}", None,
                         lambda tokens, f=flash: [pythons["llama"], HERE / "peers" / "llama_prefill.py", MODEL, tokens, os.cpu_count(), f]))
    return rows, missing


def exponent(points):
    """p of seconds = c tokens^p through these (tokens, seconds), by least squares of logarithms; None below two."""
    if len(points) < 2:
        return None
    x, y = [math.log(t) for t, _ in points], [math.log(s) for _, s in points]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def measure(rows, lengths, rounds, limits):
    results = {label: {} for label, _, _ in rows}
    for tokens in lengths:
        for _ in range(rounds):
            for label, _, command in rows:
                line = command(tokens)
                if line is None or "error" in results[label].get(tokens, {}):
                    continue
                one = run(line, limits)
                before = results[label].get(tokens)
                if before is None or "error" in one or one["seconds"] < before["seconds"]:
                    results[label][tokens] = one
    return results


def ceiling(peak, dtype):
    """GFLOP/s of products of this dtype; bfloat16 can be multiplied in float32 where that is faster."""
    return max(*peak[dtype].values(), *peak["float32"].values())


def table(peak, rows, results, lengths):
    lines = [f"{'tool':44}{'tokens':>8}{'tok/s':>8}{'of peak':>9}{'peak GB':>9}{'exponent':>10}"]
    for dtype in ("float32", "bfloat16"):
        best = max(peak[dtype].values())
        lines.append(f"{f'products alone, {dtype}: {best:.0f} GFLOP/s':52}{best * 1e9 / (2 * WEIGHTS):8.0f}")
    for tokens in lengths:
        for label, dtype, _ in rows:
            result = results[label].get(tokens)
            if result is None:
                continue
            if "error" in result:
                lines.append(f"{label:44}{tokens:8}  not measured: {result['error']}")
                continue
            speed = tokens / result["seconds"]
            share = f"{speed * 2 * WEIGHTS / (ceiling(peak, dtype) * 1e9):9.0%}" if dtype else " " * 9
            points = [(t, r["seconds"]) for t, r in results[label].items() if "seconds" in r]
            power = exponent(points) if tokens == max(lengths) else None
            lines.append(f"{label:44}{tokens:8}{speed:8.0f}{share}{result['peak_bytes'] / 1e9:9.2f}" +
                         (f"{power:10.2f}" if power else ""))
    return lines


def main():
    parser = argparse.ArgumentParser(prog="midscope bench", description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--peers", action="store_true", help="beside transformers, TransformerLens and llama.cpp")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--tokens", default="512,2048,8000", help="prompt lengths")
    parser.add_argument("--instructions", default="native", help="native, avx2, or both with a comma")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    lengths = [int(part) for part in options.tokens.split(",")]
    for name in options.instructions.split(","):
        if name not in LIMITS:
            parser.error(f"--instructions: {name} is not known; there are {', '.join(LIMITS)}")
    report = {"machine": machine(), "classes": {}}
    with tempfile.TemporaryDirectory() as folder:
        others, missing = peer_rows(folder) if options.peers else ([], {})
        rows = own_rows(options.build) + others
        for name in options.instructions.split(","):
            peak = run([options.build / "bin" / "product_bench"], LIMITS[name])
            if "error" in peak:
                sys.exit(f"midscope: bench: {peak['error']}")
            used = peak.pop("instructions")
            results = measure(rows, lengths, options.rounds, LIMITS[name])
            report["classes"][name] = {"instructions": used, "products_gflops": peak, "prefill": results}
            if not options.json:
                about = report["machine"]
                print(f"{about['cpu']}, {about['cores']} cores, {about['memory_gb']} GiB, {' '.join(about['flags'])}; in use: {used}")
                print("\n".join(table(peak, rows, results, lengths)), flush=True)
    report["not_measured"] = missing
    if options.json:
        print(json.dumps(report, indent=1))
    else:
        for peer, reason in missing.items():
            print(f"{peer}: not measured: {reason}")


if __name__ == "__main__":
    main()
