"""Samples side by side (thesis Tables 5.1, 5.2 and G.1 to G.9)."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.jobs import UserError
from oversmoothing.store.layout import write_csv
from oversmoothing.store.parquet import read_table
from oversmoothing.store.sums import write_text
from oversmoothing.tables.formats import html_of
from oversmoothing.tables.page import label
from oversmoothing.tables.visible_bytes import LEGEND, last_word, literal, markdown, visible
from oversmoothing.tables.web_page import write_web_page

HUMAN = "human"


def sample_table(
    windows: str | Path, samples: Iterable[str | Path], models: Sequence[Mapping[str, Any]], shown: Sequence[int]
) -> pd.DataFrame:
    """Return the human continuations of the windows `shown`, and each model's.

    The latter are from files ``{model}/{decoding}.parquet``.

    The columns are ``window``, ``decoding`` and ``model`` (both "human" for the true text), ``label``, ``rank``,
    ``seed``, ``prompt`` and ``continuation`` (bytes). Rows stand by window, then by decoding and model in the
    orders given.
    """
    prompts, truth = _of_windows(windows, "prompt", shown), _of_windows(windows, "scored", shown)
    several_seeds = len({model["seed"] for model in models if model["kind"] != "truth"}) > 1
    continuations: dict[str, dict[str, dict[int, bytes]]] = {}
    for path in map(Path, samples):
        continuations.setdefault(path.stem, {})[path.parent.name] = _of_windows(path, "continuation", shown)
    rows = []
    for window in shown:
        rows.append((window, HUMAN, HUMAN, "human text", None, None, prompts[window], truth[window]))
        for decoding, by_model in continuations.items():
            for model in models:
                if (name := model["model"]) in by_model:
                    whose = (name, label(model, several_seeds), model["rank"], model["seed"])
                    rows.append((window, decoding, *whose, prompts[window], by_model[name][window]))
    columns = ["window", "decoding", "model", "label", "rank", "seed", "prompt", "continuation"]
    return pd.DataFrame(rows, columns=columns).astype({"rank": "Int64", "seed": "Int64"})


def write_samples(output: Any, table: pd.DataFrame, title: str) -> None:
    """Write the table as CSV, its bytes as `visible` text, and as Markdown and a web page (see `samples_markdown`).

    `output` is as of `formats.write_table`. The exact bytes stay in the Parquet files.
    """
    texts = {name: table[name].map(visible) for name in ("prompt", "continuation")}
    write_csv(table.assign(**texts), output.csv)
    text = samples_markdown(table, title)
    write_text(output.markdown, text)
    write_web_page(output.html, "tables/web_page.html", title=title, body=html_of(text))


def samples_markdown(table: pd.DataFrame, title: str) -> str:
    """Return a section per window: its prompt in bold, the human text, and decodings by models."""
    lines = [f"# {title}", "", LEGEND]
    for window, part in table.groupby("window", sort=False):
        prompt = part.prompt.iloc[0]
        begun = _markdown_bold(last_word(prompt))
        human = part[part.model == HUMAN].continuation.iloc[0]
        lines += ["", f"## Window {window}", "", _markdown_bold(prompt), "", f"*Human text:* {begun}{markdown(human)}"]
        sampled = part[part.model != HUMAN]
        labels = list(dict.fromkeys(sampled.label))
        if labels:
            lines += ["", _row(["decoding", *map(literal, labels)]), _row([":---"] * (len(labels) + 1))]
        for decoding, of_models in sampled.groupby("decoding", sort=False):
            texts = dict(zip(of_models.label, of_models.continuation, strict=True))
            cells = [f"{begun}{markdown(texts[name])}" if name in texts else "-" for name in labels]
            lines.append(_row([literal(str(decoding)), *cells]))
    return "\n".join([*lines, ""])


def _of_windows(path: str | Path, column: str, shown: Sequence[int]) -> dict[int, bytes]:
    """Return texts of the windows that are shown; a `UserError` where the file lacks one of them."""
    table = read_table(path, ["window", column])
    texts = dict(zip(table["window"].to_pylist(), table[column].to_pylist(), strict=True))
    if missing := [window for window in shown if window not in texts]:
        have = f"{min(texts)} to {max(texts)}" if texts else "none"
        raise UserError(f"{path}: no window {missing[0]} (it has {have}); change `samples.show`")
    return {window: texts[window] for window in shown}


def _markdown_bold(data: bytes) -> str:
    return f"<b>{markdown(data)}</b>" if data else ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
