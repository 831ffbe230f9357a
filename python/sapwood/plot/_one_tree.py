"""One tree of a cloud, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sapwood._core import TreeDump
from sapwood._fitted import fitted
from sapwood._labels import LabelBook
from sapwood.plot._canvas import INK, Display, class_colours, colour_map
from sapwood.plot._labels import literal
from sapwood.plot._model import heaviest_member, input_names, member_names, native, score_names
from sapwood.plot._variables import lag_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAF_WIDTH = 1.25  # inches
_LEVEL_HEIGHT = 0.95
_MARGIN = 0.9


@dataclass(frozen=True)
class Node:
    """A box of the drawing: position, text, colour (None for a split), and its two children with edge labels."""

    x: float
    depth: int
    text: str
    colour: Any = None
    children: tuple[tuple[str, Node], ...] = ()


class TreeDisplay(Display):
    """One tree: its splits, and in each leaf the prediction at its centre and the number of its points.

    Parameters
    ----------
    root : Node
    title : str

    Examples
    --------
    >>> import numpy as np
    >>> from sapwood import DynamicTreeRegressor
    >>> from sapwood.plot import TreeDisplay
    >>> X = np.random.default_rng(0).uniform(size=(300, 1))
    >>> model = DynamicTreeRegressor(leaf="constant", n_particles=50, random_state=0).fit(X, np.sign(X[:, 0] - 0.5))
    >>> "x0" in TreeDisplay.from_estimator(model).root.text
    True
    """

    def __init__(self, root: Node, title: str = "") -> None:
        self.root = root
        self.title = title

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        member: int | None = None,
        particle: int = 0,
        max_depth: int = 4,
        feature_names: Sequence[str] | None = None,
        ax: Axes | None = None,
    ) -> TreeDisplay:
        """Draw a tree of a model.

        Parameters
        ----------
        estimator : DynamicTreeRegressor or DynamicTreeClassifier
        member : int, default=None
            Which cloud. None: the one with the largest weight.
        particle : int
            Which of its trees. All trees of a cloud are equally likely; none is "the" tree.
        max_depth : int
            Deeper splits are collapsed into one box.
        feature_names : sequence of str, default=None
            Names of the inputs, if the model has not stored them.
        """
        model = native(estimator)
        chosen = heaviest_member(estimator) if member is None else member
        if not 0 <= chosen < model.n_members:
            raise ValueError(f"member is {chosen}; the bank has clouds 0 to {model.n_members - 1}.")
        config = model.member_config(chosen)
        if not 0 <= particle < config.n_particles:
            raise ValueError(f"particle is {particle}; the cloud has trees 0 to {config.n_particles - 1}.")
        names = input_names(estimator, feature_names) + score_names(estimator)
        names += [lag_name(lag) for lag in range(1, config.lags + 1)]
        dump = model.tree(chosen, particle)
        labels = fitted(estimator).labels
        has_missing = np.isnan(model.active(chosen).x).any(axis=0)
        root = _Layout(dump, names, has_missing, labels, max_depth).root()
        title = f"Tree {particle} of {config.n_particles:,} in the cloud “{member_names(estimator)[chosen]}”"
        return cls(root, title).plot(ax)

    def plot(self, ax: Axes | None = None) -> TreeDisplay:
        """Draw, on axes of your own or in a new figure, which is as large as the tree."""
        nodes = list(_walk(self.root))
        n_leaves = sum(not node.children for node in nodes)
        depth = max(node.depth for node in nodes)
        size = (max(6.4, _LEAF_WIDTH * n_leaves), _MARGIN + _LEVEL_HEIGHT * (depth + 0.6))
        with self._canvas(ax, size) as canvas:
            canvas.set_axis_off()
            canvas.set(xlim=(-0.6, n_leaves - 0.4), ylim=(-depth - 0.75, 0.4), title=self.title)
            for node in nodes:
                for word, child in node.children:
                    _draw_branch(canvas, node, child, word)
            for node in nodes:
                _draw_box(canvas, node)
            note = "in a leaf: the prediction at its centre, and its points"
            canvas.text(0.0, 0.0, note, transform=canvas.transAxes, fontsize=8, va="bottom")
        return self


class _Layout:
    """Lay out the nodes of a dump: leaves side by side, splits centred above their children."""

    def __init__(
        self,
        dump: TreeDump,
        names: Sequence[str],
        has_missing: NDArray[np.bool_],
        labels: LabelBook | None,
        max_depth: int,
    ) -> None:
        self._dump = dump
        self._names = names
        self._has_missing = has_missing
        self._labels = labels
        self._max_depth = max_depth
        self._n_placed = 0
        known = dump.value[~np.isnan(dump.value).any(axis=1)]
        self._range = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)

    def root(self) -> Node:
        return self._node(0, 0)

    def _node(self, ix: int, depth: int) -> Node:
        dump = self._dump
        if dump.split_dim[ix] < 0:
            return Node(self._next_place(), depth, self._leaf_text(ix), self._leaf_colour(ix))
        if depth == self._max_depth:
            n_leaves = self._n_leaves_below(ix)
            return Node(self._next_place(), depth, f"… {n_leaves} leaves\n{self._count(ix)}", "#E6E8EB")
        left = self._node(int(dump.left[ix]), depth + 1)
        right = self._node(int(dump.right[ix]), depth + 1)
        feature = dump.split_dim[ix]
        yes, no = "yes", "no"
        if self._has_missing[feature]:
            yes, no = (f"{yes}, missing", no) if dump.nan_left[ix] else (yes, f"{no}, missing")
        text = f"{literal(self._names[feature])} < {dump.cut[ix]:.4g}"
        return Node((left.x + right.x) / 2, depth, text, None, ((yes, left), (no, right)))

    def _next_place(self) -> float:
        self._n_placed += 1
        return float(self._n_placed - 1)

    def _n_leaves_below(self, ix: int) -> int:
        dump = self._dump
        if dump.split_dim[ix] < 0:
            return 1
        return self._n_leaves_below(int(dump.left[ix])) + self._n_leaves_below(int(dump.right[ix]))

    def _leaf_text(self, ix: int) -> str:
        value = self._dump.value[ix]
        if self._labels is None:
            return f"{value[0]:.4g}\n{self._count(ix)}"
        best = int(value.argmax())
        return f"{literal(self._labels.class_of_code[best])} {value[best]:.2f}\n{self._count(ix)}"

    def _count(self, ix: int) -> str:
        return f"{self._dump.n_active[ix]:.0f} active\n{self._dump.n_retired[ix]:.3g} retired"

    def _leaf_colour(self, ix: int) -> Any:
        """Return a colour pale enough for dark text: by value for numbers; for classes, paler the less certain."""
        from matplotlib.colors import to_rgb

        value = self._dump.value[ix]
        if self._labels is None:
            low, high = self._range
            hue, strength = np.array(colour_map("cividis")((value[0] - low) / ((high - low) or 1.0))[:3]), 0.45
        else:
            proba = value[self._labels.codes]  # in the order of classes_, which determines the colours everywhere
            hue, strength = np.array(to_rgb(class_colours(len(proba))[proba.argmax()])), 0.6 * proba.max()
        return tuple(1 - strength * (1 - hue))


def _walk(node: Node) -> list[Node]:
    return [node] + [below for _, child in node.children for below in _walk(child)]


def _draw_branch(ax: Axes, parent: Node, child: Node, word: str) -> None:
    ax.plot([parent.x, child.x], [-parent.depth, -child.depth], color=INK, linewidth=1.1, alpha=0.7, zorder=1)
    # Half way, above the line on its outer side: clear of the boxes, of the line and of the word on the other branch.
    is_left = child.x < parent.x
    middle = ((parent.x + child.x) / 2, -(parent.depth + child.depth) / 2)
    offset = (-2 if is_left else 2, 1)
    ax.annotate(
        word, middle, offset, textcoords="offset points", ha="right" if is_left else "left", va="bottom", fontsize=8
    )


def _draw_box(ax: Axes, node: Node) -> None:
    is_split = bool(node.children)
    ax.text(
        node.x,
        -node.depth,
        node.text,
        ha="center",
        va="center",
        fontsize=8,
        color="#1A1A1A",
        zorder=3,
        linespacing=1.25,
        bbox={
            "boxstyle": "round,pad=0.35" if is_split else "square,pad=0.35",
            "facecolor": "white" if is_split else node.colour,
            "edgecolor": "#1A1A1A",
            "linewidth": 0.9,
        },
    )
