"""What the metrics cost: seconds for one position, TBAT by `reject_set` and by one linear program per token.

As the thesis timed them (Table I.1): one call on one position. Time is that of the processor, which waiting for other
processes does not lengthen. What a model needs once, for all its positions, is not counted: for TBAT the basis of its
head.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.bat.basis import Basis, prepare
from oversmoothing.bat.linear_programs import reject_set_by_linear_programs
from oversmoothing.bat.reject import reject_set
from oversmoothing.jobs import UserError
from oversmoothing.layout import ARROWS, latex_text, stand_ins, write_latex_tables, write_page
from oversmoothing.metrics import kl, nsmd, softmax, tto, tv
from oversmoothing.positions import KEYS, read_rows

LABELS = {
    "tto": "TTO",
    "nsmd": "NSMD",
    "tv": "TV",
    "kl": "KL",
    "tbat": "TBAT",
    "tbat_published_method": "TBAT, one LP per token",
}
PUBLISHED_AS = {metric: "tbat" if metric.startswith("tbat") else metric for metric in LABELS}
REPEATS = 25  # calls of one position, whose median counts; the linear programs run once


@dataclass(frozen=True)
class Positions:
    """Some positions of one model: keys ``window``, ``position`` and ``target`` (n,), and float32 logits (n, v)."""

    keys: dict[str, np.ndarray]
    logits: np.ndarray


def read_positions(path: str | Path, rows: np.ndarray) -> Positions:
    """Read some rows of a file of logits (errors as `read_rows`)."""
    read = read_rows(path, ["logits"], rows)
    return Positions({key: read[key] for key in KEYS}, read["logits"])


def measure(
    model: str, head: np.ndarray, own: Positions, truth: Positions, tau: float, delta: float
) -> Iterator[dict[str, Any]]:
    """Time each metric on each position of a model, and check that both ways to TBAT agree.

    Parameters
    ----------
    model : str
        Its name.
    head : array, shape (v, d)
    own, truth : Positions
        The same n positions of the model and of a truth.
    tau, delta : float
        As the metrics take them.

    Yields
    ------
    dict
        ``model``, ``rank`` (d) and, in seconds, every key of `LABELS`; one for each position.

    Raises
    ------
    UserError
        If model and truth were run over other windows, or the two sets of rejected tokens differ; it names the model
        and the position. Tokens that `reject_set` leaves undecided are not compared.
    """
    if any(not np.array_equal(own.keys[key], truth.keys[key]) for key in KEYS):
        raise UserError(f"{model}: its logits and the truth's come from other windows; delete both and run again")
    basis = prepare(head)
    p_bn, p_gt, exact = softmax(own.logits), softmax(truth.logits), softmax(own.logits.astype(np.float64))
    for i in range(len(exact)):
        where = f"window {own.keys['window'][i]}, position {own.keys['position'][i]}"
        seconds = time_metrics(p_bn[i : i + 1], p_gt[i : i + 1], tau)
        seconds |= time_reject_sets(f"{model}, {where}", head, basis, exact[i], delta)
        yield {"model": model, "rank": head.shape[1], **seconds}


def time_metrics(p_bn: np.ndarray, p_gt: np.ndarray, tau: float) -> dict[str, float]:
    """Time one call each of TTO, NSMD, TV and KL on distributions of shape (1, v), in seconds."""
    calls = {
        "tto": lambda: tto(p_bn, p_gt, tau),
        "nsmd": lambda: nsmd(p_bn, p_gt, tau),
        "tv": lambda: tv(p_bn, p_gt),
        "kl": lambda: kl(p_bn, p_gt),
    }
    return {name: median_seconds(call) for name, call in calls.items()}


def time_reject_sets(where: str, head: np.ndarray, basis: Basis, p: np.ndarray, delta: float) -> dict[str, float]:
    """Time both ways to the BAT-reject set of one distribution (v,), in seconds, and check that they agree.

    Raises
    ------
    UserError
        If they do not; the message begins with `where`.
    """
    sets = reject_set(basis, p, delta)  # numba compiles here
    fast = median_seconds(lambda: reject_set(basis, p, delta))
    start = time.process_time()
    published = reject_set_by_linear_programs(head, p, delta)
    slow = time.process_time() - start
    unlike = np.flatnonzero((sets.rejected[0] != published) & ~sets.undecided[0])
    if len(unlike):
        raise UserError(
            f"{where}: reject_set and one linear program per token differ at token {unlike[0]} "
            f"({len(unlike)} in all), so their costs do not compare; please report it with the logits and the weights"
        )
    return {"tbat": fast, "tbat_published_method": slow}


def median_seconds(call: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Return the median processor time of one call, the first one not counted."""
    call()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return float(np.median(times))


def cost_table(costs: pd.DataFrame, models: Sequence[Mapping[str, Any]], published: pd.DataFrame) -> pd.DataFrame:
    """Summarise the seconds per position, the thesis's beside ours (Table I.1).

    Parameters
    ----------
    costs : DataFrame
        ``model``, ``rank`` and a column per key of `LABELS`; one row per position, as `measure` gives them.
    models : sequence of mappings
        ``model`` and ``published_as`` of each (see the workflow's plan).
    published : DataFrame
        ``model``, ``metric``, ``mean``, ``sd``.

    Returns
    -------
    DataFrame
        One row per model, in the order given, and metric. ``ratio``, at ``tbat`` alone, is the median over positions
        of the linear programs' time over ours.
    """
    cells = published.set_index(["model", "metric"])
    rows = []
    for facts in models:
        own = costs[costs.model == facts["model"]]
        for metric in LABELS:
            key = (facts["published_as"], PUBLISHED_AS[metric])
            known = key in cells.index
            rows.append(
                {
                    "model": facts["model"],
                    "rank": own["rank"].iloc[0],
                    "metric": metric,
                    "unit": "seconds",
                    "better": "lower",
                    "mean": own[metric].mean(),
                    "sd": own[metric].std(),
                    "median": own[metric].median(),
                    "n": len(own),
                    "ratio": (own.tbat_published_method / own.tbat).median() if metric == "tbat" else np.nan,
                    "published_model": facts["published_as"] if known else None,
                    "published_mean": cells.loc[key, "mean"] if known else np.nan,
                    "published_sd": cells.loc[key, "sd"] if known else np.nan,
                }
            )
    return pd.DataFrame(rows)


def write_pages(table: pd.DataFrame, paths: Sequence[str | Path], title: str) -> None:
    """Write the table to be read: a row per model, ours beside the published."""
    write_page(paths, title, [("", _wide(table, _markdown_cell))], _legend(table))


def write_latex(table: pd.DataFrame, path: str | Path, title: str) -> None:
    """Write the same as a LaTeX table."""
    wide = _wide(table, _latex_cell)
    wide["rank"] = wide["rank"].map(latex_text)
    write_latex_tables(path, [(wide, f"{title} {_legend(table)}")])


def _wide(table: pd.DataFrame, cell: Callable[[float, float], str]) -> pd.DataFrame:
    """Turn tidy rows into one row per model and, per metric, one column of ours and one of the thesis's."""
    alike = table.groupby("rank").model.nunique().max() > 1
    rows = []
    for model, own in table.groupby("model", sort=False):
        records = {record["metric"]: record for record in own.to_dict("records")}
        row = {"rank": f"{own['rank'].iloc[0]} ({model})" if alike else str(own["rank"].iloc[0])}
        for metric, record in records.items():
            row[f"{LABELS[metric]} {ARROWS[record['better']]}"] = cell(record["mean"], record["sd"])
            if metric != "tbat":
                row["published " + LABELS[PUBLISHED_AS[metric]]] = cell(
                    record["published_mean"], record["published_sd"]
                )
        row["ratio"] = f"{records['tbat']['ratio']:,.0f}"
        rows.append(row)
    return pd.DataFrame(rows)


def _markdown_cell(mean: float, sd: float) -> str:
    if pd.isna(mean):
        return "-"
    mantissa, spread, exponent = _scientific(mean, sd)
    return f"({mantissa} ± {spread})e{exponent:+03d}" if spread else f"{mantissa}e{exponent:+03d}"


def _latex_cell(mean: float, sd: float) -> str:
    if pd.isna(mean):
        return "--"
    mantissa, spread, exponent = _scientific(mean, sd)
    number = rf"({mantissa} \pm {spread})" if spread else mantissa
    return rf"${number} \times 10^{{{exponent}}}$"


def _scientific(mean: float, sd: float) -> tuple[str, str, int]:
    """Split mean and sd into digits and the mean's power of ten; no digits for the sd of one value."""
    exponent = int(f"{mean:.2e}".partition("e")[2])
    return f"{mean / 10.0**exponent:.2f}", "" if pd.isna(sd) else f"{sd / 10.0**exponent:.2f}", exponent


def _legend(table: pd.DataFrame) -> str:
    parts = [
        f"Seconds of processor time for one position: mean ± standard deviation over {int(table.n.max()):,} positions, "
        f"each the median of {REPEATS} calls (linear programs: one)",
        "↓ lower is better",
        "TTO to KL pay for the call as such: many positions in one call cost far less each",
        "Ratio: how many times `reject_set` is faster than one linear program per token, the median over positions; "
        "both gave the same sets on every one of them",
    ]
    if table.published_mean.notna().any():
        parts.append("The published times were taken on other hardware: compare how they grow, not their level")
    parts += stand_ins(table)
    return ". ".join(parts) + "."
