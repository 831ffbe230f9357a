"""``python -m sapwood.reproduce``: the same as ``sapwood reproduce``."""

import typer

from sapwood.reproduce import register

if __name__ == "__main__":
    app = typer.Typer(add_completion=False)
    register(app)
    app()
