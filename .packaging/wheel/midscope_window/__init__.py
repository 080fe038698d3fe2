# SPDX-License-Identifier: MIT
"""Starts the window, midscope-gui, on the program of the package midscope in the same environment."""
import ctypes
import importlib.metadata
import importlib.util
import os
import pathlib
import runpy
import sys

# Libraries that the wheel leaves to the system, because they read its settings (fonts, keyboards) or talk to its services, and the
# Debian packages that bring them.
SYSTEM_LIBRARIES = {
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb.so.1": "libxcb1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libfreetype.so.6": "libfreetype6",
    "libpng16.so.16": "libfreetype6",
    "libfontconfig.so.1": "libfontconfig1",
    "libdbus-1.so.3": "libdbus-1-3",
}
HERE = pathlib.Path(__file__).resolve().parent


def loads(library):
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def find_toolkit():
    """Returns the folder of the package midscope, whose program and libraries the window uses; raises SystemExit."""
    found = importlib.util.find_spec("midscope")
    version = importlib.metadata.version("midscope-window")
    if found is None:
        sys.exit(f"midscope-gui: the package midscope is not installed. Run: pip install midscope=={version}")
    folder = pathlib.Path(found.origin).resolve().parent
    if not (folder / "bin/midscope").is_file():
        sys.exit(f"midscope-gui: {folder} must contain the program bin/midscope. Install the wheel of midscope instead of the client alone")
    if folder.parent != HERE.parent:
        sys.exit(f"midscope-gui: midscope is in {folder.parent}, and midscope-window in {HERE.parent}. Install both in one environment")
    if importlib.metadata.version("midscope") != version:
        sys.exit(f"midscope-gui: midscope {importlib.metadata.version('midscope')} must have the version of midscope-window, {version}. "
                 f"Run: pip install midscope=={version}")
    return folder


def main():
    folder = find_toolkit()
    missing = [library for library in SYSTEM_LIBRARIES if not loads(library)]
    if missing:
        packages = dict.fromkeys(SYSTEM_LIBRARIES[library] for library in missing)
        sys.exit(f"midscope-gui: the system must have {', '.join(missing)}. On Debian and Ubuntu, run:\n"
                 f"  sudo apt-get install --no-install-recommends {' '.join(packages)}")
    start = runpy.run_path(str(folder / "_program.py"))
    environment = start["program_environment"](str(pathlib.Path(sys.argv[0]).resolve().parent))
    environment.setdefault("MIDSCOPE_PROGRAM", start["installed_program"]())
    program = str(HERE / "bin/midscope-gui")
    os.execve(program, [program, *sys.argv[1:]], environment)
