"""Table of what the head of a model in use forces, by text, truth and rank."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.forced.large import CLOSE, NEGLIGIBLE
from oversmoothing.numerics.statistics import WindowSums, paired_difference, share_of_difference, summarise
from oversmoothing.tables.page import Page, Section, pivot
from oversmoothing.tables.story import legend
from studies.real_head.names import LONGER, MODEL, SHORT
from studies.real_head.truths import TEMPERATURE

TITLE = "What the head of a model in use cannot say of truths that predict its text better."
RARE = 0.01  # probability that the model gives the token that the truth raises most
COLUMNS = {
    "KL (nats)": "kl",
    "forced (nats)": "forced",
    "share forced": "share",
    "gain (nats)": "gain",
    "expressible": "expressible",
    "rare": "share_rare",
    "common": "share_common",
    "raised": "raised",
}
WITH_NORM = {
    "KL (nats)": "norm_kl",
    "the head forces (nats)": "norm_head",
    "norm and head, at most (nats)": "norm_forced",
    "at least (nats)": "norm_least",
    "share of KL, at most": "norm_share",
    "added": "norm_added",
    "proved": "norm_proved",
    "outside": "norm_outside",
}
DECIMALS = {label: 4 if "nats" in label else 3 for label in WITH_NORM}  # the norm adds little


def losses_rows(losses: pd.DataFrame, text: str, resamples: int, seed: int) -> Iterable[dict[str, Any]]:
    """Rows of the losses of the model, and of what each truth gains on it, at all positions of a text."""
    sums = {truth: WindowSums.of(own.document, own.loss) for truth, own in losses.groupby("truth", sort=False)}
    for name in (MODEL, SHORT):
        yield {"text": text, "truth": name, "measure": "loss", **_summary(sums[name], resamples, seed)}
    for truth, own in sums.items():
        if truth not in (MODEL, SHORT):
            base = sums[SHORT if truth == LONGER else MODEL]
            gain = paired_difference(base, own, resamples, seed)
            found = {"value": gain.effect, "low": gain.low, "high": gain.high, "n": sum(own.count.values())}
            yield {"text": text, "truth": truth, "measure": "gain", "unit": "nats", **found}


def forced_rows(values: pd.DataFrame, keys: Mapping[str, Any], resamples: int, seed: int) -> Iterable[dict[str, Any]]:
    """Rows of what the head forces of one truth of a text; `values` are those of `measure.ROWS`.

    What is forced counts as 0 below `NEGLIGIBLE`, to which the projection is exact.
    """
    values = values.assign(forced=values.forced.where(values.forced > NEGLIGIBLE, 0))
    for measure in ("kl", "forced"):
        yield {**keys, "measure": measure, **_summary(WindowSums.of(values.document, values[measure]), resamples, seed)}
    yield {**keys, "measure": "gap", "value": values.gap.max(), "unit": "nats", "n": len(values)}
    yield {**keys, "measure": "raised", "value": values.raised.median(), "unit": "tokens", "n": len(values)}
    rare = values.given < RARE
    for name, part in (("share", values), ("share_rare", values[rare]), ("share_common", values[~rare])):
        if len(part):
            yield {**keys, "measure": name, **_ratio(part, part.forced, part.kl, resamples, seed)}
    nearest, whole = values.loss_model - values.loss_nearest, values.loss_model - values.loss_truth
    yield {**keys, "measure": "expressible", **_ratio(values, nearest, whole, resamples, seed)}
    for name, own in (("gain_there", whole), ("gain_nearest", nearest)):
        yield {**keys, "measure": name, **_summary(WindowSums.of(values.document, own), resamples, seed)}


def sphere_rows(values: pd.DataFrame, keys: Mapping[str, Any], resamples: int, seed: int) -> Iterable[dict[str, Any]]:
    """Rows of what norm and head force together of one truth of a text; `values` are those of `sphere.ROWS`.

    It lies between ``norm_least`` and ``norm_forced``, and ``norm_head`` is what the head forces at the same positions.
    ``norm_proved`` is the share of positions where both bounds agree up to `CLOSE`, and ``norm_outside`` of those where
    the lower one proves that the norm adds something: what is nearest without it lies outside its sphere. What is
    forced counts as 0 below `NEGLIGIBLE`.
    """
    least = np.maximum(values.norm_forced - values.norm_gap, values.forced - values.gap)
    bounds = {"norm_head": values.forced, "norm_forced": values.norm_forced, "norm_least": least}
    bounds = {name: own.where(own > NEGLIGIBLE, 0) for name, own in bounds.items()}
    for measure, own in {"norm_kl": values.kl, **bounds}.items():
        yield {**keys, "measure": measure, **_summary(WindowSums.of(values.document, own), resamples, seed)}
    added = bounds["norm_forced"] - bounds["norm_head"]
    yield {**keys, "measure": "norm_adds", **_summary(WindowSums.of(values.document, added), resamples, seed)}
    shares = {"norm_share": (bounds["norm_forced"], values.kl), "norm_added": (added, bounds["norm_head"])}
    for measure, (part, whole) in shares.items():
        if whole.sum() > NEGLIGIBLE * len(values):
            yield {**keys, "measure": measure, **_ratio(values, part, whole, resamples, seed)}
    of_positions = {"unit": "share of positions", "n": len(values)}
    proved, outside = (values.norm_forced - least <= CLOSE).mean(), (least > values.forced).mean()
    yield {**keys, "measure": "norm_proved", "value": float(proved), **of_positions}
    yield {**keys, "measure": "norm_outside", "value": float(outside), **of_positions}


def head_page(table: pd.DataFrame) -> Page:
    """Page with a section for each text: truths, then truncated heads."""
    sections = []
    for text, of_text in table.groupby("text", sort=False):
        own = of_text[of_text["rank"].isna()]
        sections.append(Section(f"Text `{text}`: the head as it is", pivot(own, ["truth"], COLUMNS)))
        behind = own[own.measure.isin(WITH_NORM.values())]
        if len(behind):
            rows = pivot(behind, ["truth"], WITH_NORM, DECIMALS)
            sections.append(Section(f"Text `{text}`: the norm and the head", rows))
        narrow = of_text.dropna(subset="rank")
        if len(narrow):
            sections.append(Section(f"Text `{text}`: the head truncated", pivot(narrow, ["rank", "truth"], COLUMNS)))
        sections.append(Section(f"Text `{text}`: the model", pivot(own, ["truth"], {"loss (nats)": "loss"})))
    return Page(TITLE, sections, legend(__file__, "real_head", temperature=TEMPERATURE, rare=RARE, close=CLOSE))


def _summary(sums: WindowSums, resamples: int, seed: int) -> dict[str, Any]:
    found = summarise(sums, resamples, seed)
    return {"value": found.mean, "sd": found.sd, "low": found.low, "high": found.high, "n": found.n, "unit": "nats"}


def _ratio(values: pd.DataFrame, part: pd.Series, whole: pd.Series, resamples: int, seed: int) -> dict[str, Any]:
    of_part, of_whole, zero = (WindowSums.of(values.document, own) for own in (part, whole, np.zeros(len(values))))
    share, low, high = share_of_difference(of_part, of_whole, zero, resamples, seed)
    return {"value": share, "low": low, "high": high, "n": len(values), "unit": "share"}
