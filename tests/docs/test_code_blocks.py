"""The code on the pages for users runs as it is printed there.

Faults this would catch: a name or an option that was renamed without its page, and output that is promised but no
longer printed.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "tutorial.md", *sorted((ROOT / "docs" / "howto").glob("*.md"))]

# A page is not run where what it is about, or draws with, is not installed.
NEEDS = {
    "tutorial.md": ("matplotlib",),
    "drift.md": ("matplotlib",),
    "huge-files.md": ("pyarrow",),
    "intervals.md": ("matplotlib",),
    "pipelines.md": ("pandas",),
    "river.md": ("river",),
}

_FENCE = re.compile(r"^(<!-- exact -->\n+)?```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    language: str
    text: str
    line: int
    """Lines of the page before the text, so that a traceback points into the page."""
    exact: bool


def blocks_of(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [
        Block(found[2], found[3], page.count("\n", 0, found.start(3)), found[1] is not None)
        for found in _FENCE.finditer(page)
    ]


def run_python(block: Block, page: Path, namespace: dict[str, Any]) -> str:
    """Run a block in the namespace of its page; gives what it printed."""
    code = compile("\n" * block.line + block.text, str(page), "exec")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, namespace)
    return printed.getvalue()


def run_commands(block: Block, page: Path, folder: Path) -> str:
    """Run the commands of a block, which all must succeed; gives what they wrote to standard output."""
    printed = ""
    for command in block.text.replace("\\\n", " ").splitlines():
        program, *arguments = shlex.split(command, comments=True)
        assert program == "sapwood", f"{page.name}, line {block.line}: {command!r} is not a command of sapwood"
        done = subprocess.run(
            [sys.executable, "-m", "sapwood.cli", *arguments], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{page.name}, line {block.line}: {command!r} failed:\n{done.stderr}"
        printed += done.stdout
    return printed


def close_pictures() -> None:
    """A reader's script ends and takes its figures with it; a test's process goes on to the next."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    for module in NEEDS.get(page.name, ()):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    request.addfinalizer(close_pictures)
    namespace: dict[str, Any] = {"__name__": "page"}
    printed, n_run = "", 0
    for block in blocks_of(page.read_text(encoding="utf-8")):
        if block.language == "python":
            printed = run_python(block, page, namespace)
            n_run += 1
        elif block.language == "sh" and block.text.startswith("sapwood "):
            if importlib.util.find_spec("typer") is None:
                pytest.skip(f"the commands of {page.name}, and what follows them, need typer")
            printed = run_commands(block, page, tmp_path)
            n_run += 1
        elif block.language == "text" and block.exact:
            assert printed.rstrip() == block.text.rstrip(), f"{page.name}, line {block.line}: other output"
    assert n_run > 0, f"{page.name} holds no block that runs"


def test_reader_of_pages_finds_what_is_fenced() -> None:
    page = "# A\n\n```python\nprint(1)\n```\n\n<!-- exact -->\n```text\n1\n```\n\n```text\nabout 1\n```\n"
    assert blocks_of(page) == [
        Block("python", "print(1)\n", 3, False),
        Block("text", "1\n", 8, True),
        Block("text", "about 1\n", 12, False),
    ]
