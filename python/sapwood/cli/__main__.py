"""``python -m sapwood.cli``."""

from sapwood.cli import main

main()
