#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the relocatable tree that every package contains, from a build: the program, its libraries, licences, manual page and
completions. Usage: tree.py BUILD TREE, or tree.py BUILD --check

Libraries are looked up in lib/ beside the program (an RPATH of ours, which LD_LIBRARY_PATH does not override); copies of the
system's are not changed. --check copies nothing: it fails on a library in neither list below, a symbol that systems with glibc
2.35 and GCC 12's libstdc++ lack, or a library without a licence."""
import gzip
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# What every system has, as for manylinux wheels.
SYSTEM = set("""libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libresolv.so.2 libutil.so.1 libgcc_s.so.1 libstdc++.so.6
ld-linux-x86-64.so.2""".split())
OWN = {f"libmidscope_{name}.so" for name in "cli client core core_text data probes store".split()}
LIBTORCH = {"libtorch_cpu.so", "libc10.so", "libgomp.so.1"}
NVIDIA = {"libcudart.so.13", "libcupti.so.13"}  # LibTorch's CPU library is linked to them
DEBIAN = set("""libhdf5_serial.so.103 libhdf5_serial_hl.so.100 libsz.so.2 libaec.so.0 libz.so.1 libxxhash.so.0 libhwy.so.1 libfmt.so.9
libtomlplusplus.so.3 libedit.so.2 libtinfo.so.6 libbsd.so.0 libmd.so.0 libsentencepiece.so.0 libpcre2-8.so.0 libutf8proc.so.2
libcrypto.so.3 libssl.so.3 libcurl.so.4 libnghttp2.so.14 libidn2.so.0 librtmp.so.1 libssh2.so.1 libpsl.so.5 libzstd.so.1
libbrotlidec.so.1 libbrotlicommon.so.1 libgssapi_krb5.so.2 libkrb5.so.3 libk5crypto.so.3 libkrb5support.so.0 libcom_err.so.2
libkeyutils.so.1 libldap-2.5.so.0 liblber-2.5.so.0 libsasl2.so.2 libgnutls.so.30 libnettle.so.8 libhogweed.so.6 libgmp.so.10
libunistring.so.2 libp11-kit.so.0 libtasn1.so.6 libffi.so.8""".split())
HEADERS = ["libeigen3-dev", "libcli11-dev", "nlohmann-json3-dev", "libmsgpack-cxx-dev"]  # compiled into the libraries
NEWEST = {"GLIBC": (2, 35), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}
ROOT = pathlib.Path(__file__).resolve().parent.parent
DEBIAN_FOLDER = pathlib.Path("/usr/lib/x86_64-linux-gnu")


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout


def cached(build, name):
    """Returns a variable of the build's CMake cache."""
    found = re.search(rf"^{name}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)
    return found.group(1) if found else sys.exit(f"midscope: {build} is not configured ({name} is missing). Run ./midscope build")


def needed(file):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", file))


class Libraries:
    """The libraries that files load: where each is now, and where it comes from. `names`: those that are certainly loaded; `known`:
    those that a package may contain; `left_out(name)`: whether a package does without it."""

    def __init__(self, names, folders, known, left_out):
        self.files = {}
        self.missing = []
        waiting = sorted(names)
        while waiting:
            name = waiting.pop()
            if name in self.files or left_out(name):
                continue
            path = next((folder / name for folder in folders if (folder / name).exists()), None)
            if path is None or name not in known:
                self.missing.append(name)
                continue
            self.files[name] = path.resolve()
            waiting += needed(path)

    def licences(self):
        """Returns {name in the package: file}. Packages of Debian are found by their files."""
        return with_common_licences(self.own_licences() | {
            package + ".copyright": pathlib.Path("/usr/share/doc") / package / "copyright" for package in sorted(self.packages())})

    def problems(self):
        """Returns what forbids packages. Licences of LibTorch are not looked for: `.packaging/package` fetches them."""
        found = [f"{name}: it is neither a library of every system nor in the lists of .packaging" for name in self.missing]
        for name, path in self.files.items():
            found += too_new(name, path)
        return found + [f"{path}: this licence is missing" for path in self.licences().values() if not path.is_file()]


class ToolkitLibraries(Libraries):
    """The libraries that the installed program loads."""

    def __init__(self, build, installed):
        torch = pathlib.Path(cached(build, "LibTorch_CPU_LIBRARY")).parent
        self.home = torch.parent.parent
        # Packages are made without MPI; a build with it can be checked all the same.
        self.mpi = mpi = cached(build, "MIDSCOPE_MPI") == "ON"
        super().__init__(OWN, [*installed.glob("lib*"), torch, *self.home.glob("nvidia/*/lib"), DEBIAN_FOLDER],
                         OWN | LIBTORCH | NVIDIA | DEBIAN, lambda name: name in SYSTEM or (mpi and name.startswith("libmpi")))

    def own_licences(self):
        return {"midscope.LICENSE": ROOT / "LICENSE"} | {
            path.parent.parent.name.split("-")[0] + "." + path.name: path for path in self.home.glob("*.dist-info/licenses/*")}

    def packages(self):
        return {debian_package(path) for name, path in self.files.items() if name in DEBIAN} | {"libgomp1", *HEADERS}


def with_common_licences(licences):
    """Adds the texts in Debian's folder of common licences that these name."""
    found = dict(licences)
    for path in licences.values():
        for name in re.findall(r"/usr/share/common-licenses/([\w.-]*\w)", path.read_text(errors="replace")) if path.is_file() else []:
            found["common." + name] = pathlib.Path("/usr/share/common-licenses") / name
    return found


def debian_package(path):
    for file in (path, pathlib.Path("/lib") / path.relative_to("/usr/lib")):
        found = subprocess.run(["dpkg-query", "-S", str(file)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    sys.exit(f"midscope: {path} is of no Debian package, so that its licence is unknown")


def too_new(name, path):
    """Returns the versions of symbols that a file needs and that the oldest supported system lacks."""
    wanted = re.findall(r"Name: (GLIBC|GLIBCXX|CXXABI|GCC)_([0-9.]+)", run("readelf", "--version-info", "--wide", path).split(
        "Version needs section")[-1])
    return [f"{name}: it needs {kind}_{version}" for kind, version in sorted(set(wanted))
            if tuple(int(part) for part in version.split(".")) > NEWEST[kind]]


def install(build, prefix, component="toolkit"):
    run("cmake", "--install", build, "--component", component, "--prefix", prefix)


def make(build, tree):
    shutil.rmtree(tree, ignore_errors=True)
    install(build, tree)
    libraries = ToolkitLibraries(build, tree)
    if libraries.mpi:
        sys.exit(f"midscope: {build} is built with MPI, which packages do without. Configure it with -DMIDSCOPE_MPI=OFF")
    report(libraries.problems())
    for name, path in libraries.files.items():
        if name not in OWN:
            shutil.copyfile(path, tree / "lib" / name)
        if name not in DEBIAN:
            run("strip", "--strip-unneeded", tree / "lib" / name)
    for file, run_path in [(tree / "bin/midscope", "$ORIGIN/../lib"), *((tree / "lib" / name, "$ORIGIN") for name in OWN)]:
        run("strip", "--strip-unneeded", file)
        # Unlike a RUNPATH, it also holds for the libraries that these need.
        run("patchelf", "--force-rpath", "--set-rpath", run_path, file)
    for file in (tree / "lib").iterdir():
        file.chmod(0o644)
    licences = libraries.licences()
    copy_licences(licences, tree / "share/doc/midscope/licences")
    report([f"{name}: its licence is missing" for name in ("torch", "nvidia_cuda_runtime", "nvidia_cuda_cupti")
            if not any(licence.startswith(name + ".") for licence in licences)])
    program = tree / "bin/midscope"
    write(tree / "share/man/man1/midscope.1.gz", gzip.compress(run(program, "man").encode(), mtime=0))
    for shell, path in {"bash": "bash-completion/completions/midscope", "zsh": "zsh/vendor-completions/_midscope",
                        "fish": "fish/vendor_completions.d/midscope.fish"}.items():
        write(tree / "share" / path, run(program, "completion", shell).encode())


def copy_licences(licences, folder):
    """Copies {name: file} to a new folder."""
    folder.mkdir(parents=True)
    for name, path in licences.items():
        shutil.copyfile(path, folder / name)


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def report(problems):
    if problems:
        sys.exit("\n".join(problems))


def check(build):
    """Checks what a package of this build would contain, without copying what is large."""
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder)
        install(build, prefix)
        files = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if not path.is_dir()}
        expected = {"bin/midscope"} | {f"lib/{name}" for name in OWN}
        libraries = ToolkitLibraries(build, prefix)
        report([f"{name}: an installed file that no package expects" for name in sorted(files - expected)] +
               [f"{name}: it is not installed" for name in sorted(expected - files)] +
               too_new("bin/midscope", prefix / "bin/midscope") + libraries.problems())
        if re.search(r"^build midscope: phony bin/midscope$", (build / "build.ninja").read_text(), re.M):
            report(["the target midscope leaves out the commands (probes/cli/CMakeLists.txt)"])
        unused = (LIBTORCH | NVIDIA | DEBIAN) - libraries.files.keys()
        report([f"{name}: no library needs it any more. Remove it from .packaging/tree.py" for name in sorted(unused)])
        print(f"{len(files)} installed files, {len(libraries.files)} libraries, {len(libraries.licences())} licences")


if __name__ == "__main__":
    if sys.argv[2] == "--check":
        check(pathlib.Path(sys.argv[1]))
    else:
        make(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
