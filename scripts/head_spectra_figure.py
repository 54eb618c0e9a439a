"""Singular values of the head at every snapshot, one panel per rank."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter

from oversmoothing.figures.style import handles, legend, ordered_looks, style, write_figure
from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table

COLUMNS = 5
STEPS = 6  # lines in a panel, from the first step to the last


def main(job: Job) -> None:
    """Read the spectra of each model; write the figure."""
    models = job.params.settings["models"]
    spectra = {model["model"]: read_table(path).to_pandas() for model, path in zip(models, job.input, strict=True)}
    write_figure(draw(spectra, models), job.output)


def draw(spectra: Mapping[str, pd.DataFrame], models: Sequence[Mapping[str, Any]]) -> Figure:
    """Singular values against their index: one panel per rank, a line for each of a few steps, first seed only.

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
    steps = sorted({step for model in first.values() for step in spectra[model]["step"]})
    shown = [steps[round(i * (len(steps) - 1) / (STEPS - 1))] for i in range(STEPS)] if len(steps) > STEPS else steps
    looks = {
        step: {"color": look["color"], "linewidth": 3 if step == shown[-1] else 1.8}
        for step, look in ordered_looks(shown).items()
    }
    with style():
        figure = Figure(figsize=(max(7.5, 2.7 * columns), 1.5 + 2.9 * rows))
        panels = list(figure.subplots(rows, columns, squeeze=False).flat)
        for axes, rank in zip(panels, sorted(first), strict=False):
            own = spectra[first[rank]]
            for step, look in looks.items():
                line = own[own.step == step]
                axes.plot(line["index"], line.singular_value, **look)
            axes.set_yscale("log")
            axes.yaxis.set_minor_formatter(NullFormatter())
            axes.set_title(f"rank {rank}")
            axes.set_xlabel("index of the singular value")
            axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
            axes.grid(axis="y")
        for axes in panels[len(first) :]:
            axes.remove()
        figure.supylabel("singular value of the head W")
        figure.suptitle("The head's singular values along training", x=0.01, ha="left")
        legend(figure, handles({f"step {step:,}": look for step, look in looks.items()}))
    return figure


if __name__ == "__main__":
    run(main)
