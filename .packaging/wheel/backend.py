# SPDX-License-Identifier: MIT
"""A build backend (PEP 517): the Python package of probes/python with the tree of .packaging/tree.py in it, as a wheel.
MIDSCOPE_TREE names the tree; default build/packages/tree."""
import base64
import hashlib
import os
import pathlib
import sys
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TAG = "py3-none-manylinux_2_35_x86_64"
# pip replaces its first line by the interpreter. The package itself is not imported, as numpy takes a second.
SCRIPT = """#!python
import importlib.util
import os
import pathlib
import sys

package = pathlib.Path(importlib.util.find_spec("midscope").origin).parent
program = str(package / "bin" / "midscope")
os.environ.setdefault("MIDSCOPE_PYTHON", sys.executable)
os.execv(program, [program, *sys.argv[1:]])
"""


def metadata(project, readme):
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}",
             "Summary: Position bias of language models: the program midscope and its Python package",
             f"License: {project['license']['text']}", f"Requires-Python: {project['requires-python']}",
             *(f"Requires-Dist: {name}" for name in project["dependencies"])]
    for extra, names in project.get("optional-dependencies", {}).items():
        lines += [f"Provides-Extra: {extra}", *(f"Requires-Dist: {name} ; extra == '{extra}'" for name in names)]
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", readme])


class Wheel:
    """A zip archive with the list of its files. Files have one date, so that equal content makes equal bytes."""

    def __init__(self, path, information):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.information = information
        self.record = []

    def add(self, name, content, executable=False):
        entry = zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}")

    def close(self):
        name = f"{self.information}/RECORD"
        self.archive.writestr(zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0)), "\n".join([*self.record, f"{name},,"]) + "\n")
        self.archive.close()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    tree = pathlib.Path(os.environ.get("MIDSCOPE_TREE", ROOT / "build/packages/tree"))
    if not (tree / "bin/midscope").is_file():
        sys.exit(f"midscope: {tree} has no program. Run ./midscope package wheel")
    client = ROOT / "probes/python"
    project = tomllib.loads((client / "pyproject.toml").read_text())["project"]
    stem = f"{project['name']}-{project['version']}"
    information = f"{stem}.dist-info"
    wheel = Wheel(pathlib.Path(wheel_directory) / f"{stem}-{TAG}.whl", information)
    for path in sorted((client / "midscope").iterdir()):
        if path.suffix in (".py", ".typed"):
            wheel.add(f"midscope/{path.name}", path.read_bytes())
    wheel.add("midscope/bin/midscope", (tree / "bin/midscope").read_bytes(), executable=True)
    for path in sorted((tree / "lib").iterdir()):
        wheel.add(f"midscope/lib/{path.name}", path.read_bytes())
    wheel.add(f"{stem}.data/scripts/midscope", SCRIPT.encode(), executable=True)
    for path in sorted((tree / "share/doc/midscope/licences").iterdir()):
        wheel.add(f"{information}/licenses/{path.name}", path.read_bytes())
    wheel.add(f"{information}/METADATA", metadata(project, (client / "README.md").read_text()).encode())
    wheel.add(f"{information}/WHEEL", f"Wheel-Version: 1.0\nGenerator: midscope\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode())
    wheel.close()
    return f"{stem}-{TAG}.whl"


if __name__ == "__main__":
    print(build_wheel(sys.argv[1]))
