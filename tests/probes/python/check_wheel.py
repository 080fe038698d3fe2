# SPDX-License-Identifier: MIT
"""The wheels of the program and of the window, made of small trees: their names, their commands, their messages, and what is left
when they are uninstalled. Usage: check_wheel.py ROOT"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1])
ECHO = "#!/bin/sh\necho \"$0|$MIDSCOPE_PYTHON|$MIDSCOPE_PROGRAM|$*\"\n"


def run(*command, **variables):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, **variables}).stdout


def fails(*command, status=1):
    """Returns the messages of a command that must fail."""
    ended = subprocess.run([str(word) for word in command], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert ended.returncode == status, (command, ended)
    return ended.stderr


def make_tree(tree, files):
    for path, text in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
        if path.startswith("bin/midscope"):
            (tree / path).chmod(0o755)


def make_wheel(name, tree, folder):
    folder.mkdir(exist_ok=True)
    return folder / run(sys.executable, root / ".packaging/wheel/backend.py", name, folder, MIDSCOPE_TREE=str(tree),
                        MIDSCOPE_COMMIT="1fa85d8d4c2b").strip()


def install(python, *wheels):
    run(python, "-m", "pip", "install", "--no-deps", "--no-index", "--no-compile", *wheels)


def files_of(folder):
    return sorted(str(path) for path in folder.rglob("*") if "__pycache__" not in path.parts)


def check_program(folder, venv, wheel):
    python = venv / "bin/python"
    before = files_of(venv)
    install(python, wheel)
    program, interpreter, _, arguments = run(venv / "bin/midscope", "probe", "a b").strip().split("|")
    package = next(venv.glob("lib/python3*/site-packages/midscope"))
    assert program == str(package / "bin/midscope") and arguments == "probe a b", (program, arguments)
    assert interpreter == str(python), interpreter
    assert (package / "_engine.py").is_file() and (package / "lib/libmidscope_cli.so").read_text() == "library"
    shown = run(python, "-m", "pip", "show", "--files", "midscope")
    assert "licenses/midscope.LICENSE" in shown and "../../../bin/midscope" in shown, shown
    metadata = run(python, "-c", "import importlib.metadata as m; print(m.distribution('midscope').read_text('METADATA'))")
    assert "Built from commit 1fa85d8d4c2b." in metadata and "midscope-window==" in metadata, metadata
    (folder / "results.h5").write_text("mine")
    run(python, "-m", "pip", "uninstall", "-y", "midscope")
    assert files_of(venv) == before, "uninstalling leaves files"
    refused = fails(python, "-m", "pip", "install", "--no-deps", "--no-index",
                    wheel.rename(folder / wheel.name.replace("manylinux_2_35", "manylinux_9_99")))
    assert "not a supported wheel" in refused, refused


def check_client(top, venv, program, client):
    """The package without the program is what systems get that the program is not for."""
    assert client.name.endswith("-py3-none-any.whl"), client
    install(venv / "bin/python", client)
    assert not (venv / "bin/midscope").exists()
    run(venv / "bin/python", "-m", "pip", "uninstall", "-y", "midscope")
    both = top / "both"
    both.mkdir()
    for wheel in (program, client):
        shutil.copy(wheel, both)
    chosen = [venv / "bin/python", "-m", "pip", "download", "--no-deps", "--no-index", "--find-links", both, "-d", top / "chosen", "midscope"]
    run(*chosen)
    run(*chosen, "--platform", "macosx_14_0_arm64", "--only-binary=:all:")
    assert sorted(path.name for path in (top / "chosen").iterdir()) == sorted([program.name, client.name])


def start_window(venv, library):
    """Returns a command that starts midscope-gui where `library` is all that it needs of the system."""
    return [venv / "bin/python", "-c", f"import midscope_window as w; w.SYSTEM_LIBRARIES = {{'{library}': 'lib-debian'}}; w.main()", "a"]


def check_window(venv, program, window):
    before = files_of(venv)
    install(venv / "bin/python", window)
    message = fails(venv / "bin/midscope-gui")
    assert "the package midscope is not installed. Run: pip install midscope==" in message, message
    install(venv / "bin/python", program)
    package = next(venv.glob("lib/python3*/site-packages/midscope_window"))
    shown = run(*start_window(venv, "libc.so.6")).strip().split("|")
    assert shown == [f"{package}/bin/midscope-gui", f"{venv}/bin/python", f"{package.parent}/midscope/bin/midscope", "a"], shown
    message = fails(*start_window(venv, "libnone.so.7"))
    assert "the system must have libnone.so.7" in message and "apt-get install --no-install-recommends lib-debian" in message, message
    metadata = next(package.parent.glob("midscope-[0-9]*.dist-info")) / "METADATA"
    text = metadata.read_text()
    metadata.write_text(text.replace("\nVersion: ", "\nVersion: 9."))
    assert "must have the version of midscope-window" in fails(*start_window(venv, "libc.so.6"))
    metadata.write_text(text)
    (package.parent / "midscope/bin/midscope").unlink()
    assert "Install the wheel of midscope instead of the client alone" in fails(*start_window(venv, "libc.so.6"))
    assert (package / "plugins/platforms/libqxcb.so").is_file() and (package / "bin/qt.conf").is_file()
    assert "licenses/SOURCES.txt" in run(venv / "bin/python", "-m", "pip", "show", "--files", "midscope-window")
    run(venv / "bin/python", "-m", "pip", "uninstall", "-y", "midscope", "midscope-window")
    assert files_of(venv) == before, "uninstalling leaves files"


def check_cuda(venv, program, window, cuda):
    """The program of midscope-cuda is the one that starts while it is installed."""
    python = venv / "bin/python"
    install(python, program, window, cuda)
    packages = next(venv.glob("lib/python3*/site-packages"))
    assert run(venv / "bin/midscope", "info").split("|")[0] == str(packages / "midscope_cuda/bin/midscope")
    assert run(*start_window(venv, "libc.so.6")).split("|")[2] == str(packages / "midscope_cuda/bin/midscope")
    metadata = next(packages.glob("midscope_cuda-*.dist-info")) / "METADATA"
    assert "\nRequires-Dist: torch==2." in metadata.read_text(), metadata.read_text()
    run(python, "-m", "pip", "uninstall", "-y", "midscope-cuda")
    assert run(venv / "bin/midscope", "info").split("|")[0] == str(packages / "midscope/bin/midscope")


with tempfile.TemporaryDirectory() as name:
    top = pathlib.Path(name).resolve()
    make_tree(top / "tree", {"bin/midscope": ECHO, "lib/libmidscope_cli.so": "library", "share/doc/midscope/licences/midscope.LICENSE": "MIT"})
    make_tree(top / "window", {"bin/midscope-gui": ECHO, "bin/qt.conf": "[Paths]\n", "lib/libQt6Core.so.6": "library",
                               "plugins/platforms/libqxcb.so": "plugin", "licences/SOURCES.txt": "qt6-base=6.4.2\n"})
    toolkit_wheel = make_wheel("midscope", top / "tree", top)
    window_wheel = make_wheel("midscope-window", top / "window", top)
    assert toolkit_wheel.name.endswith("-py3-none-manylinux_2_35_x86_64.whl"), toolkit_wheel
    assert window_wheel.name.startswith("midscope_window-"), window_wheel
    again = make_wheel("midscope", top / "tree", top / "again")
    assert again.read_bytes() == toolkit_wheel.read_bytes(), "two wheels of one tree differ"
    run(sys.executable, "-m", "venv", top / "venv")
    check_program(top, top / "venv", toolkit_wheel)
    check_client(top, top / "venv", again, make_wheel("client", top / "tree", top / "client"))
    check_window(top / "venv", again, window_wheel)
    make_tree(top / "cuda", {"bin/midscope": ECHO, "lib/libmidscope_cli.so": "library", "licences/midscope.LICENSE": "MIT"})
    check_cuda(top / "venv", again, window_wheel, make_wheel("midscope-cuda", top / "cuda", top))
print("the wheels are installed, start their programs, say what is missing, are uninstalled, and are refused by an older system")
