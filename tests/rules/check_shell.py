# SPDX-License-Identifier: MIT
"""Every shell file is one that a shell runs, and every line for Slurm in them one that sbatch takes. `bash -n` is not enough: it
passes a script whose `#SBATCH` lines and options a formatter has torn apart."""
import pathlib
import re
import shutil
import subprocess
import sys

SBATCH = re.compile(r"#SBATCH --[a-z]+(-[a-z]+)*=\S+$")


def shell_files(root):
    """Files whose first line names a shell, but for what is built or fetched."""
    for path in sorted(root.rglob("*")):
        if path.is_dir() or path.is_symlink() or path.relative_to(root).parts[0] in ("build", ".git"):
            continue
        with path.open("rb") as file:
            first = file.readline(200)
        looks_so = path.suffix in (".sh", ".slurm") or re.match(rb"#!.*\b(ba)?sh\b", first)
        if looks_so:
            yield path, first


root = pathlib.Path(sys.argv[1])
problems = []
files = list(shell_files(root))
for path, first in files:
    if not re.match(rb"#!(/bin/bash|/bin/sh|/usr/bin/env bash)\n", first):
        problems.append(f"{path}: its first line names no shell: {first!r}")
    for line in path.read_text().splitlines():
        if re.match(r"#\s*SBATCH", line) and not SBATCH.match(line):
            problems.append(f"{path}: sbatch does not take: {line}")
if shutil.which("shellcheck"):
    names = [str(path) for path, _ in files]
    check = subprocess.run(["shellcheck", "--severity=warning", *names], capture_output=True, text=True)
    if check.returncode:
        problems.append(check.stdout)
print("\n".join(problems) or f"{len(files)} shell files")
if problems:
    sys.exit(1)
if not shutil.which("shellcheck"):
    print("skipped in part: there is no shellcheck (Debian package of that name)")
    sys.exit(77)
