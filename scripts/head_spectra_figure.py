"""Singular values of the head at every snapshot, one panel per rank."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from oversmoothing.figures.style import handles, legend, ordered_looks, style, write_figure
from oversmoothing.jobs import run
from oversmoothing.store.parquet import read_table

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake

COLUMNS = 3


def main(job: "Snakemake") -> None:
    """Read the spectra of each model; write the figure."""
    models = job.params.settings["models"]
    spectra = {model["model"]: read_table(path).to_pandas() for model, path in zip(models, job.input, strict=True)}
    write_figure(draw(spectra, models), job.output)


def draw(spectra: Mapping[str, pd.DataFrame], models: Sequence[Mapping[str, Any]]) -> Figure:
    """Singular values against their index: one panel per rank, one line per step, first seed only.

    Parameters
    ----------
    spectra : mapping
        ``step``, ``index`` (from 1) and ``singular_value`` by model.
    models : sequence of mappings
        ``model`` and ``rank`` of each.
    """
    first = {model["rank"]: model["model"] for model in reversed(models)}
    columns = min(len(first), COLUMNS)
    rows = math.ceil(len(first) / columns)
    shown = sorted({step for model in first.values() for step in spectra[model]["step"]})
    looks = {
        step: {"color": look["color"], "linewidth": 2.4 if step == shown[-1] else 1.0}
        for step, look in ordered_looks(shown).items()
    }
    with style():
        figure = Figure(figsize=(max(7.5, 3.3 * columns), 1.2 + 2.9 * rows))
        panels = list(figure.subplots(rows, columns, squeeze=False).flat)
        for axes, rank in zip(panels, sorted(first), strict=False):
            for step, own in spectra[first[rank]].groupby("step"):
                axes.plot(own["index"], own.singular_value, **looks[step])
            axes.set_yscale("log")
            axes.set_title(f"rank {rank}")
            axes.set_xlabel("index of the singular value")
            axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
            axes.grid(axis="y")
        for axes in panels[len(first) :]:
            axes.remove()
        for axes in panels[: len(first) : columns]:
            axes.set_ylabel("singular value of the head W")
        legend(figure, handles({f"step {step:,}": look for step, look in looks.items()}))
    return figure


if __name__ == "__main__":
    run(main, snakemake)
