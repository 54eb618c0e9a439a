"""Table and figure of what the head of a model in use forces."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oversmoothing.forced.large import CLOSE, NEGLIGIBLE
from oversmoothing.jobs import Job, run
from oversmoothing.numerics.statistics import WindowSums, paired_difference, share_of_mean, summarise
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import PALETTE, legend, style, titled, whiskers, write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import Page, Section, pivot
from oversmoothing.tables.record import numbers, record
from oversmoothing.tables.story import legend as words_of
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
FORCED, REST = PALETTE[3], "0.78"
WORDS = {
    "neural": "text so far,\nby state",
    "ngram": "text so far,\nby n-gram",
    "neighbours": "other\ndocuments",
    "all": "all three",
    "shuffled": "all three, of\nanother text",
    "longer": "longer\ncontext",
    "flatter": "flatter",
}


def main(job: Job) -> None:
    """Read losses and what the head forces; write the table and the figure in all formats."""
    settings = job.params.settings
    drawn = settings["resamples"], settings["seed"]
    rows: list[dict[str, Any]] = []
    for path in map(Path, job.input.losses):
        rows += losses_rows(read_table(path).to_pandas(), path.stem, *drawn)
    for path in map(Path, job.input.forced):
        truth, _, rank = path.stem.partition("-rank")
        keys = {"text": path.parent.name, "truth": truth, "rank": int(rank) if rank else None}
        rows += forced_rows(read_table(path).to_pandas(), keys, *drawn)
    for path in map(Path, job.input.sphere):
        keys = {"text": path.parent.name, "truth": path.stem}
        rows += sphere_rows(read_table(path).to_pandas(), keys, *drawn)
    table = record(rows)
    write_record(job.output, table, head_page(table))
    write_figure(draw(table), [job.output.png, job.output.pdf, job.output.svg])


def losses_rows(losses: pd.DataFrame, text: str, resamples: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield rows of the losses of the model, and of what each truth gains on it, at all positions of a text."""
    sums = {truth: WindowSums.of(own.document, own.loss) for truth, own in losses.groupby("truth", sort=False)}
    for truth, own in sums.items():
        keys = {"text": text, "truth": truth, "unit": "nats"}
        if truth in (MODEL, SHORT):
            yield {**keys, "measure": "loss", **numbers(summarise(own, resamples, seed))}
        else:
            gain = paired_difference(sums[SHORT if truth == LONGER else MODEL], own, resamples, seed)
            found = {"value": gain.effect, "low": gain.low, "high": gain.high, "n": sum(own.count.values())}
            yield {**keys, "measure": "gain", **found}


def forced_rows(values: pd.DataFrame, keys: Mapping[str, Any], resamples: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield rows of what the head forces of one truth of a text, from `measure.ROWS`.

    It counts as 0 below `NEGLIGIBLE`.
    """
    forced, rare = values.forced.where(values.forced > NEGLIGIBLE, 0), values.given < RARE
    nearest, whole = values.loss_model - values.loss_nearest, values.loss_model - values.loss_truth
    means = {"kl": values.kl, "forced": forced, "gain_there": whole, "gain_nearest": nearest}
    shares = {"share": (forced, values.kl), "expressible": (nearest, whole)}
    shares |= {"share_rare": (forced[rare], values.kl[rare]), "share_common": (forced[~rare], values.kl[~rare])}
    yield from _rows(values.document, keys, means, shares, resamples, seed)
    yield {**keys, "measure": "gap", "value": values.gap.max(), "unit": "nats", "n": len(values)}
    yield {**keys, "measure": "raised", "value": values.raised.median(), "unit": "tokens", "n": len(values)}


def sphere_rows(values: pd.DataFrame, keys: Mapping[str, Any], resamples: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield rows of what norm and head force together of one truth of a text; `values` are those of `sphere.ROWS`.

    It lies between ``norm_least`` and ``norm_forced``, which agree up to `CLOSE` at a share ``norm_proved`` of them.
    """
    least = np.maximum(values.norm_forced - values.norm_gap, values.forced - values.gap)
    bounds = {"norm_head": values.forced, "norm_forced": values.norm_forced, "norm_least": least}
    bounds = {name: own.where(own > NEGLIGIBLE, 0) for name, own in bounds.items()}
    added = bounds["norm_forced"] - bounds["norm_head"]
    pairs = {"norm_share": (bounds["norm_forced"], values.kl), "norm_added": (added, bounds["norm_head"])}
    shares = {name: pair for name, pair in pairs.items() if pair[1].sum() > NEGLIGIBLE * len(values)}
    yield from _rows(values.document, keys, {"norm_kl": values.kl, **bounds}, shares, resamples, seed)
    positions = {"norm_proved": values.norm_forced - least <= CLOSE, "norm_outside": least > values.forced}
    for measure, there in positions.items():
        yield {**keys, "measure": measure, "value": there.mean(), "unit": "share of positions", "n": len(values)}


def _rows(
    documents: pd.Series,
    keys: Mapping[str, Any],
    means: Mapping[str, pd.Series],
    shares: Mapping[str, tuple[pd.Series, pd.Series]],
    resamples: int,
    seed: int,
) -> Iterator[dict[str, Any]]:
    """Yield rows of the means of values, and of shares, parts of wholes, with intervals over documents."""
    for measure, own in means.items():
        found = summarise(WindowSums.of(documents, own), resamples, seed)
        yield {**keys, "measure": measure, **numbers(found), "unit": "nats"}
    for measure, (part, whole) in shares.items():
        if len(part):
            of_part, of_whole = (WindowSums.of(documents[part.index], own) for own in (part, whole))
            share, low, high = share_of_mean(of_part, of_whole, resamples, seed)
            yield {
                **keys,
                "measure": measure,
                "value": share,
                "low": low,
                "high": high,
                "n": len(part),
                "unit": "share",
            }


def head_page(table: pd.DataFrame) -> Page:
    """Return the page with a section for each text: truths, then truncated heads."""
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
    return Page(TITLE, sections, words_of(__file__, "real_head", temperature=TEMPERATURE, rare=RARE, close=CLOSE))


def draw(table: pd.DataFrame) -> Figure:
    """Draw for each text, a row, KL with its forced part, and what a truth saves of the loss, by truth."""
    own = table[table["rank"].isna()]
    texts = list(own.text.unique())
    with style():
        figure = Figure(figsize=(11, 1.2 + 3.1 * len(texts)))
        axes = figure.subplots(len(texts), 2, squeeze=False)
        for (left, right), text in zip(axes, texts, strict=True):
            of_text = own[own.text == text]
            _divergence(left, of_text)
            _gains(right, of_text)
            left.set_title(f"KL from the truth, and the part forced: {text}", loc="left", fontsize="medium")
            right.set_title(f"Loss saved on the text itself: {text}", loc="left", fontsize="medium")
        titled(
            figure,
            "What can the head of a model in use not say?",
            "Truths that predict the text: the model mixed with memories.",
        )
        entries = [handle for axis in axes[0] for handle in axis.get_legend_handles_labels()[0]]
        legend(figure, entries, columns=3)
    return figure


def _divergence(axes: Axes, rows: pd.DataFrame) -> None:
    forced_look: dict[str, Any] = {"color": FORCED, "hatch": "//", "edgecolor": "white"}
    for place, truth in enumerate(WORDS):
        kl, forced, share = (_one(rows, truth, measure) for measure in ("kl", "forced", "share"))
        axes.bar(place, kl.value, color=REST, label=None if place else "the rest: its head could say it")
        axes.bar(place, forced.value, **forced_look, label=None if place else "forced by the head")
        axes.errorbar(place, kl.value, whiskers(kl), color="black", linewidth=1.2, capsize=3)
        words = "0 %" if forced.value < 1e-6 else f"{100 * share.value:.0f} %"
        axes.annotate(words, (place, kl.high), (0, 3), textcoords="offset points", ha="center", fontsize="small")
    _finish(axes, "nats a token")


def _gains(axes: Axes, rows: pd.DataFrame) -> None:
    for place, truth in enumerate(WORDS):
        for shift, measure, colour, label in (
            (-0.2, "gain", "0.25", "saved by the truth, at all positions"),
            (0.05, "gain_there", "0.55", "the same where the head was measured"),
            (0.25, "gain_nearest", FORCED, "there, by the nearest distribution of the head"),
        ):
            one = _one(rows, truth, measure)
            look: dict[str, Any] = {"fmt": "o", "color": colour, "markersize": 5, "label": None if place else label}
            axes.errorbar(place + shift, one.value, whiskers(one), **look)
    axes.axhline(0, color="0.6", linewidth=0.8)
    _finish(axes, "nats a token, higher is better")


def _finish(axes: Axes, unit: str) -> None:
    axes.set_xticks(range(len(WORDS)), list(WORDS.values()), fontsize="x-small")
    axes.set_ylabel(unit)
    axes.grid(axis="y")


def _one(rows: pd.DataFrame, truth: str, measure: str) -> pd.Series:
    return rows[(rows.truth == truth) & (rows.measure == measure)].iloc[0]


if __name__ == "__main__":
    run(main)
