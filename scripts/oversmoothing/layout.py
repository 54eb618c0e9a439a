"""How every table is set: its numbers and words in Markdown, HTML and LaTeX, and the files around them."""

import string
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from markdown_it import MarkdownIt

from oversmoothing.jobs import UserError
from oversmoothing.store.atomic import atomic_path
from oversmoothing.store.sums import check_sum, write_sum
from oversmoothing.web_page import write_web_page

MISSING = "—"  # a cell of ours that is not there yet; "-" is one that the thesis does not have
ARROWS = {"lower": "↓", "higher": "↑"}
LATEX = {c: f"\\{c}" for c in "_&%#${}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    "±": r"$\pm$",
    "↓": r"$\downarrow$",
    "↑": r"$\uparrow$",
}


def write_csv(table: pd.DataFrame, path: str | Path) -> None:
    """Write a tidy table, its checksum beside it; numbers keep six significant digits."""
    with atomic_path(path) as temporary:
        table.to_csv(temporary, index=False, float_format="%.6g")
        write_sum(path, temporary)


def read_csv(path: str | Path, **options: Any) -> pd.DataFrame:
    """Read a table that `write_csv` wrote, or the thesis's; `options` go to pandas.

    Raises
    ------
    UserError
        If the file is missing, not the one whose checksum stands beside it, or no CSV.
    """
    check_sum(path)
    try:
        return pd.read_csv(path, **options)
    except ValueError as error:  # pandas's own errors and UnicodeDecodeError among them
        raise UserError(f"{path}: no table in CSV ({str(error).splitlines()[0]}); delete it and run again") from error


def write_page(
    paths: Sequence[str | Path], title: str, sections: Iterable[tuple[str, pd.DataFrame]], legend: str
) -> None:
    """Write a page: a title, tables of cells under their headings ("" for none), and how to read them.

    Parameters
    ----------
    paths : sequence of paths
        Each is written in the format of its suffix, .md or .html.
    title : str
    sections : pairs of str and DataFrame
        Cells that are Markdown already.
    legend : str
    """
    lines = [f"# {title}", ""]
    for heading, cells in sections:
        lines += [f"## {heading}", ""] if heading else []
        lines += [cells.to_markdown(index=False, disable_numparse=True), ""]
    markdown = "\n".join([*lines, legend, ""])
    for path in map(Path, paths):
        if path.suffix == ".html":
            write_web_page(path, title, [_html(markdown)])
        else:
            with atomic_path(path) as temporary:
                temporary.write_text(markdown, encoding="utf-8")


def write_latex_tables(
    path: str | Path, tables: Iterable[tuple[pd.DataFrame, str]], columns: str | None = None, size: str = ""
) -> None:
    """Write LaTeX tables of cells with their captions (packages booktabs and graphicx).

    Parameters
    ----------
    path : path
    tables : pairs of DataFrame and str
        Cells that are LaTeX already, under names that are not; and a caption that is not.
    columns : str, optional
        Column format. By default one column of words and numbers after it, shrunk to the width of the line.
    size : str
        Commands before the table, for its size.
    """
    parts = []
    for cells, caption in tables:
        cells = cells.rename(columns=lambda name: latex_text(str(name)))
        layout = columns or "l" + "r" * (cells.shape[1] - 1)
        body = cells.style.hide(axis="index").to_latex(hrules=True, column_format=layout).strip()
        body = body if columns else f"\\resizebox{{\\linewidth}}{{!}}{{%\n{body}}}"
        parts.append(
            f"\\begin{{table}}\n\\centering\n{size}{body}\n\\caption{{{latex_text(caption.replace('`', ''))}}}\n"
            "\\end{table}\n"
        )
    with atomic_path(path) as temporary:
        temporary.write_text("\n".join(parts), encoding="utf-8")


def markdown_cell(
    mean: float, sd: float, low: float | None = None, high: float | None = None, best: bool = False
) -> str:
    """Set mean ± sd [interval] in Markdown, what of it there is; "-" where there is no mean."""
    if pd.isna(mean):
        return "-"
    figure = f"**{number(mean)}**" if best else number(mean)
    interval = "" if low is None or high is None or pd.isna(low) else f" [{number(low)}, {number(high)}]"
    return f"{figure}{'' if pd.isna(sd) else f' ± {number(sd)}'}{interval}"


def latex_cell(mean: float, sd: float, low: float | None = None, high: float | None = None, best: bool = False) -> str:
    """Set mean ± sd in LaTeX, what of it there is, with no room for intervals; "--" where there is no mean."""
    if pd.isna(mean):
        return "--"
    figure = rf"\mathbf{{{latex_number(mean)}}}" if best else latex_number(mean)
    return f"${figure}$" if pd.isna(sd) else rf"${figure} \pm {latex_number(sd)}$"


def number(value: float, decimals: int | None = None) -> str:
    """A number in so many decimals; by default three, more where nothing would be left of it, none from 100,000 on."""
    if decimals is not None:
        return f"{value:,.{decimals}f}"
    if 1e5 <= abs(value) < 1e9:
        return f"{value:,.0f}"
    if abs(value) >= 1e9:
        return f"{value:.1e}"
    if value == 0 or abs(value) >= 0.01:
        return f"{value:.3f}"
    return f"{value:.4f}" if abs(value) >= 0.0005 else f"{value:.1e}"


def latex_number(value: float) -> str:
    """Set the same number for LaTeX's mathematics."""
    mantissa, _, exponent = number(value).partition("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}" if exponent else mantissa


def latex_text(text: str) -> str:
    """Escape what LaTeX would take for a command."""
    return "".join(LATEX.get(character, character) for character in text)


def markdown_text(text: str) -> str:
    """Escape what Markdown would take for markup."""
    return "".join(f"\\{c}" if c in string.punctuation else c for c in text)


def stand_ins(table: pd.DataFrame) -> list[str]:
    """Say which of our ranks stand beside another one of the thesis's (columns ``rank`` and ``published_model``)."""
    pairs = table[["rank", "published_model"]].dropna().drop_duplicates().astype(str)
    return [
        f"Rank {rank} stands beside the thesis's {published}"
        for rank, published in pairs.itertuples(index=False)
        if published.isdigit() and rank != published
    ]


def model_cells(row: dict, several_seeds: bool) -> dict[str, str]:
    """Set the first cells of a model's row: its rank, or its name where the config gives none, and its seed."""
    cells = {"rank": str(row["rank"]) if pd.notna(row["rank"]) else str(row["model"])}
    if several_seeds:
        cells["seed"] = str(row["seed"]) if pd.notna(row["seed"]) else "-"
    return cells


def _html(markdown: str) -> str:
    """Turn a page's Markdown into HTML, each table in a frame that scrolls where the window is narrow."""
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    return html.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
