"""The family against truths of two kinds: levels, what heads force, steps between ranks, and the bias."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.scores.sums import pure_means, summarise_scores
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.contrasts import at, means, paired
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import Page, Section, directions, labelled, pivot
from oversmoothing.tables.record import chosen, record
from oversmoothing.tables.story import legend
from studies.real_truth.figure import FORCED, OF, draw

SHARE = "_share"  # at the end of a measure: its share of KL
BEST = "best"
TITLE = "The family against a truth that is trained here and against real language models."
NAMES = {
    "forced (nats)": FORCED,
    "share": f"{FORCED}{SHARE}",
    "best head (nats)": BEST,
    "its share": f"{BEST}{SHARE}",
}


def main(job: Job) -> None:
    """Read scores, and what heads force; write the table and the figure in all formats."""
    settings = job.params.settings
    scores = pd.DataFrame(pure_means(job.input.scores))
    values = pd.concat([scores, forced(job.input.forced, FORCED), forced(job.input.best_heads, BEST)])
    between = of_truths(job.input.truths, settings["resamples"], settings["seed"])
    table = truths_table(values, between, settings["models"], settings["truths"])
    write_record(job.output, table, truths_page(table, settings["truths"]))
    write_figure(draw(table, settings["truths"]), [job.output.png, job.output.pdf, job.output.svg])


def forced(paths: Iterable[str], measure: str) -> pd.DataFrame:
    """Return what `pure_means` returns: what heads force of KL, its share of KL, and the KL at the same positions.

    Of the best heads of each rank, which are fitted to windows, only the others count.
    """
    rows = []
    for path in map(Path, paths):
        scores = read_table(path).to_pandas()
        scores = scores[~scores.fitted] if measure == BEST else scores
        for truth, mean in scores.groupby("truth", observed=True)[["kl", measure]].mean().iterrows():
            facts, value = {"model": path.stem, "truth": truth}, mean[measure]
            of_truth = {measure: value, f"{measure}{SHARE}": value / mean.kl, f"{measure}{OF}": mean.kl}
            rows += [{**facts, "measure": name, "value": number} for name, number in of_truth.items()]
    return pd.DataFrame(rows, columns=["model", "truth", "measure", "value"])


def of_truths(paths: Iterable[str], resamples: int, seed: int) -> pd.DataFrame:
    """Return what `pure_means` returns of truths against the others.

    It has ``low`` and ``high`` over windows, and ``n`` positions.
    """
    rows = []
    for path in map(Path, paths):
        for (truth, _), found in summarise_scores(path, ["pure"], resamples, seed).items():
            facts = {"model": path.stem, "truth": truth, "measure": path.parent.name, "kind": "truth"}
            rows.append({**facts, "value": found.mean, "low": found.low, "high": found.high, "n": found.n})
    return pd.DataFrame(rows)


def truths_table(
    values: pd.DataFrame,
    between: pd.DataFrame,
    models: Sequence[Mapping[str, Any]],
    truths: Mapping[str, Sequence[str]],
) -> pd.DataFrame:
    """Return the record of the levels of each rank against each truth, and of differences of them, over seeds.

    `values` has ``model``, ``truth``, ``measure`` and ``value``, means over positions; `between` the same of truths
    against each other (`of_truths`). `truths` has names by use: ``own``, trained here; ``real``, the others;
    ``main``, those compared with each other.

    Levels are means over ``n`` seeds with 95 % intervals by Student's t. Differences are paired by seed, and ``less``
    names what is subtracted: the next higher rank and the highest one, against the same truth; or, at the same rank,
    the value against another of the main truths.
    """
    by_model = values.merge(pd.DataFrame(models), on="model").sort_values("rank", kind="stable")
    by_model = by_model[["measure", "truth", "rank", "seed", "value"]]
    levels = pd.concat([chosen(by_model, truth=truth) for truth in (*truths["own"], *truths["real"])])
    ranks = sorted(levels["rank"].unique())
    steps = dict.fromkeys([*pairwise(ranks), *((rank, ranks[-1]) for rank in ranks[:-1])])
    bases = [(truth, base) for truth in truths["real"] for base in truths["main"] if base != truth]
    family = means(
        levels,
        *(paired(chosen(levels, rank=rank), at(levels, rank=less), f"rank {less}") for rank, less in steps),
        *(paired(chosen(levels, truth=truth), at(levels, truth=base), base) for truth, base in bases),
    )
    table = record(pd.concat([family.assign(kind="family"), between]))
    unit = table.measure.map({name: METRICS[name].unit for name in AGAINST_TRUTHS}).fillna(METRICS["kl"].unit)
    better = table.measure.map({name: METRICS[name].better for name in AGAINST_TRUTHS})
    return table.assign(unit=unit.mask(table.measure.str.endswith(SHARE), "share"), better=better)


def truths_page(table: pd.DataFrame, truths: Mapping[str, Sequence[str]]) -> Page:
    """Return the page of levels, what heads force, steps, the bias of the own truth, and truths against each other."""
    family, main = chosen(table, kind="family"), truths["main"]
    levels, tto = chosen(family, less=None), chosen(family, measure="tto")
    metrics = {labelled(METRICS[name].label, METRICS[name].better): name for name in AGAINST_TRUTHS}
    by_truth: dict[str, dict[str, str]] = {truth: {"truth": truth} for truth in (*truths["own"], *truths["real"])}
    sections = [Section(f"Against `{truth}`", pivot(chosen(levels, truth=truth), ["rank"], metrics)) for truth in main]
    heads = levels[levels.truth.isin(main)].sort_values("rank", kind="stable")
    sections.append(Section("What heads force of KL", pivot(heads, ["rank", "truth"], NAMES)))
    steps = tto[tto.less.str.startswith("rank", na=False)]
    higher = steps.less.str.split().str[-1].astype(int)
    steps = steps.assign(higher=higher).sort_values(["rank", "higher"], kind="stable")
    sections.append(Section("TTO less that of a higher rank", pivot(steps, ["rank", "less"], by_truth)))
    sections.append(Section("TTO by truth", pivot(chosen(tto, less=None), ["rank"], by_truth)))
    for base in main:
        if len(of_base := chosen(tto, less=base)):
            sections.append(Section(f"TTO by truth, less that against `{base}`", pivot(of_base, ["rank"], by_truth)))
    pairs = chosen(table, kind="truth")
    pairs = pairs[pairs.truth.isin(main)]
    sections.append(Section("Truths as models", pivot(pairs, ["model", "truth"], metrics)))
    words = legend(__file__, "real_truth", seeds=int(levels.n.max()))
    return Page(TITLE, sections, [*words, directions(levels.better)])


if __name__ == "__main__":
    run(main)
