"""Ctrl-C in the middle of a long call: the rows learned so far stay, and the model is exactly that of those rows."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

CHILD = """
import numpy as np
from sapwood import DynamicTreeRegressor
from sapwood._files import to_bytes

n_before = {n_before}
rng = np.random.default_rng(0)
X = rng.uniform(size=(3_000_000, 3))
y = X[:, 0] + rng.normal(size=len(X))
model = DynamicTreeRegressor(n_particles=50, max_active=[20, 50], random_state=0, n_jobs={n_jobs})
if n_before:
    model.partial_fit(X[:n_before], y[:n_before])
print("learning", flush=True)
try:
    model.partial_fit(X[n_before:], y[n_before:])
    print("finished before it was interrupted")
except KeyboardInterrupt:
    n = model.n_seen_
    again = DynamicTreeRegressor(n_particles=50, max_active=[20, 50], random_state=0).partial_fit(X[:n], y[:n])
    assert n_before < n < len(X)
    assert to_bytes(model) == to_bytes(again)
    model.partial_fit(X[n:n + 10], y[n:n + 10])
    assert to_bytes(model) == to_bytes(again.partial_fit(X[n:n + 10], y[n:n + 10]))
    print("valid", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent to a POSIX process")
@pytest.mark.parametrize(("n_before", "n_jobs"), [(0, 1), (500, 1), (500, 2)])
def test_ctrl_c_leaves_a_valid_model(n_before, n_jobs):
    code = CHILD.format(n_before=n_before, n_jobs=n_jobs)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "learning\n"
        time.sleep(0.5)  # not a measurement: any moment inside the call will do
        child.send_signal(signal.SIGINT)
        assert child.stdout.read() == "valid\n"
    assert child.returncode == 0
