# SPDX-License-Identifier: MIT
"""The wheel with the program inside, made of a small tree: its names, its command, and what is left when it is uninstalled.
Usage: check_wheel.py ROOT"""
import os
import pathlib
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1])


def run(*command, **variables):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, **variables}).stdout


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    tree = folder / "tree"
    for path, text in {"bin/midscope": "#!/bin/sh\necho \"$0|$MIDSCOPE_PYTHON|$*\"\n", "lib/libmidscope_cli.so": "library",
                       "share/doc/midscope/licences/midscope.LICENSE": "MIT"}.items():
        (tree / path).parent.mkdir(parents=True)
        (tree / path).write_text(text)
    wheel = folder / run(sys.executable, root / ".packaging/wheel/backend.py", folder, MIDSCOPE_TREE=str(tree)).strip()
    assert wheel.name.endswith("-py3-none-manylinux_2_35_x86_64.whl"), wheel
    again = folder / "again"
    again.mkdir()
    run(sys.executable, root / ".packaging/wheel/backend.py", again, MIDSCOPE_TREE=str(tree))
    assert (again / wheel.name).read_bytes() == wheel.read_bytes(), "two wheels of one tree differ"
    run(sys.executable, "-m", "venv", folder / "venv")
    python = folder / "venv/bin/python"
    before = sorted(str(path) for path in (folder / "venv").rglob("*"))
    run(python, "-m", "pip", "install", "--no-deps", "--no-index", "--no-compile", wheel)
    program, interpreter, arguments = run(folder / "venv/bin/midscope", "probe", "a b").strip().split("|")
    package = next((folder / "venv").glob("lib/python3*/site-packages/midscope"))
    assert program == str(package / "bin/midscope") and arguments == "probe a b", (program, arguments)
    assert interpreter == str(python), interpreter
    assert (package / "_engine.py").is_file() and (package / "lib/libmidscope_cli.so").read_text() == "library"
    shown = run(python, "-m", "pip", "show", "--files", "midscope")
    assert "licenses/midscope.LICENSE" in shown and "../../../bin/midscope" in shown, shown
    (folder / "results.h5").write_text("mine")
    run(python, "-m", "pip", "uninstall", "-y", "midscope")
    assert sorted(str(path) for path in (folder / "venv").rglob("*")) == before, "uninstalling leaves files"
    refused = subprocess.run([python, "-m", "pip", "install", "--no-deps", "--no-index",
                              wheel.rename(folder / wheel.name.replace("manylinux_2_35", "manylinux_9_99"))],
                             stderr=subprocess.PIPE, text=True)
    assert refused.returncode and "not a supported wheel" in refused.stderr, refused.stderr
print("the wheel is installed, runs the program, is uninstalled, and is refused by an older system")
