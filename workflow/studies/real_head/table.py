"""Table of what the head of a model in use forces, by text, truth and rank."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.forced.large import NEGLIGIBLE
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


def losses_rows(losses: pd.DataFrame, text: str, resamples: int, seed: int) -> Iterable[dict[str, Any]]:
    """Rows of the losses of the model, and of what each truth gains on it, at all positions of a text."""
    sums = {truth: _sums(own.document, own.loss) for truth, own in losses.groupby("truth", sort=False)}
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
        yield {**keys, "measure": measure, **_summary(_sums(values.document, values[measure]), resamples, seed)}
    yield {**keys, "measure": "gap", "value": values.gap.max(), "unit": "nats", "n": len(values)}
    yield {**keys, "measure": "raised", "value": values.raised.median(), "unit": "tokens", "n": len(values)}
    rare = values.given < RARE
    for name, part in (("share", values), ("share_rare", values[rare]), ("share_common", values[~rare])):
        if len(part):
            yield {**keys, "measure": name, **_ratio(part, part.forced, part.kl, resamples, seed)}
    nearest, whole = values.loss_model - values.loss_nearest, values.loss_model - values.loss_truth
    yield {**keys, "measure": "expressible", **_ratio(values, nearest, whole, resamples, seed)}
    for name, own in (("gain_there", whole), ("gain_nearest", nearest)):
        yield {**keys, "measure": name, **_summary(_sums(values.document, own), resamples, seed)}


def head_page(table: pd.DataFrame) -> Page:
    """Page with a section for each text: truths, then truncated heads."""
    sections = []
    for text, of_text in table.groupby("text", sort=False):
        own = of_text[of_text["rank"].isna()]
        sections.append(Section(f"Text `{text}`: the head as it is", pivot(own, ["truth"], COLUMNS)))
        narrow = of_text.dropna(subset="rank")
        if len(narrow):
            sections.append(Section(f"Text `{text}`: the head truncated", pivot(narrow, ["rank", "truth"], COLUMNS)))
        sections.append(Section(f"Text `{text}`: the model", pivot(own, ["truth"], {"loss (nats)": "loss"})))
    return Page(TITLE, sections, legend(__file__, "real_head", temperature=TEMPERATURE, rare=RARE))


def _sums(documents: pd.Series, values: pd.Series) -> WindowSums:
    sums = WindowSums()
    sums.add(documents.to_numpy(), values.to_numpy(np.float64))
    return sums


def _summary(sums: WindowSums, resamples: int, seed: int) -> dict[str, Any]:
    found = summarise(sums, resamples, seed)
    return {"value": found.mean, "sd": found.sd, "low": found.low, "high": found.high, "n": found.n, "unit": "nats"}


def _ratio(values: pd.DataFrame, part: pd.Series, whole: pd.Series, resamples: int, seed: int) -> dict[str, Any]:
    zero = _sums(values.document, pd.Series(np.zeros(len(values)), values.index))
    sums = (_sums(values.document, part), _sums(values.document, whole))
    share, low, high = share_of_difference(*sums, zero, resamples, seed)
    return {"value": share, "low": low, "high": high, "n": len(values), "unit": "share"}
