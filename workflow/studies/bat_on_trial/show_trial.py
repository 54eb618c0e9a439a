"""Table of what BAT and other truncations reject of bytes that a law gives nothing, and which metrics see these."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import Page, Section, pivot
from oversmoothing.tables.record import chosen, over_seeds, record
from oversmoothing.tables.story import legend
from studies.known_law.laws import LAW
from studies.known_law.table import ARM, named

TITLE = "What BAT and other truncations reject of bytes that a law gives nothing."
IMPOSSIBLE, CAUGHT, HARM = "impossible", "caught", "harm"
CONDITIONS = {"model": None, "nearest": "free"}  # of the model, of the nearest to the law that its head can give
WORDS = {IMPOSSIBLE: "mass on impossible bytes", HARM: "harm of {}", CAUGHT: "caught by {}"}
SEES = "_correlation"  # of a metric: Spearman's rank correlation with the mass on impossible bytes, over positions
SEEING = ("tto", "nsmd", "tv", "kl", "tbat")


def main(job: Job) -> None:
    """Read what `trial` writes, NSMD and what heads force; write the table in all formats."""
    trials = pd.concat(named(path, read_table(path).to_pandas()) for path in job.input.trial)
    paths = zip(job.input.impossible, job.input.nsmd, job.input.forced, strict=True)
    seen = pd.concat(named(masses, pd.DataFrame([seeing(masses, *scores)])) for masses, *scores in paths)
    table = trial_table(trials, seen, job.params.settings["learners"])
    write_record(job.output, table, trial_page(table))


def trial_table(trials: pd.DataFrame, seen: pd.DataFrame, learners: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Record of what each arm gives to impossible bytes, what is caught of it at which harm, and which metrics see it.

    `trials` has ``text``, ``model`` and the columns of `trial.TRIAL`; `seen` has ``text``, ``model`` and the
    `correlations` of `SEEING`; `learners` are facts of each model that learns a text (`known_law.plan.rows`).
    """
    known, keys = pd.DataFrame(learners), ["text", "model"]
    return record([*_trial(trials.merge(known, on=keys)), *_seeing(seen.merge(known, on=keys))])


def _trial(trials: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield, of each arm, the mass on impossible bytes, and what BAT and its rivals at equal harm catch of it."""
    sums = ["n", IMPOSSIBLE, CAUGHT, HARM]
    by_model = trials.groupby([*ARM, "seed", "of", "method", "parameter"], as_index=False, dropna=False)[sums].sum()
    shares = by_model.assign(
        **{
            IMPOSSIBLE: by_model[IMPOSSIBLE] / by_model.n,
            CAUGHT: by_model[CAUGHT] / by_model[IMPOSSIBLE],
            HARM: by_model[HARM] / by_model.n,
        }
    )
    for keys, part in _arms(shares, "of"):
        condition = CONDITIONS[keys.pop("of")]
        bat = part[part.method == "bat"]
        named = {**keys, "truth": LAW, "condition": condition}
        impossible = bat.drop_duplicates("seed")[IMPOSSIBLE]
        yield {**named, "measure": IMPOSSIBLE, **over_seeds(impossible), "unit": "probability"}
        for delta, at in bat.groupby("parameter"):
            caught = {"bat": at.set_index("seed")[CAUGHT]}
            harm = at.set_index("seed")[HARM]
            of_bat = {"measure": HARM, "decoding": f"bat {delta:g}", "unit": "probability"}
            yield {**named, **of_bat, **over_seeds(harm)}
            for rival, curve in part[part.method != "bat"].groupby("method"):
                by_seed = {s: at_harm(one[HARM], one[CAUGHT], harm[s]) for s, one in curve.groupby("seed")}
                caught[str(rival)] = pd.Series(by_seed)
            for name, values in caught.items():
                decoding = f"bat {delta:g}" if name == "bat" else name
                measured = {"measure": CAUGHT, "decoding": decoding, "unit": "share"}
                yield {**named, **measured, **over_seeds(values), "better": "higher"}


def _seeing(seen: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield how each metric goes with the mass on impossible bytes, but for one that is the same everywhere."""
    for keys, part in _arms(seen):
        for metric in SEEING:
            if part[metric].notna().all():
                correlation = {"measure": metric + SEES, **over_seeds(part[metric]), "unit": "Spearman's rho"}
                yield {**keys, "truth": LAW, **correlation}


def _arms(table: pd.DataFrame, *more: str) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    for key, part in table.groupby([*ARM, *more], sort=False, dropna=False):
        yield dict(zip([*ARM, *more], key, strict=True)), part.sort_values("seed")


def at_harm(harm: pd.Series, caught: pd.Series, wanted: float) -> float:
    """What a method catches where it does as much harm as another one, between the settings that were tried.

    With none of its settings it does no harm and catches nothing.
    """
    order = np.argsort(harm.to_numpy())
    xs, ys = np.append(0.0, harm.to_numpy()[order]), np.append(0.0, caught.to_numpy()[order])
    return float(np.interp(wanted, xs, np.maximum.accumulate(ys)))


def seeing(impossible: str, nsmd: str, forced: str) -> dict[str, float]:
    """Rank correlations of a model's metrics against the law with the masses in a file of `trial`."""
    masses, of_law = read_table(impossible).to_pandas(), against_law(forced)
    others = {"tbat": masses, "nsmd": against_law(nsmd).rename(columns={"value": "nsmd"})}
    return correlations(masses, dict.fromkeys(SEEING, of_law) | others)


def against_law(path: str) -> pd.DataFrame:
    """Rows of a score file against the law."""
    scores = read_table(path).to_pandas()
    return scores[scores.truth == LAW]


def correlations(masses: pd.DataFrame, metrics: Mapping[str, pd.DataFrame]) -> dict[str, float]:
    """Spearman's rank correlation of each metric with the mass on impossible bytes; NaN where all its values are equal.

    `masses` has ``window``, ``position`` and ``impossible``; a metric, by name, has a column of that name; other
    positions are left out.
    """
    position = ["window", "position"]
    joined = masses[[*position, IMPOSSIBLE]]
    for name, values in metrics.items():
        joined = joined.merge(values[[*position, name]], on=position)
    ranks = joined.rank()
    return {name: float(ranks[name].corr(ranks[IMPOSSIBLE])) if ranks[name].std() else float("nan") for name in metrics}


def trial_page(table: pd.DataFrame) -> Page:
    """Page with sections for each law and length of text: of the model, of the nearest to the law, and of metrics."""
    sections: list[Section] = []
    for of, condition in CONDITIONS.items():
        trial = chosen(table[table.measure.isin(WORDS)], condition=condition)
        whose = "the model's distribution" if of == "model" else "the nearest to the law that the head can give"
        sections += _sections(trial, "On trial: {}, " + whose, _columns(trial))
    seen = {metric.upper(): metric + SEES for metric in SEEING}
    heading = "Which metrics see the mass on impossible bytes: {}"
    sections += _sections(table[table.measure.isin(seen.values())], heading, seen)
    return Page(TITLE, sections, legend(__file__, "bat_on_trial"))


def _sections(table: pd.DataFrame, heading: str, columns: Mapping[str, Any]) -> Iterator[Section]:
    decimals = {label: 4 if label.startswith(("mass", "harm")) else 3 for label in columns}
    for (law, sequences), part in table.assign(model=table.arm).groupby(["law", "sequences"]):
        yield Section(heading.format(f"{law}, {sequences:,} sequences"), pivot(part, ["model"], columns, decimals))


def _columns(trial: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Columns of the page, in the order of the rows."""
    keys = trial[["measure", "decoding"]].drop_duplicates().astype(object)
    rows = keys.where(keys.notna(), None).to_dict("records")
    return {WORDS[row["measure"]].format(row["decoding"]): row for row in rows}


if __name__ == "__main__":
    run(main)
