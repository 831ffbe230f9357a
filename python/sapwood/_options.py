"""The types of options that are chosen by name.

The names are those of the engine (`sapwood._core.option_names`), from which everything that happens at run time takes
them. They are repeated here for type checkers only; a test compares the two.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

Task: TypeAlias = Literal["regression", "classification"]
RegressionLeaf: TypeAlias = Literal["constant", "linear"]
ClassLeaf: TypeAlias = Literal["multinomial", "discriminant", "quadratic"]
Leaf: TypeAlias = RegressionLeaf | ClassLeaf
RegressionDiscard: TypeAlias = Literal["oldest", "random", "alc"]
ClassDiscard: TypeAlias = Literal["oldest", "random", "entropy"]
Prior: TypeAlias = Literal["default", "reference"]
Evidence: TypeAlias = Literal["joint", "conditional"]
Division: TypeAlias = Literal["proportional", "gaussian"]
Auto: TypeAlias = Literal["auto"]
