"""Pages of tables in every format: Markdown, HTML and LaTeX, beside the tidy table as CSV."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
from markdown_it import MarkdownIt
from markupsafe import Markup

from oversmoothing.store.layout import number, write_csv
from oversmoothing.store.sums import write_text
from oversmoothing.tables.page import Bytes, Cell, Page, Section, Value, entitled, laid_out, with_seed_means
from oversmoothing.tables.record import written
from oversmoothing.tables.web_page import write_web_page

PACKAGES = r"% needs \usepackage{booktabs,adjustbox,array,longtable}"
BROKEN = r">{\raggedright\arraybackslash}p"  # a column of text that is broken into lines
TAGS = ("<b>", "</b>", "<br>")  # in the Markdown of samples
NUMBER = re.compile(r"[(-]*\.?\d(?!.*[A-Za-z]{3})")  # a cell without words; with words it is prose, to be broken
TAG = re.compile("<[^>]*>")
ELEMENT = re.compile(r"<h(?P<depth>\d)>(?P<words>.*?)</h\d>|<td[^>]*>(?P<cell>.*?)</td>|<table>")
CODE = re.compile(r"(?<!\\)`([^`]*)`")
# Markup in the middle of a Markdown line; an underscore between letters and a lone bracket are literal.
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


def write_record(output: Any, table: pd.DataFrame, page: Page) -> None:
    """Write a record with its page, as `write_table` does, without the columns that it leaves empty."""
    write_table(output, written(table, Path(output.csv).stem), page)


def write_table(output: Any, table: pd.DataFrame, page: Page) -> None:
    """Write a tidy table as CSV, and its page as Markdown, HTML and LaTeX, with means over seeds if there are several.

    `output` has the paths as attributes ``csv``, ``markdown``, ``html``, ``latex``; a format without one is not
    written.
    """
    if hasattr(output, "csv"):
        write_csv(table, output.csv)
    page = entitled(with_seed_means(page))
    for name, text in (("markdown", markdown), ("latex", latex)):
        if hasattr(output, name):
            write_text(getattr(output, name), text(page))
    if hasattr(output, "html"):
        write_web_page(output.html, "tables/web_page.html", title=page.title, body=html(page))


def markdown(page: Page) -> str:
    """Return the page in Markdown."""
    lines = [f"# {_markdown_prose(page.title)}", ""]
    for section in page.sections:
        lines += [f"## {_markdown_prose(section.heading)}", ""] if section.heading else []
        lines += [markdown_table(section), ""]
    return "\n".join([*lines, _markdown_prose(_legend(page, page.sections, page.intervals)), ""])


def markdown_table(section: Section) -> str:
    """Return rows of a section as a Markdown table."""
    columns = section.columns
    cells = [[_markdown_cell(row.get(name)) for name in columns] for row in laid_out(section).rows]
    table = pd.DataFrame(cells, columns=[markdown_text(name) for name in columns])
    return table.to_markdown(index=False, disable_numparse=True)


def html(page: Page) -> Markup:
    """Return the page as an HTML fragment."""
    return html_of(markdown(page))


def html_of(text: str, title: str = "", level: int = 1) -> Markup:
    """Return Markdown as an HTML fragment: tables in frames that scroll in a narrow window, their numbers on one line.

    A table has the heading before it as its caption, or the `title`, for those who do not see both. `level` is what a
    heading of the first level becomes.
    Of HTML in the Markdown, only the tags `TAGS` count; all else is text.
    """
    caption = title

    def element(found: re.Match[str]) -> str:
        nonlocal caption
        if found["depth"]:
            caption, depth = found["words"], int(found["depth"]) + level - 1
            return f"<h{depth}>{caption}</h{depth}>"
        if found["cell"] is not None:
            kind = " class='n'" if NUMBER.match(TAG.sub("", found["cell"])) else ""
            return f"<td{kind}>{found['cell']}</td>"
        return f'<div class="wide" tabindex="0"><table>{caption and f"<caption>{caption}</caption>"}'

    return Markup(ELEMENT.sub(element, _parser().render(text)).replace("</table>", "</table></div>"))


def line_html(text: str) -> Markup:
    """Return a line of Markdown as HTML, without a paragraph around it; HTML in it is treated as in `html_of`."""
    return Markup(_parser().renderInline(text))


def prose_html(text: str) -> Markup:
    """Return prose with `code` between backticks as HTML."""
    return line_html(_markdown_prose(text))


def latex(page: Page) -> str:
    """Return the page as LaTeX tables with captions and labels, after a comment that names the packages they need."""
    tables = [section for section in page.sections if section.latex]
    return "\n".join([PACKAGES, *(_latex_table(page, section, i) for i, section in enumerate(tables))])


def markdown_text(text: str) -> str:
    """Return text escaped so that Markdown reads none of it as markup."""
    return MARKUP.sub(r"\\\g<0>", text)


def latex_text(text: str) -> str:
    """Return text escaped so that LaTeX reads none of it as a command."""
    return "".join(LATEX.get(character, character) for character in text)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True}).enable("table").disable("html_block")
    parser.add_render_rule("html_inline", lambda _, tokens, i, *__: _tag_or_text(tokens[i].content))
    return parser


def _tag_or_text(html: str) -> str:
    return html if html in TAGS else escape(html)


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
    text = f"**{mean}**" if cell.bold else mean
    text += f" ± {sd}" if sd else ""
    text += f" [{low}, {high}]" if low else ""
    return f"{text} {_markdown_prose(cell.note)}".rstrip()


def _latex_table(page: Page, section: Section, i: int) -> str:
    columns = section.columns
    head = " & ".join(latex_text(name) for name in columns)
    rows = [" & ".join(_latex_cell(row.get(name)) for name in columns) + r" \\" for row in laid_out(section).rows]
    shown = any(isinstance(cell, Value) and _known(cell.low) for row in section.rows for cell in row.values())
    text = f"{page.title} {section.heading}{'. ' if section.heading else ''}"
    text += _legend(page, [section], page.intervals if shown else "")
    caption = f"\\caption{{{_latex_prose(text)}}}\n\\label{{{_label(page.title, i)}}}"
    if section.widths is not None:
        return _long_table(_broken_columns(columns, section.widths), head, rows, caption)
    layout = "l" + "r" * (len(columns) - 1)
    body = [rf"\begin{{tabular}}{{{layout}}}", r"\toprule", rf"{head} \\", r"\midrule", *rows, r"\bottomrule"]
    fitted = [r"\begin{adjustbox}{max width=\linewidth}", *body, r"\end{tabular}", r"\end{adjustbox}"]
    return "\n".join([r"\begin{table}", r"\centering", *fitted, caption, r"\end{table}", ""])


def _long_table(layout: str, head: str, rows: Sequence[str], caption: str) -> str:
    """Return a table that goes on from page to page, its columns as wide as the line."""
    begin = [r"\begingroup\scriptsize\setlength{\tabcolsep}{3pt}\setlength{\LTcapwidth}{\linewidth}"]
    begin += [rf"\begin{{longtable}}{{{layout}}}", r"\toprule", rf"{head} \\", r"\midrule", r"\endhead"]
    return "\n".join([*begin, *rows, r"\bottomrule", caption, r"\end{longtable}", r"\endgroup", ""])


def _broken_columns(columns: Sequence[str], widths: Mapping[str, float]) -> str:
    """Return columns of text that is broken into lines, as wide as the line together with the space between them."""
    total = sum(widths.get(name, 1.0) for name in columns)
    shares = [widths.get(name, 1.0) / total for name in columns]
    return "".join(rf"{BROKEN}{{\dimexpr {share:.4f}\linewidth-2\tabcolsep\relax}}" for share in shares)


def _label(title: str, i: int) -> str:
    """Return the name of a page's i-th table for references: "tab:oversmoothing-by-rank-1"."""
    words = re.sub(r"\(.*?\)", "", CODE.sub(r"\1", title)).lower()
    return f"tab:{'-'.join(re.findall('[a-z0-9]+', words)[:6])}-{i + 1}"


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
    text = rf"\mathbf{{{mean}}}" if cell.bold else mean
    text += rf" \pm {sd}" if sd else ""
    text += f"$ $[{low}, {high}]" if low else ""  # may be broken between the two
    return f"${text}$ {_latex_prose(cell.note)}".rstrip()


def _latex_number(text: str) -> str:
    mantissa, _, exponent = text.replace(",", "{,}").partition("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}" if exponent else mantissa


def _digits(cell: Value) -> list[str]:
    """Return the mean, standard deviation and ends of the interval as text; "" for unknown values."""
    lost = bool(cell.mean) and not float(f"{cell.mean:.{cell.decimals or 0}f}")  # it is not zero, but would look so
    decimals = None if lost else cell.decimals
    values = (cell.mean, cell.sd, cell.low, cell.high)
    return [number(value, decimals) if value is not None and _known(value) else "" for value in values]


def _known(value: float | None) -> bool:
    return value is not None and bool(pd.notna(value))
