"""The command line. Each command is a module, registered in ``app.py``."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line. This is what the script ``sapwood`` calls."""
    try:
        from sapwood.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich", "click"):
            raise
        print(f"error: the command line needs {error.name}: pip install 'sapwood[cli]'", file=sys.stderr)
        sys.exit(1)
    app(prog_name="sapwood")
