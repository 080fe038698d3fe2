# SPDX-License-Identifier: MIT
"""A build backend (PEP 517): the Python package of probes/python with the tree of .packaging/tree.py in it, as a wheel; and the
wheels of the client alone, of the window and of the program for GPUs. MIDSCOPE_TREE names the tree; default build/packages/tree.
Usage: backend.py midscope|client|midscope-window|midscope-cuda OUT"""
import os
import pathlib
import re
import shutil
import sys
import tempfile
import tomllib

from wheel_file import ROOT, VERSION, Wheel

SCRIPT = """#!python
import importlib.util
import os
import pathlib
import runpy
import sys

package = pathlib.Path(importlib.util.find_spec("midscope").origin).parent
start = runpy.run_path(str(package / "_program.py"))
program = start["installed_program"]()
os.execve(program, [program, *sys.argv[1:]], start["program_environment"](str(pathlib.Path(__file__).resolve().parent)))
"""
WINDOW_SCRIPT = """#!python
from midscope_window import main

main()
"""


def folder_with(program, default, command):
    folder = pathlib.Path(os.environ.get("MIDSCOPE_TREE", ROOT / "build/packages" / default))
    if not (folder / "bin" / program).is_file():
        sys.exit(f"midscope: {folder} has no program. Run ./midscope package {command}")
    return folder


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    tree = folder_with("midscope", "tree", "wheel")
    wheel = Wheel(wheel_directory, "midscope")
    wheel.add("midscope/bin/midscope", (tree / "bin/midscope").read_bytes(), executable=True)
    wheel.add_folder("midscope/lib", tree / "lib")
    wheel.add_script("midscope", SCRIPT)
    return finish_toolkit(wheel, "the program midscope and its Python package", tree / "share/doc/midscope/licences")


def build_client_wheel(directory):
    """The package without the program, for every system: its models run on another machine (`remote=`)."""
    with tempfile.TemporaryDirectory() as licences:
        shutil.copy(ROOT / "LICENSE", pathlib.Path(licences, "midscope.LICENSE"))
        return finish_toolkit(Wheel(directory, "midscope", "py3-none-any"), "the Python package, for models on another machine",
                              pathlib.Path(licences))


def finish_toolkit(wheel, summary, licences):
    """Adds the Python package and the metadata."""
    client = ROOT / "probes/python"
    project = tomllib.loads((client / "pyproject.toml").read_text())["project"]
    for path in sorted((client / "midscope").iterdir()):
        if path.suffix in (".py", ".typed"):
            wheel.add(f"midscope/{path.name}", path.read_bytes())
    headers = ["Name: midscope", f"Version: {VERSION}", f"Summary: Position bias of language models: {summary}",
               f"License: {project['license']['text']}", f"Requires-Python: {project['requires-python']}",
               *(f"Requires-Dist: {name}" for name in project["dependencies"])]
    extras = project["optional-dependencies"] | {extra: [f"midscope-{extra}=={VERSION}"] for extra in ("window", "cuda")}
    for extra, names in extras.items():
        headers += [f"Provides-Extra: {extra}", *(f"Requires-Dist: {name} ; extra == '{extra}'" for name in names)]
    return wheel.finish(headers, licences, (client / "README.md").read_text())


def build_window_wheel(directory):
    folder = folder_with("midscope-gui", "window", "window")
    package = ROOT / ".packaging/wheel/midscope_window"
    wheel = Wheel(directory, "midscope-window")
    wheel.add("midscope_window/__init__.py", (package / "__init__.py").read_bytes())
    for part in ("bin", "lib", "plugins"):
        wheel.add_folder(f"midscope_window/{part}", folder / part)
    wheel.add_script("midscope-gui", WINDOW_SCRIPT)
    headers = ["Name: midscope-window", f"Version: {VERSION}",
               "Summary: Position bias of language models: the window midscope-gui",
               "License: GPL-3.0-or-later", "Requires-Python: >=3.10", f"Requires-Dist: midscope=={VERSION}"]
    return wheel.finish(headers, folder / "licences", (package / "README.md").read_text())


def build_cuda_wheel(directory):
    folder = folder_with("midscope", "cuda", "cuda")
    wheel = Wheel(directory, "midscope-cuda")
    for part in ("bin", "lib"):
        wheel.add_folder(f"midscope_cuda/{part}", folder / part)
    torch = re.search(r"^torch_version=([0-9.]+)", (ROOT / "midscope").read_text(), re.M).group(1)
    headers = ["Name: midscope-cuda", f"Version: {VERSION}",
               "Summary: Position bias of language models: the program midscope for NVIDIA GPUs",
               "License: MIT", "Requires-Python: >=3.10", f"Requires-Dist: midscope=={VERSION}", f"Requires-Dist: torch=={torch}"]
    return wheel.finish(headers, folder / "licences", (ROOT / ".packaging/wheel/cuda.md").read_text())


if __name__ == "__main__":
    print({"midscope": build_wheel, "client": build_client_wheel, "midscope-window": build_window_wheel,
           "midscope-cuda": build_cuda_wheel}[sys.argv[1]](sys.argv[2]))
