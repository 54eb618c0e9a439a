"""Samples side by side (thesis Tables 5.1, 5.2 and G.1 to G.9).

Samples are texts to compare, not numbers, so their web page shows cards and is no `oversmoothing.tables.page.Page`.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.jobs import UserError
from oversmoothing.store.layout import write_csv
from oversmoothing.store.parquet import read_table
from oversmoothing.store.sums import write_text
from oversmoothing.tables.page import label
from oversmoothing.tables.visible_bytes import LEGEND, html, last_word, literal, markdown, visible
from oversmoothing.tables.web_page import write_web_page

HUMAN = "human"


def read_samples(path: str | Path, shown: Sequence[int]) -> dict[int, bytes]:
    """Read the continuations of the given windows from a file of samples.

    Raises
    ------
    UserError
        If the file is missing or damaged, or has no sample of one of the windows.
    """
    return _pick(path, "continuation", shown)


def sample_table(
    windows: str | Path, samples: Iterable[str | Path], models: Sequence[Mapping[str, Any]], shown: Sequence[int]
) -> pd.DataFrame:
    """Human continuations of the windows `shown`, and each model's, from files ``{model}/{decoding}.parquet``.

    The columns are ``window``, ``decoding`` and ``model`` (both "human" for the true text), ``label``, ``rank``,
    ``seed``, ``prompt`` and ``continuation`` (bytes). Rows stand by window, then by decoding and model in the
    orders given.
    """
    prompts, truth = _pick(windows, "prompt", shown), _pick(windows, "scored", shown)
    facts = {row["model"]: row for row in models}
    several_seeds = len({row["seed"] for row in models if row["kind"] != "truth"}) > 1
    found: dict[str, dict[str, dict[int, bytes]]] = {}
    for path in map(Path, samples):
        found.setdefault(path.stem, {})[path.parent.name] = read_samples(path, shown)
    rows = []
    for window in shown:
        rows.append((window, HUMAN, HUMAN, "human text", None, None, prompts[window], truth[window]))
        for decoding, of_models in found.items():
            rows += [
                (
                    window,
                    decoding,
                    model,
                    label(row, several_seeds),
                    row["rank"],
                    row["seed"],
                    prompts[window],
                    of_models[model][window],
                )
                for model, row in facts.items()
                if model in of_models
            ]
    columns = ["window", "decoding", "model", "label", "rank", "seed", "prompt", "continuation"]
    return pd.DataFrame(rows, columns=columns).astype({"rank": "Int64", "seed": "Int64"})


def write_samples_csv(table: pd.DataFrame, path: str | Path) -> None:
    """Write the table as CSV, its bytes as `visible` text; the exact bytes stay in the Parquet files."""
    texts = {name: table[name].map(visible) for name in ("prompt", "continuation")}
    write_csv(table.assign(**texts), path)


def write_samples_markdown(table: pd.DataFrame, path: str | Path, title: str) -> None:
    """Write a section per window: its prompt in bold, the human text, and decodings by models."""
    lines = [f"# {title}", "", LEGEND]
    for window, part in table.groupby("window", sort=False):
        prompt = part.prompt.iloc[0]
        lines += ["", f"## Window {window}", "", f"{_markdown_bold(prompt)}"]
        human = part[part.model == HUMAN].continuation.iloc[0]
        lines += ["", f"*Human text:* {_markdown_bold(last_word(prompt))}{markdown(human)}"]
        sampled = part[part.model != HUMAN]
        labels = list(dict.fromkeys(sampled.label))
        if labels:
            lines += ["", _row(["decoding", *map(literal, labels)]), _row([":---"] * (len(labels) + 1))]
        for decoding, own in sampled.groupby("decoding", sort=False):
            cells = dict(zip(own.label, own.continuation, strict=True))
            texts = [
                f"{_markdown_bold(last_word(prompt))}{markdown(cells[name])}" if name in cells else "-"
                for name in labels
            ]
            lines.append(_row([literal(str(decoding)), *texts]))
    write_text(path, "\n".join([*lines, ""]))


def write_samples_html(table: pd.DataFrame, path: str | Path, title: str) -> None:
    """Write one self-contained page of cards, side by side where there is room."""
    windows = {
        window: {
            "prompt": part.prompt.iloc[0],
            "last_word": last_word(part.prompt.iloc[0]),
            "decodings": [(decoding, own.to_dict("records")) for decoding, own in part.groupby("decoding", sort=False)],
        }
        for window, part in table.groupby("window", sort=False)
    }
    write_web_page(path, "tables/samples.html", title=title, legend=LEGEND, windows=windows, human=HUMAN, shown=html)


def _pick(path: str | Path, column: str, shown: Sequence[int]) -> dict[int, bytes]:
    table = read_table(path, ["window", column])
    found = dict(zip(table["window"].to_pylist(), table[column].to_pylist(), strict=True))
    for window in shown:
        if window not in found:
            have = f"{min(found)} to {max(found)}" if found else "none"
            raise UserError(f"{path}: no window {window} (it has {have}); change `samples.show`")
    return {window: found[window] for window in shown}


def _markdown_bold(data: bytes) -> str:
    return f"<b>{markdown(data)}</b>" if data else ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
