"""The article prints within its pages, and it and the paper cite what their common list of references has."""

import re

import pytest
import typst
import yaml
from matplotlib.image import imread

from oversmoothing.jobs import UserError
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.quantities import Quantity
from pages import article
from pages.article_figures import FIGURES
from schemas.describe import ROOT

ARTICLE, PAPER, REFERENCES = (
    ROOT / "docs" / path for path in ("article/article.typ", "paper/paper.md", "paper/paper.bib")
)
SECTIONS = [  # that JOSS asks for, in its order
    "Summary",
    "Statement of need",
    "State of the field",
    "Software design",
    "Research impact statement",
    "AI usage disclosure",
    "Acknowledgements",
    "References",
]
FIELD = "[TO BE FILLED IN by whoever submits"


def test_the_article_prints_on_eight_to_twelve_pages_and_its_appendix_on_two_more():
    pages = typst.compile(str(ARTICLE), root=str(ROOT), format="png", ppi=20.0)
    assert 8 + 2 <= len(pages) <= 12 + 2


def cited(path):
    """Return the keys that a document cites."""
    return set(re.findall(r"(?:@|#by\(<)([a-z]+\d{4})\b", path.read_text()))


def test_every_source_is_cited_and_every_citation_has_a_source():
    keys = re.findall(r"^@\w+\{(\w+),", REFERENCES.read_text(), flags=re.MULTILINE)
    assert len(keys) == len(set(keys))
    assert set(keys) == cited(ARTICLE) | cited(PAPER)


def test_every_table_and_figure_is_referred_to():
    text = ARTICLE.read_text()
    for label in re.findall(r"<((?:tab|fig)-[\w-]+)>", text):
        assert f"@{label}" in text, label


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_what_its_kept_table_draws(name, tmp_path):
    """Drawn again on another machine, its points may differ in shade."""
    write_figure(FIGURES[name](), [tmp_path / "drawn.png"])
    drawn, kept = (imread(path) for path in (tmp_path / "drawn.png", ARTICLE.parent / f"{name}.png"))
    assert drawn.shape == kept.shape, "run `make docs`"
    assert abs(drawn - kept).mean() < 1e-5, "run `make docs`"
    assert f'image("{name}.png"' in ARTICLE.read_text()


def test_figures_name_truths_as_the_text_does():
    titles = [axes.get_title(loc="left") for axes in FIGURES["ranks"]().axes]
    assert len(titles) == 3
    assert titles[0].endswith("against the own truth")
    assert titles[1].endswith("against SmolLM2")
    assert titles[2].startswith("TBAT")


def test_the_paper_has_the_form_of_its_journal():
    _, metadata, text = PAPER.read_text().split("---\n", 2)
    known = yaml.safe_load(metadata)
    assert known["bibliography"] == REFERENCES.name
    assert re.findall(r"^# (.+)$", text, flags=re.MULTILINE) == SECTIONS
    assert 750 <= len(text.split()) <= 1750
    named = [known["date"], *(one["name"] for of in ("authors", "affiliations") for one in known[of])]
    assert all(name.startswith(FIELD) for name in named)
    assert FIELD in text.partition("# AI usage disclosure")[2].partition("\n# ")[0]


@pytest.mark.parametrize(
    ("ranks", "words"), [([], "no rank"), ([4], "rank 4"), ([4, 8], "ranks 4 and 8"), ([4, 8, 12], "ranks 4, 8 and 12")]
)
def test_ranks_in_words(ranks, words):
    assert article.ranks_in_words(ranks) == words


def test_only_significant_differences_at_equal_loss_are_named():
    found = {4: (-0.1, 0.01), 8: (-0.1, 0.2), 12: (0.1, 0.04), 16: (0.1, 0.06), 32: (0.2, 0.01), 128: (0.0, 1.0)}
    of_rank = {rank: Quantity(value, {"p": p}) for rank, (value, p) in found.items()}

    def beside(_measure, rank, _truth):
        return of_rank[rank]

    both = "{0} by the own truth, {0} by SmolLM2"
    less, more = (both.format(words) for words in ("lower at rank 4", "higher at ranks 12 and 32"))
    assert article.differ(beside, "tto") == f"{less}, {more}"
    of_rank[4] = Quantity(-0.1, {"p": 1.0})
    assert article.differ(beside, "tto") == more


@pytest.mark.parametrize(
    ("different", "words"), [("smollm2", "lower at rank 8 by SmolLM2"), ("none", "nowhere different")]
)
def test_where_truths_differ_one_is_named_and_where_none_does_it_is_said(different, words):
    def beside(_measure, rank, truth):
        return Quantity(-1.0, {"p": 0.01 if rank == 8 and truth == different else 0.9})

    assert article.differ(beside, "tto") == words


def test_a_run_that_is_not_kept_has_not_run():
    assert article.state_of("no_such_run", "nor_this") == "has not run"
    assert article.state_of("no_such_run", "replication").startswith("has run (`replication`)")
    assert article.ran("replication")
    assert not article.ran("no_such_run")


def test_what_decides_against_a_sentence_stands_beside_what_it_expects():
    row = {"weakest": "rank 4, against truth", "effect": -0.5, "low": -0.6, "high": -0.4, "note": "", "above": 0.0}
    said = "rank 4, by the own truth: -0.5 [-0.6, -0.4]; expected above 0"
    apart = {**row, "weakest": "rank 4 less rank 8, against smollm2", "below": float("inf")}
    assert article._against(apart).startswith("rank 4 minus rank 8, by SmolLM2: ")
    assert article._against({**row, "below": float("inf")}) == said
    assert article._against({**row, "below": 0.25}) == f"{said} and below 0.25"


def test_the_table_of_the_thesis_has_its_numbers_beside_ours():
    rows = article.table_4_1
    assert [row[0] for row in rows] == ["4", "8", "12", "16", "32", "128", "288 (512)"]
    assert [rows[0][i] for i in (1, 3, 5, 7, 9)] == ["0.386", "0.432", "0.376", "0.424", "0.273"]
    assert all("±" in row[i] for row in rows for i in (2, 4, 6, 8))
    assert [("±" in row[10]) for row in rows] == [True] * 6 + [False]
    assert rows[-1][10] == "0"  # exactly: the head of full rank proves every byte


def test_losses_of_truths_have_no_interval_and_none_is_made_up():
    *models, own, real = article.table_3_1
    assert [row[1] for row in models] == ["1.776", "1.073", "0.992", "0.922", "0.885", "0.887", "0.933"]
    assert all("±" in row[i] for row in models for i in (2, 4, 5))
    assert own[1] == "0.772"
    assert (real[1], real[2]) == ("0.710", "-")
    assert "±" not in "".join(own + real)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(1.4, 1.5, "1.4_±_0.1"), (1.44, 1.46, "1.45_±_0.01"), (0.0, 0.0, "0"), (0.0001, 0.0003, "0.0002_±_0.0001")],
)
def test_half_an_interval_is_never_printed_as_0(low, high, words):
    mean = Quantity((low + high) / 2, {"low": low, "high": high})
    assert article._ours(mean, 1) == words.replace("_", "\u00a0")


def test_what_made_a_run_is_read_from_its_settings_and_record():
    width, commit, hours = re.findall(r"\[([^]]+)\]", article.made("smollm2_long"))
    assert width == "width 288, 3,600 steps, 3 seeds"
    assert re.fullmatch("[0-9a-f]{8}", commit)
    assert float(hours) > 0
    assert article.made("law").startswith("[width 288, 900 steps, 3 seeds]")
    assert article.made("workstation").startswith("[width 512, 1,500 steps, 1 seed]")
    assert article.made("scale").startswith("[widths 96 to 416, 3,600 steps, up to 3 seeds]")
    assert article.made("real_head").startswith("[-]")


def test_a_sentence_tells_how_its_comparisons_were_decided():
    found = article.sentences.where(id="leaking-less-is-necessary", truth=None).frame.iloc[0]
    words = f"{found.decided_against} of {found.contrasts} comparisons against it, {found.decided_for} for it"
    assert article.decided("leaking-less-is-necessary") == words
    assert re.fullmatch(r"rank \d+", article.rank_of_farthest("leaking-less-is-necessary"))
    with pytest.raises(UserError, match="names no rank"):
        article.rank_of_farthest("loss-separates-more")


def test_half_of_byte_tv_stands_beside_the_half_that_the_thesis_prints():
    mean = Quantity(0.2, {"low": 0.1, "high": 0.3})
    assert article._of_sample([("byte_tv", mean), ("valid_words", mean)]) == [
        f"0.100{article.PLUS_MINUS}0.050",
        f"0.200{article.PLUS_MINUS}0.100",
    ]
