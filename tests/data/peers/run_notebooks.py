# SPDX-License-Identifier: MIT
"""Runs the code cells of data/notebooks, each notebook in a namespace of its own, beside a run.h5 that
data_write_example wrote, and beside one that the notebooks' own recipe made: midscope sweep --attention.
Needs h5py, xarray with h5netcdf, and pandas, but no Jupyter.

usage: run_notebooks.py WRITER PROGRAM FOLDER    (WRITER: data_write_example, PROGRAM: midscope)
"""
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

NOTEBOOKS = pathlib.Path(__file__).resolve().parents[3] / "data" / "notebooks"
NEEDED = {"h5py": ["h5py"], "xarray": ["xarray", "h5netcdf"], "pandas": ["pandas", "h5py"]}


def run(path):
    names = {}
    cells = json.loads(path.read_text())["cells"]
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec"), names)


def make_sweep(program, file):
    subprocess.run([program, "sweep", "embedded", "--task", "list:lines=6", "--places", "1,3,6", "--samples", "3",
                    "--attention", "--with", "none", "--with", "pi(1.5)", "--out", file], check=True)


def run_all(which):
    notebooks = sorted(NOTEBOOKS.glob("*.ipynb"))
    assert {path.stem for path in notebooks} == set(NEEDED), notebooks
    for path in notebooks:
        missing = [name for name in NEEDED[path.stem] if not importlib.util.find_spec(name)]
        if missing:
            print(f"not run: {path.name} ({', '.join(missing)} not installed)")
            continue
        run(path)
        print(f"ran {path.name} on {which}")


def main(writer, program, folder):
    subprocess.run([writer, folder], check=True)
    os.chdir(folder)
    shutil.copy("sweep.h5", "run.h5")
    run_all("the example")
    os.mkdir("real")
    os.chdir("real")
    make_sweep(program, "run.h5")
    run_all("a sweep of the embedded model")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
