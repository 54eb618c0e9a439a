"""Figure 1.1: oversmoothing, illustrated by the two models of the family that oversmooth most and least."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oversmoothing.data.tokens.vocabulary import BYTES, read_vocabulary
from oversmoothing.jobs import Job, run
from oversmoothing.tables.figures.style import RIGHT, WRONG, style, titled, write_figure
from oversmoothing.tables.page import label
from oversmoothing.tables.record import read_record
from oversmoothing.tables.visible_bytes import visible
from studies.next_byte.prompts import read_prompts
from studies.next_byte.table import completion, read_distributions

SHOWN = 8  # completions with a bar of their own; the others share one
LONGEST = 60  # bytes of the prompt in the title
OTHERS = "all others"
EXPLAINED = "Probability on other {unit}s is oversmoothing where they should have none.{which}"
WHICH = " Of the models, A does it most and B least over all text (mean TTO)."


def main(job: Job) -> None:
    """Read the first prompt, the family's logits and the table of oversmoothing; write the figure."""
    prompt, target = read_prompts(job.input.windows)[0]
    p = read_distributions({Path(path).stem: path for path in job.input.logits})[0]
    models = {model["model"]: model for model in job.params.settings["models"]}
    chosen = [models[name] for name in extremes(read_record(job.input.table), list(models))]
    texts = read_vocabulary(job.input.vocabulary).texts
    write_figure(draw(p, chosen, prompt, target, texts, job.params.settings["unit"]), job.output)


def extremes(table: pd.DataFrame, models: Sequence[str]) -> list[str]:
    """Return the models that oversmooth most and least, by mean TTO over all windows and truths; one model alone."""
    tto = table[(table.measure == "tto") & table.model.isin(models)]
    means = tto.groupby("model", sort=False).value.mean()
    return list(dict.fromkeys([means.idxmax(), means.idxmin()]))


def draw(
    p: pd.DataFrame,
    models: Sequence[Mapping[str, Any]],
    prompt: bytes,
    target: int,
    texts: Sequence[bytes] = BYTES.texts,
    unit: str = "byte",
) -> Figure:
    """Draw how one or two models complete a word, the one that oversmooths most first.

    `p`, shape (v, models), holds one distribution per column, by ``byte``; `texts` are those of each byte or token.
    """
    p = p[[model["model"] for model in models]]
    falling = p.mean(axis=1).sort_values(ascending=False, kind="stable").index
    shown = [target, *(int(byte) for byte in falling if byte != target)][:SHOWN]
    shares = pd.concat([p.loc[shown], p.drop(shown).sum().to_frame(OTHERS).T])
    names = [completion(prompt, texts[byte]) for byte in shown] + [OTHERS]
    with style():
        figure = Figure(figsize=(6.6, 0.9 + 2.2 * len(models)))
        panels = figure.subplots(len(models), 1, sharex=True, squeeze=False).ravel()
        called = ["Model A, ", "Model B, "] if len(models) > 1 else [""]
        for axes, model, name in zip(panels, models, called, strict=True):
            of_model = shares[model["model"]].to_numpy()
            _bars(axes, of_model, names)
            wrong = f"{100 * of_model[1:].sum():.0f} % of its probability on other {unit}s"
            axes.set_title(f"{name}{label(model)}: {wrong}", size="medium", parse_math=False)
        panels[0].set_xlim(0, 1.25 * shares.to_numpy().max())
        text = visible(prompt) if len(prompt) <= LONGEST else f"… {visible(prompt[-LONGEST:])}"
        who = "do two models" if len(models) > 1 else "does the model"
        question = f"“{text}” continues with {completion(b'', texts[target])}. What {who} predict?"
        titled(figure, question, EXPLAINED.format(unit=unit, which=WHICH if len(models) > 1 else ""))
    return figure


def _bars(axes: Axes, shares: np.ndarray, names: Sequence[str]) -> None:
    place = list(range(len(shares)))
    axes.barh(place[:1], shares[:1], height=0.75, linewidth=0, **RIGHT)
    axes.barh(place[1:], shares[1:], height=0.75, linewidth=0, **WRONG)
    for y, share in zip(place, shares, strict=True):
        axes.text(share, y, f" {100 * share:.1f} %", va="center", fontsize=9)
    axes.set_yticks(place, names, parse_math=False)
    axes.get_yticklabels()[0].set(color=RIGHT["facecolor"], weight="bold")
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)


if __name__ == "__main__":
    run(main)
