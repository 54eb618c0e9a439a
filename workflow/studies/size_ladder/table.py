"""Table of what a rank costs models of several sizes, each with several amounts of text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.numerics.crossed import crossed_interval, ratio_by_window
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.scores.sums import positions_by_window
from oversmoothing.tables.contrasts import over_windows
from oversmoothing.tables.page import Page, Section, directions, labelled, pivot
from oversmoothing.tables.record import chosen, over_seeds, record
from oversmoothing.tables.story import legend
from studies.forced_part.added import ADDED, LESS, OF_BEST_HEAD
from studies.leak_at_equal_loss.table import EQUAL, FAMILY, ON_WINDOWS, SHORTER, equal_loss_table
from studies.leak_at_equal_loss.table import LOSS as VALIDATION
from studies.size_ladder.parts import BEHIND_NORM, EFFECTIVE_RANK, FREE, OWN, THERE

TITLE = "What a rank costs as models grow, by size and text."
STOPPED = EQUAL[ON_WINDOWS]  # `less`: a full head of other steps that has the rank's loss on the windows
BEST, TRAINED, FORCED, REST = "added_best", "added_trained", "added_forced", "added_rest"  # parts of `ADDED`, in nats
SHARES = dict(zip(OF_BEST_HEAD, (BEST, TRAINED, FORCED), strict=True))


def ladder_table(
    values: pd.DataFrame,
    best: pd.DataFrame,
    models: Sequence[Mapping[str, Any]],
    rungs: Iterable[Mapping[str, Any]],
    truth: str,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the record of all rungs, means over seeds, and that of what each seed adds.

    `values` has, of each ``model`` of a ``size``, the rows of `measure.MEASURED` and its validation loss. `best` has
    what best heads force, by ``size`` (None: of the truth that stays, `truth`), ``truth``, ``rank`` and ``window``.
    Models and rungs are those of `plan.rows` and `plan.rungs`. Truths are `OWN`, another one at each rung, or the one
    that stays. ``less`` is None of levels, `LESS` or `STOPPED`.
    """
    tables, seeds = [], []
    facts = pd.DataFrame(models)
    for rung in rungs:
        of_size = facts[facts["size"] == rung["size"]]
        here = of_size[(of_size.steps == rung["steps"]) | (of_size["rank"] == of_size.width)]
        kinds = np.where(here.steps == rung["steps"], FAMILY, SHORTER)
        here = here.assign(kind=kinds)
        names = {rung["own"]: OWN, truth: truth}
        own = values[(values["size"] == rung["size"]) & values.model.isin(here.model)]
        own = own[own.truth.isna() | own.truth.isin(names)]
        own = own.assign(truth=own.truth.map(names).fillna(""))
        fitted = best[((best["size"] == rung["size"]) & (best.truth == rung["own"])) | best["size"].isna()]
        fitted = fitted.assign(truth=fitted.truth.map(names))
        rows, by_seed = rung_table(own, fitted, here)
        first = here[here.steps == rung["steps"]].iloc[0]
        at = {"weights": first.weights, "bytes": first.bytes, "step": rung["steps"]}
        tables.append(rows.assign(**at))
        seeds.append(by_seed.assign(**at))
    return record(pd.concat(tables)), record(pd.concat(seeds))


def rung_table(values: pd.DataFrame, best: pd.DataFrame, models: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of one rung, over seeds and by seed; `models` are of the kind `FAMILY` or controls, `SHORTER`."""
    shown = values[values.measure.isin([ON_WINDOWS, VALIDATION, *AGAINST_TRUTHS])]
    weighed = shown.assign(value=shown.value * shown.n)
    keys = ["model", "truth", "measure"]
    sums = weighed.groupby(keys, sort=False, as_index=False)[["value", "n"]].sum()
    levels = sums.assign(value=sums.value / sums.n)[[*keys, "value"]]
    windows = shown[shown.measure != VALIDATION][[*keys, "window", "n", "value"]]
    equal = equal_loss_table(levels, models.drop(columns=["truths", "size"]).to_dict("records"), windows)
    top = f"rank {models['rank'].max()}"
    equal = equal[(equal.kind == FAMILY).fillna(False) & (equal["less"].isna() | equal["less"].isin([top, STOPPED]))]
    equal = equal.assign(less=equal["less"].replace(top, LESS), p=np.nan)
    family = models[models.kind == FAMILY]
    used = values[values.measure == EFFECTIVE_RANK].merge(family[["model", "kind", "rank", "arm", "seed"]], on="model")
    dimensions = [
        {"kind": FAMILY, "rank": rank, "arm": own.arm.iloc[0], "measure": EFFECTIVE_RANK, "unit": "dimensions"}
        | over_seeds(own.sort_values("seed").value)
        for rank, own in used.groupby("rank")
    ]
    added = list(added_parts(values, best, family))
    over = [row for row in added if row["seed"] is None]
    seeds = [row for row in added if row["seed"] is not None]
    seeds += differences_by_seed(levels, family)
    return pd.concat([equal, record([*dimensions, *over])], ignore_index=True), record(seeds)


def differences_by_seed(levels: pd.DataFrame, family: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield what each rank shows less the full head of its seed."""
    table = levels.merge(family[["model", "kind", "rank", "arm", "seed"]], on="model")
    full = table[table["rank"] == table["rank"].max()].set_index(["seed", "truth", "measure"]).value
    for row in table[table["rank"] < table["rank"].max()].to_dict("records"):
        value = row["value"] - full[row["seed"], row["truth"], row["measure"]]
        unit = METRICS[row["measure"]].unit if row["measure"] in METRICS else "nats per byte"
        yield {**row, "truth": row["truth"] or None, "less": LESS, "value": value, "unit": unit}


def added_parts(values: pd.DataFrame, best: pd.DataFrame, family: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the KL that each rank adds to that of full rank, its parts and their shares: by seed, and over seeds.

    Parts are what the best head found forces, what the trained head does (with it), what it does behind its LayerNorm
    (with both), and the rest. Of the full head, what its own head forces is taken off; its best head is taken to force
    nothing, which overstates the part of the best head by what it does. Over seeds, intervals are also over windows.
    """
    there = values[values.measure.isin([THERE, FREE, BEHIND_NORM])]
    names = {rank: own.set_index("seed").model for rank, own in family.groupby("rank")}
    arms = family.set_index("rank").arm.to_dict()
    top = max(names)
    for truth, own in there.groupby("truth", sort=False):
        n = positions_by_window(own)
        table = own.pivot(index=["model", "measure"], columns="window", values="value")
        of_best = best[best.truth == truth].pivot(index="rank", columns="window", values="value")
        for rank in sorted(names)[:-1]:
            square: dict[str, list[np.ndarray]] = {}
            known = {"kind": FAMILY, "rank": rank, "arm": arms[rank], "truth": truth, "less": LESS}
            for seed, model in names[rank].sort_index().items():
                mine, full = table.loc[model], table.loc[names[top][seed]]
                by_window = mine - full
                parts = {
                    ADDED: by_window.loc[THERE],
                    BEST: of_best.loc[rank],
                    TRAINED: by_window.loc[FREE],
                    FORCED: by_window.loc[BEHIND_NORM],
                    REST: by_window.loc[THERE] - by_window.loc[BEHIND_NORM],
                }
                for name, windows in with_shares(parts, n).items():
                    square.setdefault(name, []).append(windows)
                    unit = "share of KL added" if name in SHARES else "nats"
                    value = float(windows @ n / n.sum())
                    yield {**known, "measure": name, "unit": unit, "seed": seed, "model": model, "value": value}
            for name, rows in square.items():
                unit = "share of KL added" if name in SHARES else "nats"
                mean = over_seeds([float(row @ n / n.sum()) for row in rows])
                _, low, high = crossed_interval(np.array(rows), n)
                crossed = {"low_crossed": low, "high_crossed": high}
                yield {**known, "measure": name, "unit": unit, "seed": None, **mean, **crossed}


def with_shares(parts: Mapping[str, pd.Series], n: pd.Series) -> dict[str, np.ndarray]:
    """Return parts by window, and shares of `ADDED`, whose weighed means are ratios; none of an added KL <= 0."""
    found = {name: values.to_numpy() for name, values in parts.items()}
    if found[ADDED] @ n.to_numpy() > 0:
        found |= {name: ratio_by_window(found[part], found[ADDED], n) for name, part in SHARES.items()}
    return found


def ladder_page(table: pd.DataFrame) -> Page:
    """Return the page: what a rank adds, by truth; parts of it; what it adds at equal loss; levels."""
    table = (
        over_windows(table)
        .assign(
            at=[f"{weights / 1e6:.2f}M" for weights in table.weights.astype(float)],
            text=[f"{size / 1e6:.2f} MB" for size in table.bytes.astype(float)],
        )
        .sort_values(["rank", "weights", "bytes"], kind="stable")
    )
    columns = ["rank", "at", "text"]
    truths = table.truth.dropna().unique().tolist()
    full = table["less"] == LESS
    sections = [Section("Loss, less that of full rank", pivot(table[full & table.truth.isna()], columns, PLAIN_LOSS))]
    for truth in truths:
        against = table[table.truth == truth]
        of_full = against[against["less"] == LESS]
        equal = chosen(against, less=STOPPED)
        sections += [
            Section(f"Less full rank, against `{truth}`", pivot(of_full, columns, OF_METRICS)),
            Section(f"Of the KL that a rank adds, against `{truth}`", pivot(of_full, columns, OF_PARTS)),
            Section(f"Less a full head of equal loss, against `{truth}`", pivot(equal, columns, OF_METRICS)),
            Section(f"Levels, against `{truth}`", pivot(chosen(against, less=None), columns, OF_METRICS)),
        ]
    levels = chosen(table, less=None, truth=None)
    named = {"loss": ON_WINDOWS, "validation loss": VALIDATION, "effective rank": EFFECTIVE_RANK}
    sections.append(Section("Losses, and effective rank of what enters the head", pivot(levels, columns, named)))
    sections = [section for section in sections if section.rows]
    words = legend(__file__, "scale", seeds=int(table.n.max()))
    return Page(TITLE, sections, [*words, directions(table.better.dropna())])


PLAIN_LOSS = {"loss on the windows": ON_WINDOWS, "validation loss": VALIDATION}
OF_METRICS = {labelled(METRICS[name].label, METRICS[name].better): name for name in AGAINST_TRUTHS}
OF_PARTS = {
    "KL added (nats)": ADDED,
    "the best head found, at most": "best_of_added",
    "the trained head": "trained_of_added",
    "behind its LayerNorm": "forced_of_added",
    "the rest (nats)": REST,
}
