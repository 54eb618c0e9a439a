"""The fitted law of training histories, and every loss beside the law's prediction (Hoffmann et al. 2022)."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from oversmoothing.jobs import Job, UserError, run
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from studies.saturation.histories import read_history, study_history
from studies.saturation.law import ALPHAS, EXPONENTS, ORDER, Law, estimable, fit, sizes

SPARE = 2  # points beyond the numbers to fit
LEVELS = (0.025, 0.975)
NOTHING = 1e-4  # of the lowest loss: a smaller term counts as 0
LAW = pa.schema(
    [
        ("parameter", pa.string()),  # A, alpha, B, beta, E
        ("value", pa.float64()),  # null where it is not determined
        ("low", pa.float64()),  # 95 % interval
        ("high", pa.float64()),
        ("note", pa.string()),
    ]
)
POINTS = pa.schema(
    [
        ("model", pa.string()),
        ("parameters", pa.int64()),  # N
        ("unit", pa.string()),  # of seen: bytes, tokens
        ("seen", pa.float64()),  # T
        ("loss", pa.float64()),
        ("fitted", pa.bool_()),  # whether the law is fitted to this model
        ("compared", pa.bool_()),  # whether the point is late enough for the law
        ("extrapolated", pa.float64()),  # null where nothing is fitted, or the point is too early
        ("low", pa.float64()),  # 95 % band of such losses
        ("high", pa.float64()),
    ]
)
ONE = "A / N^alpha + E in one: the fitted models are of one size N"
UNDETERMINED = {  # what so many sizes of models leave open
    1: dict.fromkeys(("A", "alpha"), "undetermined by one size N: it is in E"),
    2: dict.fromkeys(("A", "alpha", "E"), "undetermined by two sizes N: any alpha fits them"),
}


def main(job: Job) -> None:
    """Read the histories of the models trained here and of the user; write the law and the points."""
    settings, given = job.params.settings, job.input
    histories = [
        study_history(name, history, weights, f"{settings['unit']}s")
        for name, history, weights in zip(settings["study"], given.histories, given.weights, strict=True)
    ]
    histories += [
        read_history(entry["name"], path, entry["parameters"])
        for entry, path in zip(settings["histories"], given.others, strict=True)
    ]
    how = (settings[key] for key in ("fitted", "skip", "resamples", "seed"))
    for path, table in zip((job.output.law, job.output.points), fit_and_extrapolate(histories, *how), strict=True):
        write_table(path, table, provenance(settings))


def fit_and_extrapolate(
    histories: Sequence[pd.DataFrame], fitted: Collection[str], skip: float, resamples: int, seed: int
) -> tuple[pa.Table, pa.Table]:
    """Fit the law to the histories named in `fitted` and compare all of them with it.

    The initial share `skip` of each training is left out, because a warm-up follows no power law. Two tables are
    returned, with schemas `LAW` and `POINTS`; if there are too few points, the first has no values and its note says
    so. A `UserError` is raised if the histories count different units of text.
    """
    points = pd.concat(histories, ignore_index=True)
    if (others := points[points.unit != points.unit[0]]).size:
        raise UserError(
            f"saturation.histories: {others.model.iloc[0]} counts {others.unit.iloc[0]}, {points.model[0]} "
            f"{points.unit[0]}; losses per byte and per token cannot be fitted together. Use the same column in all; "
            "models trained here count what they read, and saturation.study: false leaves them out"
        )
    compared = points.seen >= skip * points.groupby("model").seen.transform("max")
    points = points.assign(
        fitted=points.model.isin(fitted), compared=compared, extrapolated=np.nan, low=np.nan, high=np.nan
    )
    late = points[points.compared]
    used = late[late.fitted]
    parameters, seen, losses = (used[name].to_numpy(np.float64) for name in ("parameters", "seen", "loss"))
    if why := _too_few(parameters):
        law: list[dict[str, Any]] = [{"parameter": name, "note": why} for name in ORDER]
    else:
        lengths = used.groupby("model", sort=False).size().tolist()
        best, draws, residuals = resample(parameters, seen, np.log(losses), lengths, resamples, seed)
        for _, own in late.groupby("model", sort=False):
            size, at = own.parameters.to_numpy(np.float64), own.seen.to_numpy()
            said = [np.exp(best.log_loss(size, at)), *band(draws, residuals, float(size[0]), at, seed)]
            points.loc[own.index, ["extrapolated", "low", "high"]] = np.stack(said, axis=1)
        law = list(_coefficients(best, draws, sizes(parameters), float(losses.min())))
    return pa.Table.from_pylist(law, LAW), pa.Table.from_pandas(points, POINTS, preserve_index=False)


def _too_few(parameters: np.ndarray) -> str | None:
    """Return why there is no fit; None if there is one."""
    if not len(parameters):
        return "no fit: none of the models is to be fitted; name some in saturation.fitted"
    needed = len(estimable(parameters)) + SPARE
    if len(parameters) < needed:
        return f"no fit: {len(parameters)} losses are too few, it takes {needed}; evaluate more often"
    return None


def _coefficients(law: Law, draws: Sequence[Law], count: int, lowest: float) -> Iterator[dict[str, Any]]:
    """Yield a row of `LAW` for each coefficient, fitted to models of so many sizes whose lowest loss is `lowest`."""
    for name, value in law.values.items():
        if why := UNDETERMINED.get(count, {}).get(name):
            yield {"parameter": name, "note": why}
            continue
        low, high = np.quantile([draw.values[name] for draw in draws], LEVELS).tolist()
        notes = [ONE if count == 1 and name == "E" else "", _edge(law, name, lowest)]
        yield {"parameter": name, "value": value, "low": low, "high": high, "note": "; ".join(filter(None, notes))}


def _edge(law: Law, name: str, lowest: float) -> str:
    """Return a note if a coefficient lies at the edge of its range."""
    value = law.values[name]
    if name in ("alpha", "beta"):
        outside = not EXPONENTS[0] * 1.01 < value < EXPONENTS[1] * 0.99
        return f"at the edge of what is looked at, {EXPONENTS[0]} to {EXPONENTS[1]:g}" if outside else ""
    return "cannot be distinguished from 0" if np.exp(law.at[name]) < NOTHING * lowest else ""


def resample(
    parameters: np.ndarray, seen: np.ndarray, log_losses: np.ndarray, lengths: Sequence[int], resamples: int, seed: int
) -> tuple[Law, list[Law], np.ndarray]:
    """Fit the law to histories, and again to each bootstrap draw of them; return both, and the residuals of log L.

    The points, shape (n,), are of all histories, of these `lengths`. With two sizes of model, which leave alpha
    undetermined, each draw takes another alpha. The residuals are inflated by sqrt(n / (n - k)) for k coefficients.
    """
    law = fit(parameters, seen, log_losses)
    fitted = law.log_loss(parameters, seen)
    residuals = (log_losses - fitted) * np.sqrt(len(fitted) / (len(fitted) - len(estimable(parameters))))
    random = np.random.default_rng(seed)
    draws = []
    for _ in range(resamples):
        drawn = fitted + moving_blocks(residuals, lengths, random)
        draws.append(fit(parameters, seen, drawn, alpha=random.uniform(*ALPHAS), start=law))
    return law, draws, residuals


def moving_blocks(residuals: np.ndarray, lengths: Sequence[int], random: np.random.Generator) -> np.ndarray:
    """Resample residuals within each history, in circular blocks as long as the cube root of their number.

    A block that reaches the end continues at the beginning, so that all residuals are drawn equally often.
    """
    drawn = []
    for of_history in np.split(residuals, np.cumsum(lengths)[:-1]):
        n = len(of_history)
        run = int(np.ceil(n ** (1 / 3)))
        first = random.integers(0, n, size=-(-n // run))
        places = (first[:, None] + np.arange(run)).ravel()[:n] % n
        drawn.append(of_history[places])
    return np.concatenate(drawn)


def band(
    draws: Sequence[Law], residuals: np.ndarray, parameters: float, seen: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the 95 % band, low and high, of the losses at T = `seen` of a model of size N that follows the law.

    A residual is added to each draw at each T: the band is of losses, not of their mean.
    """
    size = np.full_like(seen, parameters, dtype=np.float64)
    curves = np.array([draw.log_loss(size, seen) for draw in draws])
    scatter = np.random.default_rng(seed).choice(residuals, size=curves.shape)
    low, high = np.exp(np.quantile(curves + scatter, LEVELS, axis=0))
    return low, high


if __name__ == "__main__":
    run(main)
