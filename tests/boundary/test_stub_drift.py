"""The stub `_core.pyi` is the contract; the native module must be what it says."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import sapwood
from sapwood import _core

STUB = Path(sapwood.__file__).with_name("_core.pyi")
ALLOWLIST = Path(__file__).with_name("stubtest_allowlist.txt")


def _public(names: list[str]) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def _promised() -> dict[str, set[str] | None]:
    """Public names of the stub: None for a function, the names of its members for a class."""
    promised: dict[str, set[str] | None] = {}
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            promised[node.name] = None
        elif isinstance(node, ast.ClassDef):
            promised[node.name] = _public([item.name for item in node.body if isinstance(item, ast.FunctionDef)])
    return promised


def test_the_module_has_what_the_stub_promises_and_nothing_else():
    assert _public(dir(_core)) == set(_promised())
    assert isinstance(_core.__version__, str)


@pytest.mark.parametrize("name", [name for name, members in _promised().items() if members])
def test_classes_have_the_members_the_stub_promises_and_no_others(name):
    members = _promised()[name]
    assert _public(dir(getattr(_core, name))) == members


@pytest.mark.parametrize("name", ["MemberConfig", "Model"])
def test_constructors_take_what_the_stub_promises(name):
    """What the allowlist of stubtest leaves out: classes are made by __new__, the stub is written with __init__."""
    body = next(
        node for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.ClassDef) and node.name == name
    )
    init = next(
        item for item in body.body if isinstance(item, ast.FunctionDef) and item.name in ("__init__", "__new__")
    )
    promised = [argument.arg for argument in (*init.args.args[1:], *init.args.kwonlyargs)]
    assert list(inspect.signature(getattr(_core, name)).parameters) == promised


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_signatures_agree():
    """mypy compares every signature of the stub with the one the module reports."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "--concise", "--allowlist", str(ALLOWLIST), "sapwood._core"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
