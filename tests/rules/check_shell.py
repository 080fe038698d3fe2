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
    """The repository's files whose first line names a shell; of a folder without one, all such files."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True)
    names = listed.stdout.split("\0")[:-1] if listed.returncode == 0 else root.rglob("*")
    for path in sorted(root / name for name in names):
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as file:
            first = file.readline(200)
        if path.suffix in (".sh", ".slurm") or re.match(rb"#!.*\b(ba)?sh\b", first):
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
shellcheck = shutil.which("shellcheck")
if shellcheck:
    names = [str(path) for path, _ in files]
    check = subprocess.run([shellcheck, "--severity=warning", *names], capture_output=True, text=True)
    if check.returncode:
        problems.append(check.stdout)
print("\n".join(problems) or f"{len(files)} shell files")
if problems:
    sys.exit(1)
if not shellcheck:
    print("Not run: shellcheck. Install the Debian package shellcheck")
    sys.exit(77)
