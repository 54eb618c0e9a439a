"""Pages of tables: cells are data, a page is sections of rows and a legend, and one call writes every format."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from markdown_it import MarkdownIt

from oversmoothing.layout import ARROWS, number, write_csv
from oversmoothing.store.atomic import atomic_path
from oversmoothing.web_page import write_web_page

DIRECTIONS = {"lower": "↓ lower is better", "higher": "↑ higher is better"}
IN_BRACKETS = "In brackets: the 95 % interval of the mean, from a bootstrap over whole windows"
CODE = re.compile(r"(?<!\\)`([^`]*)`")
# What Markdown takes for markup in the middle of a line; an underscore between letters and a lone bracket are none.
MARKUP = re.compile(r"[\\`*<>|~$]|(?<!\w)_|_(?!\w)|&(?=#|\w+;)|\](?=[(\[:])")
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


@dataclass(frozen=True)
class Value:
    """A number in a table.

    Attributes
    ----------
    mean : float or None
        Missing (None or NaN): the cell is a dash.
    sd, low, high : float or None
        Standard deviation and interval, each set where it is known; LaTeX has room for only one of the two.
    best : bool
        Whether it is set in bold.
    decimals : int or None
        None: see `layout.number`.
    scientific : bool
        Whether mean and standard deviation have a power of ten in common.
    note : str
        Prose after the number.
    """

    mean: float | None
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    best: bool = False
    decimals: int | None = None
    scientific: bool = False
    note: str = ""


@dataclass(frozen=True)
class Bytes:
    """Names of bytes, separated by spaces; LaTeX sets them in a typewriter face."""

    names: str


Cell = Value | Bytes | str | None  # str: prose, in which `code` stands between backticks; None: a dash


@dataclass(frozen=True)
class Section:
    """A table of a page.

    Attributes
    ----------
    heading : str
        Prose; "" for none.
    rows : sequence of mappings
        From column to cell; a row without one of the columns has a dash there.
    widths : mapping, optional
        In LaTeX, from columns of long text to their share of the line. By default the table is shrunk to the line.
    notes : sequence of str
        Sentences on this table alone, as those of the page's legend, which they follow.
    latex : bool
        Whether LaTeX has this table too.
    """

    heading: str
    rows: Sequence[Mapping[str, Cell]]
    widths: Mapping[str, float] | None = None
    notes: Sequence[str] = ()
    latex: bool = True

    @property
    def columns(self) -> list[str]:
        """The columns of all rows, in the order in which they first occur."""
        return list(dict.fromkeys(name for row in self.rows for name in row))


@dataclass(frozen=True)
class Page:
    """A title, tables, and how to read them.

    Attributes
    ----------
    title : str
    sections : sequence of Section
    legend : sequence of str
        Sentences without their full stops; prose.
    intervals : str
        The sentence on intervals, "" for none; LaTeX leaves it out where it sets no interval.
    """

    title: str
    sections: Sequence[Section]
    legend: Sequence[str]
    intervals: str = ""


def write_table(output: Any, table: pd.DataFrame, page: Page) -> None:
    """Write a tidy table as CSV, and the page for its readers as Markdown, HTML and LaTeX.

    Parameters
    ----------
    output : object
        Paths as attributes ``csv``, ``markdown``, ``html``, ``latex``; a format without one is not written.
    table : DataFrame
    page : Page
    """
    if hasattr(output, "csv"):
        write_csv(table, output.csv)
    for name, text in (("markdown", markdown), ("latex", latex)):
        if hasattr(output, name):
            with atomic_path(getattr(output, name)) as temporary:
                temporary.write_text(text(page), encoding="utf-8")
    if hasattr(output, "html"):
        write_web_page(output.html, page.title, [html(page)])


def markdown(page: Page) -> str:
    """The page in Markdown."""
    lines = [f"# {_markdown_prose(page.title)}", ""]
    for section in page.sections:
        lines += [f"## {_markdown_prose(section.heading)}", ""] if section.heading else []
        lines += [markdown_table(section), ""]
    return "\n".join([*lines, _markdown_prose(_legend(page, page.sections, page.intervals)), ""])


def markdown_table(section: Section) -> str:
    """The rows of a section as a table in Markdown."""
    columns = section.columns
    cells = [[_markdown_cell(row.get(name)) for name in columns] for row in section.rows]
    table = pd.DataFrame(cells, columns=[markdown_text(name) for name in columns])
    return table.to_markdown(index=False, disable_numparse=True)


def html(page: Page) -> str:
    """The page as a part of a web page, each table in a frame that scrolls where the window is narrow."""
    text = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown(page))
    return text.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")


def latex(page: Page) -> str:
    """The page as LaTeX tables with captions; it needs the packages booktabs and graphicx."""
    return "\n".join(_latex_table(page, section) for section in page.sections if section.latex)


def model_cells(row: Mapping[str, Any], several_seeds: bool) -> dict[str, Cell]:
    """The first cells of a model's row: its rank, or its name where the config gives none, and its seed."""
    cells: dict[str, Cell] = {"rank": str(row["rank"]) if pd.notna(row["rank"]) else str(row["model"])}
    if several_seeds:
        cells["seed"] = str(row["seed"]) if pd.notna(row["seed"]) else None
    return cells


def labelled(label: str, better: str) -> str:
    """A label and the arrow that says which way is better."""
    return f"{label} {ARROWS.get(better, '')}".rstrip()


def directions(better: Iterable[str]) -> str:
    """What the arrows of a table mean."""
    return ", ".join(DIRECTIONS[way] for way in dict.fromkeys(better) if way in DIRECTIONS)


def is_best(mean: float, rivals: pd.Series, better: str) -> bool:
    """Whether no other of the means is better."""
    return bool(mean == (rivals.min() if better == "lower" else rivals.max()))


def literal(text: str) -> str:
    """Text in which prose would take nothing for code."""
    return text.replace("`", r"\`")


def markdown_text(text: str) -> str:
    """Text in which Markdown takes nothing for markup."""
    return MARKUP.sub(r"\\\g<0>", text)


def latex_text(text: str) -> str:
    """Text in which LaTeX takes nothing for a command."""
    return "".join(LATEX.get(character, character) for character in text)


def _legend(page: Page, sections: Iterable[Section], intervals: str) -> str:
    notes = dict.fromkeys(note for section in sections for note in section.notes)
    sentences = [*page.legend[:1], intervals, *page.legend[1:], *notes]
    return " ".join(f"{sentence}." for sentence in sentences if sentence)


def _markdown_prose(text: str) -> str:
    parts = CODE.split(text)
    return "".join(f"`{part}`" if i % 2 else markdown_text(part.replace(r"\`", "`")) for i, part in enumerate(parts))


def _markdown_cell(cell: Cell) -> str:
    if not isinstance(cell, Value):
        return "-" if cell is None else markdown_text(cell.names) if isinstance(cell, Bytes) else _markdown_prose(cell)
    if not _known(cell.mean):
        return "-"
    mean, sd, low, high = _digits(cell)
    text = f"**{mean}**" if cell.best else mean
    text += f" ± {sd}" if sd else ""
    if cell.scientific:
        text = f"({text})e{_exponent(cell):+03d}" if sd else f"{text}e{_exponent(cell):+03d}"
    text += f" [{low}, {high}]" if low else ""
    return f"{text} {_markdown_prose(cell.note)}".rstrip()


def _latex_table(page: Page, section: Section) -> str:
    columns = section.columns
    layout = "l" + "r" * (len(columns) - 1)
    if section.widths is not None:
        layout = "".join(
            f"p{{{section.widths[name]}\\linewidth}}" if name in section.widths else "l" for name in columns
        )
    head = " & ".join(latex_text(name) for name in columns)
    rows = [" & ".join(_latex_cell(row.get(name)) for name in columns) + r" \\" for row in section.rows]
    body = [rf"\begin{{tabular}}{{{layout}}}", r"\toprule", rf"{head} \\", r"\midrule", *rows, r"\bottomrule"]
    table = "\n".join([*body, r"\end{tabular}"])
    table = f"\\resizebox{{\\linewidth}}{{!}}{{%\n{table}}}" if section.widths is None else table
    size = "" if section.widths is None else "\\scriptsize\\raggedright\n"
    shown = any(isinstance(cell, Value) and _shows_interval(cell) for row in section.rows for cell in row.values())
    caption = f"{page.title} {section.heading}{'. ' if section.heading else ''}"
    caption += _legend(page, [section], page.intervals if shown else "")
    return f"\\begin{{table}}\n\\centering\n{size}{table}\n\\caption{{{_latex_prose(caption)}}}\n\\end{{table}}\n"


def _latex_prose(text: str) -> str:
    return latex_text(CODE.sub(r"\1", text).replace(r"\`", "`"))


def _latex_cell(cell: Cell) -> str:
    if not isinstance(cell, Value):
        if isinstance(cell, Bytes):
            return rf"\texttt{{{latex_text(cell.names)}}}"
        return "--" if cell is None else _latex_prose(cell)
    if not _known(cell.mean):
        return "--"
    mean, sd, low, high = map(_latex_number, _digits(cell))
    text = rf"\mathbf{{{mean}}}" if cell.best else mean
    text += rf" \pm {sd}" if sd else ""
    if cell.scientific:
        text = rf"({text}) \times 10^{{{_exponent(cell)}}}" if sd else rf"{text} \times 10^{{{_exponent(cell)}}}"
    text += rf"\ [{low}, {high}]" if _shows_interval(cell) else ""
    return f"${text}$ {_latex_prose(cell.note)}".rstrip()


def _latex_number(text: str) -> str:
    mantissa, _, exponent = text.replace(",", "{,}").partition("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}" if exponent else mantissa


def _shows_interval(cell: Value) -> bool:
    """Whether LaTeX sets the interval: it is all that says how sure the number is."""
    return _known(cell.low) and not _known(cell.sd)


def _digits(cell: Value) -> list[str]:
    """Mean, standard deviation and the ends of the interval as text; "" for what is not known."""
    scale, decimals = (10.0 ** _exponent(cell), 2) if cell.scientific else (1.0, cell.decimals)
    values = (cell.mean, cell.sd, cell.low, cell.high)
    return [number(value / scale, decimals) if value is not None and _known(value) else "" for value in values]


def _exponent(cell: Value) -> int:
    return int(f"{cell.mean:.2e}".partition("e")[2])


def _known(value: float | None) -> bool:
    return value is not None and bool(pd.notna(value))
