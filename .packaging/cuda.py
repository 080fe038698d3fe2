#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the folder that the wheel midscope-cuda contains, from a build with CUDA: the program, our libraries, licences.
Usage: cuda.py BUILD FOLDER

LibTorch's libraries are those of torch in the same site-packages, NVIDIA's those that torch installs, and the others those of
midscope/lib. The folders are searched in this order (an RPATH, which also holds for libraries that these need), so that
LibTorch's CPU library in midscope/lib is not found."""
import pathlib
import shutil
import sys

import tree

FOLDERS = ["torch/lib", "nvidia/cu13/lib", "midscope/lib"]  # in site-packages
TORCH = tree.LIBTORCH | {"libtorch_cuda.so", "libc10_cuda.so"}


def problems(build, folder):
    """Returns what forbids the wheel: libraries that none of the folders has, newer symbols, missing licences."""
    if tree.cached(build, "MIDSCOPE_MPI") == "ON":
        yield f"{build} is built with MPI, which packages do without"
    found = set()
    for path in [folder / "bin/midscope", *(folder / "lib" / name for name in sorted(tree.OWN))]:
        found |= set(tree.needed(path))
        yield from tree.too_new(path.name, path)
    yield from (f"{name}: it is neither in torch, NVIDIA's wheels nor midscope/lib"
                for name in sorted(found - tree.OWN - TORCH - tree.NVIDIA - tree.DEBIAN - tree.SYSTEM))
    yield from (f"{name}: the program does not load it; is {build} configured with MIDSCOPE_CUDA?"
                for name in sorted({"libtorch_cuda.so", "libc10_cuda.so"} - found))


def make(build, folder):
    shutil.rmtree(folder, ignore_errors=True)
    tree.install(build, folder)
    tree.report(list(problems(build, folder)))
    searched = "".join(f":$ORIGIN/../../{name}" for name in FOLDERS)
    for file, own in [(folder / "bin/midscope", "$ORIGIN/../lib"), *((folder / "lib" / name, "$ORIGIN") for name in tree.OWN)]:
        tree.run("strip", "--strip-unneeded", file)
        tree.run("patchelf", "--force-rpath", "--set-rpath", own + searched, file)
    licences = tree.with_common_licences({"midscope.LICENSE": tree.ROOT / "LICENSE"} | {
        f"{package}.copyright": pathlib.Path("/usr/share/doc") / package / "copyright" for package in tree.HEADERS})
    tree.report([f"{path}: this licence is missing" for path in licences.values() if not path.is_file()])
    tree.copy_licences(licences, folder / "licences")


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
