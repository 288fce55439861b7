"""Sphinx: Markdown through MyST, the API reference from the docstrings, no request to any other host."""

from gpuprof import __version__

project = "gpuprof"
author = "The gpuprof developers"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
maximum_signature_line_length = 88
default_role = "code"  # what stands in `backticks` in a docstring
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_class_signature = "separated"
html_theme = "furo"
html_title = "gpuprof"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
