"""The native module refuses by itself what the estimators refuse before it: no panic is reachable from Python."""

from __future__ import annotations

import os
import struct
import threading
import time
import zlib
from collections.abc import Callable

import numpy as np
import pytest

from sapwood import _core
from sapwood._core import MemberConfig, Model

ONE = np.zeros((1, 2))


def regression(**config: object) -> Model:
    model = Model("regression", 2, 0, [MemberConfig(leaf="linear", n_particles=5, max_active=4, **config)], 0)
    model.learn(np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]), np.array([0.0, 1.0, 0.5]))
    return model


def classification() -> Model:
    model = Model("classification", 2, 3, [MemberConfig(leaf="multinomial", n_particles=5, max_active=4)], 0)
    model.learn(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.0, 2.0]))
    return model


def parts(file: bytes) -> tuple[bytes, int, bytes]:
    """Magic, version and body of a model file."""
    magic, version, length, _ = struct.unpack_from("<8sIQI", file)
    assert len(file) == 24 + length
    return magic, version, file[24:]


def sealed(magic: bytes, version: int, body: bytes) -> bytes:
    """A model file with a correct header and checksum around any body."""
    head = struct.pack("<IQ", version, len(body))
    return magic + head + struct.pack("<I", zlib.crc32(head + body)) + body


def from_the_future(file: bytes) -> bytes:
    magic, version, body = parts(file)
    return sealed(magic, version + 1, body)


def with_bytes_left_over(file: bytes) -> bytes:
    magic, version, body = parts(file)
    return sealed(magic, version, body + b"\0")


def with_last_bit_flipped(file: bytes) -> bytes:
    return file[:-1] + bytes([file[-1] ^ 1])


def use_in_forked_child() -> None:
    """Fork while another thread learns, and raise here what using the model raised in the child."""
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    model = regression()
    x = np.random.default_rng(0).uniform(size=(100_000, 2))
    learner = threading.Thread(target=lambda: model.learn(x, x[:, 0].copy()))
    learner.start()
    time.sleep(0.05)  # it learns for a second
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            model.predictive(ONE)
        except ValueError as error:
            os.write(write, f"{type(error).__name__}|{'|'.join(error.args)}".encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    learner.join()
    with open(read, encoding="utf-8") as answer:
        name, *args = answer.read().split("|")
    raise getattr(_core, name)(*args)


def use_after_a_panic() -> None:
    model = regression()
    with pytest.raises(_core.EngineError):
        model._panic()
    model.learn(ONE, np.zeros(1))


TRIGGERS: dict[str, Callable[[], object]] = {
    "engine-panic": lambda: regression()._panic(),
    "unusable": use_after_a_panic,
    "too-many-classes": lambda: classification().add_classes(classification().max_classes + 1),
    "wrong-columns": lambda: regression().predictive(np.zeros((1, 3))),
    "wrong-length": lambda: regression().learn(ONE, np.zeros(2)),
    "infinite-input": lambda: regression().learn(np.array([[0.0, np.inf]]), np.zeros(1)),
    "huge-input": lambda: regression().predictive(np.array([[0.0, 1e101]])),
    "bad-target": lambda: regression().learn(ONE, np.array([np.nan])),
    "huge-target": lambda: regression().learn(ONE, np.array([1e101])),
    "bad-class": lambda: classification().learn(ONE, np.array([3.0])),
    "bad-weight": lambda: regression().learn(ONE, np.zeros(1), np.array([-1.0])),
    "bad-index": lambda: regression().retire(0, [3]),
    "repeated-index": lambda: regression().retire(0, [1, 1]),
    "bad-level": lambda: regression().predictive(ONE).quantile(np.array([1.0])),
    "no-member": lambda: regression().active(1),
    "no-particle": lambda: regression().tree(0, 5),
    "forked": use_in_forked_child,
    "wrong-task": lambda: classification().predictive(ONE).quantile(np.array([0.5])),
    "fewer-classes": lambda: classification().add_classes(2),
    "needs-last-target": lambda: regression(lags=1).predictive(ONE),
    "more-learned-than-forecast": lambda: regression().forecast_then_learn(
        ONE, np.zeros(1), np.zeros((2, 2)), np.zeros(2)
    ),
    "unknown-option": lambda: MemberConfig(leaf="oak"),
    "out-of-range": lambda: regression(forgetting=1.5),
    "incompatible": lambda: regression(discard="entropy"),
    "no-members": lambda: Model("regression", 2, 0, [], 0),
    "not-a-model": lambda: Model.load(b"a" * 100),
    "newer-format": lambda: Model.load(from_the_future(regression().save(b""))),
    "truncated": lambda: Model.load(regression().save(b"")[:-1]),
    "checksum": lambda: Model.load(with_last_bit_flipped(regression().save(b""))),
    "inconsistent": lambda: Model.load(with_bytes_left_over(regression().save(b""))),
}


def test_every_error_of_the_engine_is_triggered_below():
    # No input is known to make a model that cannot be saved: this error guards against faults of the engine.
    assert {code for code, _, _ in _core.error_catalogue()} == {*TRIGGERS, "unsound"}


@pytest.mark.parametrize("code", TRIGGERS)
def test_the_engine_raises_what_its_catalogue_says(code):
    kinds = {listed: kind for listed, kind, _ in _core.error_catalogue()}
    with pytest.raises(getattr(_core, kinds[code])) as caught:
        TRIGGERS[code]()
    assert caught.value.args[1] == code


@pytest.mark.parametrize("make", [regression, classification])
def test_a_sealed_lie_is_refused_or_harmless(make, rng):
    """Bytes are changed and the checksum is made right again. What still loads must be safe to use.

    Would catch a length, index or enumeration that is believed without a check: a panic is no ModelFileError.
    """
    magic, version, body = parts(make().save(b"meta"))
    for _ in range(2000):
        lie = bytearray(body)
        for position in rng.integers(len(body), size=rng.integers(1, 4)):
            lie[position] = rng.integers(256)
        try:
            model, _ = Model.load(sealed(magic, version, bytes(lie)))
        except _core.ModelFileError:
            continue
        model.predictive(np.zeros((1, model.n_inputs))).sample(1, 0)
        model.learn(np.zeros((1, model.n_inputs)), np.zeros(1))
