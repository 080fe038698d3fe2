# SPDX-License-Identifier: MIT
"""Sphinx's configuration of the documentation site; build_site.py gathers its pages."""
import os
import sys

sys.path.insert(0, os.environ["MIDSCOPE_SITE_PACKAGE"])

project = "Midscope"
copyright = "the authors of Midscope"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["tests/core"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a page of the tree may begin below a title of its own
autodoc_mock_imports = ["h5netcdf", "h5py", "matplotlib", "msgpack", "numpy", "pandas", "xarray"]
autodoc_typehints = "none"
html_theme = "furo"
html_title = "Midscope"
copybutton_prompt_text = "$ "
