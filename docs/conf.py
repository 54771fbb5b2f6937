"""Settings of the book (`make book`): Sphinx with MyST-NB. tools/book.py puts the sources together."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "Number formats for machine learning"
author = "the authors of the course"
copyright = "the authors of the course; text CC BY 4.0, code BSD-3-Clause"
language = "en"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "mathml", "accessible"]
exclude_patterns = ["_build"]
nitpicky = True  # a link to nowhere is an error

# The notebooks come with their outputs.
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

# Docstrings are plain text, in which `x` is code.
default_role = "code"
autodoc_typehints = "none"
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = project
html_math_renderer = "mathml"
html_show_sphinx = False
html_copy_source = False
html_domain_indices = False
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["book.css"]
html_css_files = ["book.css"]
