"""Table of what heads force over vocabularies, of the rank that forces less than a target, and of how that grows."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from oversmoothing.jobs import UserError
from oversmoothing.numerics.equal_loss import bracket
from oversmoothing.numerics.statistics import (
    LEVEL,
    WindowSums,
    draw_windows,
    paired_difference,
    share_of_difference,
    summarise,
)
from oversmoothing.tables.page import IN_BRACKETS, Page, Section, Value, pivot
from oversmoothing.tables.record import chosen, numbers, record
from oversmoothing.tables.story import legend
from studies.dimensions_needed.names import (
    ADDED,
    BEST,
    FITTED,
    GAP,
    GROWING,
    GROWTH,
    KL,
    NEEDED,
    OF_ADDED,
    OTHER,
    TARGETS,
    TRAINED,
    growth,
    needed,
)

TITLE = "How many dimensions a head needs over a vocabulary."
KNOWN = 1e-9  # nats, up to which projections know what is forced; on a logarithmic scale nothing is lower
FORCED = {
    "best head found": BEST,
    "where fitted": FITTED,
    "other start, where fitted": OTHER,
    "trained head": TRAINED,
    "KL": KL,
    "KL added": ADDED,
    "of it, best head": "best_of_added",
    "of it, trained head": "trained_of_added",
}
CURVES = {BEST: "best head found, held out", FITTED: "the same where fitted", TRAINED: "trained head"}
FEWEST = 3  # vocabularies, to tell how a rank grows with them

Sums = dict[int, WindowSums]  # by rank


def sums_of(rows: pd.DataFrame) -> dict[str, WindowSums]:
    """Return sums by window of each curve, in nats, of the rows of one rank (`measure.HEADS`)."""
    held = rows[~rows.fitted]
    columns = {BEST: (held, BEST), FITTED: (rows[rows.fitted], BEST)}
    if rows[OTHER].notna().any():
        columns |= {OTHER: (rows[rows.fitted], OTHER)}
    if held[KL].notna().any():
        columns |= {TRAINED: (held, TRAINED), KL: (held, KL)}
    return {name: WindowSums.of(part.window, part[column]) for name, (part, column) in columns.items()}


def one_vocabulary(
    by_rank: Mapping[int, pd.DataFrame], members: Mapping[int, str], truth: str, resamples: int, seed: int
) -> pd.DataFrame:
    """Return the record of one vocabulary, from the rows of each rank; `members` has names of trained ones by rank."""
    vocabulary = int(next(iter(by_rank.values())).vocabulary.iloc[0])
    sums = {rank: sums_of(rows) for rank, rows in sorted(by_rank.items())}
    rows: list[dict[str, Any]] = []
    for rank, own in sums.items():
        for measure, of in own.items():
            model = members.get(rank) if measure in (TRAINED, KL) else None
            rows.append({"rank": rank, "model": model, "measure": measure, **numbers(summarise(of, resamples, seed))})
        gap = by_rank[rank].gap
        rows.append({"rank": rank, "measure": GAP, "value": float(gap.max()), "n": int(gap.notna().sum())})
    rows += [*of_added({rank: own for rank, own in sums.items() if KL in own}, members, resamples, seed)]
    for curve in NEEDED:
        of_curve = {rank: own[curve] for rank, own in sums.items() if curve in own}
        rows += [*smallest_ranks(of_curve, curve, resamples, seed)] if of_curve else []
    common = {"truth": truth, "vocabulary": vocabulary}
    return record({**common, "unit": "nats", **row} for row in rows)


def of_added(
    sums: Mapping[int, Mapping[str, WindowSums]], members: Mapping[int, str], resamples: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield rows of the KL that a trained rank adds to the widest one trained, and shares of it that heads force."""
    widest = max(sums, default=0)
    for rank, own in sums.items():
        if rank == widest:
            continue
        start, whole = sums[widest][KL], own[KL]
        known = {"rank": rank, "model": members.get(rank), "less": f"rank {widest}"}
        added = paired_difference(whole, start, resamples, seed)
        n = sum(whole.count.values())
        yield {**known, "measure": ADDED, "value": added.effect, "low": added.low, "high": added.high, "n": n}
        for measure, curve in OF_ADDED.items():
            part = combined(start, own[curve], sums[widest][curve])
            share, low, high = share_of_difference(part, whole, start, resamples, seed)
            if not math.isnan(share):  # what is added may be 0
                of = {"value": share, "low": low, "high": high, "n": n, "unit": "share of KL added"}
                yield {**known, "measure": measure, **of}


def combined(start: WindowSums, more: WindowSums, less: WindowSums) -> WindowSums:
    """Return sums of start + more - less, position by position; all three have the same positions."""
    (first, plus, minus) = (sums.totals() for sums in (start, more, less))
    totals = {window: first[window] + plus[window] - minus[window] for window in first}
    return WindowSums(dict(start.count), totals, dict.fromkeys(totals, 0.0), origin=0.0)


def smallest_ranks(sums: Sums, curve: str, resamples: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each target: the smallest rank of a curve that forces no more, its interval over windows.

    Each draw takes the same windows at all ranks. What lies beyond the ranks has no number; then `note` has words.
    """
    ranks = sorted(sums)
    count = np.array([[n for _, n in sorted(sums[rank].count.items())] for rank in ranks], float)
    totals = np.array([[total for _, total in sorted(sums[rank].totals().items())] for rank in ranks])
    windows = count.shape[1]
    draws = np.concatenate([*draw_windows(windows, resamples, seed)]) if windows > 1 else None
    means = None if draws is None else totals[:, draws].sum(axis=2) / count[:, draws].sum(axis=2)
    for nats in TARGETS:
        value = crossing(ranks, totals.sum(axis=1) / count.sum(axis=1), nats)
        low = high = math.nan
        if means is not None:
            found = [crossing(ranks, column, nats) for column in means.T]
            low, high = np.quantile(found, [LEVEL, 1 - LEVEL], method="nearest").tolist()  # infinite ends stay so
        ends = {"value": value, "low": low, "high": high}
        numbered = {name: end if 0 < end < math.inf else None for name, end in ends.items()}
        note = in_words(ranks, **ends) if None in numbered.values() else None
        own = {"measure": needed(curve, nats), "n": int(count[-1].sum()), "unit": "dimensions", "note": note}
        yield {**own, **numbered}


def in_words(ranks: Sequence[int], value: float, low: float, high: float) -> str:
    """Return a rank with its interval, 0 and infinite ends as what lies beyond the measured ranks."""

    def one(end: float) -> str:
        return f"more than {ranks[-1]}" if end == math.inf else f"at most {ranks[0]}" if end == 0 else f"{end:.0f}"

    told = [one(end) for end in (value, low, high)]
    return told[0] if math.isnan(low) or len({*told}) == 1 else f"{told[0]} [{told[1]}, {told[2]}]"


def crossing(ranks: Sequence[int], forced: np.ndarray, nats: float) -> float:
    """Return the smallest rank that forces at most so much, interpolated between two ranks in logarithms of both.

    It is infinite where the largest rank forces more, and 0 where the smallest forces no more.
    """
    logs = np.log(np.maximum(forced, KNOWN))
    if logs[0] <= math.log(nats):
        return 0.0
    found = bracket(logs.tolist(), math.log(nats))
    if found is None:
        return math.inf
    before, after, share = found
    return float(ranks[before] * (ranks[after] / ranks[before]) ** share)


def growths(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield, for each target, the power of v with which the rank grows, over vocabularies whose truths have one name.

    Least squares in logarithms; the interval, by Student's t, counts how far vocabularies lie from the line. A target
    that lies beyond the measured ranks of one of them has no row: the line of the others would be too flat.
    """
    for truth, own in table.groupby("truth", sort=False):
        for curve, nats in product(GROWING, TARGETS):
            rows = chosen(own, measure=needed(curve, nats))
            if len(rows) >= FEWEST and rows.value.notna().all():
                x, y = np.log(rows.vocabulary.to_numpy(float)), np.log(rows.value.to_numpy())
                x = x - x.mean()
                slope = float(x @ y / (x @ x))
                off = y - y.mean() - slope * x
                free = len(rows) - 2
                half = float(-stdtrit(free, LEVEL) * math.sqrt(off @ off / free / (x @ x)))
                ends = {"value": slope, "low": slope - half, "high": slope + half}
                yield {"truth": truth, "measure": growth(nats, curve), **ends, "n": len(rows), "unit": "power of v"}


def joined(own: pd.DataFrame, beside: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the records of several vocabularies as one, smallest first, with rows of how the dimensions grow.

    `beside` has records by the path that they were read from; a `UserError` names one that is of no vocabulary, or of
    one that another has, too.
    """
    parts, seen = [own], {(of.truth, of.vocabulary): "this config" for of in own.itertuples()}
    for path, table in beside.items():
        part = table[table.vocabulary.notna()]
        if part.empty:
            raise UserError(
                f"{path}: no table of vocabularies; name tables/vocabularies.csv of another config in "
                "dimensions_needed.beside"
            )
        for key in dict.fromkeys(zip(part.truth, part.vocabulary, strict=True)):
            if key in seen:
                raise UserError(
                    f"{path}: {key[1]:,} tokens of {key[0]} are those of {seen[key]}, too; take one out of "
                    "dimensions_needed.beside"
                )
            seen[key] = path
        parts.append(part)
    table = pd.concat(parts).sort_values("vocabulary", kind="stable")
    return record(pd.concat([table, record(growths(table))]) if len(parts) > 1 else table)


def shown(row: Mapping[str, Any]) -> str:
    """Return the rank that a target needs with its interval, in words where an end lies beyond the measured ranks."""
    return row["note"] if pd.notna(row["note"]) else f"{row['value']:.0f} [{row['low']:.0f}, {row['high']:.0f}]"


def vocabularies_page(table: pd.DataFrame) -> Page:
    """Return the page: the ranks that targets need, how they grow, and what heads force by rank."""
    sections = [Section("The rank that forces no more than so many nats a token", [*_needed_rows(table)])]
    if len(grown := table[table.measure.str.startswith(GROWTH)]):
        where = {BEST: "", FITTED: ", where fitted"}
        cells = {f"{nats:g} nats{where[curve]}": growth(nats, curve) for curve, nats in product(GROWING, TARGETS)}
        sections.append(
            Section("The power of the number of tokens with which that rank grows", pivot(grown, ["truth"], cells))
        )
    for (v, truth), part in table[table.vocabulary.notna()].groupby(["vocabulary", "truth"], sort=False):
        sections.append(Section(f"{v:,} tokens, against `{truth}`: forced, nats", pivot(part, ["rank"], FORCED, 4)))
    held = chosen(table, measure=BEST)
    gap = f"{chosen(table, measure=GAP).value.max():.1g}"
    widest = table.less.dropna().unique()
    words = legend(__file__, "vocabularies", n=int(held.n.max()), gap=gap, widest=widest[0] if len(widest) else None)
    return Page(TITLE, sections, words, IN_BRACKETS)


def _needed_rows(table: pd.DataFrame) -> Iterator[dict[str, Value | str | None]]:
    for (v, truth), part in table[table.vocabulary.notna()].groupby(["vocabulary", "truth"], sort=False):
        for curve, words in CURVES.items():
            cells = {
                f"{nats:g} nats": shown(row)
                for nats in TARGETS
                for row in chosen(part, measure=needed(curve, nats)).to_dict("records")
            }
            if cells:
                yield {"tokens": f"{v:,}", "truth": f"`{truth}`", "head": words, **cells}
