# SPDX-License-Identifier: MIT
"""How pages of the site install the program, and their links to hosts of notebooks: only where MIDSCOPE_SITE_REPOSITORY names a
public repository. Usage: check_site_pages.py ROOT"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1])
GATHER = f"import pathlib, sys; sys.path.insert(0, {str(root / '.packaging/site')!r}); import build_site; build_site.gather(pathlib.Path(sys.argv[1]))"


def gathered(**variables):
    """Returns the texts of two pages, as Sphinx gets them."""
    environment = {name: value for name, value in os.environ.items() if name != "MIDSCOPE_SITE_REPOSITORY"}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-B", "-c", GATHER, folder], check=True, env=environment | variables)
        return [(pathlib.Path(folder) / name).read_text() for name in ("index.md", "tasks/use-from-python.md")]


for page in gathered():
    assert "    pip install ./midscope-*.whl\n" in page and "@INSTALL@" not in page and "@NOTEBOOKS@" not in page, page
    assert "colab" not in page, page
index, page = gathered(MIDSCOPE_SITE_REPOSITORY="owner/name")
assert "    pip install midscope\n" in index and ".whl" not in index, index
linked = re.findall(r"\(https://colab[.]research[.]google[.]com/github/owner/name/blob/main/([^)]*)\)", page)
assert len(linked) >= 7 and all((root / name).is_file() for name in linked), linked
print(f"{len(linked)} notebooks have links where there is a public repository")
