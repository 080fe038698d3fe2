#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the documentation site: build_site.py PROGRAM OUT.

Gathers in OUT/pages the pages of this folder, those of the tree, what they link to, and a reference made by PROGRAM
(midscope) and from the Python package, and runs Sphinx, whose warnings are errors. The interpreter needs the packages of
requirements.txt. MIDSCOPE_SITE_REPOSITORY: OWNER/NAME on GitHub, once a release is uploaded: pages then install by name and have
links that open the notebooks on hosts of notebooks. Without it, users install from a wheel that they have.
"""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

here = Path(__file__).resolve().parent
root = here.parents[1]
repository = os.environ.get("MIDSCOPE_SITE_REPOSITORY")
install = "pip install midscope" if repository else "pip install ./midscope-*.whl"
notebook_hosts = {"Colab": "https://colab.research.google.com/github/{repository}/blob/main/{path}",
                  "Kaggle": "https://kaggle.com/kernels/welcome?src=https://github.com/{repository}/blob/main/{path}"}
topics = ["interventions", "presets", "tasks", "jsonl", "probes", "schema"]
link = re.compile(r"\[([^\]]*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")


def tree_pages() -> list[Path]:
    """The pages of the tree, without those of this folder and of tests' data."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=root, capture_output=True, text=True, check=True).stdout.split()
    return [Path(page) for page in listed if not page.startswith((".packaging", "tests/core"))]


def notebook_links() -> str:
    """A table of the notebooks with links to hosts that run them; nothing without a public repository."""
    if not repository:
        return ""
    lines = ["Notebooks, to be opened elsewhere; run `%pip install midscope[notebook]` in a cell of its own first:", "",
             "| notebook | " + " | ".join(notebook_hosts) + " |", "| --- " * (1 + len(notebook_hosts)) + "|"]
    for path in sorted((root / "probes/python/notebooks").glob("*.ipynb")):
        name = path.relative_to(root).as_posix()
        links = [f"[open]({address.format(repository=repository, path=name)})" for address in notebook_hosts.values()]
        lines.append(f"| {path.stem.replace('_', ' ')} | " + " | ".join(links) + " |")
    return "\n".join(lines)


def gather(pages: Path) -> None:
    """Copies all pages, and the files that they link to; a link to a folder becomes its text."""
    sources = {page: root / page for page in tree_pages()}
    sources |= {page.relative_to(here): page for page in here.rglob("*.md")}
    for name, source in sources.items():
        text = source.read_text(encoding="utf-8").replace("@INSTALL@", install).replace("@NOTEBOOKS@", notebook_links())

        def checked(match: re.Match[str]) -> str:
            base = root if match[2].startswith("/") else source.parent
            target = (base / match[2].lstrip("/")).resolve()
            if target.is_dir():
                return f"`{match[1]}`"
            if target.is_file() and target.suffix != ".md" and root in target.parents:
                copy = pages / target.relative_to(root)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(target, copy)
            return match[0]

        page = pages / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(link.sub(checked, text), encoding="utf-8")


def output(program: str, *arguments: str) -> str:
    """What the program prints."""
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout


def write_reference(program: str, pages: Path) -> None:
    """Writes the pages of commands, topics and the Python package."""
    reference = pages / "reference"
    reference.mkdir()
    commands = re.findall(r"^  (\w+) ", output(program, "help").split("Commands:")[1].split("\n\n")[0], re.M)
    for page, title, items in (("commands", "Commands, with all options", [(c, ["help", c]) for c in commands]),
                               ("topics", "Settings, tasks, probes, files", [(t, ["help", t]) for t in topics])):
        parts = [f"# {title}"]
        parts += [f"## {name}\n\n````text\n{output(program, *arguments)}````" for name, arguments in items]
        (reference / f"{page}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    (reference / "python.md").write_text("# Python\n\n```{eval-rst}\n.. automodule:: midscope\n   :members:\n"
                                         "   :imported-members:\n   :member-order: groupwise\n```\n", encoding="utf-8")


def main() -> None:
    if not importlib.util.find_spec("sphinx"):
        print("skipped: this Python has no Sphinx; install .packaging/site/requirements.txt")
        sys.exit(77)
    program, out = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    pages = out / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    gather(pages)
    write_reference(program, pages)
    environment = os.environ | {"MIDSCOPE_SITE_PACKAGE": str(root / "probes/python")}
    subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", str(here), str(pages),
                    str(out / "html")], env=environment, check=True)
    print(f"{len(list((out / 'html').rglob('*.html')))} pages: {out / 'html' / 'index.html'}")


if __name__ == "__main__":
    main()
