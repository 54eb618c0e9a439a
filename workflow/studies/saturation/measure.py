"""The fitted law of training histories, and every loss beside the law's prediction (Hoffmann et al. 2022)."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from studies.saturation.histories import History, one_unit, read_history, study_history
from studies.saturation.law import ALPHAS, EXPONENTS, ORDER, Law, estimable, fit, sizes

SPARE = 2  # points beyond the numbers to fit
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
    law, points = fit_and_extrapolate(
        histories, settings["fitted"], settings["skip"], settings["resamples"], settings["seed"]
    )
    made_by = provenance(settings)
    write_table(job.output.law, law, made_by)
    write_table(job.output.points, points, made_by)


def fit_and_extrapolate(
    histories: Sequence[History], fitted: Collection[str], skip: float, resamples: int, seed: int
) -> tuple[pa.Table, pa.Table]:
    """Fit the law to the histories named in `fitted` and compare all of them with it.

    The initial share `skip` of each training is left out, because a warm-up follows no power law. Two tables are
    returned, with schemas `LAW` and `POINTS`; if there are too few points, the first has no values and its note says
    so. A `UserError` is raised if the histories count different units of text.
    """
    points = _points(histories, fitted, skip)
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


def _points(histories: Sequence[History], fitted: Collection[str], skip: float) -> pd.DataFrame:
    """Return all losses with the columns of `POINTS`, of which the law has said nothing yet."""
    unit = one_unit(histories)
    points = pd.concat(
        [
            pd.DataFrame({"model": one.name, "parameters": one.parameters, "seen": one.seen, "loss": one.losses})
            for one in histories
        ],
        ignore_index=True,
    )
    late = points.seen >= skip * points.groupby("model").seen.transform("max")
    named = points.assign(unit=unit, fitted=points.model.isin(fitted), compared=late)
    return named.assign(**dict.fromkeys(("extrapolated", "low", "high"), np.nan))


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
        low, high = interval_of_values(draws, name)
        notes = [ONE if count == 1 and name == "E" else "", _edge(law, name, lowest)]
        yield {"parameter": name, "value": value, "low": low, "high": high, "note": "; ".join(filter(None, notes))}


def _edge(law: Law, name: str, lowest: float) -> str:
    """Return a note if a coefficient lies at the edge of its range."""
    value = law.values[name]
    if name in ("alpha", "beta"):
        outside = not EXPONENTS[0] * 1.01 < value < EXPONENTS[1] * 0.99
        return f"at the edge of what is looked at, {EXPONENTS[0]} to {EXPONENTS[1]:g}" if outside else ""
    term = {"A": law.size, "B": law.text, "E": law.floor}[name]
    return "cannot be distinguished from 0" if np.exp(term) < NOTHING * lowest else ""


LEVELS = (0.025, 0.975)


def resample(
    parameters: np.ndarray, seen: np.ndarray, log_losses: np.ndarray, lengths: Sequence[int], resamples: int, seed: int
) -> tuple[Law, list[Law], np.ndarray]:
    """Fit the law to histories, and again to each bootstrap draw of them.

    Parameters
    ----------
    parameters, seen, log_losses : float arrays, shape (n,)
        Points of all histories concatenated, each in order of T.
    lengths : sequence of int
        Number of points of each history.
    resamples, seed : int
        Number of draws, and their seed. With two sizes of model, which leave alpha undetermined, each draw takes
        another alpha.

    Returns
    -------
    law : Law
    draws : list of Law
    residuals : float array, shape (n,)
        Of log L, inflated by sqrt(n / (n - k)) for the k < n fitted coefficients.
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


def interval_of_values(draws: Sequence[Law], name: str) -> tuple[float, float]:
    """Return the 95 % interval of A, alpha, B, beta or E."""
    low, high = np.quantile([draw.values[name] for draw in draws], LEVELS)
    return float(low), float(high)


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
