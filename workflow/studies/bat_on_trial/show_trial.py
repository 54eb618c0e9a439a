"""Table of what BAT and other truncations reject of bytes that a law gives nothing, and which metrics see these."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.contrasts import means
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import Page, Section, pivot
from oversmoothing.tables.record import chosen, record
from oversmoothing.tables.story import legend
from studies.bat_on_trial.rivals import BAT
from studies.known_law.laws import LAW
from studies.known_law.table import ARM, named

TITLE = "What BAT and other truncations reject of bytes that a law gives nothing."
IMPOSSIBLE, CAUGHT, HARM = "impossible", "caught", "harm"
CONDITIONS = {"model": None, "nearest": "free"}
WHOSE = {None: "the model's distribution", "free": "the nearest to the law that the head can give"}
WORDS = {IMPOSSIBLE: "mass on impossible bytes", HARM: "harm of {}", CAUGHT: "caught by {}"}
UNITS = {IMPOSSIBLE: "probability", HARM: "probability", CAUGHT: "share"}
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
    sees = seen.merge(known, on=keys).melt([*ARM, "seed"], list(SEEING), var_name="measure")
    sees = sees.assign(measure=sees.measure + SEES)
    table = record(means(pd.DataFrame(_trial(trials.merge(known, on=keys))), sees))
    return table.assign(
        truth=LAW,
        unit=table.measure.map(UNITS).fillna("Spearman's rho"),
        better=pd.Series("higher", table.index).where(table.measure == CAUGHT),
    )


def _trial(trials: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield, of each model, the mass on impossible bytes, and what BAT and its rivals at equal harm catch of it."""
    keys = [*ARM, "of", "seed"]
    sums = trials.groupby([*keys, "method", "parameter"], as_index=False, dropna=False)[["n", *UNITS]].sum()
    shares = sums.assign(caught=sums.caught / sums.impossible, harm=sums.harm / sums.n)
    for key, part in shares.groupby(keys, sort=False, dropna=False):
        known = dict(zip(keys, key, strict=True))
        known["condition"] = CONDITIONS[known.pop("of")]
        (bat,) = part[part.method == BAT].itertuples()
        decoding = f"bat {bat.parameter:g}"
        yield {**known, "measure": IMPOSSIBLE, "decoding": None, "value": bat.impossible / bat.n}
        yield {**known, "measure": HARM, "decoding": decoding, "value": bat.harm}
        yield {**known, "measure": CAUGHT, "decoding": decoding, "value": bat.caught}
        for rival, curve in part[part.method != BAT].groupby("method"):
            value = at_harm(curve.harm, curve.caught, bat.harm)
            yield {**known, "measure": CAUGHT, "decoding": rival, "value": value}


def at_harm(harm: pd.Series, caught: pd.Series, wanted: float) -> float:
    """What a method catches where it does as much harm as another, between the settings tried, and none at no harm."""
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
    """Spearman's rank correlation of each metric with the mass on impossible bytes; NaN where one never varies."""
    position = ["window", "position"]
    joined = masses[[*position, IMPOSSIBLE]]
    for name, values in metrics.items():
        joined = joined.merge(values[[*position, name]], on=position)
    ranks = joined.rank()
    return {name: float(ranks[name].corr(ranks[IMPOSSIBLE])) if ranks[name].std() else float("nan") for name in metrics}


def trial_page(table: pd.DataFrame) -> Page:
    """Page with sections for each law and length of text: of the model, of the nearest to the law, and of metrics."""
    sections: list[Section] = []
    for condition, whose in WHOSE.items():
        trial = chosen(table[table.measure.isin(WORDS)], condition=condition)
        rows = trial.drop_duplicates(["measure", "decoding"]).fillna({"decoding": ""})
        columns = {
            WORDS[measure].format(decoding): {"measure": measure, "decoding": decoding or None}
            for measure, decoding in zip(rows.measure, rows.decoding, strict=True)
        }
        sections += _sections(trial, "On trial: {}, " + whose, columns)
    seen = {metric.upper(): metric + SEES for metric in SEEING}
    heading = "Which metrics see the mass on impossible bytes: {}"
    sections += _sections(table[table.measure.isin(seen.values())], heading, seen)
    return Page(TITLE, sections, legend(__file__, "bat_on_trial"))


def _sections(table: pd.DataFrame, heading: str, columns: Mapping[str, Any]) -> Iterator[Section]:
    decimals = {label: 4 if label.startswith(("mass", "harm")) else 3 for label in columns}
    for (law, sequences), part in table.assign(model=table.arm).groupby(["law", "sequences"]):
        yield Section(heading.format(f"{law}, {sequences:,} sequences"), pivot(part, ["model"], columns, decimals))


if __name__ == "__main__":
    run(main)
