"""The arguments of the Python interface that messages mention, as options of the command line."""

from __future__ import annotations

import re
from functools import cache
from inspect import signature

# Arguments whose options have other names. All other options of `sapwood learn` have the names of their arguments.
_RENAMED = {"n_particles": "particles", "random_state": "seed", "n_jobs": "jobs", "delay": "label-delay"}


@cache
def _options() -> dict[str, str]:
    from sapwood.cli.learn import learn  # which imports this module

    same = {name: name.replace("_", "-") for name in signature(learn).parameters if name != "source"}
    return {**same, **_RENAMED}


@cache
def _hint() -> re.Pattern[str]:
    """Return the pattern of ``name='value' or 'value'``, ``name=FILE`` and ``name=`` before a break.

    A folder such as /data/target=3/ does not match.
    """
    names = "|".join(sorted(_options(), key=len, reverse=True))
    return re.compile(
        rf"(?<![\w/.])({names})="
        r"(?:(?P<quoted>'[^']*'(?: or '[^']*')*)|(?P<named>[A-Z]+\b)|(?=[\s,;.)]|$))"
    )


def as_options(message: str) -> str:
    """Replace arguments in a message by the options that stand for them.

    Examples
    --------
    >>> as_options("leave such rows out with on_bad_row='skip' or 'quarantine'")
    'leave such rows out with --on-bad-row skip or quarantine'
    >>> as_options("name its column with target=, or give labels=")
    'name its column with --target, or give --labels'
    >>> as_options("/data/target=3/a.csv: there is no such file")
    '/data/target=3/a.csv: there is no such file'
    """

    def as_option(hint: re.Match[str]) -> str:
        value = hint["named"] or (hint["quoted"] or "").replace("'", "")
        return f"--{_options()[hint[1]]} {value}".rstrip()

    return _hint().sub(as_option, message)
