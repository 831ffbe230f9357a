"""Hints written for Python, respelled as options of the command line."""

from __future__ import annotations

import re

_RENAMED = {"n_particles": "particles", "random_state": "seed", "n_jobs": "jobs", "delay": "label-delay"}
_SAME = (
    "categorical",
    "checkpoint",
    "copies",
    "delimiter",
    "discard",
    "drop",
    "follow",
    "forgetting",
    "key",
    "labels",
    "lags",
    "leaf",
    "max_active",
    "max_rows",
    "metrics",
    "on_bad_row",
    "quarantine",
    "resume",
    "target",
    "task",
    "types",
    "warm_up",
    "window",
)
_OPTION_OF = {**{name: name.replace("_", "-") for name in _SAME}, **_RENAMED}

# `name='value' or 'value'`, `name=FILE` and `name=` before a break. Folders such as /data/target=3/ are no hints.
_HINT = re.compile(
    rf"(?<![\w/.])({'|'.join(sorted(_OPTION_OF, key=len, reverse=True))})="
    r"(?:(?P<quoted>'[^']*'(?: or '[^']*')*)|(?P<named>[A-Z]+\b)|(?=[\s,;.)]|$))"
)


def as_options(message: str) -> str:
    """The same message with arguments spelled as they are typed.

    Examples
    --------
    >>> as_options("leave such rows out with on_bad_row='skip' or 'quarantine'")
    'leave such rows out with --on-bad-row skip or quarantine'
    >>> as_options("name its column with target=, or give labels=")
    'name its column with --target, or give --labels'
    >>> as_options("/data/target=3/a.csv: there is no such file")
    '/data/target=3/a.csv: there is no such file'
    """

    def respell(hint: re.Match[str]) -> str:
        value = hint["named"] or (hint["quoted"] or "").replace("'", "")
        return f"--{_OPTION_OF[hint[1]]} {value}".rstrip()

    return _HINT.sub(respell, message)
