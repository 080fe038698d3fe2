# SPDX-License-Identifier: MIT
"""`./midscope bench --cuda`: prompts of several lengths on the first GPU (device_bench), and attention alone there, beside transformers
and llama.cpp on the same one.

bench.py calls it. Every program opens a model once and runs all lengths; the programs take turns, and the least time of all rounds
counts. A length that a program could not run is named with the reason; the others stay.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import NamedTuple

from large_shapes import LAYERS, SHAPES

HERE = pathlib.Path(__file__).parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "midscope"
LENGTHS = [512, 2048, 8192, 16384, 32768]
MODELS = ("embedded", *SHAPES)
DEVICE = "cuda:0"
# Keys of device_bench's lines, and their rows in the table.
ROWS = {"plain_ms": "midscope, plain", "captures_ms": "midscope, captures and trace", "ms_poe_ms": "midscope, Ms-PoE",
        "self_extend_ms": "midscope, Self-Extend", "token_ms": "a token after the prompt",
        "what_if_channel_ms": "what-if, a channel in layers 8-25", "what_if_channel_logits_ms": "the same without attention rows",
        "what_if_channel_run_ms": "the same, not recorded",
        "what_if_ms_poe_last_row_ms": "what-if, Ms-PoE of the last row"}
STORED_ROWS = {"plain_ms": "midscope, weights as stored, plain", "token_ms": "the same, a token after the prompt"}
ATTENTION_ROWS = {"equal_positions_tflops": "attention alone, TFLOP/s", "ms_poe_tflops": "the same, Ms-PoE",
                  "self_extend_tflops": "the same, Self-Extend", "soft_cap_tflops": "the same, soft cap (own kernel)",
                  "boost_tflops": "the same, boosted keys (own kernel)"}
TRANSFORMERS_ROWS = {"plain_ms": "transformers, SDPA, no captures"}
LLAMA_ROWS = {"plain_ms": "llama.cpp, weights as stored, plain", "token_ms": "llama.cpp, a token after the prompt"}
# What a peer of --peers is called there, with its rows.
PEERS = {"transformers": TRANSFORMERS_ROWS, "llama_cuda": LLAMA_ROWS}


class Program(NamedTuple):
    """One process a round, which prints a JSON line for each length; `rows` are the table's, by the lines' keys."""
    name: str
    command: list
    rows: dict


def gpu():
    """The first GPU as its driver describes it."""
    fields = ["name", "driver_version", "memory.total", "memory.free"]
    try:
        done = subprocess.run(["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"],
                              capture_output=True, text=True)
    except OSError as error:
        sys.exit(f"midscope: bench --cuda: no GPU can be asked for: nvidia-smi: {error.strerror}. Install NVIDIA's driver")
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        sys.exit(f"midscope: bench --cuda: nvidia-smi finds no GPU: {(done.stdout + done.stderr).strip()}. Run it on a machine with one")
    name, driver, total, free = [part.strip() for part in lines[0].split(",")]
    return {"name": name, "driver": driver, "total_mib": int(total), "free_mib": int(free)}


def run_lines(command):
    """The JSON lines that a program printed, and why it stopped before the last ("" where it did not)."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    why = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1][:160] if done.returncode else ""
    return lines, why


def large_model(shape, python_of):
    """The file of that shape, or None and the reason; made where it is not there."""
    path = CACHE / "bench" / f"random-{shape}-Q4_0.gguf"
    if path.exists():
        return path, ""
    python, why = python_of("gguf")
    if python is None:
        return None, why
    print(f"bench: making {path} (about 4 GB)", file=sys.stderr)
    part = path.with_suffix(".part")
    done = subprocess.run([str(python), str(HERE / "make_large_gguf.py"), str(part), "Q4_0", str(LAYERS), shape], capture_output=True, text=True)
    if done.returncode:
        return None, (done.stderr.strip().splitlines() or ["it could not be made"])[-1]
    part.rename(path)
    return path, ""


def own_programs(name, model, lengths, build):
    bench = build / "bin" / "device_bench"
    # Expanded: both it and transformers multiply bfloat16 matrices.
    programs = [Program("midscope", [bench, DEVICE, model, "bfloat16", "expanded", *lengths], ROWS),
                Program("midscope_stored", [bench, DEVICE, model, "bfloat16", "stored", "decode", *lengths], STORED_ROWS)]
    if name in SHAPES:
        shape = SHAPES[name]
        programs.append(Program("midscope_attention", [build / "bin" / "device_attention_bench", DEVICE, "bfloat16", shape.heads,
                                                       shape.key_value_heads, shape.hidden // shape.heads, *lengths], ATTENTION_ROWS))
    return programs


def peer_command(peer, name, model, lengths, python_of, folder, embedded):
    """The peer's command for this model, or None and the reason."""
    python, why = python_of(peer)
    if python is None:
        return None, why
    if peer == "llama_cuda":
        return [python, HERE / "peers" / "llama_device.py", embedded if name == "embedded" else model, *lengths], ""
    shape = name
    if name == "embedded":
        shape = pathlib.Path(folder) / "embedded"
        done = subprocess.run([str(part) for part in (python, HERE / "peers" / "gguf_to_folder.py", embedded, shape)],
                              capture_output=True, text=True)
        if done.returncode:
            return None, (done.stderr.strip().splitlines() or ["the model could not be converted"])[-1]
    return [python, HERE / "peers" / "transformers_device.py", shape, DEVICE, *lengths], ""


def best(rounds):
    """{tokens: {key: value}} of the lines of several rounds: the least times, and the most of the rest."""
    found = {}
    for lines in rounds:
        for line in lines:
            of = found.setdefault(line["tokens"], {})
            for key, value in line.items():
                if key != "tokens":
                    of[key] = (min if key.endswith("_ms") else max)(of.get(key, value), value)
    return found


def measure(name, options, lengths, python_of, folder, embedded):
    report = {"model": name, "midscope": {}, "not_measured": {}}
    model, why = ("embedded", "") if name == "embedded" else large_model(name, python_of)
    if model is None:
        report["not_measured"]["midscope"] = why
        return report
    programs = own_programs(name, model, lengths, options.build)
    for peer, rows in PEERS.items():
        if peer not in options.peers:
            continue
        command, why = peer_command(peer, name, model, lengths, python_of, folder, embedded)
        if command:
            programs.append(Program(peer, command, rows))
        else:
            report["not_measured"][peer] = why
    rounds = {program.name: [] for program in programs}
    for i in range(options.rounds):
        for program in programs:
            print(f"bench: {name}, {program.name}, round {i + 1} of {options.rounds}", file=sys.stderr)
            lines, why = run_lines(program.command)
            rounds[program.name].append([line for line in lines if "tokens" in line])
            report.setdefault("device", next((line for line in lines if "device" in line), None))
            if why:
                report["not_measured"][program.name] = f"after {len(rounds[program.name][-1])} of {len(lengths)} lengths: {why}"
    report.update({who: best(of) for who, of in rounds.items()})
    return report


def table(report, lengths):
    rows_of = {"midscope": ROWS, "midscope_stored": STORED_ROWS, "midscope_attention": ATTENTION_ROWS, **PEERS}
    width = max(len(title) for rows in rows_of.values() for title in rows.values()) + 2

    def row(title, values):
        return f"    {title:{width}}" + "".join(f"{'' if value is None else format(value, '.1f'):>10}" for value in values)

    lines = [f"    {report['model'] + ', bfloat16, ms':{width}}" + "".join(f"{tokens:>10,}" for tokens in lengths)]
    for who, rows in rows_of.items():
        of = report.get(who) or {}
        for key, title in rows.items() if of else []:
            lines.append(row(title, [of.get(tokens, {}).get(key) for tokens in lengths]))
    taken = [report["midscope"].get(tokens, {}).get("taken_bytes") for tokens in lengths]
    lines.append(row("memory taken on the GPU, GB", [None if of is None else of / 1e9 for of in taken]))
    return lines + [f"    {who}: not measured {why}" for who, why in report["not_measured"].items()]


def measure_all(options, lengths, about, python_of, embedded):
    report = {"machine": about, "gpu": gpu(), "models": []}
    of = report["gpu"]
    if not options.json:
        print(f"{of['name']}, driver {of['driver']}, {of['total_mib']} MiB of memory, {of['free_mib']} free; {about['cpu']}, "
              f"{about['cores']} cores", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models.split(","):
            one = measure(name, options, lengths, python_of, folder, embedded)
            report["models"].append(one)
            if not options.json:
                print("\n".join(table(one, lengths)), flush=True)
    if options.json:
        print(json.dumps(report, indent=1))
    if not any(one["midscope"] for one in report["models"]):
        sys.exit("midscope: bench --cuda: nothing could be measured: " +
                 "; ".join(f"{who}: {why}" for one in report["models"] for who, why in one["not_measured"].items()))
