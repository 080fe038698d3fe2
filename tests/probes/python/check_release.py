# SPDX-License-Identifier: MIT
"""`./midscope package release` in a throw-away repository whose launcher is a stand-in: what it refuses, what it writes, and that it
takes its commit back where packages fail. Also that all copies of the version are equal. Usage: check_release.py ROOT"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1])
# Appends its arguments to a file outside the repository, and fails in the step that the file `failing` names.
LAUNCHER = """#!/bin/sh
folder=$(dirname "$0")
if [ "$2" = release ]; then shift; exec "$folder/.packaging/package" "$@"; fi
echo "$*" >>"$folder/../steps"
case "$*" in
  'package all') mkdir -p "$folder/build/packages" && echo wheel >"$folder/build/packages/midscope-7.1.0-py3-none-any.whl" ;;
esac
! grep -qx "$*" "$folder/../failing" 2>/dev/null
"""
CHANGES = "# Changes\n\n## Unreleased\n\n- **New**: a thing.\n\n## 0.1.0\n\nThe first release.\n\n- **Old**: a thing.\n"


class Repository:
    def __init__(self, folder):
        self.folder = folder / "repository"
        for name in (".packaging/package", ".packaging/release", "CMakeLists.txt", "probes/python/midscope/__init__.py", ".gitignore"):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, self.folder / name)
        self.write("midscope", LAUNCHER)
        (self.folder / "midscope").chmod(0o755)
        self.write("CHANGELOG.md", CHANGES)
        self.git("init", "--quiet", "--initial-branch", "main")
        self.git("config", "user.name", "Somebody")
        self.git("config", "user.email", "somebody@localhost")
        self.commit("Begin")

    def git(self, *words):
        return subprocess.run(["git", "-C", self.folder, *words], check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, subject):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", subject)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def read(self, name):
        return (self.folder / name).read_text()

    def release(self, *words):
        return subprocess.run([self.folder / "midscope", "package", "release", *words], capture_output=True, text=True)

    def refuses(self, message, *words, status=1):
        """Requires that a release fails with a message and changes nothing."""
        before = self.git("rev-parse", "HEAD"), self.git("status", "--porcelain"), self.git("tag")
        ended = self.release(*words)
        assert ended.returncode == status and message in ended.stderr, (message, ended)
        assert before == (self.git("rev-parse", "HEAD"), self.git("status", "--porcelain"), self.git("tag")), message


def check_refusals(repository):
    repository.refuses("the version must be three numbers", "7.1", status=2)
    repository.refuses("the version must be three numbers", "07.1.0", status=2)
    repository.refuses("0.0.9 must be newer than the version in CMakeLists.txt", "0.0.9")
    repository.write("notes.txt", "mine")
    repository.refuses("the work tree must have no changes", "7.1.0")
    (repository.folder / "notes.txt").unlink()
    repository.git("checkout", "--quiet", "-b", "other")
    repository.refuses("the branch must be main", "7.1.0")
    repository.git("checkout", "--quiet", "main")
    repository.git("tag", "v7.1.0")
    repository.refuses("the tag v7.1.0 must not exist", "7.1.0")
    repository.git("tag", "--delete", "v7.1.0")
    repository.write("CHANGELOG.md", CHANGES.replace("- **New**: a thing.\n\n", ""))
    repository.commit("Say nothing")
    repository.refuses("CHANGELOG.md must have entries below '## Unreleased'", "7.1.0")
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    failing = repository.folder.parent / "failing"
    for step, message in {"test": "the tests must pass", "package all": "packages must be made", "package --test": "was taken back"}.items():
        failing.write_text(step + "\n")
        repository.refuses(message, "7.1.0")
    failing.unlink()
    hook = repository.folder / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    repository.refuses("git commit failed. Nothing was changed", "7.1.0")
    hook.unlink()


def check_release(repository):
    steps = repository.folder.parent / "steps"
    steps.unlink()
    ended = repository.release("7.1.0")
    assert ended.returncode == 0, ended
    assert steps.read_text() == "test\npackage all\npackage --test\n", steps.read_text()
    assert "VERSION 7.1.0" in repository.read("CMakeLists.txt")
    assert '__version__ = "7.1.0"' in repository.read("probes/python/midscope/__init__.py")
    changes = repository.read("CHANGELOG.md")
    assert re.search(r"\n## 7\.1\.0 - \d{4}-\d\d-\d\d\n", changes) and "## Unreleased" not in changes and "\n## 0.1.0\n" in changes, changes
    assert repository.git("log", "-1", "--format=%s") == "Release 7.1.0" and repository.git("status", "--porcelain") == ""
    assert repository.git("rev-parse", "v7.1.0^{commit}") == repository.git("rev-parse", "HEAD")
    notes = repository.read("build/packages/notes-7.1.0.md")
    assert "- **New**: a thing." in notes and "**Old**" not in notes and repository.git("rev-parse", "HEAD") in notes, notes
    assert "`midscope-7.1.0-py3-none-any.whl`" in notes and "Not done" not in notes, notes


def check_skipped(repository):
    """The notes name what a release was made without."""
    repository.write("CHANGELOG.md", repository.read("CHANGELOG.md").replace("# Changes\n", "# Changes\n\n## Unreleased\n\n- **Newer**: one.\n"))
    repository.commit("Describe")
    steps = repository.folder.parent / "steps"
    steps.unlink()
    ended = repository.release("7.2.0", "--without-tests", "--without-packages")
    assert ended.returncode == 0 and not steps.exists(), ended
    notes = repository.read("build/packages/notes-7.2.0.md")
    assert "Not done for this release: tests (--without-tests), packages (--without-packages)." in notes, notes


version = re.search(r"(?m)^project\(midscope VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text()).group(1)
assert f'\n__version__ = "{version}"\n' in (root / "probes/python/midscope/__init__.py").read_text(), "the Python package has another version"
assert 'dynamic = ["version"]' in (root / "probes/python/pyproject.toml").read_text(), "pyproject.toml must read the version"
with tempfile.TemporaryDirectory() as name:
    made = Repository(pathlib.Path(name))
    check_refusals(made)
    check_release(made)
    check_skipped(made)
print("a release is refused where something is missing, is made of one commit and one tag, and its notes name what was left out")
