"""Pages show markup in names and texts as it is written, and run none of it."""

from html import escape
from types import SimpleNamespace

import pandas as pd
import pytest
from markdown_it import MarkdownIt
from shown import Shown

from oversmoothing.tables import formats as pages
from oversmoothing.tables.page import Page, Section, Value, literal
from oversmoothing.tables.samples import samples_markdown
from oversmoothing.tables.web_page import write_web_page

SCRIPT = "<script>alert(1)</script>"
IMAGE = "<img src=x onerror=alert(1)>"
ACTIVE = {"script", "img"}


def test_title_and_body_of_a_page_are_text_unless_said_otherwise(tmp_path):
    write_web_page(tmp_path / "a.html", "tables/web_page.html", title=SCRIPT, body=IMAGE)
    page = Shown((tmp_path / "a.html").read_text())
    assert not ACTIVE & set(page.tags)
    assert SCRIPT in page.after["title"]
    assert IMAGE in page.after["body"]


@pytest.mark.parametrize("markup", [SCRIPT, IMAGE])
@pytest.mark.parametrize("place", ["title", "heading", "cell", "column", "note", "legend"])
def test_no_markup_of_a_table_runs(tmp_path, markup, place):
    words = dict.fromkeys(("title", "heading", "cell", "column", "note", "legend"), "word") | {place: markup}
    cells = {words["column"]: words["cell"], "value": Value(1.0, note=words["note"])}
    page = Page(words["title"], [Section(words["heading"], [cells])], [words["legend"]])
    pages.write_table(SimpleNamespace(html=tmp_path / "a.html"), pd.DataFrame(), page)
    shown = Shown((tmp_path / "a.html").read_text())
    assert not ACTIVE & set(shown.tags)
    assert "alert(1)" in shown.text


def test_words_are_shown_as_they_are():
    word = r"a*b*_c_ [d](e) [f]: http://g `h` | <i> \\ & &amp; # $x$ ~~y~~"
    page = Page(literal(word), [Section(literal(word), [{"x": literal(word)}])], [literal(word)])
    words = Shown(pages.html(page)).after
    for tag in ("h1", "h2", "td", "p"):
        assert words[tag].strip().rstrip(".") == word
    assert pages.prose_html(literal(word)) == escape(word)
    latex = pages.latex(page)
    assert "`" not in latex
    assert latex.count(r"\textasciigrave{}h\textasciigrave{}") == 4
    assert latex.count(r"\&amp;") == 4


def test_numbers_stay_on_one_line_and_words_beside_them_do_not():
    numbers = {"a": Value(0.5, 0.1, 0.4, 0.6, rivals="r"), "b": "12", "c": "3 to 5", "d": Value(1e-7), "e": Value(-0.5)}
    words = {"f": Value(0.012, None, -0.027, 0.046, note="(windows), ± 0.008 from run to run"), "g": "9 of 16 hold"}
    text = pages.html(Page("T", [Section("", [numbers | words])], []))
    assert text.count("<td class='n'>") == len(numbers)
    assert "<td>0.0120 [-0.0270, 0.0460] (windows)" in text


def test_code_stands_between_backticks():
    page = Page("T", [Section("Of `a_b`", [{"x": "see `c.d`"}])], ["Set `e: f`"])
    text = pages.html(page)
    assert all(f"<code>{code}</code>" in text for code in ("a_b", "c.d", "e: f"))
    assert pages.prose_html("see `c.d`") == "see <code>c.d</code>"
    assert "Of a\\_b. Set e: f." in pages.latex(page)


@pytest.mark.parametrize("markup", [SCRIPT, IMAGE, "<b onclick=x>", "<B>", "<b/>", "<!-- x -->", "<?php?>", "<br/>"])
def test_of_html_in_markdown_only_three_bare_tags_count(markup):
    text = f"{markup} <b>bold</b> end<br>line\n\n{markup}\n\n| a |\n|:---|\n| <b>c</b> {markup} |\n"
    page = pages.html_of(text)
    shown = Shown(page)
    assert set(shown.tags) == {"p", "b", "br", "div", "table", "thead", "tr", "th", "tbody", "td"}
    assert page.count(escape(markup)) == 3
    assert page.count("<b>bold</b>") == page.count("<b>c</b>") == 1
    assert "onclick=x>" not in page
    assert pages.line_html(text.split("\n")[0]).count("<b>") == 1


def test_samples_are_shown_as_they_are():
    sample = {"window": 0, "prompt": b"<b>wo", "continuation": IMAGE.encode()}
    rows = [("human", "human", "Human"), ("bn4", "pure", SCRIPT)]
    table = pd.DataFrame([{**sample, "model": m, "decoding": d, "label": name} for m, d, name in rows])
    text = samples_markdown(table, "t")
    ours = pages.html_of(text)
    assert "<b>&lt;b&gt;wo</b>" in ours
    for shown in (ours, MarkdownIt("commonmark", {"html": True}).enable("table").render(text)):
        page = Shown(shown)
        assert not ACTIVE & set(page.tags)
        assert SCRIPT in page.text
        assert IMAGE in page.text
