"""What a type checker knows of the public interface."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

CODE = """
from sapwood import DynamicTreeRegressor

model = DynamicTreeRegressor().fit([[1.0]], [1.0])
reveal_type(model.predict([[1.0]]))
reveal_type(model.predict([[1.0]], return_std=True))
mean, std = model.predict([[1.0]], return_std=True)
model.predict([[1.0]]).shape
"""


def test_the_type_of_a_prediction_depends_on_what_is_asked_for(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    path = tmp_path / "user.py"
    path.write_text(CODE)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--no-error-summary",
        "--config-file",
        str(ROOT / "pyproject.toml"),
        str(path),
    ]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    revealed = [line.split("Revealed type is ")[1] for line in ran.stdout.splitlines() if "Revealed" in line]
    assert len(revealed) == 2
    assert "tuple" not in revealed[0].split("ndarray")[0]
    assert revealed[1].strip('"').startswith("tuple[")
