"""The story page: one file with the answer, the verdicts, and chapters of charts, tables and figures."""

import html
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import vl_convert
import yaml
from markupsafe import Markup
from yaml import YAMLError

from oversmoothing.claims.claim import CONTRADICTED, DEPENDS, HOLDS, IN_PART, NOT_TESTED, ONE_SEED, OPEN
from oversmoothing.claims.headline import finding
from oversmoothing.claims.measured import WINDOWS
from oversmoothing.claims.story.chapters import CHAPTERS, Chapter, Chart, answered, check_stories
from oversmoothing.claims.story.charts import by_rank
from oversmoothing.claims.table import EVIDENCE, by_claim, counted, evidence
from oversmoothing.jobs import UserError
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.store.layout import read_csv
from oversmoothing.store.parquet import read_table
from oversmoothing.store.sealed_json import read_sealed
from oversmoothing.store.sums import read_text
from oversmoothing.tables.formats import html_of, line_html, markdown_text, prose_html
from oversmoothing.tables.kinds import TITLES
from oversmoothing.tables.record import read_record
from oversmoothing.tables.samples import HUMAN
from oversmoothing.tables.story import words_for
from oversmoothing.tables.web_page import write_web_page

QUESTION = "How does the softmax bottleneck affect what a language model generates?"
SIGNS = {HOLDS: "✓", IN_PART: "◐", CONTRADICTED: "✗", DEPENDS: "⇄", OPEN: "?", ONE_SEED: "~", NOT_TESTED: "○"}
EXCERPT = 240  # characters of a sample
ROWS = 200  # of a table without a page of its own
TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)  # of an SVG: the words above its figure
NAMES = {"measure": {name: metric.label for name, metric in METRICS.items()}}


@dataclass(frozen=True)
class Results:
    """Tables (CSV, with Markdown beside it) and figures (SVG) by name, and Parquet files of tables."""

    tables: dict[str, Path]
    figures: dict[str, Path]
    parquet: dict[str, Path]

    @classmethod
    def of(cls, paths: Iterable[str | Path]) -> "Results":
        """Return results among paths such as ``tables/losses.csv`` and ``figures/losses.png``."""
        by_kind: dict[str, dict[str, Path]] = {"tables": {}, "figures": {}, "parquet": {}}
        for path in map(Path, paths):
            by_kind["parquet" if path.suffix == ".parquet" else path.parent.name][path.stem] = path
        return cls(**by_kind)

    def table(self, name: str) -> pd.DataFrame | None:
        """Return rows of a table that is no record, if it is there."""
        return read_csv(self.tables[name]) if name in self.tables else None

    def windows(self) -> pd.DataFrame | None:
        """Return means by window, if several seeds have them."""
        return read_table(self.parquet[WINDOWS]).to_pandas() if WINDOWS in self.parquet else None

    def record(self, name: str) -> pd.DataFrame | None:
        """Return rows of a record, if it is there."""
        return read_record(self.tables[name]) if name in self.tables else None


def write_story(paths: Iterable[str | Path], output: str | Path, studies: Sequence[Chapter] = ()) -> None:
    """Write the page, one HTML file that needs no network, from ``tables/*.csv`` and ``figures/*.png``.

    Their other formats lie beside them. With ``tables/window_means.parquet`` the first sentence is decided over seeds
    and texts. What is not among the paths is left out; `studies` stand where `in_order` puts them.
    """
    check_stories()
    results, chapters = Results.of(paths), in_order(studies)
    charts: list[dict] = []
    shown = [_chapter(results, i, chapter, charts) for i, chapter in enumerate(chapters)]
    scores, claims = results.record("oversmoothing"), _verdicts(results)
    covers = [cover for chapter in chapters if (cover := _figure(results, chapter.cover))]
    write_web_page(
        output,
        "claims/story/page.html",
        title=QUESTION,
        answer="" if scores is None else finding(scores, results.windows()),
        cover=covers[0] if covers else None,
        signs=SIGNS,
        counts=None
        if claims is None
        else {verdict: int((counted(claims).verdict == verdict).sum()) for verdict in SIGNS},
        chapters=[chapter for chapter in shown if chapter],
        more=_others(results, chapters),
        about=_about(Path(output).with_name("run.json")),
        prose=prose_html,
        specifications=Markup(json.dumps(charts, allow_nan=False).replace("</", "<\\/")),
        library=Markup(vl_convert.javascript_bundle() if charts else ""),  # type: ignore[call-arg]  # its stub lacks the default
    )


def in_order(studies: Sequence[Chapter]) -> list[Chapter]:
    """Return all chapters, those of studies after the one that they name and others that name it, or else last."""
    chapters = list(CHAPTERS)
    for chapter in studies:
        before = [
            i for i, other in enumerate(chapters) if chapter.after and chapter.after in (other.heading, other.after)
        ]
        chapters.insert(before[-1] + 1 if before else len(chapters), chapter)
    return chapters


def _chapter(results: Results, number: int, chapter: Chapter, charts: list[dict]) -> dict[str, Any] | None:
    """Return what the page shows of a chapter; None if there is nothing."""
    inside = {
        "charts": list(_charts(results, chapter.charts, charts)),
        "claims": list(_claims(results, chapter.claims)),
        **_folded(results, chapter.tables, [name for name in chapter.figures if name != chapter.picture], chapter),
    }
    if not any(inside.values()):
        return None
    opening = {"answer": answered(chapter, results.record), "picture": _figure(results, chapter.picture, chapter)}
    return {**vars(chapter), "number": number, "excerpt": _excerpt(results, chapter), **opening, **inside}


def _excerpt(results: Results, chapter: Chapter) -> dict[str, Any] | None:
    """Return the first prompt and beginnings of what follows: in the text, at the lowest and at the highest rank."""
    samples = results.table(chapter.samples)
    if samples is None or (samples.model == HUMAN).all():
        return None
    first = samples[samples.window == samples.window.iloc[0]]
    sampled = first[first.model != HUMAN]
    decoding = sampled.decoding.iloc[0]
    sampled = sampled[sampled.decoding == decoding].sort_values("rank", kind="stable")
    of_ranks = sampled if sampled["rank"].isna().all() else sampled.dropna(subset="rank")
    shown = pd.concat([first[first.model == HUMAN], of_ranks.iloc[[0, -1]]])
    texts = {
        row.label: row.continuation[:EXCERPT] + "…" * (len(row.continuation) > EXCERPT) for row in shown.itertuples()
    }
    return {"prompt": first.prompt.iloc[0], "decoding": decoding, "texts": texts}


def _charts(results: Results, wanted: Sequence[Chart], charts: list[dict]) -> Iterator[dict[str, Any]]:
    """Yield number and title of each chart whose table is there, and add its specification to `charts`."""
    for chart in wanted:
        tables = [results.record(name) for name in (chart.table, *chart.more)]
        if tables[0] is None:
            continue
        table = pd.concat([table for table in tables if table is not None], ignore_index=True)
        for column, values in chart.only.items():
            table = table[table[column].isin(values)]
        if chart.series:
            table = table.assign(series=table[chart.series].replace(TITLES))
        yield {"number": len(charts), "title": chart.title}
        charts.append(by_rank(table, chart.menus, NAMES, chart.title))


def _verdicts(results: Results) -> pd.DataFrame | None:
    """Return the table of claims, if it is there; a `UserError` of one with other columns than today's."""
    claims = results.table("claims")
    if claims is not None and (gone := [name for name in EVIDENCE if name not in claims]):
        raise UserError(
            f"{results.tables['claims']}: verdicts of an older version, without the column `{gone[0]}`; make it "
            "again with `snakemake`, or delete it for a page without verdicts"
        )
    return claims


def _claims(results: Results, shown: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield each claim of which the id, or the chapter of the thesis, is to be shown."""
    if (table := _verdicts(results)) is not None:
        claims = by_claim(table)
        for claim in claims[claims.chapter.astype(str).isin(shown) | claims.id.isin(shown)].to_dict("records"):
            yield claim | {"evidence": list(evidence(claim))}


def _folded(
    results: Results, tables: Iterable[str], figures: Iterable[str], chapter: Chapter | None = None
) -> dict[str, list]:
    """Return the tables and figures that are there."""
    return {
        "tables": [_table(results.tables[name]) for name in tables if name in results.tables],
        "figures": [_figure(results, name, chapter) for name in figures if name in results.figures],
    }


def _table(path: Path) -> dict[str, str]:
    """Return title and body of a table's page in Markdown; of a kept table, which has none, of its first rows."""
    page = path.with_suffix(".md")
    title, _, rest = (read_text(page) if page.is_file() else _rows(path)).partition("\n")
    words = line_html(title.lstrip("# "))
    return {"title": words, "body": html_of(rest, words, level=2)}


def _rows(path: Path) -> str:
    """Return the first rows of a table as Markdown, without the columns that they leave empty."""
    table = read_csv(path, dtype=str, keep_default_na=False)
    first = table.head(ROWS)
    shown = first[[name for name in first if name != "table" and first[name].any()]]
    cells = {markdown_text(name): shown[name].map(markdown_text) for name in shown}
    more = f"\n\nThe first {ROWS} of {len(table):,} rows of {path.name}." if len(table) > ROWS else ""
    return f"# {path.name}\n\n{pd.DataFrame(cells).to_markdown(index=False, disable_numparse=True)}{more}\n"


def _figure(results: Results, name: str, chapter: Chapter | None = None) -> dict[str, str] | None:
    """Return a figure's title, its caption and its SVG, or PNG if it alone is kept; None if it is not there."""
    if name not in results.figures:
        return None
    drawn = results.figures[name].with_suffix(".svg")
    text, kind = (read_text(drawn), "svg+xml") if drawn.is_file() else ("", "png")
    title = TITLE.search(text)
    words = html.unescape(title[1]) if title else name.replace("_", " ")
    caption = words_for(name, chapter.captions) if chapter else ""
    content = b64encode(text.encode() or results.figures[name].read_bytes()).decode()
    return {"title": words, "caption": caption, "source": f"data:image/{kind};base64,{content}"}


def _about(path: Path) -> dict[str, str]:
    """Return what the workflow noted of the run that made the results, if it did, in words."""
    if not path.exists():
        return {}
    try:
        run = read_sealed(path)
        if "config" not in run:  # that of a kept study, whose config lies beside it
            kept = yaml.safe_load(path.with_name("config.yaml").read_text(encoding="utf-8"))
            run |= {"config": [path.with_name("config.yaml").name], "seeds": kept.get("seeds", ["of the default"])}
        versions = [f"{name} {number}" for name, number in run["versions"].items()]
        return {
            "config": ", ".join(run["config"]),
            "seeds of the trainings": ", ".join(map(str, run["seeds"])),
            "commit of the code": run["commit"],
            "date of the run": run["date"],
            "versions": ", ".join([f"Python {run['python']}", *versions]),
        }
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError, OSError, YAMLError) as reason:
        raise UserError(f"{path}: is not what the workflow wrote; delete it") from reason


def _others(results: Results, chapters: Sequence[Chapter]) -> dict[str, list]:
    """Return tables and figures that no chapter names: whose names a config gives, or a contributor's."""
    named = {name for chapter in chapters for name in chapter.tables} | {"claims"}
    drawn = {name for chapter in chapters for name in (*chapter.figures, chapter.picture, chapter.cover)}
    return _folded(
        results,
        [name for name in results.tables if name not in named],
        [name for name in results.figures if name not in drawn],
    )
