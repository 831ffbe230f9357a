"""``python -m sapwood``: the command line."""

from __future__ import annotations

from sapwood.cli import main

# Worker processes import the main module again; they must not run it.
if __name__ == "__main__":
    main()
