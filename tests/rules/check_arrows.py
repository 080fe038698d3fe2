#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rooms include only what lies below them, and so do the folders inside each.

    check_arrows.py ROOT [--count]

Also: libraries only in the rooms that own them; LibTorch in no header that the window's sources reach; no folder that is not
in the lists below. Prints what is wrong and exits with 1; --count prints how many includes each pair of folders has.
"""
import collections
import pathlib
import re
import sys

ROOMS = ["kernels", "core", "data", "probes", "gui"]
# Bottom to top: a folder includes itself and those before it. "." is the room itself. Folders below these belong to them, but
# for those that are listed themselves.
FOLDERS = {
    "kernels": [".", "quantised", "cuda"],
    "core": ["base", "formats", "tokenizer", "chat", "hub", "model", "positions", "intervention", "plan",
             "terms", "compute", "decoder", "run", "tuning"],
    "data": ["formats", "scorers", "tasks", "store", "sweep", "published", "export"],
    "probes": ["base", "prompt", "model", "measure/statistics", "measure/builtin", "measure/scan", "sweep",
               "measure/channels", "measure/influence", "tuning", "engine", "serve", "client", "cli"],
    "gui": ["base", "widgets", "actions", "layout", "plots", "session", "panels", "help", "files", "."],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
LIBRARIES = {  # first part of the header's name -> rooms or folders that may include it
    "ATen": {"core/compute", "core/decoder", "core/tuning"}, "torch": {"core/compute", "core/decoder", "core/tuning"}, "c10": {"core/compute", "core/decoder", "core/tuning"},
    "hdf5": {"data/store", "data/sweep"}, "hdf5_hl": {"data/store", "data/sweep"},
    "qcustomplot": {"gui/plots"},
    "hwy": {"kernels"},
    "curl": {"core/hub"}, "openssl": {"core/base"},
    "CLI": {"probes/cli"}, "toml++": {"probes/cli"},
    "Eigen": {"probes/measure/statistics"},
    "mpi": {"probes/sweep"}, "msgpack": {"probes/serve"},
    "sentencepiece_processor": {"core/tokenizer"}, "pcre2": {"core/tokenizer"},
}


def includes(path):
    return [m.group(2) for m in INCLUDE.finditer(path.read_text(encoding="utf-8"))]


def reachable(root, start):
    """Our own headers that `start` includes, directly or not."""
    seen, todo = set(), [start]
    while todo:
        for name in includes(todo.pop()):
            path = root / name
            if name.split("/")[0] in ROOMS and path.is_file() and path not in seen:
                seen.add(path)
                todo.append(path)
    return seen


def library(name):
    return re.split(r"[/.]", name)[0]


def place(name):
    """Room and folder of a file by its path from the root: ("core", "model") for core/model/families/llama.cpp."""
    parts = name.split("/")
    inner = "/".join(parts[1:3])
    if len(parts) > 3 and inner in FOLDERS.get(parts[0], ()):
        return parts[0], inner
    return parts[0], parts[1] if len(parts) > 2 else "."


def sources(root, room):
    return [path for path in sorted((root / room).rglob("*")) if path.suffix in (".h", ".cpp", ".cu", ".cuh")]


def check_room(root, room, counts):
    folders = FOLDERS[room]
    for path in sources(root, room):
        shown = path.relative_to(root).as_posix()
        here = place(shown)[1]
        if here not in folders:
            yield f"{shown}: the folder {here} is not in check_arrows.py"
            continue
        for name in includes(path):
            target, there = place(name)
            if target in ROOMS:
                counts[f"{room}/{here}", f"{target}/{there}"] += 1
                if ROOMS.index(target) > ROOMS.index(room):
                    yield f"{shown} includes {name}: the arrow points the other way"
                elif target == room and there not in folders:
                    yield f"{shown} includes {name}: there is no such folder"
                elif target == room and folders.index(there) > folders.index(here):
                    yield f"{shown} includes {name}: inside {room}, {there} lies above {here}"
            allowed = LIBRARIES.get(library(name))
            if allowed and not {room, f"{room}/{here}"} & allowed:
                yield f"{shown} includes {name}: that library belongs to {', '.join(sorted(allowed))}"
            if re.match(r"Q[A-Z]\w+$", name) and room != "gui":
                yield f"{shown} includes {name}: Qt belongs to gui"


def check_window(root):
    for path in sources(root, "gui"):
        for header in reachable(root, path):
            for name in includes(header):
                if library(name) in ("ATen", "torch", "c10"):
                    yield f"{path.relative_to(root)} reaches {name} through {header.relative_to(root)}"


def main():
    root = pathlib.Path(sys.argv[1])
    counts = collections.Counter()
    faults = [fault for room in ROOMS for fault in check_room(root, room, counts)] + sorted(set(check_window(root)))
    for fault in faults:
        print(fault)
    if "--count" in sys.argv:
        for (here, there), count in sorted(counts.items()):
            print(f"{here} -> {there}: {count}")
    print(f"{sum(counts.values())} includes, {len(faults)} against the arrows")
    sys.exit(1 if faults else 0)


main()
