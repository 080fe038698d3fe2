#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prefill by length, with the machine's name on it, beside other programs if asked.

    ./midscope bench [--peers[=transformers,...]] [--json] [--tokens 512,2048,8000] [--instructions native,avx512_bf16,avx2] [--rounds N]
                     [--modes prefill,decode,demo]
    ./midscope bench --cuda [--models embedded,7b,...] [--peers] [--json] [--tokens 512,2048,8192,16384,32768] [--rounds N]

Every measurement is a process of its own, so that peak memory is its own; the programs take turns, and the least time of all rounds
counts: other work on the machine only adds. A process, a peer's too, repeats it for three seconds, 2 to 20 times. Shares are of the
float32 or bfloat16 products alone, measured in the same run at this model's shapes; only matrix products with weights count as work
(2 x weights of the layers a token), attention does not.
plain: the last row's logits, for which the last layer runs one row; all rows to the end: the same work as captures need.
Peers live in virtual environments in the cache folder, which --peers makes; one that cannot be had is named with the reason.
llama.cpp is compiled there for the class that is measured, which takes minutes.

decode: ten tokens one by one after 512. demo: the sweep of a warm `./midscope demo` in bfloat16 and in float32.

--cuda: on the first GPU, in bfloat16, in a build with CUDA (MIDSCOPE_CUDA=ON ./midscope build): the embedded model, and shapes of
large models with random weights (large_shapes.py: 7b, 7b-64, 8b), whose files are made once (about 4 GB each in the cache folder;
Q4_0). 7b wants 14 GB of the GPU's memory for weights and 26 GB more for what is kept of 32,768 tokens. Also with weights as they lie
in the file, and attention alone (device_attention_bench). The peers are transformers with SDPA on the same GPU, without captures,
and llama.cpp (llama_cuda), which is compiled for that GPU, for long, and wants the CUDA Toolkit. Exit status 1 where there is no GPU.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import cuda_bench

HERE = pathlib.Path(__file__).parent
CACHE = cuda_bench.CACHE
MODEL = pathlib.Path(os.environ.get("MIDSCOPE_MODELS") or CACHE / "models") / "SmolLM2-135M-Instruct.Q4_1.gguf"
# SmolLM2-135M: weights of the 30 layers, which a token is multiplied with.
WEIGHTS = 30 * (960 * 576 + 576 * 576 + 3072 * 576 + 576 * 1536)
# What each class of machine is limited to, for all programs alike.
LIMITS = {
    "native": {},
    "avx512_bf16": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"},
    "avx2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"},
}
# How llama.cpp is compiled for a class; there is none for avx512_bf16, which no compiler can be held to here.
LLAMA = {"cuda": "-DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=native", "native": "-DGGML_NATIVE=ON",
         "avx2": "-DGGML_NATIVE=OFF -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DGGML_BMI2=ON -DGGML_AVX512=OFF"}
# The wheel loads its libraries for GPUs even where there is none: 3 GB.
TORCH = [["torch==2.11.0", "numpy", "setuptools"]]
HUGGING_FACE = [["--no-deps", "transformers", "accelerate", "gguf"],
                ["huggingface-hub", "tokenizers", "safetensors", "regex", "requests", "pyyaml", "tqdm", "packaging", "psutil", "typer"]]
PEERS = {
    "transformers": TORCH + HUGGING_FACE,
    "transformer_lens": TORCH + HUGGING_FACE + [["--no-deps", "transformer-lens", "beartype", "jaxtyping", "fancy-einsum", "einops",
                                                 "better-abc", "transformers-stream-generator", "wadler-lindig"],
                                                ["datasets", "pandas", "rich", "sentencepiece", "wandb", "typeguard"]],
    "openvino": [["openvino-genai", "numpy"]],
    "onnxruntime": [["onnxruntime-genai", "onnx", "onnx-ir", "numpy"]],
    **{f"llama_{name}": [["--no-binary", "llama-cpp-python", "llama-cpp-python"]] for name in LLAMA},
}
CPU_PEERS = [peer for peer in PEERS if peer != "llama_cuda"]
# To make models with; no peer.
TOOLS = {"gguf": [["gguf", "numpy"]]}
# What run_bench does, by the names of the table's rows.
OWN_KINDS = {"all captures and trace": "prefill", "plain, all rows to the end": "rows", "plain": "plain"}
MODES = ("prefill", "decode", "demo")
DECODED = 10  # tokens one by one, after 512: run_bench decode


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
        for packages in {**PEERS, **TOOLS}[peer] if made.returncode == 0 else []:
            # Without the cache: pip finds there what was compiled for another class, as it does not look at CMAKE_ARGS.
            made = subprocess.run([python, "-m", "pip", "install", "-q", "--no-cache-dir", "--disable-pip-version-check", *packages],
                                  capture_output=True, text=True,
                                  env={**os.environ, "CMAKE_ARGS": LLAMA.get(peer.removeprefix("llama_"), "")})
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
            for dtype in ("float32", "bfloat16") for what, kind in OWN_KINDS.items()]


def own_decode_rows(build):
    bench = build / "bin" / "run_bench"
    return [(f"midscope {dtype}, weights {weights}", None, lambda tokens, d=dtype, w=weights: [bench, "decode", tokens, d, 3, "embedded", w])
            for dtype in ("float32", "bfloat16") for weights in ("expanded", "stored")]


class Peers:
    """The other programs that can be had, and why the rest can't."""

    def __init__(self, folder, asked):
        self.folder, self.missing, self.pythons = folder, {}, {}
        for peer in CPU_PEERS:
            self.pythons[peer], reason = python_of(peer) if peer in asked else (None, "not asked for")
            if self.pythons[peer] is None:
                self.missing[peer] = reason
        if self.pythons["transformers"]:
            self.make("transformers", [self.pythons["transformers"], HERE / "peers" / "gguf_to_folder.py", MODEL, folder])
        if self.pythons["onnxruntime"] and self.pythons["transformers"]:
            # Its model builder reads the folder with transformers.
            libraries = next((CACHE / "bench" / "transformers" / "lib").glob("python*")) / "site-packages"
            self.make("onnxruntime", [self.pythons["onnxruntime"], "-m", "onnxruntime_genai.models.builder", "-m", folder, "-o",
                                      f"{folder}/onnx", "-p", "fp32", "-e", "cpu", "-c", f"{folder}/cache"], PYTHONPATH=str(libraries))

    def make(self, peer, command, **environment):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env={**os.environ, **environment})
        if done.returncode:
            self.pythons[peer] = None
            self.missing[peer] = (done.stderr.strip().splitlines() or ["the model could not be converted"])[-1]

    def script(self, peer, name, *arguments):
        return [self.pythons[peer], HERE / "peers" / name, *arguments]

    def prefill_rows(self, limits):
        rows = []
        if self.pythons["transformers"]:
            for dtype in ("float32", "bfloat16"):
                rows.append((f"transformers {dtype}, SDPA", dtype, lambda tokens, d=dtype: self.script(
                    "transformers", "transformers_prefill.py", self.folder, tokens, d, "sdpa")))
                rows.append((f"transformers {dtype}, eager, capture", dtype, lambda tokens, d=dtype: self.script(
                    "transformers", "transformers_prefill.py", self.folder, tokens, d, "eager", "capture") if tokens <= 2048 else None))
        if self.pythons["transformer_lens"]:
            rows.append(("TransformerLens float32, run_with_cache", "float32", lambda tokens: self.script(
                "transformer_lens", "transformer_lens_prefill.py", self.folder, tokens) if tokens <= 1024 else None))
        # It has no variable that limits all of its instruction sets.
        if self.pythons["openvino"] and limits == "native":
            for hint in ("f32", "bf16"):
                rows.append((f"OpenVINO GenAI Q4_1, {hint}", None, lambda tokens, h=hint: self.script(
                    "openvino", "openvino_prefill.py", MODEL, tokens, os.cpu_count(), h)))
        if self.pythons["onnxruntime"] and limits == "native":
            rows.append(("ONNX Runtime GenAI float32", "float32", lambda tokens: self.script(
                "onnxruntime", "onnxruntime_prefill.py", f"{self.folder}/onnx", tokens)))
        return rows + self.llama_rows(limits)

    def llama_rows(self, limits, *mode):
        peer = f"llama_{limits}"
        if not self.pythons.get(peer):
            return []
        return [(f"llama.cpp Q4_1, flash attention {flash}", None, lambda tokens, f=flash: self.script(
            peer, "llama_prefill.py", MODEL, tokens, os.cpu_count(), f, *mode)) for flash in ("on", "off")]


def exponent(points):
    """p of seconds = c tokens^p through these (tokens, seconds), by least squares of logarithms; None below two."""
    if len(points) < 2:
        return None
    x, y = [math.log(t) for t, _ in points], [math.log(s) for _, s in points]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


class Progress:
    """What was measured last and how long the rest may take, on stderr: the runs that are left take what these took on average."""

    def __init__(self, runs):
        self.runs, self.done, self.start = runs, 0, time.perf_counter()

    def tell(self, what, result):
        self.done += 1
        took = f"{result['seconds']:.3f} s" if "seconds" in result else f"not measured: {result['error']}"
        left = (time.perf_counter() - self.start) / self.done * (self.runs - self.done)
        print(f"bench: {self.done} of {self.runs}: {what}: {took}; about {left / 60:.0f} min left", file=sys.stderr)


def measure(rows, lengths, rounds, limits, measured=lambda results, tokens: None):
    """{label: {tokens: least}}. Calls `measured` after each length."""
    results = {label: {} for label, _, _ in rows}
    progress = Progress(rounds * sum(command(tokens) is not None for tokens in lengths for _, _, command in rows))
    for tokens in lengths:
        for _ in range(rounds):
            for label, _, command in rows:
                line = command(tokens)
                if line is None:
                    continue
                before = results[label].get(tokens)
                one = before if before and "error" in before else run(line, limits)
                progress.tell(f"{label}, {tokens}", one)
                if before is None or "error" in one or one["seconds"] < before["seconds"]:
                    results[label][tokens] = one
        measured(results, tokens)
    return results


def ceiling(peak, dtype):
    """GFLOP/s of products of this dtype; bfloat16 can be multiplied in float32 where that is faster."""
    return max(*peak[dtype].values(), *peak["float32"].values())


def table_head(peak):
    lines = [f"{'tool':44}{'tokens':>8}{'tok/s':>8}{'of peak':>9}{'peak GB':>9}{'exponent':>10}"]
    for dtype in ("float32", "bfloat16"):
        best = max(peak[dtype].values())
        lines.append(f"{f'products alone, {dtype}: {best:.0f} GFLOP/s':52}{best * 1e9 / (2 * WEIGHTS):8.0f}")
    return lines


def table_rows(peak, rows, results, tokens, with_exponents):
    lines = []
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
        power = exponent(points) if with_exponents else None
        lines.append(f"{label:44}{tokens:8}{speed:8.0f}{share}{result['peak_bytes'] / 1e9:9.2f}" + (f"{power:10.2f}" if power else ""))
    return lines


def decode_table(rows, results):
    lines = [f"{f'{DECODED} tokens one by one after 512':52}{'tok/s':>8}"]
    for label, _, _ in rows:
        result = results[label].get(512)
        if result is not None:
            shown = f"not measured: {result['error']}" if "error" in result else f"{DECODED / result['seconds']:.1f}"
            lines.append(f"{label:52}{shown:>8}")
    return lines


def median(values):
    return sorted(values)[len(values) // 2]


def demo_seconds(build, dtype, limits):
    """What `./midscope demo` computes once everything is built: its sweep."""
    seconds = []
    for _ in range(4):
        with tempfile.TemporaryDirectory() as folder:
            command = [build / "bin" / "midscope", "sweep", "embedded", "--dtype", dtype, "--task", "list:lines=20", "--places", "1,5,10,15,20",
                       "--samples", "24", "--seed", "1", "--with", "none", "--with", "channel(100, factor=-1, layers=8-25)",
                       "--out", f"{folder}/list.h5"]
            start = time.perf_counter()
            done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                                  env={**os.environ, "GOMP_SPINCOUNT": "3000", **limits})
            seconds.append(time.perf_counter() - start)
            if done.returncode:
                return None
    return min(seconds[1:])


def main():
    parser = argparse.ArgumentParser(prog="midscope bench", description=__doc__.splitlines()[0],
                                     epilog=__doc__[__doc__.index("\n\nEvery"):].strip(), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--peers", nargs="?", const="all", default="",
                        help=f"beside other programs: all, or some of {', '.join(PEERS)}; several with commas")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--cuda", action="store_true", help="the first GPU instead of the CPU")
    parser.add_argument("--models", default="embedded,7b", help=f"of --cuda, of {', '.join(cuda_bench.MODELS)}")
    parser.add_argument("--tokens", help="prompt lengths; default: 512,2048,8000, of --cuda 512,2048,8192,16384,32768")
    parser.add_argument("--instructions", default="native", help=f"of {', '.join(LIMITS)}; several with commas")
    parser.add_argument("--modes", default="prefill", help=f"of {', '.join(MODES)}; several with commas")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    usual = cuda_bench.LENGTHS if options.cuda else [512, 2048, 8000]
    lengths = [int(part) for part in options.tokens.split(",")] if options.tokens else usual
    modes = options.modes.split(",")
    asked = [(n, LIMITS, "--instructions") for n in options.instructions.split(",")] + [(m, MODES, "--modes") for m in modes]
    of_device = list(cuda_bench.PEERS) if options.cuda else CPU_PEERS
    options.peers = of_device if options.peers == "all" else [peer for peer in options.peers.split(",") if peer]
    asked += [(peer, of_device, "--peers") for peer in options.peers]
    for name, known, option in asked:
        if name not in known:
            parser.error(f"{option}: {name} is not known; there are {', '.join(known)}")
    for name in options.models.split(","):
        if name not in cuda_bench.MODELS:
            parser.error(f"--models: {name} is not known; there are {', '.join(cuda_bench.MODELS)}")
    if options.cuda:
        cuda_bench.measure_all(options, lengths, machine(), python_of, MODEL)
        return
    report = {"machine": machine(), "classes": {}}
    with tempfile.TemporaryDirectory() as folder:
        peers = Peers(folder, options.peers) if options.peers else None
        for name in options.instructions.split(","):
            report["classes"][name] = measure_class(name, modes, options, lengths, peers, report["machine"])
    report["not_measured"] = peers.missing if peers else {}
    if options.json:
        print(json.dumps(report, indent=1))
    else:
        for peer, reason in report["not_measured"].items():
            print(f"{peer}: not measured: {reason}")


def measure_class(name, modes, options, lengths, peers, about):
    limits = LIMITS[name]
    peak = run([options.build / "bin" / "product_bench"], limits)
    if "error" in peak:
        sys.exit(f"midscope: bench: {peak['error']}")
    report = {"instructions": peak.pop("instructions"), "products_gflops": peak}

    def show(lines):
        if not options.json:
            print("\n".join(lines), flush=True)

    show([f"{about['cpu']}, {about['cores']} cores, {about['memory_gb']} GiB, {' '.join(about['flags'])}; in use: {report['instructions']}"])
    if "prefill" in modes:
        rows = own_rows(options.build) + (peers.prefill_rows(name) if peers else [])
        show(table_head(peak))
        report["prefill"] = measure(rows, lengths, options.rounds, limits, lambda results, tokens: show(
            table_rows(peak, rows, results, tokens, tokens == lengths[-1])))
    if "decode" in modes:
        rows = own_decode_rows(options.build) + (peers.llama_rows(name, "decode") if peers else [])
        report["decode"] = measure(rows, [512], options.rounds, limits)
        show(decode_table(rows, report["decode"]))
    if "demo" in modes:
        report["demo"] = {dtype: demo_seconds(options.build, dtype, limits) for dtype in ("bfloat16", "float32")}
        show([f"warm demo, --dtype {dtype}: " + ("failed" if s is None else f"{s:.2f} s") for dtype, s in report["demo"].items()])
    return report


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("midscope: bench: cancelled; tables above are of what was measured until then", file=sys.stderr)
        sys.exit(130)
