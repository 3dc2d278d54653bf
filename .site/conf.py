"""Configuration of the documentation site: `make docs` builds it from the pages in notebooks/."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import privmoo as pm

project = "privmoo"
author = "The privmoo developers"
copyright = author
release = version = pm.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "api_pages",
    "command_pages",
    "mathml",
]
exclude_patterns = ["studies", "**/.ipynb_checkpoints"]
default_role = "code"  # docstrings quote code as `this`

html_theme = "furo"
html_title = "privmoo"
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "mathml"

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

nb_execution_mode = "off"  # the tests run the notebooks; the site shows the outputs that they keep
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # nothing is loaded from elsewhere
suppress_warnings = ["mystnb.unknown_mime_type"]  # the explorer needs a running notebook

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say what arguments are; signatures stay readable
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_attr_annotations = False
