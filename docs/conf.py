"""How Sphinx builds the documentation. The sources are the Markdown files of the whole repository, where they stand.

From the root of the repository: ``sphinx-build -W -n -c docs . build/docs``, then open ``build/docs/docs/index.html``.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

import dpbounds  # noqa: E402

project = "dpbounds"
author = "The dpbounds authors"
project_copyright = "The dpbounds authors, Apache 2.0"
version = release = dpbounds.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "rendering", "notebooks"]
root_doc = "docs/index"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
include_patterns = ["docs/**", "dpbounds/**", "algorithms/**", "tables/**", "CHANGELOG.md", "CONTRIBUTING.md"]
exclude_patterns = [".*", "build", "dist", "dpbounds/algorithms", "**/ATTRIBUTION.md"]  # a link

myst_enable_extensions = ["dollarmath"]
myst_dmath_double_inline = True
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # a page may begin with a table of statements, and go down by two levels
highlight_language = "none"
smartquotes = False  # a prime is no apostrophe

html_theme = "furo"
html_title = "dpbounds"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False

autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_type_aliases = {name: name for name in ("Array", "ArrayLike", "ExactLike", "Features", "Step")}
# The types in signatures that have no entry here: of other libraries, and of what is not public.
nitpick_ignore_regex = [("py:class", r"[\w.]+")]
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False  # signatures say the type
