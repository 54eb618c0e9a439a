"""The story page: one file with the answer, the verdicts, and chapters of charts, tables and figures."""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pandas as pd
import vl_convert

from oversmoothing.catalogue.metrics import METRICS
from oversmoothing.claims.rank_order import finding
from oversmoothing.layout import read_csv
from oversmoothing.page_formats import html_of, line_html, prose_html
from oversmoothing.store.sums import read_text
from oversmoothing.story.chapters import CHAPTERS, Chapter, Chart
from oversmoothing.story.charts import by_rank
from oversmoothing.story.look import SCRIPT, STYLE
from oversmoothing.web_page import write_web_page

QUESTION = "How does the softmax bottleneck affect what a language model generates?"
VERDICTS = {"holds": "✓", "does not hold": "✗", "cannot tell": "?"}
NAMES = {"metric": {name: metric.label for name, metric in METRICS.items()}}


@dataclass(frozen=True)
class Results:
    """Tables (CSV, with Markdown beside it) and figures (SVG) by name."""

    tables: dict[str, Path]
    figures: dict[str, Path]

    @classmethod
    def of(cls, paths: Iterable[str | Path]) -> "Results":
        """Results among paths such as ``tables/losses.csv`` and ``figures/losses.png``."""
        by_kind: dict[str, dict[str, Path]] = {"tables": {}, "figures": {}}
        for path in map(Path, paths):
            by_kind[path.parent.name][path.stem] = path
        return cls(**by_kind)

    def table(self, name: str) -> pd.DataFrame | None:
        """Rows of a table, if it is there."""
        return read_csv(self.tables[name]) if name in self.tables else None


def write_story(paths: Iterable[str | Path], output: str | Path, studies: Sequence[Chapter] = ()) -> None:
    """Write the story page: one HTML file that needs no network.

    Parameters
    ----------
    paths : iterable of path
        Tables (``tables/*.csv``) and figures (``figures/*.png``) to show, with their other formats beside them. The
        page leaves out what is not among them.
    output : path
    studies : sequence of Chapter
        Chapters of the studies, after those that are always there.
    """
    results, chapters = Results.of(paths), [*CHAPTERS, *studies]
    charts: list[dict] = []
    body = ["<main>", *_head(results, chapters), *_verdicts(results)]
    for i, chapter in enumerate(chapters):
        body += _chapter(results, i, chapter, charts)
    specifications = json.dumps(charts).replace("</", "<\\/")
    body += [*_others(results, chapters), "</main>"]
    body += [f'<script type="application/json" id="specifications">{specifications}</script>']
    body += [f"<script>{SCRIPT}</script>"]
    library = vl_convert.javascript_bundle() if charts else ""  # type: ignore[call-arg]  # its stub lacks the default
    write_web_page(output, QUESTION, body, STYLE, f'<link rel="icon" href="data:,"><script>{library}</script>')


def _head(results: Results, chapters: Sequence[Chapter]) -> Iterator[str]:
    """Yield the question, the answer in one sentence with its limits, the headline figure and the contents."""
    yield f"<header><h1>{escape(QUESTION)}</h1>"
    table = results.table("oversmoothing")
    if table is not None:
        yield f"<p class='answer'>{escape(finding(table, results.table('rank_order')))}.</p>"
    yield (
        "<p>A head maps a hidden vector of dimension <i>d</i> to <i>v</i> logits. Where <i>d</i> is below <i>v</i> - 1 "
        "some distributions cannot be expressed, and probability may leak into tokens that should have none. All "
        "numbers are of this run; the thesis's (J. Ward, University of Edinburgh, 2025) come from another corpus, "
        "larger models and another truth: compare trends, not levels. Intervals are 95 % over windows of text and "
        "leave out how far one training is from the next; an order of ranks is stated only where it exceeds both.</p>"
        "</header>"
    )
    yield _picture(results, "oversmoothing")
    links = [f'<a href="#chapter-{i}">{escape(chapter.heading)}</a>' for i, chapter in enumerate(chapters)]
    yield f"<nav aria-label='Chapters'>{' '.join(links)}</nav>"


def _verdicts(results: Results) -> Iterator[str]:
    """Yield how many claims hold, do not hold and cannot be told, as buttons that filter the tiles of all chapters."""
    claims = results.table("claims")
    if claims is None:
        return
    counts = claims.verdict.value_counts()
    yield "<section class='verdicts'><h2>Do the findings hold here?</h2>"
    yield (
        "<p>Each tile in the chapters is a finding, published or ours, as a sentence that can fail; open one for its "
        "evidence.</p>"
    )
    yield "<div role='group' aria-label='Show verdicts'>"
    for verdict, sign in VERDICTS.items():
        yield (
            f"<button class='{_class(verdict)}' data-verdict='{verdict}' aria-pressed='true'>"
            f"<b>{int(counts.get(verdict, 0))}</b> {sign} {verdict}</button>"
        )
    yield "</div></section>"


def _chapter(results: Results, i: int, chapter: Chapter, charts: list[dict]) -> Iterator[str]:
    answered = results.table(chapter.answer[0]) if chapter.answer else None
    if chapter.answer and answered is None:
        return
    inside = [
        *_charts(results, chapter.charts, charts),
        *_tiles(results, chapter.claims),
        *_tables(results, chapter.tables),
        *_figures(results, chapter.figures),
    ]
    if not inside:
        return
    yield f"<section id='chapter-{i}'><h2>{escape(chapter.heading)}</h2>"
    if chapter.answer and answered is not None:
        yield from _answer(chapter.answer[1](answered), _picture(results, chapter.picture))
    yield from (f"<p>{prose_html(text)}</p>" for text in chapter.text)
    if chapter.terms:
        terms = (f"<dt>{escape(term)}</dt><dd>{prose_html(text)}</dd>" for term, text in chapter.terms.items())
        yield f"<dl>{''.join(terms)}</dl>"
    yield from inside
    yield "</section>"


def _answer(sentences: Iterable[str], picture: str) -> Iterator[str]:
    """Yield what the chapter's question comes to, the first sentence set off, and the picture of it."""
    for i, text in enumerate(sentences):
        yield f"<p{'' if i else ' class=answer'}>{escape(text)}</p>"
    yield picture


def _charts(results: Results, wanted: Sequence[Chart], charts: list[dict]) -> Iterator[str]:
    """Yield a place for each chart whose table is there, and add its specification to `charts`."""
    for chart in wanted:
        tables = [results.table(name) for name in (chart.table, *chart.more)]
        if tables[0] is None:
            continue
        table = pd.concat([own for own in tables if own is not None], ignore_index=True)
        for column, values in chart.only.items():
            table = table[table[column].isin(values)]
        if chart.series:
            table = table.assign(series=table[chart.series])
        caption = f"<figcaption>{escape(chart.title)}</figcaption>"
        yield f"<figure>{caption}<div class='chart' id='chart-{len(charts)}'></div></figure>"
        charts.append(by_rank(table, chart.menus, NAMES, chart.title))


def _tiles(results: Results, shown: Sequence[str]) -> Iterator[str]:
    """Yield a tile for each claim of which the id, or the chapter of the thesis, is to be shown."""
    claims = results.table("claims")
    if claims is None or not (own := claims[claims.chapter.astype(str).isin(shown) | claims.id.isin(shown)]).size:
        return
    yield "<div class='tiles'>"
    for claim in own.to_dict("records"):
        verdict = claim["verdict"]
        facts = "".join(f"<dt>{name}</dt><dd>{prose_html(text)}</dd>" for name, text in _evidence(claim))
        summary = f"<b>{VERDICTS[verdict]} {verdict}</b> {prose_html(claim['statement'])}"
        yield f"<details class='tile {_class(verdict)}' data-verdict='{verdict}'><summary>{summary}</summary>"
        yield f"<dl>{facts}</dl></details>"
    yield "</div>"


def _evidence(claim: dict) -> Iterator[tuple[str, str]]:
    """Yield what the verdict on a claim rests on."""
    yield "tested by", claim["test"]
    if pd.notna(claim["effect"]):
        text = f"{claim['effect']:.3g}"
        text += f" [{claim['low']:.3g}, {claim['high']:.3g}]" if pd.notna(claim["low"]) else ""
        yield "weakest comparison", f"{claim['weakest']}: {text}"
    if claim["comparisons"]:
        yield "comparisons", f"{claim['held']} of {claim['comparisons']} hold, {claim['against']} speak against it"
    if pd.notna(claim["run_to_run"]) and claim["run_to_run"] not in (0, float("inf")):
        yield "one training from the next", f"up to {claim['run_to_run']:.3g}"
    if pd.notna(claim["note"]):
        yield "note", claim["note"]
    if claim["by_construction"]:
        yield "by construction", "no correct computation can refute it"
    yield "on the printed means", claim["published_verdict"]
    yield "where", f"{claim['place']} ({claim['id']})"


def _tables(results: Results, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        if name in results.tables:
            yield _table(read_text(results.tables[name].with_suffix(".md")))


def _table(text: str) -> str:
    """Fold a table's page in Markdown under its title."""
    title, _, rest = text.partition("\n")
    rendered = re.sub(r"<(/?)h2>", r"<\1h4>", html_of(rest))
    return f"<details class='table'><summary>{line_html(title.lstrip('# '))}</summary>{rendered}</details>"


def _figures(results: Results, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        if picture := _picture(results, name):
            yield f"<details class='figure'><summary>Figure: {_words(name)}</summary>{picture}</details>"


def _picture(results: Results, name: str) -> str:
    """Return a figure inside the page; "" if it is not there."""
    if name not in results.figures:
        return ""
    data = b64encode(read_text(results.figures[name].with_suffix(".svg")).encode()).decode()
    return f"<figure class='paper'><img alt='{_words(name)}' src='data:image/svg+xml;base64,{data}'></figure>"


def _words(name: str) -> str:
    return escape(name.replace("_", " "))


def _others(results: Results, chapters: Sequence[Chapter]) -> Iterator[str]:
    """Yield tables and figures that no chapter names: of the showcase's prompts, or a contributor's."""
    named = {name for chapter in chapters for name in chapter.tables} | {"claims"}
    drawn = {name for chapter in chapters for name in (*chapter.figures, chapter.picture)} | {"oversmoothing"}
    inside = [
        *_tables(results, [name for name in results.tables if name not in named]),
        *_figures(results, [name for name in results.figures if name not in drawn]),
    ]
    if inside:
        yield "<section id='more'><h2>Further tables and figures</h2>"
        yield from inside
        yield "</section>"


def _class(verdict: str) -> str:
    return verdict.replace(" ", "-")
