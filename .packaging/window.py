#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the folder that the wheel of the window contains, from a build: midscope-gui, Qt with its plugins, what Qt loads, licences.
Usage: window.py BUILD FOLDER, or window.py BUILD --check

Libraries of the program's package (tree.py) are not repeated: its folder midscope/lib is beside this one in site-packages. Those in
SYSTEM_LIBRARIES of midscope_window are the system's. Every copy finds the others by a RUNPATH, which the system's libraries do not
inherit. No plugin for OpenGL is included, so that libEGL and libGLX, which Qt links, are loaded without any driver."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import tree

sys.path.insert(0, str(tree.ROOT / ".packaging/wheel"))
from midscope_window import SYSTEM_LIBRARIES  # noqa: E402

TOOLKIT = tree.OWN | tree.LIBTORCH | tree.NVIDIA | tree.DEBIAN
QT = {f"libQt6{name}.so.6" for name in "Core DBus Gui PrintSupport Svg Widgets XcbQpa".split()} | {"libQCustomPlotQt6.so.2.1"}
OTHERS = set("""libEGL.so.1 libGLX.so.0 libGLdispatch.so.0 libICE.so.6 libOpenGL.so.0 libSM.so.6 libb2.so.1 libdouble-conversion.so.3
libglib-2.0.so.0 libgraphite2.so.3 libharfbuzz.so.0 libicudata.so.72 libicui18n.so.72 libicuuc.so.72 libmd4c.so.0 libpcre2-16.so.0
libuuid.so.1 libxcb-icccm.so.4 libxcb-image.so.0 libxcb-keysyms.so.1 libxcb-randr.so.0 libxcb-render-util.so.0 libxcb-render.so.0
libxcb-shape.so.0 libxcb-shm.so.0 libxcb-sync.so.1 libxcb-util.so.1 libxcb-xfixes.so.0 libxcb-xkb.so.1""".split())
PLUGINS = ["platforms/libqxcb.so", "platforms/libqoffscreen.so", "imageformats/libqsvg.so", "iconengines/libqsvgicon.so",
           "platforminputcontexts/libcomposeplatforminputcontextplugin.so",
           "platforminputcontexts/libibusplatforminputcontextplugin.so"]
PLUGIN_FOLDER = tree.DEBIAN_FOLDER / "qt6/plugins"
HEADERS = ["nlohmann-json3-dev"]  # compiled into the program
SHARED = "midscope/lib"  # in site-packages


class WindowLibraries(tree.Libraries):
    """The libraries that the installed window and Qt's plugins load."""

    def __init__(self, program):
        names = [name for path in [program, *(PLUGIN_FOLDER / plugin for plugin in PLUGINS)] for name in tree.needed(path)]
        super().__init__(names, [tree.DEBIAN_FOLDER], QT | OTHERS,
                         lambda name: name in tree.SYSTEM or name in TOOLKIT or name in SYSTEM_LIBRARIES)

    def own_licences(self):
        return {"midscope-gui.LICENSE": tree.ROOT / "gui/LICENSE", "midscope.LICENSE": tree.ROOT / "LICENSE"}

    def packages(self):
        return {tree.debian_package(path) for path in self.files.values()} | set(HEADERS)

    def sources(self):
        """Returns a text that names the sources of the copies, as the LGPL and the GPL demand."""
        listed = subprocess.run(["dpkg-query", "-W", "-f", "${source:Package}=${source:Version}\n", *sorted(self.packages())],
                                check=True, stdout=subprocess.PIPE, text=True).stdout
        return ("These libraries are unchanged but for the folders in which they look for each other. Their sources are Debian's:\n"
                "  apt-get source NAME=VERSION\n\n" + "".join(sorted(set(listed.splitlines(keepends=True)))) +
                "\nAny of them can be replaced by another one of the same interface: midscope_window/lib in site-packages.\n")


def problems(libraries, program):
    """Returns what forbids the wheel: newer symbols, missing licences, and the licences without which Qt may not be copied."""
    licences = libraries.licences()
    for plugin in PLUGINS:
        yield from tree.too_new(plugin, PLUGIN_FOLDER / plugin)
    yield from tree.too_new("bin/midscope-gui", program)
    yield from libraries.problems()
    for name in ("libqt6core6.copyright", "libqcustomplot2.1-qt6.copyright", "midscope-gui.LICENSE", "common.LGPL-3", "common.GPL-3"):
        if name not in licences:
            yield f"{name}: this licence is missing"


def copy(source, target, up):
    """Copies a library or a program of Qt or ours; `up` is the path from its folder to that of the wheel."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    tree.run("patchelf", "--set-rpath", f"$ORIGIN/{up}/lib:$ORIGIN/{up}/../{SHARED}", target)


def make(build, folder):
    shutil.rmtree(folder, ignore_errors=True)
    program = folder / "bin/midscope-gui"
    with tempfile.TemporaryDirectory() as prefix:
        tree.install(build, prefix, "window")
        installed = pathlib.Path(prefix) / "bin/midscope-gui"
        libraries = WindowLibraries(installed)
        tree.report(list(problems(libraries, installed)))
        tree.run("strip", "--strip-unneeded", installed)
        copy(installed, program, "..")
    program.chmod(0o755)
    tree.write(folder / "bin/qt.conf", b"[Paths]\nPrefix = ..\nPlugins = plugins\n")
    for name, path in libraries.files.items():
        copy(path, folder / "lib" / name, "..")
    for plugin in PLUGINS:
        copy(PLUGIN_FOLDER / plugin, folder / "plugins" / plugin, "../..")
    tree.copy_licences(libraries.licences(), folder / "licences")
    tree.write(folder / "licences/SOURCES.txt", libraries.sources().encode())


def check(build):
    """Checks what the wheel of this build would contain; copies nothing."""
    with tempfile.TemporaryDirectory() as prefix:
        tree.install(build, prefix, "window")
        files = {str(path.relative_to(prefix)) for path in pathlib.Path(prefix).rglob("*") if not path.is_dir()}
        tree.report([f"{name}: an installed file that no package expects" for name in sorted(files - {"bin/midscope-gui"})])
        program = pathlib.Path(prefix) / "bin/midscope-gui"
        libraries = WindowLibraries(program)
        unused = (QT | OTHERS) - libraries.files.keys()
        tree.report([*problems(libraries, program), *(f"{name}: no library needs it any more. Remove it from .packaging/window.py"
                                                      for name in sorted(unused))])
        print(f"window: {len(libraries.files)} libraries, {len(PLUGINS)} plugins, {len(libraries.licences())} licences; "
              f"of the system: {' '.join(dict.fromkeys(SYSTEM_LIBRARIES.values()))}")


if __name__ == "__main__":
    if sys.argv[2] == "--check":
        check(pathlib.Path(sys.argv[1]))
    else:
        make(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
