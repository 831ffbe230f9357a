"""pyarrow is optional: it is imported only when needed, and its absence is a one-sentence error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

WITHOUT = "import sys; sys.modules['pyarrow'] = None; from sapwood.stream import open_source, SourceError\n"


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_does_not_import_pyarrow() -> None:
    # scikit-learn imports pandas if installed, and pandas imports pyarrow; only our own imports matter here.
    program = "import sys; sys.modules['pandas'] = None; import sapwood.stream; print('pyarrow' in sys.modules)"
    assert run(program) == "False\n"


def test_arrays_pairs_and_generators_do_not_need_it() -> None:
    out = run(
        WITHOUT + "import numpy as np\n"
        "print(next(open_source((np.ones((2, 1)), np.arange(2.0)))).y)\n"
        "print(next(open_source([({'a': 1, 'b': None}, 1.5)])).X)\n"
        "print(len(next(open_source('demo:friedman?n=10'))))\n"
    )
    assert out == "[0. 1.]\n[[ 1. nan]]\n10\n"


def test_errors_name_what_to_install(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1,2\n")
    out = run(WITHOUT + f"try: open_source({str(path)!r}, target='y')\nexcept SourceError as e: print(e)")
    assert (
        out
        == "reading CSV files needs pyarrow, which is not installed; install it with: pip install 'sapwood[stream]'\n"
    )
