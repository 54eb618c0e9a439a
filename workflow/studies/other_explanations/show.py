"""Table and figure of what other output layers and objectives are worth: TTO at equal rank, operations and loss."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from tqdm import tqdm

from oversmoothing.jobs import Job, run
from oversmoothing.models.logit_files import read_logits
from oversmoothing.scores.decodings.temperature import temperature
from oversmoothing.scores.metrics import score_window
from oversmoothing.scores.probabilities import softmax
from oversmoothing.scores.sums import sum_scores
from oversmoothing.tables import kinds
from oversmoothing.tables.figures.style import handles, legend, rank_look, style, titled, whiskers, write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.losses import predictions
from oversmoothing.tables.page import Cell, Page, Section, pivot
from oversmoothing.tables.record import chosen
from oversmoothing.tables.story import legend as words_of
from studies.other_explanations.kinds import LINEAR_HEADS, MEASURED, SHORTER, TITLES, setting
from studies.other_explanations.table import EQUAL_LOSS, EQUAL_TTO, GAIN, OPERATIONS, PARAMETERS, explanations_table

REAL = ""  # law of real text
LAW = "law"  # name of the truth of other texts
TRUTH = "truth"
TEMPERATURES = tuple(round(1.5 - 0.05 * i, 2) for i in range(24))  # hottest first, down to 0.35
COLUMNS = {
    ("tto", LINEAR_HEADS): "TTO less that of the linear\nhead of the same rank",
    ("tto", OPERATIONS): "TTO less that of linear heads of\nas many operations, or the full one",
    ("tto", EQUAL_LOSS): "TTO less that of the full\nlinear head at equal loss",
    ("tv", EQUAL_TTO): "TV less that of the linear head\nat the temperature with as much TTO",
}
TITLE = "What other output layers and other objectives are worth, beside linear heads that learn from cross-entropy."
LABELS = {
    "loss": "loss (nats)",
    "kl": "KL (nats)",
    "tto": "TTO",
    "tv": "TV",
    "impossible": "mass on impossible bytes",
}
TEMPERATURE: dict[str, dict[str, str | None]] = {"temperature of the linear head": {"measure": "temperature"}}
SECTIONS = {  # by what is subtracted
    None: "levels",
    LINEAR_HEADS: "less the linear head of the same rank",
    GAIN: "the same, less that of the same head or objective at the highest rank",
    PARAMETERS: "less linear heads of as many parameters",
    OPERATIONS: "less linear heads of as many operations",
    EQUAL_LOSS: "less the full linear head at equal loss",
    EQUAL_TTO: "less the linear head of the same rank at the temperature with as much TTO",
}
ROW = 0.3  # inches of a model


def main(job: Job) -> None:
    """Read losses, scores and impossible mass of all models; write the table and the figure in all formats."""
    settings = job.params.settings
    learners = settings["learners"]
    levels = [*scored(job.input.scores, settings["truth"], REAL)]
    for path in job.input.logits:
        loss = predictions(path).losses.mean
        levels.append({"law": REAL, "model": Path(path).stem, "measure": "loss", "value": loss})
    for path in job.input.of_laws or []:
        levels += scored([path], LAW, learners[Path(path).parts[-4]]["law"])
    models = [{"law": REAL, **model} for model in settings["models"]]
    models += [{"law": of["law"], **model} for of in learners.values() for model in of["models"]]
    linear = {(model["law"], model["model"]) for model in models if model["kind"] == LINEAR_HEADS}
    truths = {REAL: job.input.truth} | {Path(path).parent.name: path for path in job.input.laws or []}
    learned = [(path, REAL) for path in job.input.logits]
    learned += [(path, learners[Path(path).parts[-3]]["law"]) for path in job.input.learned or []]
    at_temperatures: list[dict[str, Any]] = []
    for path, law in tqdm(learned, unit="model", disable=None):
        known = {"law": law, "model": Path(path).stem}
        if law in settings["with_zeros"]:
            levels.append(known | {"measure": "impossible", "value": impossible_mass(path, truths[law])})
        if (law, known["model"]) in linear:
            at_temperatures += (known | cell for cell in tempered(path, truths[law], settings["tau"]))
    table = explanations_table(pd.DataFrame(levels), pd.DataFrame(at_temperatures), pd.DataFrame(models))
    titles = kinds.TITLES | TITLES
    write_record(job.output, table, explanations_page(table, titles, settings["truth"]))
    write_figure(draw(table, titles, settings["truth"]), [job.output.png, job.output.pdf, job.output.svg])


def scored(paths: list[str], truth: str, law: str) -> Iterator[dict[str, Any]]:
    """Yield the mean of each file of scores against a truth, under pure sampling."""
    for path in map(Path, paths):
        mean = sum_scores(path, ["pure"])[truth, "pure"].mean
        yield {"law": law, "model": path.stem, "measure": path.parent.name, "value": mean}


def impossible_mass(logits: str, law: str) -> float:
    """Return the mean probability that a model gives to bytes that a law, a file of log-probabilities, gives none."""
    total, positions = 0.0, 0
    for window in read_logits(logits, {LAW: law}):
        total += float((softmax(window.model.astype(np.float64)) * np.isneginf(window.truths[LAW])).sum())
        positions += len(window.model)
    return total / positions


def tempered(logits: str, truth: str, tau: float) -> Iterator[dict[str, Any]]:
    """Yield ``temperature``, ``measure`` and ``value``: the means of the metrics over all positions of two files."""
    decoders = {str(t): partial(temperature, t=t) for t in TEMPERATURES}
    totals: dict[tuple[str, str], float] = defaultdict(float)
    positions = 0
    for window in read_logits(logits, {TRUTH: truth}):
        positions += len(window.model)
        for metric, by_temperature in score_window(window, decoders, MEASURED, tau)[TRUTH].items():
            for t, values in by_temperature.items():
                totals[metric, t] += float(values.sum(dtype="float64"))
    for (metric, t), total in totals.items():
        yield {"temperature": float(t), "measure": metric, "value": total / positions}


def explanations_page(table: pd.DataFrame, titles: Mapping[str, str], truth: str) -> Page:
    """Return the page with sections of each text: levels, then differences at equal rank, size and loss."""
    sections = []
    table = table.assign(model=[named(arm, kind, titles) for arm, kind in zip(table.arm, table.kind, strict=True)])
    for law in dict.fromkeys(table.law[table.n.notna()].fillna("")):
        of_law = chosen(table.dropna(subset="n"), law=law or None)
        for less, heading in SECTIONS.items():
            columns: dict[str, dict[str, str | None]] = {
                label: {"measure": name, "less": less} for name, label in LABELS.items()
            }
            more = TEMPERATURE if less == EQUAL_TTO else {}
            if rows := pivot(of_law, ["model", "rank"], columns | more):
                sections.append(Section(f"{described(law, truth)}: {heading}", rows))
    if sections:
        sections.append(Section("Sizes of the heads", list(_size_rows(table))))
    return Page(TITLE, sections, words_of(__file__, "explanations", seeds=int(table.n.max())))


def described(law: str, truth: str) -> str:
    """Return words for a text: that of a law, or real text and its truth."""
    return f"Text of the law `{law}`" if law else f"Real text, against `{truth}`"


def named(arm: str, kind: str, titles: Mapping[str, str]) -> str:
    """Return what a page calls an arm: the title of its kind, and its name."""
    title = {LINEAR_HEADS: "linear head, cross-entropy", SHORTER: "the same, fewer steps"}.get(kind, titles[kind])
    return f"{title} (`{arm}`)"


def _size_rows(table: pd.DataFrame) -> Iterator[dict[str, Cell]]:
    sizes = table[table.measure.str.startswith("head_") & (table.kind != SHORTER)]
    for (model, rank), part in sizes.groupby(["model", "rank"], sort=False):
        by_size = part.set_index("measure").value
        numbers = {"parameters": by_size.head_parameters, "multiplications a byte": by_size.head_products}
        yield {"model": model, "rank": str(rank), **{label: f"{int(own):,}" for label, own in numbers.items()}}


def draw(table: pd.DataFrame, titles: Mapping[str, str], truth: str) -> Figure:
    """Draw what `table.explanations_table` returns: panels for each text, with a line for each head or objective."""
    table = table[table.n.notna() & (table.kind != SHORTER)]
    laws = list(dict.fromkeys(table.law.fillna("")))
    lines = {law: _lines(table[table.law.fillna("") == law], titles) for law in laws}
    ranks = sorted(int(rank) for rank in table["rank"].unique())
    looks = {rank: {**rank_look(rank), "linestyle": "none"} for rank in ranks}
    there = [column for column in COLUMNS if len(chosen(table, measure=column[0], less=column[1]))]
    columns = {column: COLUMNS[column] for column in there or COLUMNS}
    with style():
        heights = [len(lines[law]) + 3 for law in laws]
        figure = Figure(figsize=(3.5 * len(columns), 0.9 + ROW * sum(heights)))
        panels = figure.subplots(len(laws), len(columns), sharey="row", height_ratios=heights, squeeze=False)
        for row, law in zip(panels, laws, strict=True):
            of_law = table[table.law.fillna("") == law]
            text = described(law, truth).replace("`", "")
            for i, ((measure, less), title) in enumerate(columns.items()):
                _panel(row[i], chosen(of_law, measure=measure, less=less), lines[law], looks)
                row[i].set_title(f"{'' if i else text}\n{title}", size="small")
        by_rank = {f"rank {rank}": look for rank, look in looks.items()}
        legend(figure, handles(by_rank, markersize=6), columns=len(ranks))
        seeds = int(table.n.max())
        titled(
            figure,
            "Do other heads or objectives leak less than linear heads and cross-entropy?",
            f"Left of 0 is better. Mean of {seeds} seeds; whiskers: 95 % (Student's t).",
        )
    return figure


def _lines(table: pd.DataFrame, titles: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return names of the arms of each line, by its label: those that differ in rank alone."""
    lines: dict[str, list[str]] = {}
    for kind, arm in table[["kind", "arm"]].drop_duplicates().itertuples(index=False):
        label = "linear head" if kind == LINEAR_HEADS else f"{titles[kind]} {setting(kind, arm)}".rstrip()
        lines.setdefault(label, []).append(str(arm))
    return {label: tuple(arms) for label, arms in lines.items()}


def _panel(
    axes: Axes, table: pd.DataFrame, lines: Mapping[str, Sequence[str]], looks: Mapping[int, Mapping[str, Any]]
) -> None:
    axes.axvline(0, color="0.35", linewidth=1)
    for place, arms in enumerate(lines.values()):
        part = table[table.arm.isin(arms)]
        for i, (rank, look) in enumerate(looks.items()):
            for _, cell in part[part["rank"] == rank].iterrows():
                at = place + 0.18 * (i - (len(looks) - 1) / 2)
                axes.errorbar(cell.value, at, xerr=whiskers(cell), markersize=4.5, linewidth=1, capsize=2, **look)
    axes.set_yticks(range(len(lines)), list(lines))
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.grid(axis="x")
    axes.tick_params(labelsize="small")


if __name__ == "__main__":
    run(main)
