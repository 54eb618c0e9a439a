"""Table of the claims and their verdicts."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from oversmoothing.claims.claim import (
    CONTRADICTED,
    DEPENDS,
    HOLDS,
    IN_PART,
    NOT_PRINTED,
    NOT_TESTED,
    ONE_SEED,
    OPEN,
    Claim,
    Verdict,
    judge_by_truth,
    judge_printed,
)
from oversmoothing.claims.contrast import Outcome
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
    DEPENDS: "depend on the truth",
    OPEN: "are open",
    ONE_SEED: "take several seeds",
    NOT_TESTED: "are not tested",
    NOT_PRINTED: "are not printed",
}
EVIDENCE = (  # columns of a table of claims
    *("id", "chapter", "place", "statement", "test", "cannot_fail", "truth", "verdict", "contrasts", "decided_for"),
    *("decided_against", "towards", "seeds", "effect", "low", "high", "above", "below", "weakest", "note"),
    *("published_verdict", "published_contrasts", "published_towards"),
)
PRINTED = ("verdict", "contrasts", "towards", "effect", "weakest", "note")  # columns of the verdict on printed means


def claims_table(claims: Sequence[Claim], run: Any, thesis: Measured | None) -> pd.DataFrame:
    """Return the verdict on every claim from a run and from the thesis's printed means.

    A claim has a row without a ``truth``; if its contrasts depend on the truth, that is the verdict of all truths
    together, and a row for each truth follows. ``effect``, ``low``, ``high``, ``above`` and ``below`` are mean,
    interval and bounds of the ``weakest`` contrast.
    """
    rows: list[dict[str, Any]] = []
    for claim in claims:
        said: dict[str, Any] = {"id": claim.id, "chapter": claim.chapter, "place": claim.place}
        said |= {"statement": claim.statement, "test": claim.how, "cannot_fail": claim.cannot_fail or None}
        verdict, of_truths = judge_by_truth(claim, run)
        rows.append({**said, "truth": None, **_cells(verdict)})
        if thesis:
            on_printed = _cells(judge_printed(claim, thesis))
            rows[-1] |= {f"published_{name}": on_printed[name] for name in PRINTED}
        rows += [{**said, "truth": truth, **_cells(own)} for truth, own in of_truths.items()]
    counts = ["contrasts", "decided_for", "decided_against", "towards", "seeds"]
    table = pd.DataFrame(rows)
    whole = [name for name in table if name.removeprefix("published_") in counts]
    return table.astype(dict.fromkeys(whole, "Int64"))


def by_claim(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per claim of a `claims_table`, with what each truth says in words as ``by_truth``; "" if none."""
    of_truths = table[table.truth.notna()]
    told = {row["id"]: list[str]() for row in of_truths.to_dict("records")}
    for row in of_truths.to_dict("records"):
        told[row["id"]].append(f"{row['truth']}: {verdict_cell(row)}")
    rows = table[table.truth.isna()]
    return rows.assign(by_truth=[", ".join(told.get(claim, ())) for claim in rows.id])


def counted(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a `claims_table` that are counted: one per claim that can fail."""
    return table[table.truth.isna() & table.cannot_fail.isna()]


def claims_page(table: pd.DataFrame, title: str, headings: Mapping[str, str], family: Sequence[Rank]) -> Page:
    """Return a page with a section per chapter and a row per claim; except in LaTeX, the tests follow in words."""
    headings = {**CHAPTERS, **headings}
    if unknown := set(table.chapter) - set(headings):
        raise ValueError(
            f"no heading for claims of {sorted(unknown)}: a place is a section of the thesis, or the document that "
            "measures what the thesis does not ask, with its heading in `HEADINGS`"
        )
    claims = by_claim(table)
    sections = [
        Section(headings[str(chapter)], [_row(row) for row in part.to_dict("records")], WIDTHS)
        for chapter, part in claims.groupby("chapter", sort=False)
    ]
    tests: list[dict[str, Cell]] = [{"claim": row.id, "test": row.test} for row in claims.itertuples()]
    sections.append(Section(HOW, tests, latex=False))
    stand_ins = [
        f"{rank} stands for the thesis's {rank.role}".capitalize() for rank in family if rank.role != rank.rank
    ]
    words = [*legend(__file__, "claims"), *legend(__file__, "verdicts"), *stand_ins]
    return Page(f"{title} {_counts(table)}", sections, words)


def verdict_cell(row: Mapping[str, Any], whose: str = "") -> str:
    """Return the verdict of a row of this run (""), or on the printed means ("published_"), and its count."""
    verdict = row[f"{whose}verdict"]
    if not (contrasts := row[f"{whose}contrasts"]) or verdict == DEPENDS:
        return verdict
    of = "decided_for" if verdict == IN_PART else "towards"
    return f"{verdict} ({row[f'{whose}{of}']:.0f} of {contrasts:.0f})"


def tally(verdicts: pd.Series) -> list[str]:
    """Return how many claims have each verdict, in words."""
    counts = verdicts.value_counts()
    return [f"{counts[name]} {verb}" for name, verb in COUNTED.items() if name in counts]


def evidence(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what the verdict in a row of `by_claim` rests on, by what it is."""
    yield "tested by", row["test"]
    if pd.notna(row["effect"]):
        ends = f" [{number(row['low'])}, {number(row['high'])}]" if pd.notna(row["low"]) else ""
        words = [f"{row['weakest']}: {number(row['effect'])}{ends}", bounds(row)]
        yield "weakest contrast", ", ".join(filter(None, words))
        if row["by_truth"]:
            yield "against each truth", row["by_truth"]
        decided = (
            f"{row['decided_for']} of {row['contrasts']} are decided for the claim, {row['decided_against']} against"
        )
        yield (
            "contrasts",
            f"{decided}; {row['towards']} lie on its side ({row['seeds']} seed{'s' if row['seeds'] != 1 else ''})",
        )
    if pd.notna(row["note"]):
        yield "note", row["note"]
    if pd.notna(row["cannot_fail"]):
        yield "not counted", f"it cannot fail: {row['cannot_fail']}"
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


def _row(row: Mapping[str, Any]) -> dict[str, Cell]:
    claim, effect, printed = f"{row['statement']} ({row['place']}; {row['id']})", None, row["published_note"]
    if pd.notna(row["cannot_fail"]):
        claim = f"{claim} Not counted, as it cannot fail: {row['cannot_fail']}."
    if pd.notna(row["effect"]):
        effect = Value(row["effect"], None, row["low"], row["high"], note=bounds(row))
    if pd.notna(row["published_effect"]):
        printed = Value(row["published_effect"], note=f"({row['published_weakest']})")
    return {
        "claim": claim,
        "this run": f"{verdict_cell(row)}; {row['by_truth']}" if row["by_truth"] else verdict_cell(row),
        "printed means": verdict_cell(row, "published_"),
        "effect": effect,
        "weakest contrast": row["weakest"] if pd.notna(row["weakest"]) else row["note"],
        "printed effect": printed,
    }


def bounds(row: Mapping[str, Any]) -> str:
    """Return the bounds of the weakest contrast in words; none if it should be above 0."""
    if row["above"] == row["below"]:
        return "equal to 0"
    if math.isfinite(row["below"]):
        return f"between {number(row['above'])} and {number(row['below'])}"
    return f"above {number(row['above'])}" if row["above"] else ""


def _counts(table: pd.DataFrame) -> str:
    own = counted(table)
    parts, printed = tally(own.verdict), tally(own.published_verdict)
    others = int((table.truth.isna() & table.cannot_fail.notna()).sum())
    beside = f" (without {others} that cannot fail)" if others else ""
    return f"In this run {', '.join(parts)}{beside}; on the thesis's printed means {', '.join(printed)}."
