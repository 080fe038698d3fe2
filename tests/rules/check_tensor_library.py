#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program loads libmidscope_core, which brings LibTorch, only when it is about to run a model.

check_tensor_library.py ROOT LIBRARIES PROGRAM checks that libmidscope_probes and libmidscope_cli are not linked to it, that each
function of it that they call and that needs no loaded model is called after LoadTensorLibrary(), and that commands without a model
do without it.
"""

import pathlib
import re
import subprocess
import sys

# Functions that need no object of the library: a source that calls one of them must call LoadTensorLibrary() or OpenDecoder() first.
FIRST = ["Decoder::Open", "GradientPass::GradientPass", "LensFit::LensFit", "Tuner::Tuner", "AvailableDevices", "FactsOf",
         "ListDeviceFacts", "WhyGpuIsMissing", "TraceBytesPerRow", "FindPrefixSharing"]
# Functions and classes that are reached only with an open model, or with what the functions above return.
LATER = {"Decoder", "GradientPass", "LensFit", "Tuner", "PatchSources", "Trace", "WhatIf", "WhatIfPair", "Generate", "GenerateGreedy",
         "GreedyTrace", "TopTokens", "WriteTunedConfig"}
# How sources call the constructors.
CALLS = {"GradientPass::GradientPass": r"GradientPass pass\(", "LensFit::LensFit": r"LensFit fit\(", "Tuner::Tuner": r"tuner_\.emplace\("}


def symbols(library, *flags):
    lines = subprocess.run(["nm", "-DC", *flags, library], capture_output=True, text=True, check=True).stdout.splitlines()
    return {re.sub(r"^[0-9a-f]* *\w ", "", line.strip()) for line in lines}


def main():
    root, libraries, program = map(pathlib.Path, sys.argv[1:])
    faults = []
    core = symbols(libraries / "libmidscope_core.so", "--defined-only")
    for name in ("probes", "cli"):
        library = libraries / f"libmidscope_{name}.so"
        needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
        if "[libmidscope_core.so]" in needed:
            faults.append(f"{library.name} is linked to libmidscope_core")
        for symbol in sorted(symbols(library, "--undefined-only") & core):
            function = re.sub(r"\[abi:\w+\]", "", symbol.removeprefix("midscope::")).split("(")[0]
            if function not in FIRST and function.split("::")[0] not in LATER:
                faults.append(f"{library.name} calls {symbol}: list it in check_tensor_library.py")
    for source in sorted((root / "probes").rglob("*.cpp")):
        text = source.read_text(encoding="utf-8")
        if "LoadTensorLibrary()" in text or "OpenDecoder(" in text:
            continue
        for function in FIRST:
            if function == "FactsOf" and "Facts FactsOf(" in text:
                continue  # a function of its own
            if re.search(CALLS.get(function, r"(?<![\w:])" + function + r"\("), text):
                faults.append(f"{source.relative_to(root)} calls {function} without LoadTensorLibrary()")
    for arguments in (["--help"], ["rope"], ["compare", "--published", "list"], ["show", "no such file"], ["probe", "embedded"]):
        run = subprocess.run([program, *arguments], capture_output=True, text=True, env={"LD_DEBUG": "libs"})
        if "libtorch_cpu" in run.stderr:
            faults.append(f"midscope {' '.join(arguments)} loads LibTorch")
    # All symbols looked up at once.
    if subprocess.run([program, "--version"], capture_output=True, env={"LD_BIND_NOW": "1"}).returncode != 0:
        faults.append("midscope does not start with LD_BIND_NOW=1")
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
