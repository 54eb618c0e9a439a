"""From tables to figures: one look for all of them, and files that come out the same on every run."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")  # a cluster's node has no display

import seaborn as sns
from cycler import cycler
from matplotlib.figure import Figure

from oversmoothing.store.atomic import atomic_path

DPI = 200
PALETTE = sns.color_palette("colorblind").as_hex()
METADATA = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}  # dates and versions change files


@contextmanager
def style() -> Iterator[None]:
    """Draw and save with the look that all figures share: ticks, no frame, a palette safe for the colour-blind."""
    look: dict[Any, Any] = {**sns.axes_style("ticks"), **sns.plotting_context("notebook", font_scale=0.9)}
    look |= {
        "axes.prop_cycle": cycler(color=PALETTE),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlelocation": "left",
        "figure.constrained_layout.use": True,
        "font.family": ["DejaVu Sans"],  # comes with matplotlib, so text is set alike everywhere
        "savefig.dpi": DPI,
        "svg.hashsalt": "oversmoothing",
    }
    with mpl.rc_context(look):
        yield


def write_figure(figure: Figure, paths: Sequence[str | Path]) -> None:
    """Write a figure under each path, in the format of its suffix, .png or .svg; equal figures give equal bytes."""
    for path in map(Path, paths):
        kind = path.suffix.removeprefix(".")
        with style(), atomic_path(path) as temporary:
            figure.savefig(temporary, format=kind, metadata=METADATA[kind])
