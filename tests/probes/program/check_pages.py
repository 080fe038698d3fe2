#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs what the pages show: every command in a block or a table, every Python snippet, in the order of its page.

Usage: check_pages.py PROGRAM ROOT [--quick | --long] [--page PAGE]

With --quick (CI), options of all commands are looked up in --help, and only commands with shown output and those without
a model run. Each page has a folder of its own, with the files that its commands name. Without --long, sweeps and scans are one sample
of a short task, or a --dry-run where their prompts are long. Of commands that cannot be run here, the options are looked
up in --help, and the reason is printed. Shown output must come out: words equal, numbers within a hundredth.
Ends with 1 where a command fails, an option does not exist or output differs; with 77 without the embedded model.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BEGIN = time.monotonic()
PROGRAMS = ("midscope ", "./midscope ", "midscope-gui ", "mpirun ", "srun ", "ctest ", "build/release/", ".ci/", "S=(", "pip ", "cmake ")
# What is not run, by the first that matches, and why.
NOT_RUN = [
    (r"^\./midscope (demo|test|build|bench|setup|gui|package)\b|^(ctest|cmake|build/release|\.ci)\b|^\.ci/", "builds or tests this tree"),
    (r"^midscope-gui|^\./midscope gui", "needs a screen, gui's own tests run its actions"),
    (r"^pip ", "installs"),
    (r"midscope tune .* --steps \d\d", "minutes"),
    (r"\bfetch\b|HuggingFaceTB", "network"),
    (r"\bMODEL\b|ORG/NAME", "a model and data of one's own"),
    (r"^(mpirun|srun)", "several processes: program_ranks_test.cpp runs them"),
    (r"midscope channels embedded|\blens\.safetensors", "minutes"),
    (r"lines20\.h5|needle512\.h5|mdqa\.h5|gold12\.h5", "files that the page has in words"),
]
INLINE = re.compile(r"`(midscope (?:(?:sweep|probe|scan) embedded|rope --dim|curves \w+\.h5|positions \w+ --)[^`]*)`")
HELP = {}  # by command
PLACES_OF = re.compile(r"(?:lines|documents|pairs)=(\d+)")


def commands_in(text):
    """Yields (line number, command, lines of output shown under it)."""
    lines = text.split("\n")
    i = 0
    while i < len(lines):
        line = lines[i]
        begin = i
        i += 1
        command = line.strip().removeprefix("$ ")
        shown = line.strip().startswith("$ ")
        if not line.startswith("    ") or not command.startswith(PROGRAMS):
            # In a sentence or a table, also across the end of a line.
            both = line + "\n" + (lines[i] if i < len(lines) else "")
            for span in INLINE.finditer(both):
                if span.start() < len(line) and not re.search(r"\.\.\.|\[--", span.group(1)):
                    yield begin + 1, " ".join(span.group(1).split()), []
            continue
        while command.endswith("\\") or command.count("(") > command.count(")") and command.startswith("S="):
            command = command.removesuffix("\\").rstrip() + " " + lines[i].strip()
            i += 1
        command = re.sub(r"\s+# .*", "", command)
        output = []
        while shown and i < len(lines) and lines[i].startswith("    ") and not lines[i].strip().startswith("$ "):
            output.append(lines[i].strip())
            i += 1
        yield begin + 1, command, output


def shortened(command):
    """One sample of a short task; a dry run where prompts are long. Other commands stay."""
    kind = re.match(r"(?:\./)?midscope (sweep|scan|probe)\b", command)
    if not kind:
        return command
    if "--plan" in command:
        return re.sub(r"--samples \d+", "--samples 2", command)
    if re.search(r"--size \d{4}|windows=", command):
        return command + " --dry-run"
    if "--add" in command:
        return command + " --score likelihood"
    command = re.sub(r"(lines|pairs)=(1\d|20)", r"\1=6", command)
    most = PLACES_OF.search(command)
    if most:
        def kept(match):
            ranks = [p for p in match.group(1).split(",") if p.endswith("%") or int(p) <= int(most.group(1))]
            return "--places " + (",".join(ranks) or "1")
        command = re.sub(r"--places ([\d,%]+)", kept, command)
    command = re.sub(r" --samples \d+", "", command)
    if kind.group(1) != "probe" or "--places" in command:
        command += " --samples 2"
    if kind.group(1) == "sweep" and "--score" not in command:
        command += " --score likelihood"
    return command


def same_line(shown, lines):
    """Whether a line is among the real ones: words equal, numbers within a hundredth."""
    def close(a, b):
        numbers = [re.fullmatch(r"([^\d-]*)(-?\d+(?:\.\d+)?)(\D*)", one) for one in (a, b)]
        if a == b or not all(numbers):
            return a == b
        x, y = (float(one.group(2)) for one in numbers)
        return numbers[0].group(1, 3) == numbers[1].group(1, 3) and abs(x - y) <= 0.01 * max(1, abs(x))
    words = shown.split()
    return any(len(words) == len(real) and all(map(close, words, real)) for real in (line.split() for line in lines))


class Page:
    def __init__(self, path, options):
        self.path, self.text, self.options = path, (options.root / path).read_text(), options
        self.counts = {}
        self.failures = []
        self.absent = set()  # files of commands that were only dry runs

    def count(self, line, command, outcome):
        self.counts[outcome.split(":")[0]] = self.counts.get(outcome.split(":")[0], 0) + 1
        print(f"{time.monotonic() - BEGIN:5.0f} s  {self.path}:{line}: {outcome}: {command[:150]}", flush=True)

    def fail(self, line, command, why):
        self.failures.append(f"{self.path}:{line}: {command}\n  {why}")
        self.count(line, command, "FAILED")

    def make_files(self, folder):
        words = " ".join(f"Line {i}: the miller of village {i} has {i % 7} sacks of flour." for i in range(3000))
        for name, size in (("prompt.txt", 400), ("long.txt", 3000), ("book.txt", len(words)), ("text.txt", len(words))):
            (folder / name).write_text(words[:size])
        for lines in re.findall(r"```json\n(.*?)```", self.text, re.S):
            (folder / "docs.jsonl").write_text(lines)
        (folder / "reports.jsonl").write_text("".join('{"report": "%s"}\n' % words[:14000] for _ in range(20)))
        tomls = [re.findall(r"```toml\n(.*?)```", text, re.S) for text in (self.text, (self.options.root / "probes/SWEEPS.md").read_text())]
        for toml in tomls[0] or tomls[1]:
            toml = toml.replace(', "HuggingFaceTB/SmolLM2-360M-Instruct"', "")
            if not self.options.long:
                toml = re.sub(r"(size = \[)[^]]*", r"\g<1>4", re.sub(r"samples = \d+", "samples = 1", toml))
            for name in ("plan.toml", "probes.toml"):
                (folder / name).write_text(toml)
        if "ids.txt" not in self.text:
            return
        tokens = subprocess.run([self.options.program, "generate", "embedded", "--prompt-file", "prompt.txt", "--new-tokens", "1"],
                                cwd=folder, capture_output=True, text=True).stderr
        (folder / "ids.txt").write_text(" ".join(str(2 * i) for i in range(int(re.search(r"prompt: (\d+) tokens", tokens).group(1)))))

    def check_options(self, line, command):
        """Every option of a command of the program is in its --help."""
        command = re.sub(r"'[^']*'|\"[^\"]*\"", "", command)
        kind = re.search(r"\bmidscope (\w+(?:-\w+)*)", command)
        if not kind or kind.group(1) in ("test", "build", "bench", "setup", "gui", "package"):
            return True
        if kind.group(1) not in HELP:
            HELP[kind.group(1)] = subprocess.run([self.options.program, kind.group(1), "--help"], capture_output=True, text=True).stdout
        text = HELP[kind.group(1)]
        unknown = [one for one in re.findall(r"(?<= )--[a-z-]+", command.split("midscope ", 1)[1]) if not re.search(re.escape(one) + r"\b(?!-)", text)]
        if unknown:
            self.fail(line, command, f"midscope {kind.group(1)} has no {', '.join(unknown)}")
        return not unknown

    def run_command(self, line, command, output, shell):
        short = command if self.options.long else shortened(command)
        needs_model = re.search(r"embedded|\.h5|\.toml", command)
        if self.options.quick and (short != command or (needs_model and not output) or "compare " in command):
            self.count(line, command, "options alone")
            return
        out = re.search(r"--out (\S+)", command)
        reads_absent = re.search(r"midscope (curves|export|show|compare) (\S+)", command)
        if reads_absent and reads_absent.group(2) in self.absent:
            self.absent.add(out.group(1) if out else "")
            self.count(line, command, "not run: needs the file of a long run (--long)")
            return
        if out and "--dry-run" in short and short != command:
            self.absent.add(out.group(1))
        script = shell + re.sub(r"^\./midscope ", "midscope ", short)
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, env=self.env, text=True, timeout=2400, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            self.fail(line, short, f"status {done.returncode}: {done.stdout.strip()[-700:]}")
            return
        missing = [one for one in output if not one.startswith("...") and not same_line(one.replace("midscope: ", ""), done.stdout.replace("midscope: ", "").split("\n"))]
        if output and short == command and missing:
            self.fail(line, command, "shown, and not printed: " + "; ".join(missing[:5]))
            return
        self.count(line, command, "run" if short == command else "run short")

    def run_python(self):
        for snippet in re.finditer(r"```python\n(.*?)```", self.text, re.S):
            line = self.text[:snippet.start()].count("\n") + 2
            python = os.environ.get("MIDSCOPE_PAGES_PYTHON", sys.executable)
            done = subprocess.run([python, "-c", snippet.group(1)], cwd=self.folder, env=self.env, text=True, capture_output=True)
            missing = re.search(r"No module named '(\w+)'", done.stderr)
            if missing:
                self.count(line, "Python", "not run: no module " + missing.group(1))
            elif done.returncode != 0:
                self.fail(line, "Python", done.stderr[-500:])
            else:
                self.count(line, "Python", "run")

    def run(self):
        with tempfile.TemporaryDirectory(prefix="midscope-pages-") as folder:
            self.folder = Path(folder)
            bin_folder = self.folder / ".bin"
            bin_folder.mkdir()
            (bin_folder / "midscope").symlink_to(self.options.program)
            self.env = dict(os.environ, PATH=f"{bin_folder}:{os.environ['PATH']}", QT_QPA_PLATFORM="offscreen",
                            MIDSCOPE_PROGRAM=self.options.program, PYTHONPATH=str(self.options.root.resolve() / "probes/python"))
            self.make_files(self.folder)
            if self.path == "data/FILES.md":  # README's file
                self.run_command(0, "midscope probe embedded --prompt 'The capital of France is' --channels 100 --out probe.h5", [], "")
            shell = ""
            for line, command, output in commands_in(self.text):
                if command.startswith("S=("):
                    shell = command + "\n"
                    continue
                if not self.check_options(line, command):
                    continue
                why = next((why for pattern, why in NOT_RUN if re.search(pattern, command)), None)
                if why:
                    self.count(line, command, "not run: " + why)
                else:
                    self.run_command(line, command, output, shell)
            if not self.options.quick:
                self.run_python()


def shared_files(root):
    """Files that two pages by task write: whoever follows both in one folder would be refused at the second."""
    writers, shared = {}, []
    for page in sorted((root / ".packaging/site/tasks").glob("*.md")):
        for name in sorted(set(re.findall(r"^    \$ .*--out ([\w./-]+)|\bfile=\"([\w./-]+)\"", page.read_text(), re.M))):
            name = "".join(name)
            if writers.setdefault(name, page.name) != page.name:
                shared.append(f"{page.name}: {name} is also written by {writers[name]}; choose another name")
    return shared


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("root", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--page")
    options = parser.parse_args()
    if subprocess.run([options.program, "info", "embedded"], capture_output=True).returncode != 0:
        print("skipped: the embedded model is not here (midscope fetch embedded)")
        sys.exit(77)
    pages = [options.page] if options.page else sorted(
        str(path.relative_to(options.root)) for folder in ("", ".packaging/site/tasks", "core", "data", "gui", "probes") for path in (options.root / folder).glob("*.md")
        if path.name != "CHANGELOG.md")
    total, failures = {}, shared_files(options.root)
    for page in (Page(one, options) for one in pages):
        page.run()
        failures += page.failures
        for outcome, count in page.counts.items():
            total[outcome] = total.get(outcome, 0) + count
    print("\n".join(["", *failures, ", ".join(f"{outcome} {count}" for outcome, count in sorted(total.items()))]))
    sys.exit(1 if failures else 0)


main()
