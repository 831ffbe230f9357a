"""Sphinx configuration (`make docs`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

import sapwood
from sapwood.errors import catalogue

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

project = "Sapwood"
author = "The Sapwood authors"
version = release = sapwood.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_generated/*"]
html_theme = "furo"
html_title = f"Sapwood {release}"
html_math_renderer = "mathml"
html_show_copyright = False

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
# scikit-learn adds these methods to every estimator; they need no documentation here.
autodoc_default_options = {
    "exclude-members": "get_metadata_routing, set_fit_request, set_partial_fit_request, set_predict_request, "
    "set_score_request"
}
autodoc_type_aliases = {"ArrayLike": "ArrayLike", "Floats": "Floats"}
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_param = False  # types in docstrings are prose ("array of shape (n_rows,)"), not references
napoleon_use_rtype = False


def write_error_catalogue(app: Sphinx) -> None:
    """Generate the table of errors from the catalogue, so that it is always up to date."""
    rows = [f"| `{entry.code}` | `{entry.exception.__name__}` | {entry.template} |" for entry in catalogue()]
    page = Path(app.srcdir) / "_generated" / "errors.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text("\n".join(["| code | exception | message |", "|---|---|---|", *rows]) + "\n", encoding="utf-8")


def write_inline_formula(page: HTML5Translator, node: nodes.math) -> None:
    page.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def write_formula(page: HTML5Translator, node: nodes.math_block) -> None:
    page.body.append(tex2mathml(node.astext(), as_block=True))
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", write_error_catalogue)
    # Browsers render MathML natively, so the pages need no network.
    app.add_html_math_renderer("mathml", (write_inline_formula, None), (write_formula, None))
