"""The figure of the benchmark page: the distance of every method from Sapwood, on every stream."""

from __future__ import annotations

from pathlib import Path

from benchmarks.quality.table import StreamTable, is_ours, loss

_FAR = 1.0  # nats; methods further behind are drawn at the edge


def draw(made: list[StreamTable], path: Path) -> None:
    """One line per stream, one dot per method: how many nats per row Sapwood is ahead of it."""
    from matplotlib.figure import Figure

    shown = [table for table in made if table.ours is not None]
    libraries = sorted({row["library"] for table in shown for row in table.rows if not is_ours(row)})
    figure = Figure(figsize=(9, 0.45 * len(shown) + 1.6), layout="constrained")
    axes = figure.subplots()
    for i, library in enumerate(libraries):
        points = [
            (min(loss(row, table.main) - loss(table.ours, table.main), _FAR), place)
            for place, table in enumerate(shown)
            for row in table.rows
            if table.ours is not None and row["library"] == library and not is_ours(row)
        ]
        offset = 0.12 * (i - (len(libraries) - 1) / 2)
        label = "Sapwood's mean only" if library == "sapwood" else library
        axes.plot([x for x, _ in points], [y + offset for _, y in points], "o", ms=4, alpha=0.8, label=label)
    axes.axvline(0.0, color="black", lw=1)
    axes.set_yticks(range(len(shown)), [table.stream for table in shown])
    axes.invert_yaxis()
    axes.set_xlabel(f"nats per row by which Sapwood is ahead ({_FAR:g} or more at the edge)")
    if libraries:
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=5, frameon=False, fontsize="small")
    # No date and no version in the metadata: the same results give the same bytes.
    figure.savefig(path, dpi=120, metadata={"Software": None})
