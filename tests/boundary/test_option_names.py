"""The names of options that the engine exports are the ones that it takes."""

from typing import Any, get_args

import pytest

from sapwood import _options
from sapwood._core import ConfigError, MemberConfig, Model, option_names

TASKS = option_names("task")


def test_every_name_is_taken_and_read_back() -> None:
    """Fails if an exported name is unknown to the engine, or is read back as another."""
    for option in ("leaf", "discard", "prior", "evidence", "division"):
        for name in option_names(option):
            config = MemberConfig(**({"leaf": "linear"} | {option: name}))
            assert getattr(config, option, name) == name
    for kind in option_names("member"):
        assert MemberConfig.trivial(kind).kind == kind


@pytest.mark.parametrize("task", TASKS)
def test_names_of_a_task_are_those_that_its_models_take(task: str) -> None:
    """Fails if a name is listed for a task whose models refuse it, or left out though they take it."""
    plain = option_names("leaf", task)[0]
    n_classes = 2 if task == "classification" else 0

    def is_taken(member: MemberConfig) -> bool:
        try:
            Model(task, 1, n_classes, [member], 0)
        except ConfigError as error:
            return error.args[1] != "incompatible"
        return True

    assert option_names("leaf", task) == tuple(
        leaf for leaf in option_names("leaf") if is_taken(MemberConfig(leaf=leaf))
    )
    assert option_names("discard", task) == tuple(
        rule for rule in option_names("discard") if is_taken(MemberConfig(leaf=plain, discard=rule))
    )
    assert option_names("member", task) == tuple(
        kind for kind in option_names("member") if is_taken(MemberConfig.trivial(kind))
    )
    for option in ("prior", "evidence", "division", "task"):
        assert option_names(option, task) == option_names(option)


@pytest.mark.parametrize(
    ("alias", "option", "task"),
    [
        (_options.Task, "task", None),
        (_options.RegressionLeaf, "leaf", "regression"),
        (_options.ClassLeaf, "leaf", "classification"),
        (_options.RegressionDiscard, "discard", "regression"),
        (_options.ClassDiscard, "discard", "classification"),
        (_options.Prior, "prior", None),
        (_options.Evidence, "evidence", None),
        (_options.Division, "division", None),
    ],
)
def test_the_types_name_what_the_engine_takes(alias: Any, option: str, task: str | None) -> None:
    """Fails if a name is added to the engine and the types that editors and mypy see do not know it."""
    assert get_args(alias) == option_names(option, task)


def test_unknown_options_and_tasks_are_refused() -> None:
    with pytest.raises(ConfigError, match="choose one of task, leaf, discard, prior, evidence, division, member"):
        option_names("colour")
    with pytest.raises(ConfigError, match="choose one of regression, classification"):
        option_names("leaf", "ranking")
