"""The report in a real browser: it opens, shows something, and logs no error."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_CHROMIUM = next(filter(None, map(shutil.which, _NAMES)), None)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(_CHROMIUM is None, reason=f"no Chromium found (looked for {', '.join(_NAMES)})"),
]


class Visit(NamedTuple):
    picture: np.ndarray
    console: list[str]


def visit(page: Path, folder: Path, *options: str) -> Visit:
    """Open a page as a user would, wait until it has loaded, and take a screenshot."""
    from matplotlib.image import imread

    picture = folder / "screenshot.png"
    assert _CHROMIUM is not None
    run = subprocess.run(
        [
            _CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
            f"--user-data-dir={folder / 'profile'}",
            "--window-size=1280,4000",
            "--hide-scrollbars",
            "--enable-logging=stderr",
            f"--screenshot={picture}",
            *options,
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return Visit(imread(picture), re.findall(r".*:CONSOLE.*", run.stderr))


def test_it_opens_without_complaint(any_page: Path, tmp_path: Path) -> None:
    seen = visit(any_page, tmp_path)
    assert seen.console == []
    assert seen.picture.shape[:2] == (4000, 1280)
    # Every screenful has something on it: text and lines, some of them in the colour of the model's curves.
    for part in np.split(seen.picture[:3000, :, :3], 3):
        assert part.std() > 0.02
    blue = np.abs(seen.picture[..., :3] - np.array([0, 0x72, 0xB2]) / 255).max(axis=2) < 0.02
    assert blue.sum() > 1000


def test_complaints_would_be_heard(tmp_path: Path) -> None:
    # Fails if the browser no longer reports errors, in which case the test above proves nothing.
    page = tmp_path / "bad.html"
    policy = "<meta http-equiv='Content-Security-Policy' content='img-src data:'>"
    faults = "<img src='picture.png'><script>undefinedName.call()</script>"
    page.write_text(f"<!DOCTYPE html>{policy}{faults}", encoding="utf-8")
    console = "\n".join(visit(page, tmp_path).console)
    assert "undefinedName is not defined" in console
    assert "Content Security Policy" in console
