# SPDX-License-Identifier: MIT
"""Executes the notebook of the Python package in Jupyter, and the same study by commands and files beside it; the notebook has at
most half as many lines of code, and both print the same numbers.

    check_first_study.py MIDSCOPE SOURCE_FOLDER
"""
import ast
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from check_notebooks import execute, missing_packages, pictures_in

PROGRAM, SOURCES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
PACKAGE = SOURCES / "probes" / "python"
BY_FILES = pathlib.Path(__file__).with_name("first_study_by_files.py")


def code_lines(text):
    """Returns the number of lines that are neither empty, nor a comment, nor a docstring."""
    strings = {line for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
               for line in range(node.lineno, node.end_lineno + 1)}
    return sum(1 for number, line in enumerate(text.splitlines(), 1)
               if line.strip() and not line.strip().startswith("#") and number not in strings)


def numbers(text, beginning):
    """Returns the numbers of the lines that begin so."""
    lines = [line for line in text.splitlines() if line.startswith(beginning)]
    assert lines, f"no line begins with {beginning!r}"
    return [float(number) for line in lines for number in re.findall(r"[-+]?\d+\.\d+", line)]


def main():
    missing = missing_packages()
    if missing:
        print(f"skipped: {sys.executable} lacks {', '.join(missing)}")
        return 77
    import nbformat

    os.environ.update(MIDSCOPE_PROGRAM=PROGRAM, PYTHONPATH=str(PACKAGE))
    os.environ.pop("MPLBACKEND", None)  # Jupyter's own
    notebook = nbformat.read(PACKAGE / "first_study.ipynb", 4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "the notebook is stored without outputs"
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        begin = time.monotonic()
        outputs = execute(notebook, folder)
        seconds = time.monotonic() - begin
        done = subprocess.run([sys.executable, BY_FILES, PROGRAM, folder], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert pictures_in(outputs) == len(list(pathlib.Path(folder).glob("*.png"))) == 5, pictures_in(outputs)
    printed = "".join(output["text"] for output in outputs if output.get("name") == "stdout")
    for beginning in ["answer_nll", "without L12H3", "no head", "all heads", "heads that read gold", "heads by chance"]:
        ours, theirs = numbers(printed, beginning), numbers(done.stdout, beginning)
        assert len(ours) == len(theirs) and all(abs(a - b) < 0.011 for a, b in zip(ours, theirs)), (beginning, ours, theirs)
    of_notebook, of_files = code_lines(code), code_lines(BY_FILES.read_text(encoding="utf-8"))
    print(f"lines of code: {of_notebook} in the notebook ({seconds:.1f} s), {of_files} by commands and files")
    assert 2 * of_notebook <= of_files
    return 0


if __name__ == "__main__":
    sys.exit(main())
