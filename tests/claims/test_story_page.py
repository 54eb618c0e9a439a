"""The story page: what it shows, and that in a real browser it needs no network and answers to the user."""

import json
import math
import re
import shutil
import subprocess
from itertools import pairwise

import pandas as pd
import pytest
from shown import Shown

from oversmoothing.claims.catalogue import CLAIMS
from oversmoothing.claims.story.chapters import CHAPTERS, Chapter
from oversmoothing.claims.story.charts import PUBLISHED, by_rank
from oversmoothing.claims.story.page import in_order, write_story
from oversmoothing.jobs import UserError
from oversmoothing.store.sealed_json import write_sealed
from oversmoothing.store.sums import write_text
from oversmoothing.tables.record import record

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
TITLE = "How much leaks? TTO &amp; 'more'"
SVG = f"<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20'><title>{TITLE}</title></svg>"
MENUS = {"measure": "metric", "decoding": "decoding", "truth": "truth"}


def scores(**changes):
    """Return rows as in the CSV files of scores: two ranks, two metrics, two decodings, two truths."""
    rows = [
        {"truth": truth, "measure": metric, "unit": "probability", "decoding": decoding, "model": f"bn{rank}-s1"}
        | {"rank": rank, "value": mean, "low": mean - 0.01, "high": mean + 0.01, "published_model": str(rank)}
        | {"published_truth": "NanoGPT 300M", "published": mean / 2}
        for truth in ("truth", "other")
        for metric in ("tto", "tv")
        for decoding in ("pure", "greedy")
        for rank, mean in ((4, 0.4), (16, 0.1))
    ]
    return record(rows).assign(table="scores", **changes)


def claims():
    verdicts = ("holds", "contradicted", "open")
    rows = [
        {"id": f"claim-{i}", "chapter": "4", "place": "4.2", "statement": f"Statement {i} <b>.", "test": "A test."}
        | {
            "cannot_fail": None,
            "truth": None,
            "verdict": verdict,
            "effect": 0.1,
            "low": 0.05,
            "high": 0.2,
            "weakest": "rank 4",
        }
        | {"contrasts": 4, "decided_for": 3, "decided_against": 0, "towards": 3, "seeds": 5, "note": None}
        | {"above": 0.0, "below": math.inf, "published_verdict": "holds", "published_contrasts": 4}
        | {"published_towards": 4}
        for i, verdict in enumerate(verdicts)
    ]
    untested = {"id": "claim-3", "verdict": "not tested here", "contrasts": 0, "effect": None, "note": "no rank 12"}
    return pd.DataFrame([*rows, rows[-1] | untested])


@pytest.fixture
def results(tmp_path):
    """Tables and figures of a small study, and a table that no chapter knows."""
    tables = {"oversmoothing": scores(), "decodings": scores(), "claims": claims(), "mine": scores()}
    for folder in ("tables", "figures"):
        (tmp_path / folder).mkdir()
    for name, table in tables.items():
        table.to_csv(tmp_path / f"tables/{name}.csv", index=False)
        text = f"# About {name}.\n\n| rank | TTO |\n|:---|:---|\n| 16 | 0.100 [0.090, 0.110] |\n| 4 | **0.400** |\n"
        write_text(tmp_path / f"tables/{name}.md", text)
    for suffix in ("png", "svg"):
        write_text(tmp_path / f"figures/oversmoothing.{suffix}", SVG)
    return [*sorted(tmp_path.glob("tables/*.csv")), tmp_path / "figures/oversmoothing.png"]


def story(folder, results, *studies):
    """Write the page and return its text without the library that draws the charts."""
    write_story(results, folder / "index.html", studies)
    return re.sub(r"<script>.*?</script>", "", (folder / "index.html").read_text(), count=1, flags=re.DOTALL)


def in_sequence(text, *parts):
    return re.search(".*".join(map(re.escape, parts)), text, re.DOTALL)


def test_it_states_the_finding_the_verdicts_and_every_table(results, tmp_path):
    text = story(tmp_path, results)
    for said in (
        "<p class='answer'>TTO is ",
        "<b>1</b> ✓ holds",
        "<b>1</b> ✗ contradicted",
        "<b>1</b> ? open",
        "<b>1</b> ○ not tested here",
        "Statement 1 &lt;b&gt;.",
        "rank 4: 0.100 [0.050, 0.200]",
        "<td class='n'>0.100 [0.090, 0.110]</td>",
    ):
        assert said in text
    assert text.count("<details class='tile") == 4
    assert text.count("<details class='tile not-tested-here'") == 1
    assert in_sequence(text, "About oversmoothing.", "Further tables and figures", "About mine.")
    assert text.count("data:image/svg+xml") == 1
    assert re.findall(r"(?:src|href)=[\"'](?!data:|#)", text) == []  # nothing comes from elsewhere
    page = Shown(text)
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids) > 3


def test_pictures_tables_and_headings_are_there_for_those_who_do_not_see_them(results, tmp_path):
    pages = [path for path in results if path.parent.name == "tables" and path.stem != "claims"]
    write_text(pages[0].with_suffix(".md"), "# Of a.\n\n## Part `b`\n\n| x |\n|:---|\n| 1 |\n\nLegend.\n")
    text = story(tmp_path, results, Chapter("Later", (), picture="oversmoothing"))
    assert set(re.findall(r"<img alt='(.*?)' src", text)) == {TITLE.replace("'", "&#39;")}
    captions = re.findall(r"<table><caption>(.*?)</caption>", text)
    assert len(captions) == text.count("<table>") == len(pages)
    assert {"Part <code>b</code>", "About mine."} < set(captions)
    levels = [int(level) for level in re.findall(r"<h(\d)[ >]", text)]
    assert levels[0] == 1
    assert 3 in levels
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_page_begins_with_the_cover_and_ends_with_what_made_it(results, tmp_path):
    run = {"config": ["config/config.yaml", "mine.yaml"], "seeds": [1, 2], "commit": "abc", "date": "2026-01-02"}
    write_sealed(tmp_path / "run.json", run | {"python": "3.11.7", "versions": {"torch": "2.1"}})
    text = story(tmp_path, results, Chapter("Mine", (), cover="missing"), Chapter("Its", (), cover="oversmoothing"))
    assert in_sequence(text, "<h1>", "class='answer'", "<img alt", "</header>", "<nav", "<h2>")
    footer = text[text.index("<footer>") :]
    for name in ("config/config.yaml, mine.yaml", "1, 2", "abc", "2026-01-02", "Python 3.11.7, torch 2.1"):
        assert f"<dd>{name}</dd>" in footer
    (tmp_path / "run.json").write_text((tmp_path / "run.json").read_text().replace("2026-01-02", "2026-01-03"))
    with pytest.raises(UserError, match=r"run.json: changed or damaged since it was written"):
        story(tmp_path, results)
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(UserError, match=r"run.json: is not what the workflow wrote; delete it"):
        story(tmp_path, results)


ANSWERED = Chapter(
    "Asked?",
    ("This is how.",),
    "{{ mine | it }}\n\n{{ missing | it }}",
    {"it": lambda table: iter([f"It is {table.truth[0]}.", "Limits are told."])},
    captions={"mine": "The `TTO` of each."},
    claims=("claim-1",),
    picture="mine",
    tables=("mine", "missing"),
    figures=("mine",),
    after="Oversmoothing",
)


def test_a_chapter_has_its_answer_first_and_without_what_it_shows_is_none(results, tmp_path):
    write_text(tmp_path / "figures/mine.svg", SVG)
    text = story(tmp_path, [*results, tmp_path / "figures/mine.png"], ANSWERED)
    chapter = text[text.index("<h2>Asked?") :].partition("</section>")[0]
    answer = "<p class=answer>It is truth.</p>", "<p>Limits are told.</p>"
    caption = "<figure class='paper' tabindex='0'>", "<p>The <code>TTO</code> of each.</p>"
    assert in_sequence(chapter, *answer, *caption, "This is how.", "<details class='tile", "<summary>About mine.")
    assert text.count("data:image/svg+xml") == 2
    assert text.count("<summary>About mine.") == 1
    assert Shown(text).open == []
    few = [path for path in results if path.stem not in ("mine", "claims")]
    assert "<h2>Asked?" not in story(tmp_path, few, ANSWERED)
    scores(truth="a<b>&").to_csv(tmp_path / "tables/mine.csv", index=False)
    assert "It is a&lt;b&gt;&amp;." in story(tmp_path, results, ANSWERED)


def test_chapters_of_studies_follow_those_that_they_name():
    places = {"first": "Oversmoothing", "last": "", "second": "Oversmoothing"}
    ordered = [chapter.heading for chapter in in_order([Chapter(name, (), after=at) for name, at in places.items()])]
    at = ordered.index("Oversmoothing")
    assert ordered[at + 1 : at + 3] == ["first", "second"]
    assert ordered[-1] == "last"
    assert [heading for heading in ordered if heading not in places] == [chapter.heading for chapter in CHAPTERS]


@pytest.mark.parametrize(
    ("path", "old", "new"), [("tables/mine.md", "0.400", "0.044"), ("figures/oversmoothing.svg", "40", "41")]
)
def test_an_edited_result_is_not_shown(results, tmp_path, path, old, new):
    text = (tmp_path / path).read_text()
    (tmp_path / path).write_text(text.replace(old, new, 1))
    with pytest.raises(UserError, match=rf"{path.split('/')[1]}: does not match its checksum"):
        story(tmp_path, results)


def test_every_claim_stands_in_one_chapter():
    codes = [code for chapter in CHAPTERS for code in chapter.claims]
    for claim in CLAIMS:
        assert sum(code in (claim.chapter, claim.id) for code in codes) == 1, claim.id


def test_code_in_prose_is_set_as_code_and_markup_in_samples_is_not_shown_as_text(results, tmp_path):
    folder = tmp_path / "tables"
    given = claims().assign(test="Up to `costs.highest_rank`.", note="No `top-k`.")
    given.to_csv(folder / "claims.csv", index=False)
    (folder / "samples.csv").write_text("window,decoding,model,label,rank,prompt,continuation\n0,human,human,h,,p,c\n")
    (folder / "samples.md").write_text(
        "# Samples of `bn4`\n\n## Window 0\n\n<b>The pro</b>\n\n| a |\n|:---|\n| <b>pro</b>\\<b\\>\u21b5<br>x |\n"
    )
    text = story(tmp_path, [*results, folder / "samples.csv"])
    for code in ("costs.highest_rank", "top-k", "bn4"):
        assert f"<code>{code}</code>" in text
    assert "`" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert "<b>The pro</b>" in text
    assert "<b>pro</b>&lt;b&gt;\u21b5<br>x" in text


def menus_of(chart):
    return {param["name"]: param["bind"] for param in chart["params"] if "bind" in param}


def test_a_chart_has_our_points_and_the_published_and_a_menu_for_each_choice_of_several():
    chart = by_rank(scores(), MENUS, {"measure": {"tto": "TTO"}}, "Oversmoothing")
    points = pd.DataFrame(chart["data"]["values"])
    ours, published = points[points.series != PUBLISHED], points[points.series == PUBLISHED]
    assert len(ours) == len(published) == 16
    assert set(ours.value) == {0.4, 0.1}
    assert set(published.value) == {0.2, 0.05}
    assert ours.interval.iloc[0] == "0.39 to 0.41"
    menus = menus_of(chart)
    assert set(menus) == {"menu_measure", "menu_decoding", "menu_truth"}
    assert menus["menu_measure"]["options"] == ["tto", "tv"]
    assert menus["menu_measure"]["labels"] == ["TTO", "tv"]
    table = pd.concat([scores(decoding="pure"), scores(decoding="pure", measure="tbat", truth=None)])
    chart = by_rank(table, MENUS, {}, "Oversmoothing")
    options = {name: menu["options"] for name, menu in menus_of(chart).items()}
    assert options == {"menu_measure": ["tto", "tv", "tbat"], "menu_truth": ["truth", "other"]}
    assert "datum.truth === null || datum.truth === menu_truth" in json.dumps(chart)


def test_no_line_of_a_chart_joins_truths_or_other_keys_that_have_no_menu():
    chart = by_rank(scores(), {"measure": "metric"}, {}, "Oversmoothing")
    assert {name: menu["options"] for name, menu in menus_of(chart).items()} == {
        "menu_measure": ["tto", "tv"],
        "menu_truth": ["truth", "other"],
        "menu_decoding": ["pure", "greedy"],
    }
    chart = by_rank(scores(truth="truth", decoding="pure"), {"measure": "metric"}, {}, "Oversmoothing")
    assert [*menus_of(chart)] == ["menu_measure"]
    assert chart["layer"][0]["encoding"]["y"]["aggregate"] == "mean"  # over seeds


def test_both_axes_of_a_chart_say_what_they_show_under_every_choice():
    chart = by_rank(scores(), MENUS, {"measure": {"tto": "TTO"}}, "Oversmoothing")
    along = {"tto": "TTO (probability)", "tv": "tv (probability)"}
    assert chart["title"]["text"] == {"expr": f"{json.dumps(along)}[menu_measure]"}
    assert chart["title"]["orient"] == "left"
    assert chart["layer"][0]["encoding"]["x"]["title"] == "rank of what enters the LM head"
    one = by_rank(scores(measure="tto"), MENUS, {"measure": {"tto": "TTO"}}, "Oversmoothing")
    assert one["title"]["text"] == "TTO (probability)"
    one = by_rank(scores(measure="tto"), {}, {}, "Oversmoothing")
    assert one["title"]["text"] == "value (probability)"


PROBE = """
<script>
window.problems = [];
addEventListener("error", event => problems.push(String(event.message)));
console.error = (...words) => problems.push(words.join(" "));
console.warn = (...words) => problems.push(words.join(" "));
</script>
"""
USE = """
<script>
const wait = () => new Promise(resolve => setTimeout(resolve, 400));
const marked = () => [...document.querySelectorAll("#chart-0 [aria-label*='mean']")];
const marks = () => marked().map(mark => mark.getAttribute("aria-label"));
addEventListener("load", async () => {
  await wait();
  const said = { charts: document.querySelectorAll(".chart svg").length, before: marks(), changed: [], shown: [] };
  for (const menu of document.querySelectorAll("#chart-0 select")) {
    const before = JSON.stringify(marks());
    menu.selectedIndex = 1;
    menu.dispatchEvent(new Event("change", { bubbles: true }));
    await wait();
    said.changed.push(JSON.stringify(marks()) !== before);
  }
  for (const tile of document.querySelectorAll(".tile")) {
    tile.querySelector("summary").click();
    said.shown.push(tile.open && tile.querySelector("dl").getBoundingClientRect().height > 0);
  }
  document.querySelector("button[data-verdict=holds]").click();
  said.hidden = [...document.querySelectorAll(".tile")].map(tile => tile.hidden);
  const head = document.querySelector("table th");
  const column = () => [...head.closest("table").tBodies[0].rows].map(row => row.cells[0].textContent);
  head.closest("details").open = true;
  head.querySelector("button").click();
  said.sorted = [column(), head.getAttribute("aria-sort")];
  dispatchEvent(new Event("beforeprint"));
  said.printed = document.querySelectorAll("details").length > 4 && !document.querySelector("details:not([open])");
  said.requests = performance.getEntriesByType("resource").map(entry => entry.name).filter(x => !x.startsWith("data:"));
  said.problems = problems;
  document.body.textContent = "SAID" + JSON.stringify(said) + "SAID";
});
</script>
"""


SCROLLS = """
<script>
addEventListener("load", async () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
  await new Promise(resolve => setTimeout(resolve, 1000));
  const said = [...document.querySelectorAll(".wide, .paper")].map(frame => [
    frame.scrollWidth > frame.clientWidth + 1, getComputedStyle(frame, "::before").content.includes("scroll sideways"),
  ]);
  document.body.textContent = "SAID" + JSON.stringify(said) + "SAID";
});
</script>
"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
@pytest.mark.parametrize(("width", "scrolling"), [(500, True), (1280, False)])  # no window of Chromium is narrower
def test_what_is_wider_than_the_window_says_that_it_scrolls(results, tmp_path, width, scrolling):
    wide = "<svg xmlns='http://www.w3.org/2000/svg' width='900' height='20'><title>Wide</title></svg>"
    for suffix in ("png", "svg"):
        write_text(tmp_path / f"figures/wide.{suffix}", wide)
    heads = "|".join(f" column {i} " for i in range(8))
    table = f"# About mine.\n\n|{heads}|\n|{':---|' * 8}\n|{'0.100 |' * 8}\n"
    write_text(tmp_path / "tables/mine.md", table)
    story(tmp_path, [*results, tmp_path / "figures/wide.png"])
    before, end, after = (tmp_path / "index.html").read_text().rpartition("</body>")
    (tmp_path / "probed.html").write_text(before + SCROLLS + end + after)
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom"]
    command += [f"--window-size={width},800", f"--user-data-dir={tmp_path / 'profile'}"]
    command += ["--host-resolver-rules=MAP * ~NOTFOUND", (tmp_path / "probed.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    said = json.loads(done.stdout.split("SAID")[1])
    assert all(wider == told for wider, told in said)
    assert sum(wider for wider, _ in said) == (2 if scrolling else 0)


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
def test_in_a_browser_it_loads_nothing_and_menus_tiles_and_tables_answer(results, tmp_path):
    story(tmp_path, results)
    text = (tmp_path / "index.html").read_text().replace("<head>", f"<head>{PROBE}", 1)
    before, end, after = text.rpartition("</body>")
    (tmp_path / "probed.html").write_text(before + USE + end + after)
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", "--host-resolver-rules=MAP * ~NOTFOUND"]
    done = subprocess.run([*command, (tmp_path / "probed.html").as_uri()], capture_output=True, text=True, timeout=300)
    said = json.loads(done.stdout.split("SAID")[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    assert len(said.pop("before")) >= 4
    assert said == {
        "problems": [],
        "requests": [],
        "charts": 1,
        "changed": [True] * 3,
        "shown": [True] * 4,
        "hidden": [True, False, False, False],
        "printed": True,
        "sorted": [["4", "16"], "ascending"],
    }
