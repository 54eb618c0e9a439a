"""Table of the family against truths of two kinds: levels, what heads force, steps between ranks, and the bias."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pandas as pd

from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.tables.contrasts import at, means, paired
from oversmoothing.tables.page import Page, Section, directions, labelled, pivot
from oversmoothing.tables.record import chosen, record
from oversmoothing.tables.story import legend

SHARE, OF = "_share", "_of"  # at the end of a measure: its share of KL, and that KL, at the same positions
FORCED, BEST = "forced", "best"
TITLE = "The family against a truth that is trained here and against real language models."
NAMES = {
    "forced (nats)": FORCED,
    "share": f"{FORCED}{SHARE}",
    "best head (nats)": BEST,
    "its share": f"{BEST}{SHARE}",
}


def truths_table(
    values: pd.DataFrame,
    between: pd.DataFrame,
    models: Sequence[Mapping[str, Any]],
    truths: Mapping[str, Sequence[str]],
) -> pd.DataFrame:
    """Levels of each rank against each truth, and differences of them, over seeds.

    Parameters
    ----------
    values : DataFrame
        ``model``, ``truth``, ``measure``, ``value``: means over positions.
    between : DataFrame
        The same of truths against each other, with ``low``, ``high`` and ``n``.
    models : sequence of mappings
        What `record.facts` reads, with a rank and a seed each.
    truths : mapping
        Names of the truths that are trained here, ``own``, and of the others, ``real``.

    Returns
    -------
    DataFrame
        Record. Levels are means over ``n`` seeds with 95 % intervals by Student's t. Differences are paired by seed,
        and ``less`` names what is subtracted: the next higher rank and the highest one, against the same truth; or, at
        the same rank, the value against the first of the own truths or of the real ones.
    """
    by_model = values.merge(pd.DataFrame(models), on="model").sort_values("rank", kind="stable")
    by_model = by_model[["measure", "truth", "rank", "seed", "value"]]
    levels = pd.concat([chosen(by_model, truth=truth) for truth in (*truths["own"], *truths["real"])])
    ranks = sorted(levels["rank"].unique())
    steps = dict.fromkeys([*pairwise(ranks), *((rank, ranks[-1]) for rank in ranks[:-1])])
    bases = [(truth, base) for truth in truths["real"] for base in _main(truths) if base != truth]
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
    """Page with levels, what heads force, steps, the bias of the own truth, and truths against each other."""
    family, main = chosen(table, kind="family"), _main(truths)
    levels, tto = chosen(family, less=None), chosen(family, measure=AGAINST_TRUTHS[0])
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


def _main(truths: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """The truths that others are compared with: the first own one and the first real one."""
    return truths["own"][0], truths["real"][0]
