"""Table and figure of what models show against a law that is known."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.colours import PALETTE
from oversmoothing.tables.figures.style import Looks, handles, legend, other_look, style, titled, whiskers, write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.record import chosen
from studies.known_law.laws import LAW, MARKED, OWN, STAND_INS
from studies.known_law.table import FURTHER, MEASURES, OF_OWN, known_law_page, known_law_table, named

FORCED, REST = PALETTE[3], "0.78"
HOLLOW: dict[str, Any] = {"linestyle": "none", "markerfacecolor": "none"}
LOOKS: dict[str, dict[str, Any]] = {
    LAW: {"color": "0.2", "marker": "o", "linestyle": "none"},
    STAND_INS: {"color": PALETTE[0], "marker": "D", **HOLLOW},
}
NAMES = {LAW: "against the law", STAND_INS: "against models that learned its text"}
STEP = 0.16  # between two truths, in ranks


def main(job: Job) -> None:
    """Read the scores of all models that learn a text; write the table and the figure in all formats."""
    settings = job.params.settings
    divided = pd.concat(
        means(path, *(name for name in MEASURES if name not in ("nsmd", *FURTHER))) for path in job.input.forced
    )
    nsmd = pd.concat(means(path, "value") for path in job.input.nsmd).rename(columns={"value": "nsmd"})
    scores = divided.merge(nsmd, on=["text", "model", "truth"])
    for further in (own_contexts(job.input.own), of_rejected(job.input.marked)):
        scores = scores.merge(further.assign(truth=LAW), how="left", on=["text", "model", "truth"])
    table = known_law_table(scores, settings["learners"], settings["stand_ins"])
    write_record(job.output, table, known_law_page(table, settings["laws"]))
    write_figure(draw(table, settings["laws"]), [job.output.png, job.output.pdf, job.output.svg])


def means(path: str, *columns: str) -> pd.DataFrame:
    """Return means over positions by truth, with the text and the model that the path names."""
    scores = read_table(path).select(["truth", *columns]).to_pandas()
    return named(path, scores.astype({"truth": str}).groupby("truth").mean().reset_index())


def own_contexts(paths: Sequence[str]) -> pd.DataFrame:
    """Return means over the positions of what models have written themselves, with their text and model."""
    frames = [named(path, read_table(path).select(OWN).to_pandas().mean().to_frame().T) for path in paths]
    empty = pd.DataFrame(columns=["text", "model", *OWN])
    return pd.concat(frames or [empty]).rename(columns={name: f"{OF_OWN}{name}" for name in OWN})


def of_rejected(paths: Sequence[str]) -> pd.DataFrame:
    """Return what BAT rejects, and the shares of it and of all probability that exceed both, the law and full rank."""
    rows = [named(path, read_table(path).select(MARKED).to_pandas().mean().to_frame().T) for path in paths]
    means = pd.concat(rows or [pd.DataFrame(columns=["text", "model", *MARKED])])
    share = means.rejected_above_both / means.rejected.where(means.rejected > 0)
    return means.assign(rejected_above_both=share)


def draw(table: pd.DataFrame, laws: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw two panels for each law: KL as forced and rest, a group of bars by length of text; and TTO by truth."""
    names = [law["law"] for law in laws]
    members = chosen(table, kind="family", less=None)
    looks = LOOKS | {truth: other_look(i) | HOLLOW for i, truth in enumerate(sorted({*members.truth} - {*LOOKS}), 1)}
    with style():
        figure = Figure(figsize=(4.2 * max(2, len(names)), 7))  # a legend takes two
        panels = figure.subplots(2, len(names), squeeze=False, sharey="row")
        for column, law in enumerate(names):
            part = members[members.law == law]
            lengths = sorted(part.sequences.unique())
            _divided(panels[0][column], part[part.truth == LAW], lengths)
            _leaks(panels[1][column], part[part.sequences == lengths[0]], looks)
            panels[0][column].set_title(f"Law: {law}")
        for (first, *_), label in zip(panels, ("KL to the law (nats)", "TTO"), strict=True):
            first.set_ylim(bottom=0)
            first.set_ylabel(f"{label}\nlower is better")
        titled(
            figure,
            "Where the truth is known: what does the head force, and what does a stand-in hide?",
            "Text drawn from a law that is known at every byte. Above: distance from the law. Below: leak against the "
            "law, and against models that learned its text.",
        )
        several = (members.groupby("law").sequences.nunique() > 1).any()
        entries = [
            Patch(facecolor=FORCED, label="forced by the head, whatever enters it"),
            Patch(facecolor=REST, label="the rest" + (" (right of two bars: with more text)" if several else "")),
            *handles({NAMES.get(key, f"against {key}"): look for key, look in looks.items()}, markersize=6),
        ]
        legend(figure, entries, columns=2)
    return figure


def _divided(axes: Axes, table: pd.DataFrame, lengths: Sequence[int]) -> None:
    ranks = sorted(table["rank"].unique())
    width = 0.8 / len(lengths)
    for i, length in enumerate(lengths):
        of_length = table[table.sequences == length]
        cells = of_length.pivot_table(index="rank", columns="measure", values=["value", "low", "high"])
        at = [ranks.index(rank) + width * (i - (len(lengths) - 1) / 2) for rank in cells.index]
        forced, kl = cells["value"]["forced"], cells["value"]["kl"]
        axes.bar(at, forced, width * 0.9, color=FORCED)
        axes.bar(at, kl - forced, width * 0.9, bottom=forced, color=REST)
        errors = [kl - cells["low"]["kl"], cells["high"]["kl"] - kl] if "low" in cells else None
        axes.errorbar(at, kl, errors, color="0.2", linestyle="none", capsize=2, linewidth=1)
    _ranks(axes, ranks)


def _leaks(axes: Axes, table: pd.DataFrame, looks: Looks) -> None:
    ranks, step = sorted(table["rank"].unique()), min(STEP, 0.7 / len(looks))
    for i, (truth, look) in enumerate(looks.items()):
        part = table[(table.truth == truth) & (table.measure == "tto")].sort_values("rank")
        at = [ranks.index(rank) + step * (i - (len(looks) - 1) / 2) for rank in part["rank"]]
        axes.errorbar(at, part.value, whiskers(part), capsize=2, markersize=5, **look)
    _ranks(axes, ranks)


def _ranks(axes: Axes, ranks: Sequence[int]) -> None:
    axes.set_xticks(range(len(ranks)), [str(rank) for rank in ranks])
    axes.set_xlim(-0.5, len(ranks) - 0.5)
    axes.set_xlabel("rank of what enters the LM head")
    axes.grid(axis="y")


if __name__ == "__main__":
    run(main)
