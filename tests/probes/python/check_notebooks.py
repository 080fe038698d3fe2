# SPDX-License-Identifier: MIT
"""Executes the notebooks of probes/python/notebooks in Jupyter; with --write also stores their outputs in them.

    check_notebooks.py MIDSCOPE SOURCE_FOLDER [--write] [NAME...]
"""
import importlib.util
import os
import pathlib
import sys
import tempfile
import time

PROGRAM, SOURCES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
PACKAGE = SOURCES / "probes" / "python"
NEEDED = ["ipykernel", "matplotlib", "msgpack", "nbclient", "nbformat", "pandas"]
MOST_BYTES = 300_000


def missing_packages():
    """Returns the packages that running a notebook needs and this interpreter lacks."""
    return [name for name in NEEDED if not importlib.util.find_spec(name)]


def execute(notebook, folder):
    """Executes the notebook in the folder and returns its outputs. Raises if a cell fails, or writes to standard error."""
    import nbclient
    import nbformat

    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    warned = [output["text"] for output in outputs if output.get("name") == "stderr"]
    assert not warned, warned
    return outputs


def pictures_in(outputs):
    """Returns the number of pictures."""
    return sum("image/png" in output.get("data", {}) for output in outputs)


def check(path, write):
    """Executes the notebook in an empty folder; `write`: stores its outputs in it."""
    import nbformat

    notebook = nbformat.read(path, 4)
    with tempfile.TemporaryDirectory() as folder:
        assert pictures_in(execute(notebook, folder)) > 0, f"{path.name} draws nothing"
    if write:
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)
        nbformat.write(notebook, path)


def main():
    missing = missing_packages()
    if missing:
        print(f"skipped: {sys.executable} lacks {', '.join(missing)}")
        return 77
    os.environ.update(MIDSCOPE_PROGRAM=PROGRAM, PYTHONPATH=str(PACKAGE), PATH=f"{os.path.dirname(PROGRAM)}:{os.environ['PATH']}")
    os.environ.pop("MPLBACKEND", None)  # Jupyter's own
    names = [word for word in sys.argv[3:] if not word.startswith("--")]
    for path in sorted((PACKAGE / "notebooks").glob("*.ipynb")):
        if names and path.stem not in names:
            continue
        begin = time.monotonic()
        check(path, "--write" in sys.argv)
        print(f"{path.name}: {time.monotonic() - begin:.1f} s", flush=True)
        assert path.stat().st_size < MOST_BYTES, f"{path.name} is too large: draw less"
    return 0


if __name__ == "__main__":
    sys.exit(main())
