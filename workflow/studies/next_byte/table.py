"""Each model's prediction of the byte after a prompt, side by side: the table, and Figures 4.1 and 7.1 of the thesis.

Distributions and scores are those of the showcase windows; nothing is measured here.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.logit_files import logits_column
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.class_names import BYTES, Names, names_of
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import Cell, Page, Section, Value, directions, label, labelled, literal
from oversmoothing.tables.published import listed
from oversmoothing.tables.record import facts, read_record, record
from oversmoothing.tables.story import legend
from oversmoothing.tables.visible_bytes import OPEN_BOX, last_word, visible
from studies.next_byte.figure import draw
from studies.next_byte.prompts import read_prompts

TITLE = "The {unit} after a prompt, by model (beside Figures 4.1 and 7.1)."
FORMATS = 3  # of a figure
DECODING = "pure"
RIGHT, TOP = "p_next", "p_top"


def main(job: Job) -> None:
    """Read the prompts, the models' logits and their scores; write the table and the figures in all formats."""
    settings = job.params.settings
    names, prompts = settings["names"], read_prompts(job.input.windows)
    p = read_distributions({Path(path).stem: path for path in job.input.logits})
    scores = {(Path(path).parent.name, Path(path).stem): read_scores(path) for path in job.input.scores}
    classes = names_of(job.input.vocabulary)
    table = next_byte_table(names, [target for _, target in prompts], p, scores, settings["models"], classes)
    page = next_byte_page(table, TITLE.format(unit=classes.unit), [text for text, _ in prompts], classes)
    write_record(job.output, table, page)
    table = read_record(job.output.csv)  # to print the numbers that are written
    metrics = [name for name in METRICS if (table.measure == name).any()]
    for shown, paths in zip(settings["figures"], (job.output.family, job.output.truncated), strict=False):
        for i, (name, (prompt, target)) in enumerate(zip(names, prompts, strict=True)):
            of_prompt = by_model(table[table.prompt == name])[metrics]
            figure = draw(p[i], shown["models"], of_prompt, prompt, target, shown["title"], classes)
            write_figure(figure, paths[FORMATS * i : FORMATS * (i + 1)])


def read_distributions(logits: Mapping[str, str | Path]) -> list[pd.DataFrame]:
    """Return distributions of the byte after each prompt, shape (v, models), one per prompt.

    The index is ``byte``, and the columns are models. A `UserError` is raised if a file is missing or damaged, or has
    other prompts than the first.
    """
    held = {model: logits_column(path) for model, path in logits.items()}
    tables = {model: read_table(path, ["window", "target", held[model][0]]) for model, path in logits.items()}
    first = next(iter(tables.values()))
    for model, table in tables.items():
        if not table.select(["window", "target"]).equals(first.select(["window", "target"])):
            raise UserError(f"{logits[model]}: of other prompts than {next(iter(logits.values()))}; run again")
    p = {model: softmax(logits_of(tables[model][name].combine_chunks())) for model, (name, logits_of) in held.items()}
    return [
        pd.DataFrame({model: of_model[window] for model, of_model in p.items()}).rename_axis("byte")
        for window in range(len(first))
    ]


def read_scores(path: str | Path) -> pd.Series:
    """Return scores under pure sampling by window, averaged over the truths if the metric needs any."""
    table = read_table(path, ["window", "decoding", "value"])
    pure = table.filter(pc.equal(table["decoding"].cast(pa.string()), DECODING)).to_pandas()
    return pure.groupby("window").value.mean()


def next_byte_table(
    names: Sequence[str],
    targets: Sequence[int],
    distributions: Sequence[pd.DataFrame],
    scores: Mapping[tuple[str, str], pd.Series],
    models: Sequence[Mapping[str, Any]],
    classes: Names = BYTES,
) -> pd.DataFrame:
    """Return the record of the correct byte or token after each prompt, and of the scores, by model.

    Of each byte or token it has the probability and the place.

    `distributions` are as `read_distributions` returns them; `scores` as `read_scores` does, by metric and model,
    without those that a model lacks. Measures of each prompt and model are ``p_next``, the probability of the correct
    byte, whose name is in ``note``; its ``place``, 1 if no byte is more probable; ``p_top``, that of the most probable
    byte, which is in ``note``; and the metrics.
    """
    metrics = [metric for metric in METRICS if any(metric == known for known, _ in scores)]
    rows = []
    for window, (name, target, p) in enumerate(zip(names, targets, distributions, strict=True)):
        for model in models:
            q = p[model["model"]].to_numpy()
            top = int(q.argmax())
            keys = {**facts(model), "prompt": name, "decoding": DECODING}
            rows += [
                {**keys, "measure": RIGHT, "value": q[target], "unit": "probability", "note": classes.name(target)},
                {**keys, "measure": "place", "value": 1 + int((q > q[target]).sum())},
                {**keys, "measure": TOP, "value": q[top], "unit": "probability", "note": classes.name(top)},
            ]
            for metric in metrics:
                if (values := scores.get((metric, model["model"]))) is not None:
                    described = {"unit": METRICS[metric].unit, "better": METRICS[metric].better}
                    rows.append({**keys, "measure": metric, "value": values[window], **described})
    return record(rows)


def by_model(part: pd.DataFrame) -> pd.DataFrame:
    """Return values of a prompt, a row per model and a column per measure, in the order of the table."""
    return part.pivot(index="model", columns="measure", values="value").reindex(part.model.unique())


def next_byte_page(table: pd.DataFrame, title: str, prompts: Sequence[bytes], classes: Names = BYTES) -> Page:
    """Return the page with a section per prompt and a row per model."""
    unit = classes.unit
    sections = []
    for prompt, (_, part) in zip(prompts, table.groupby("prompt", sort=False), strict=True):
        right = part.note[part.measure == RIGHT].iloc[0]
        sections.append(Section(f"“{literal(visible(prompt))}”: {literal(right)} follows", _rows(part, classes)))
    metrics = [metric for metric in METRICS if (table.measure == metric).any()]
    averaged = [METRICS[metric].label for metric in metrics if metric in AGAINST_TRUTHS]
    words = legend(__file__, "next_byte", unit=unit, averaged=listed(averaged) if averaged else None)
    return Page(title, sections, [*words, directions(METRICS[metric].better for metric in metrics)])


def completion(prompt: bytes, following: bytes) -> str:
    """Return the last word of a prompt followed by a byte or a token, in visible characters: water, wate␣, wate⟨C3⟩."""
    return visible(last_word(prompt)) + visible(following).replace(" ", OPEN_BOX)


def _rows(part: pd.DataFrame, classes: Names) -> list[dict[str, Cell]]:
    rows = []
    metrics = [name for name in METRICS if (part.measure == name).any()]
    for model, value in by_model(part).iterrows():
        of_model = part[part.model == model].set_index("measure")
        first = of_model.iloc[0].to_dict()
        cells: dict[str, Cell] = {
            "model": label({**first, "rank": None if pd.isna(first["rank"]) else first["rank"]}),
            f"p(right {classes.unit})": Value(value[RIGHT]),
            "place": Value(value["place"], decimals=0),
            "most probable": classes.cell(of_model.note[TOP]),
            "its probability": Value(value[TOP]),
        }
        for name in metrics:
            cells[labelled(METRICS[name].label, METRICS[name].better)] = Value(value[name])
        rows.append(cells)
    return rows


if __name__ == "__main__":
    run(main)
