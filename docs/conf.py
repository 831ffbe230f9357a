"""How Sphinx builds these pages (`make docs`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import sapwood
from sapwood.errors import catalogue

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "Sapwood"
author = "The Sapwood authors"
version = release = sapwood.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx.ext.napoleon"]
exclude_patterns = ["_generated/*"]
html_theme = "furo"
html_title = f"Sapwood {release}"

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
# scikit-learn adds these to every estimator; they are its own business.
autodoc_default_options = {
    "exclude-members": "get_metadata_routing, set_fit_request, set_partial_fit_request, set_predict_request, "
    "set_score_request"
}
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_param = False  # types in docstrings are prose ("array of shape (n_rows,)"), not references
napoleon_use_rtype = False


def write_error_catalogue(app: Sphinx) -> None:
    """The table of errors comes from the catalogue itself, so that it cannot go stale."""
    rows = [f"| `{entry.code}` | `{entry.exception.__name__}` | {entry.template} |" for entry in catalogue()]
    page = Path(app.srcdir) / "_generated" / "errors.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text("\n".join(["| code | exception | message |", "|---|---|---|", *rows]) + "\n", encoding="utf-8")


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", write_error_catalogue)
