"""Tables: ours beside the published, in three formats."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from oversmoothing.tables.formats import latex, markdown, markdown_table
from oversmoothing.tables.page import Name, Page, Section, Value, entitled
from oversmoothing.tables.published import read_published
from oversmoothing.tables.score_tables import score_page, score_table

PUBLISHED = Path(__file__).resolve().parents[2] / "resources/published"
TABLES = [PUBLISHED / "table_4_1.csv", PUBLISHED / "table_4_2.csv"]
TRUTHS = [{"model": "truth", "rank": None, "seed": 1, "published_as": "NanoGPT 300M", "differs": ["data", "truth"]}]


def model(rank, published_as, differs):
    return {"model": f"bn{rank}-s1", "rank": rank, "seed": 1, "published_as": published_as, "differs": differs}


MODELS = [model(4, "4", ["data", "scale"]), model(64, "64", ["data"]), model(288, "512", ["data", "scale", "rank"])]


def scored(model, metric, mean, **more):
    """Return the summary of a model's scores."""
    keys = {"model": model, "truth": "truth", "metric": metric, "decoding": "pure"}
    return {**keys, "mean": mean, "sd": 0.5, "n": 20000, "low": mean - 0.1, "high": mean + 0.1, **more}


def tabulated(summaries, models=MODELS, published=None):
    """Return the table of scores, beside Tables 4.1 and 4.2 or what is given."""
    published = read_published(TABLES) if published is None else published
    return score_table(pd.DataFrame(summaries), models, TRUTHS, published)


@pytest.fixture
def table():
    by_rank = list(enumerate(MODELS, start=1))[::-1]
    return tabulated([scored(m["model"], metric, i) for metric in ("tto", "kl") for i, m in by_rank])


def test_rows_stand_in_the_configs_order_with_the_thesis_beside_them(table):
    assert list(table.measure) == ["tto"] * 3 + ["kl"] * 3
    assert list(table["rank"]) == [4, 64, 288] * 2
    first, second, third = table.to_dict("records")[:3]
    assert (first["published"], first["published_sd"]) == (0.386, 0.273)
    assert first["published_differs"] == "data scale truth"
    assert pd.isna(second["published"])  # the thesis has no rank 64
    assert pd.isna(second["published_differs"])
    assert (third["published_model"], third["published"]) == ("512", 0.076)
    assert third["published_differs"] == "data scale rank truth"
    assert (first["unit"], first["better"]) == ("probability", "lower")


def test_markdown_says_which_way_is_better_and_marks_the_best(table):
    page = score_page(table, "oversmoothing", "Title.")
    text = markdown(page)
    assert "TTO ↓" in text
    assert "**1.000** ± 0.500 [0.900, 1.100] | 0.386 ± 0.273" in text
    assert text.count("**") == 4
    assert "Rank 288 stands beside the thesis's 512." in text
    assert "another corpus, larger models and another truth" in text
    assert "20,000 positions" in text
    row = next(line for line in text.splitlines() if line.startswith("| 64"))
    assert [cell.strip() for cell in row.split("|")][3] == "-"


def test_with_decodings_across_each_metric_has_a_row():
    summaries = [
        scored(m["model"], metric, i + j, decoding=decoding)
        for i, m in enumerate(MODELS, start=1)
        for j, metric in enumerate(("tto", "entropy_difference"))
        for decoding in ("pure", "greedy")
    ]
    keys = {"model": "4", "truth": "NanoGPT 300M", "metric": "tto", "decoding": "greedy"}
    published = keys | {"mean": 0.25, "sd": np.nan}
    page = score_page(tabulated(summaries, published=pd.DataFrame([published])), "oversmoothing", "Title.", "decoding")
    text = markdown(page)
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    assert cells[0] == ["rank", "metric", "pure", "published pure", "greedy", "published greedy"]
    assert [row[:2] for row in cells[1:5:3]] == [["4", "TTO ↓"], ["4", "Entropy difference (bits) ↑"]]
    assert cells[1][2:] == ["**1.000** ± 0.500 [0.900, 1.100]", "-", "**1.000** ± 0.500 [0.900, 1.100]", "0.250"]
    assert cells[6][2].startswith("**4.000**")  # of an entropy difference the highest is best
    assert "↓ lower is better, ↑ higher is better" in text
    assert latex(page).count("$\\downarrow$") == 4


def test_a_metric_at_fewer_positions_and_within_a_bracket_says_so():
    summaries = pd.DataFrame(
        [scored("m", "tto", 0.5, n=3200), scored("m", "tbat", 0.5, truth=None, n=100, bracket=0.0049)]
    )
    models = [{"model": "m", "rank": 4, "seed": 1, "published_as": None, "differs": []}]
    wide = markdown(score_page(tabulated(summaries, models), "oversmoothing", "Title."))
    assert (
        "3,200 positions; TBAT over 100; TBAT is the middle of a proved bracket, on average up to 0.0049 wide" in wide
    )
    narrow = tabulated(summaries.assign(bracket=1e-9), models)
    assert narrow.bracket.isna().all()
    assert "proved bracket" not in markdown(score_page(narrow, "oversmoothing", "Title."))


def test_a_checkpoint_of_the_users_own_goes_by_its_name():
    mine = {"model": "my_model", "rank": None, "seed": None, "published_as": "4", "differs": ["data", "scale"]}
    models = [*MODELS, {**model(4, "4", ["data"]), "model": "bn4-s2", "seed": 2}, mine]
    page = score_page(tabulated([scored(m["model"], "tto", 0.1) for m in models], models), "oversmoothing", "Title.")
    line = next(line for line in markdown(page).splitlines() if "my_model" in line)
    assert [cell.strip() for cell in line.split("|")][1:3] == ["my_model", "-"]
    assert "None" not in markdown(page)
    assert r"my\_model" in latex(page)


def test_latex_is_balanced_and_escaped(table):
    text = latex(score_page(table, "oversmoothing", "Title."))
    for name in ("table", "tabular"):
        assert text.count(f"\\begin{{{name}}}") == text.count(f"\\end{{{name}}}") == 1
    assert text.count("{") == text.count("}")
    assert r"$\mathbf{1.000} \pm 0.500$ $[" in text
    assert "↓" not in text
    assert "interval" in text
    assert text.startswith("% needs \\usepackage{booktabs,adjustbox,array,longtable}\n")
    assert text.count("\\label{tab:title-1}") == 1


def test_a_number_has_room_for_what_says_how_sure_it_is():
    cells = {
        "all": Value(0.5, 0.1, 0.4, 0.6),
        "large": Value(1234.5, decimals=1),
        "small": Value(1.5e-4, low=1e-4, high=2e-4),
        "lone": Value(42.5, np.nan),
        "noted": Value(3.0, decimals=0, note="(the first)"),
        "none": Value(float("nan")),
    }
    page = Page("T.", [Section("", [cells])], ["L"], "In brackets: an interval")
    row = [cell.strip() for cell in markdown(page).splitlines()[4].split("|")[1:-1]]
    assert row[0] == "0.500 ± 0.100 [0.400, 0.600]"
    assert row[2:] == ["1.5e-04 [1.0e-04, 2.0e-04]", "42.500", "3 (the first)", "-"]
    line = next(line for line in latex(page).splitlines() if line.startswith(r"$0.500 \pm"))
    cells = line.removesuffix(r" \\").split(" & ")
    assert cells[0] == r"$0.500 \pm 0.100$ $[0.400, 0.600]$"
    assert cells[2] == r"$1.5 \times 10^{-4}$ $[1.0 \times 10^{-4}, 2.0 \times 10^{-4}]$"
    assert cells[3:] == ["$42.500$", "$3$ (the first)", "--"]
    assert "In brackets" in latex(page)
    assert "In brackets" not in latex(Page("T.", [Section("", [{"a": Value(1.0, 2.0)}])], ["L"], "In brackets"))


@pytest.mark.parametrize(
    ("numbers", "texts"),
    [
        ([0.393, 0.0039, 0.0], ["0.393", "0.004", "0.000"]),
        ([0.393, 0.00004, -0.002], ["0.393", "4.0e-05", "-0.002"]),  # not zero, and does not look so
        ([0.013, 0.0004], ["0.0130", "0.0004"]),
        ([0.0013, 0.0004], ["0.00130", "0.00040"]),
        ([0.00013, 0.00004], ["1.3e-04", "4.0e-05"]),
        ([445.034, 166.132], ["445.0", "166.1"]),
        ([120.881, 0.369], ["120.881", "0.369"]),
        ([460_800.4, 12_345.6], ["460,800", "12,346"]),
    ],
)
def test_all_numbers_of_a_column_have_the_same_decimals(numbers, texts):
    page = Page("T.", [Section("", [{"a": Value(number)} for number in [*numbers, float("nan")]])], ["L"])
    assert [line.strip("| ") for line in markdown(page).splitlines()[4:-2]] == [*texts, "-"]


def test_models_without_ranks_go_by_their_names():
    title = "Oversmoothing {by} (Tables 4.1 and 4.2)."
    rows = [{"rank": Name("small"), "TTO": Value(0.1)}, {"rank": Name("large"), "TTO": Value(0.2)}]
    named = Page(title, [Section("", rows)], [])
    assert entitled(named).title == "Oversmoothing by model."
    assert entitled(named).sections[0].columns == ["model", "TTO"]
    beside = replace(named, sections=[Section("", [{"rank": Name("small"), "published TTO": Value(1.0)}])])
    assert entitled(beside).title == "Oversmoothing by model (Tables 4.1 and 4.2)."
    ranked = replace(named, sections=[*named.sections, Section("", [{"rank": "4", "TTO": Value(0.3)}])])
    assert entitled(ranked) == replace(ranked, title=title.replace("{by}", "by rank of what enters the LM head"))


def test_a_number_without_a_rival_is_not_the_best():
    alone = Section("", [{"rank": "4", "TTO": Value(0.1, rivals="tto"), "TV": Value(0.2)}])
    assert "**" not in markdown_table(alone)
