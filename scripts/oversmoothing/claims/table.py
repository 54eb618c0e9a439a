"""Table of the claims and their verdicts."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from oversmoothing.claims.added import Added
from oversmoothing.claims.claim import Claim
from oversmoothing.claims.evidence import Evidence
from oversmoothing.claims.members import Member
from oversmoothing.claims.power import MOST_SEEDS, POWER
from oversmoothing.claims.verdict import FAILS, HOLDS, NOT_PRINTED, OPEN, Verdict, judge_claim
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.store.layout import number
from oversmoothing.tables.page import Cell, Page, Section, Value

CHAPTERS = {
    "3": "Chapter 3: the models",
    "4": "Chapter 4: oversmoothing",
    "5": "Chapter 5: samples",
    "6": "Chapter 6: decodings",
    "7": "Chapter 7: truncated heads and effective ranks",
    "B": "Appendix B: unargmaxable bytes",
    "F": "Appendix F: entropy",
    "I": "Appendix I: cost",
    "G": "Godey et al. (2024)",
}
HOW = "How each claim is tested"
WIDTHS = {
    "claim": 3.2,
    "this run": 1.1,
    "printed means": 1.1,
    "effect": 2.2,
    "weakest comparison": 2,
    "printed effect": 2.0,
}
FIGURES = "Godey et al. show it in figures"
NOT_ASKED = "the thesis does not ask it"
FEW = 50  # positions: a verdict that rests on fewer says so
OURS_ALONE = ("low", "high", "interval", "run_to_run", "upper", "n", "positions", "tells", "seeds")
COUNTED = {HOLDS: "hold", FAILS: "do not hold", OPEN: "undecided", NOT_PRINTED: "are not printed"}
MARGINS = {
    "losses": "losses",
    "accuracies": "accuracies",
    **{name: metric.name for name, metric in METRICS.items()},
    "dynamics": "singular entropy and anisotropy",
}


def claims_table(
    claims: Sequence[Claim], run: Any, published: Evidence | None, not_printed: str = FIGURES
) -> pd.DataFrame:
    """Verdict on every claim, one per row, from a run and, if there are any that can be tested, the printed means.

    ``effect``, ``low``, ``high`` and ``n`` (positions or samples) belong to the run's weakest comparison; ``interval``
    is the source of its ends. They are compared with ``bound`` after widening by ``run_to_run`` on both sides (infinite
    where even the expected sign is open), and without it ``upper``, a limit of the effect over all comparisons.
    ``positions`` are the different ones that the verdict rests on; ``tells`` and ``seeds`` say of an undecided claim
    what would decide it (see `verdict.Verdict`).
    """
    rows = []
    for claim in claims:
        printed = (
            judge_claim(claim.test, published, NOT_PRINTED) if published else Verdict(NOT_PRINTED, note=not_printed)
        )
        facts: dict[str, Any] = {
            "id": claim.id,
            "chapter": claim.chapter,
            "place": claim.place,
            "statement": claim.statement,
        }
        facts |= {"test": claim.how, "by_construction": claim.by_construction}
        of_printed = {f"published_{name}": cell for name, cell in _cells(printed).items() if name not in OURS_ALONE}
        rows.append(facts | _cells(judge_claim(claim.test, run)) | of_printed)
    counts = ["comparisons", "held", "against"]
    whole = ["n", "positions", *counts, *(f"published_{name}" for name in counts)]
    return pd.DataFrame(rows).astype(dict.fromkeys(whole, "Int64") | dict.fromkeys(["tells", "seeds"], float))


def claims_page(
    table: pd.DataFrame, title: str, run_to_run: Mapping[str, float], family: Sequence[Member], added: Added
) -> Page:
    """Page with a section per chapter and a row per claim; except in LaTeX, the tests follow in words."""
    headings = CHAPTERS | added.headings
    if unknown := set(table.chapter) - set(headings):
        raise ValueError(
            f"no heading for claims of {sorted(unknown)}: a place is a section of the thesis, or the document that "
            "measures what the thesis does not ask, with its heading in `HEADINGS`"
        )
    margins = MARGINS | {key: margin.name for key, margin in added.margins.items()}
    sections = [
        Section(headings[str(chapter)], [_row(row) for row in part.to_dict("records")], WIDTHS)
        for chapter, part in table.groupby("chapter", sort=False)
    ]
    tests: list[dict[str, Cell]] = [{"claim": row.id, "test": row.test} for row in table.itertuples()]
    sections.append(Section(HOW, tests, latex=False))
    return Page(f"{title} {_counts(table)}", sections, _legend(run_to_run, margins, family))


def _cells(verdict: Verdict) -> dict[str, Any]:
    cells: dict[str, Any] = {"verdict": verdict.verdict}
    cells |= dict.fromkeys(("effect", "low", "high", "interval", "bound", "run_to_run", "upper", "n", "weakest"))
    if weakest := verdict.weakest:
        cells |= {"effect": weakest.effect, "interval": "none", "bound": weakest.bound, "run_to_run": weakest.margin}
        cells |= {"upper": verdict.upper, "n": weakest.n, "weakest": weakest.name}
        if weakest.low != weakest.high:
            cells |= {"low": weakest.low, "high": weakest.high, "interval": weakest.interval}
    counts = {"comparisons": verdict.comparisons, "held": verdict.held, "against": verdict.against}
    return {
        **cells,
        **counts,
        **{"positions": verdict.positions, "tells": verdict.tells, "seeds": verdict.seeds},
        "note": verdict.note,
    }


def _row(row: Mapping[str, Any]) -> dict[str, Cell]:
    given = " True by construction, no finding." if row["by_construction"] else ""
    return {
        "claim": f"{row['statement']} ({row['place']}; {row['id']}){given}",
        "this run": "; ".join([verdict_cell(row, ""), *what_decides(row)]),
        "printed means": verdict_cell(row, "published_"),
        "effect": _effect(row),
        "weakest comparison": row["weakest"] if pd.notna(row["weakest"]) else row["note"],
        "printed effect": _printed(row),
    }


def verdict_cell(row: Mapping[str, Any], whose: str) -> str:
    """Return the verdict of a row and how many of its comparisons hold: of this run (""), or "published_"."""
    verdict, comparisons = row[f"{whose}verdict"], row[f"{whose}comparisons"]
    return verdict if not comparisons else f"{verdict} ({row[f'{whose}held']} of {comparisons})"


def what_decides(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a verdict rests on if that is little, and what would decide it if it is open."""
    positions, tells, seeds = row["positions"], row["tells"], row["seeds"]
    if pd.notna(positions) and positions < FEW:
        yield f"rests on {positions:.0f} positions"
    if pd.notna(tells):
        yield f"differences from {number(tells)} on could be told"
    if pd.notna(seeds):
        enough = f"{seeds:.0f} seeds" if seeds <= MOST_SEEDS else f"not even {MOST_SEEDS:,} seeds"
        yield f"{enough} would decide it at this size"


def _effect(row: Mapping[str, Any]) -> Cell:
    """Effect in the run, its interval and the interval's source, run-to-run margin, and bound unless that is 0.

    If the effect on its own contradicts the claim, its upper limit over all comparisons is added.
    """
    if pd.isna(row["effect"]):
        return None
    parts = [f"({row['interval']})"]
    if math.isinf(row["run_to_run"]):
        parts.append("but the order to agree with is not clear")
    elif row["run_to_run"]:
        parts.append(f"± {number(row['run_to_run'])} from run to run")
    if pd.notna(row["high"]) and row["high"] + row["run_to_run"] < row["bound"] and row["comparisons"] > 1:
        most = "any number" if math.isinf(row["upper"]) else f"at most {number(row['upper'])}"
        parts.append(f"{most} with all {row['comparisons']} together")
    if row["bound"]:
        parts.append(f"against {number(row['bound'])}")
    return Value(row["effect"], None, row["low"], row["high"], note=", ".join(parts))


def _printed(row: Mapping[str, Any]) -> Cell:
    if pd.isna(row["published_effect"]):
        return row["published_note"]
    return Value(row["published_effect"], note=f"({row['published_weakest']})")


def _counts(table: pd.DataFrame) -> str:
    sentences = []
    for column, whose in (("verdict", "In this run"), ("published_verdict", "on the thesis's printed means")):
        parts = tally(table[column])
        if given := int((table.by_construction & (table[column] == HOLDS)).sum()):
            parts[0] += f" ({given} by construction)"
        sentences.append(f"{whose} {', '.join(parts)}")
    return f"{'; '.join(sentences)}."


def tally(verdicts: pd.Series) -> list[str]:
    """Return how many claims have each verdict, in words."""
    counts = verdicts.value_counts()
    return [f"{counts[name]} {verb}" for name, verb in COUNTED.items() if name in counts]


def _legend(run_to_run: Mapping[str, float], margins: Mapping[str, str], family: Sequence[Member]) -> list[str]:
    by_share = {
        share: [name for key, name in margins.items() if run_to_run.get(key) == share]
        for share in sorted({run_to_run[key] for key in margins if key in run_to_run})
    }
    shares = "; ".join(f"{100 * share:g} % for {', '.join(names)}" for share, names in by_share.items())
    stand_ins = [member for member in family if member.role != member.rank]
    return [
        *LEGEND,
        f"{WIDENED} ({shares}; our choice, `claims.run_to_run`), with several seeds by the t interval of their mean "
        "difference",
        OF_PRINTED,
        *(f"{member.name.capitalize()} stands for the thesis's {member.role}" for member in stand_ins),
    ]


DECIDES = (
    "Differences that could be told: how far from its bound the weakest number would have to lie in this run. Seeds "
    "that would decide it: if the numbers are as measured, so many seeds, paired, tell each with a chance of "
    f"{100 * POWER:.0f} % (noncentral t); the text stays as it is. With one seed this assumes that 95 % of the "
    "differences between trainings are within the margin"
)
LEGEND = (
    "A claim is one or several comparisons. Each is a number, mostly a difference, that should be above 0 (or above "
    "the bound that is named; or equal to 0). The claim holds if each comparison is, by its own 95 % interval. It "
    "does not hold if one is clearly on the other side when all of the claim's comparisons are taken together; this "
    "takes more the more there are, because of many equal numbers one is below 0 by chance more often than one alone. "
    "Otherwise this run cannot tell. In brackets: how many of the comparisons hold. A verdict that rests on fewer "
    f"than {FEW} positions (or samples) says so",
    DECIDES,
    "At most, with all together: a limit that none of the claim's numbers exceeds, but for 2.5 % of runs. Over "
    "windows it is from the largest error of each bootstrap draw (max-t), because the comparisons share their "
    "windows. Intervals of other kinds, and over seeds, share the 2.5 % equally (Bonferroni). Exact numbers need no "
    "limit. So at most one claim in twenty that is right is said not to hold, and at most one in twenty that is wrong "
    "to hold",
    "Effect: that of the weakest comparison, which decides, with its 95 % interval and what that is from. Windows: a "
    "bootstrap over whole windows, with the same draws on both sides. Fisher: of a correlation over n models, taken "
    "as independent. Resamples: Student's t, with the standard deviation of a whole set of samples over draws of its "
    "windows. Residuals: of the fit within each training; in simulations these intervals hold the truth in 65 to 90 % "
    "of cases, not in 95. None: a number without an interval. A tenth to spare, and steps to come: not chance, but "
    "how far a stricter count or a longer training could move the number",
)
WIDENED = (
    "From run to run: two trainings differ by chance even at one rank, which no bootstrap over windows shows. So "
    "where trained models are compared, with each other, with a fixed number or with themselves under another decoding "
    "or with another head, the interval is first widened on both sides: with one seed by a share of the larger value"
)
OF_PRINTED = (
    "Printed means: the same comparisons on the thesis's printed means, which have no intervals; the bracket after "
    "the printed effect names the weakest. Equal at the printed precision: cannot tell. Byte TV, which the thesis "
    "prints at half its value, is doubled"
)
