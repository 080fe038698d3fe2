# SPDX-License-Identifier: MIT
"""Wheels as zip archives, and the version and commit that both wheels carry."""
import base64
import hashlib
import os
import pathlib
import re
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TAG = "py3-none-manylinux_2_35_x86_64"
VERSION = re.search(r"^project\(midscope VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M).group(1)
COMMIT = os.environ.get("MIDSCOPE_COMMIT")


class Wheel:
    """A zip archive with the list of its files. Files have one date, so that equal content makes equal bytes."""

    def __init__(self, folder, name, tag=TAG):
        self.tag = tag
        self.stem = f"{name.replace('-', '_')}-{VERSION}"
        self.information = f"{self.stem}.dist-info"
        self.path = pathlib.Path(folder) / f"{self.stem}-{tag}.whl"
        self.archive = zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.record = []

    def add(self, name, content, executable=False):
        entry = zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}")

    def add_folder(self, name, folder):
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            self.add(f"{name}/{path.relative_to(folder)}", path.read_bytes(), executable=os.access(path, os.X_OK))

    def add_script(self, name, text):
        """Adds a command. pip replaces the first line, #!python, by the interpreter."""
        self.add(f"{self.stem}.data/scripts/{name}", text.encode(), executable=True)

    def finish(self, headers, licences, description):
        """Adds the metadata: lines of headers, a folder of licences, a text in Markdown. Returns the name of the file."""
        self.add_folder(f"{self.information}/licenses", licences)
        built = [f"Built from commit {COMMIT}.", ""] if COMMIT else []
        self.add(f"{self.information}/METADATA", "\n".join([
            "Metadata-Version: 2.1", *headers, "Description-Content-Type: text/markdown", "", *built, description]).encode())
        self.add(f"{self.information}/WHEEL",
                 f"Wheel-Version: 1.0\nGenerator: midscope\nRoot-Is-Purelib: {str(self.tag != TAG).lower()}\nTag: {self.tag}\n".encode())
        name = f"{self.information}/RECORD"
        self.archive.writestr(zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0)), "\n".join([*self.record, f"{name},,"]) + "\n")
        self.archive.close()
        return self.path.name
