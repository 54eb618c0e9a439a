"""Table of the claims and their verdicts."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from oversmoothing.claims.claim import (
    CONTRADICTED,
    HOLDS,
    IN_PART,
    NOT_PRINTED,
    NOT_TESTED,
    ONE_SEED,
    OPEN,
    Claim,
    Verdict,
    against_each_truth,
    judge,
    judge_printed,
)
from oversmoothing.claims.contrast import Contrast, Outcome
from oversmoothing.claims.measured import Measured, Rank
from oversmoothing.store.layout import number
from oversmoothing.tables.page import Cell, Page, Section, Value
from oversmoothing.tables.story import legend

CHAPTERS = {
    "3": "Chapter 3: the models",
    "4": "Chapter 4: oversmoothing",
    "5": "Chapter 5: samples",
    "6": "Chapter 6: decodings",
    "7": "Chapter 7: truncated heads and effective ranks",
    "8": "Chapter 8: conclusions",
    "B": "Appendix B: unargmaxable bytes",
    "F": "Appendix F: entropy",
    "I": "Appendix I: cost",
    "G": "Godey et al. (2024)",
}
HOW = "How each claim is tested"
WIDTHS = {
    "claim": 3.2,
    "this run": 1.3,
    "printed means": 1.1,
    "effect": 1.6,
    "weakest contrast": 2,
    "printed effect": 2,
}
COUNTED = {
    HOLDS: "hold",
    IN_PART: "hold in part",
    CONTRADICTED: "are contradicted",
    OPEN: "are open",
    ONE_SEED: "take several seeds",
    NOT_TESTED: "are not tested",
    NOT_PRINTED: "are not printed",
}
EVIDENCE = (  # columns of a table of claims
    *("id", "chapter", "place", "statement", "test", "by_construction", "verdict", "contrasts", "decided_for"),
    *("decided_against", "towards", "seeds", "effect", "low", "high", "above", "below", "weakest", "note"),
    *("published_verdict", "published_contrasts", "published_towards"),
)
OVER_TRUTHS = ", mean over truths"
PRINTED = ("verdict", "contrasts", "towards", "effect", "weakest", "note")  # columns of the verdict on printed means


def claims_table(claims: Sequence[Claim], run: Any, thesis: Measured | None) -> pd.DataFrame:
    """Return the verdict on every claim, one per row, from a run and from the thesis's printed means.

    ``effect``, ``low``, ``high``, ``above`` and ``below`` are mean, interval and bounds of the ``weakest`` contrast;
    where it is a mean over truths, ``by_truth`` has it against each.
    """
    rows = []
    for claim in claims:
        row: dict[str, Any] = {"id": claim.id, "chapter": claim.chapter, "place": claim.place}
        row |= {"statement": claim.statement, "test": claim.how, "by_construction": claim.by_construction}
        verdict = judge(claim, run)
        row |= _cells(verdict)
        of_truths = against_each_truth(claim, run, verdict.weakest.name) if verdict.weakest else {}
        row["by_truth"] = "; ".join(f"{truth}: {_amount(one)}" for truth, one in of_truths.items()) or None
        if thesis:
            on_printed = _cells(judge_printed(claim, thesis))
            row |= {f"published_{name}": on_printed[name] for name in PRINTED}
        rows.append(row)
    counts = ["contrasts", "decided_for", "decided_against", "towards", "seeds"]
    table = pd.DataFrame(rows)
    whole = [name for name in table if name.removeprefix("published_") in counts]
    return table.astype(dict.fromkeys(whole, "Int64"))


def claims_page(table: pd.DataFrame, title: str, headings: Mapping[str, str], family: Sequence[Rank]) -> Page:
    """Return a page with a section per chapter and a row per claim; except in LaTeX, the tests follow in words."""
    headings = {**CHAPTERS, **headings}
    if unknown := set(table.chapter) - set(headings):
        raise ValueError(
            f"no heading for claims of {sorted(unknown)}: a place is a section of the thesis, or the document that "
            "measures what the thesis does not ask, with its heading in `HEADINGS`"
        )
    sections = [
        Section(headings[str(chapter)], [_row(row) for row in part.to_dict("records")], WIDTHS)
        for chapter, part in table.groupby("chapter", sort=False)
    ]
    tests: list[dict[str, Cell]] = [{"claim": row.id, "test": row.test} for row in table.itertuples()]
    sections.append(Section(HOW, tests, latex=False))
    stand_ins = [
        f"{rank} stands for the thesis's {rank.role}".capitalize() for rank in family if rank.role != rank.rank
    ]
    return Page(f"{title} {_counts(table)}", sections, [*legend(__file__, "claims"), *verdict_words(), *stand_ins])


def verdict_words() -> list[str]:
    """Return the legend of verdicts, in any table of claims."""
    return legend(__file__, "verdicts")


def verdict_cell(row: Mapping[str, Any], whose: str = "") -> str:
    """Return the verdict of a row of this run (""), or on the printed means ("published_"), and its count."""
    verdict = row[f"{whose}verdict"]
    if not (contrasts := row[f"{whose}contrasts"]):
        return verdict
    counted = "decided_for" if verdict == IN_PART else "towards"
    return f"{verdict} ({row[f'{whose}{counted}']} of {contrasts})"


def tally(verdicts: pd.Series) -> list[str]:
    """Return how many claims have each verdict, in words."""
    counts = verdicts.value_counts()
    return [f"{counts[name]} {verb}" for name, verb in COUNTED.items() if name in counts]


def evidence(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what the verdict in a row of the table rests on, by what it is."""
    yield "tested by", row["test"]
    if pd.notna(row["effect"]):
        ends = f" [{number(row['low'])}, {number(row['high'])}]" if pd.notna(row["low"]) else ""
        words = [f"{row['weakest']}{OVER_TRUTHS * bool(by_truth(row))}: {number(row['effect'])}{ends}", bounds(row)]
        yield "weakest contrast", ", ".join(filter(None, words))
        if by_truth(row):
            yield "against each truth", by_truth(row)
        decided = (
            f"{row['decided_for']} of {row['contrasts']} are decided for the claim, {row['decided_against']} against"
        )
        yield (
            "contrasts",
            f"{decided}; {row['towards']} lie on its side ({row['seeds']} seed{'s' if row['seeds'] != 1 else ''})",
        )
    if pd.notna(row["note"]):
        yield "note", row["note"]
    if row["by_construction"]:
        yield "by construction", "no correct computation can refute it"
    yield "on the printed means", verdict_cell(row, "published_")
    yield "where", f"{row['place']} ({row['id']})"


def _cells(verdict: Verdict) -> dict[str, Any]:
    weakest, counts = verdict.weakest, {of: list(verdict.outcomes).count(of) for of in Outcome}
    cells: dict[str, Any] = {"verdict": verdict.verdict, "contrasts": len(verdict.contrasts)}
    cells |= {"decided_for": counts[Outcome.FOR], "decided_against": counts[Outcome.AGAINST]}
    cells["towards"] = sum(one.towards == Outcome.FOR for one in verdict.contrasts)  # decided or not
    cells["seeds"] = min((len(one.values) for one in verdict.contrasts), default=0)
    cells |= dict.fromkeys(("effect", "low", "high", "above", "below", "weakest"))
    if weakest:
        low, high = weakest.interval
        cells |= {"effect": weakest.mean, "low": low, "high": high, "weakest": weakest.name}
        cells |= {"above": 0.0, "below": 0.0} if weakest.exact else {"above": weakest.above, "below": weakest.below}
    return {**cells, "note": verdict.note}


def cells_of_run(row: Mapping[str, Any]) -> dict[str, Cell]:
    """Return the cells of a row, in any table of claims, on what this run says."""
    effect = None
    if pd.notna(row["effect"]):
        effect = Value(row["effect"], None, row["low"], row["high"], note=bounds(row))
    weakest = row["weakest"] if pd.notna(row["weakest"]) else row["note"]
    if by_truth(row):
        weakest = f"{weakest}{OVER_TRUTHS} ({by_truth(row)})"
    return {
        "claim": f"{row['statement']} ({row['place']}; {row['id']})",
        "this run": verdict_cell(row),
        "effect": effect,
        "weakest contrast": weakest,
    }


def by_truth(row: Mapping[str, Any]) -> str:
    """Return the weakest contrast against each truth, where it is a mean over several; "" otherwise."""
    told = row.get("by_truth")
    return told if isinstance(told, str) else ""


def _amount(contrast: Contrast) -> str:
    low, high = contrast.interval
    ends = f" [{number(low)}, {number(high)}]" if math.isfinite(low) else ""
    return f"{number(contrast.mean)}{ends}"


def _row(row: Mapping[str, Any]) -> dict[str, Cell]:
    printed = row["published_note"]
    if pd.notna(row["published_effect"]):
        printed = Value(row["published_effect"], note=f"({row['published_weakest']})")
    cells = cells_of_run(row) | {"printed means": verdict_cell(row, "published_"), "printed effect": printed}
    if row["by_construction"]:
        cells["claim"] = f"{cells['claim']} True by construction, no finding."
    return {column: cells[column] for column in WIDTHS}


def bounds(row: Mapping[str, Any]) -> str:
    """Return the bounds of the weakest contrast in words; none if it should be above 0."""
    if row["above"] == row["below"]:
        return "equal to 0"
    if math.isfinite(row["below"]):
        return f"between {number(row['above'])} and {number(row['below'])}"
    return f"above {number(row['above'])}" if row["above"] else ""


def _counts(table: pd.DataFrame) -> str:
    parts = tally(table.verdict)
    if given := int((table.by_construction & (table.verdict == HOLDS)).sum()):
        parts[0] += f" ({given} by construction)"
    printed = tally(table.published_verdict)
    return f"In this run {', '.join(parts)}; on the thesis's printed means {', '.join(printed)}."
