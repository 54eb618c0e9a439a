"""Numbers of tables in templates: chosen by keys, exactly one each, and printed with and without their intervals."""

import math

import pandas as pd
import pytest
from jinja2 import UndefinedError

from oversmoothing.jobs import UserError
from oversmoothing.tables.quantities import (
    Quantity,
    Run,
    Table,
    above,
    across_ranks,
    around,
    below,
    cells,
    digits,
    environment,
    holds,
    none_told_apart,
    of_seeds,
    paired,
    rows,
    share_of_means,
    slope,
    spread,
    told_apart,
)

TABLE = """measure,rank,truth,value,low,high,p,low_crossed,high_crossed
share,4,,0.625,0.6,0.65,0.031,0.5,0.75
share,8,,0.28,0.26,0.302,,,
gap,4,,2.4e-11,,,,,
size,4,,1152,,,,,
tto,4,a,-0.0431,-0.0452,-0.041,,,
tto,4,b,0.5,0.4,0.6,,,
"""
CLAIMS = "id,effect,low,high,bound\nfirst,0.5,0.4,0.6,0.9\nsecond,0.1,,,0\n"


@pytest.fixture
def run(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables/forced.csv").write_text(TABLE)
    (tmp_path / "tables/claims.csv").write_text(CLAIMS)
    (tmp_path / "beside.csv").write_text("rank,mean\n4,0.5\n")
    return Run(tmp_path)


@pytest.fixture
def shown(run, tmp_path):
    def shown(template):
        (tmp_path / "page.md").write_text(template)
        return environment(tmp_path).get_template("page.md").render(run=run)

    return shown


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ('run.forced("share", 4)', "0.625 [0.600, 0.650]"),
        ('run.forced("share", 4) | digits(2)', "0.62 [0.60, 0.65]"),
        ('run.forced.over_windows()("share", 4)', "0.625 [0.500, 0.750]"),
        ('run.forced.over_windows()("share", 8)', "0.280 [0.260, 0.302]"),
        ('run.forced("share", 4).value', "0.625"),
        ('run.forced("share", 4) | percent', "63 % [60, 65]"),
        ('run.forced("share", 4).value | percent(1)', "62.5 %"),
        ('run.forced("tto", 4, "b")', "0.500 [0.400, 0.600]"),
        ('run.forced("tto", 4, "a").decrease', "0.043 [0.041, 0.045]"),
        ('run.forced.where("tto", 4)("a")', "-0.043 [-0.045, -0.041]"),
        ('run.forced.where("share", [4, 8])(8)', "0.280 [0.260, 0.302]"),
        ('run.forced.by("rank", "measure")(8, "share")', "0.280 [0.260, 0.302]"),
        ('run.forced("size", 4) | digits(0)', "1,152"),
        ('run.forced.where("share").all() | max', "0.625 [0.600, 0.650]"),
        ('run.forced.all(rank=[4, 8], truth=None) | map(attribute="measure") | join(" ")', "share share gap size"),
        ('run.forced.column("rank", measure="share")', "[4, 8]"),
        ('run.claims(id="first")', "0.500 [0.400, 0.600]"),
        ('run.claims(id="first").bound | digits(1)', "0.9"),
        ("run.beside(rank=4)", "0.500"),
        ('[[run.forced("share", 4), "", 8], [0.25, "no"]] | rows', "| 0.625 [0.600, 0.650] |  | 8 |\n| 0.250 | no |"),
    ],
)
def test_what_an_expression_prints(shown, expression, text):
    assert shown(f"{{{{ {expression} }}}}") == text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda run: run.forced("tto", 4), r"forced\.csv .*'rank': 4.*: 2 rows, which differ in truth, value"),
        (lambda run: run.forced("tto", 8), r"forced\.csv .*'tto', 'rank': 8.*: no row"),
        (lambda run: run.forced("tto", 4, law="a"), r"forced\.csv: no column law"),
        (lambda run: run.forced("tto", 4, "a", 1), r"forced\.csv: 4 values for the keys measure, rank, truth"),
        (lambda run: run.losses, r"tables/losses\.csv: no such table"),
        (
            lambda run: digits(run.forced("share", 4).value * float("nan")),
            "a page cannot print a number that is missing",
        ),
        (lambda run: holds(True, run.forced("share", 4) > 1), "what the page says is not true of its tables"),
    ],
)
def test_what_is_refused(run, call, message):
    with pytest.raises(UserError, match=message):
        call(run)


def test_statements_print_nothing(shown):
    assert shown('{% set share = run.forced("share", 4) %}\n{% do holds(share.low > 0.5) %}\nAt 4\n') == "At 4\n"
    with pytest.raises(UndefinedError, match="no attribute 'published'"):
        shown('{{ run.forced("share", 4).published }}')


def test_a_share_of_means_has_the_interval_of_all_shares_that_the_seeds_allow():
    """At the ends of Fieller's interval the mean of part - share * whole over seeds is just told from 0."""
    part, whole = [0.5, 0.56, 0.51], [0.6, 0.71, 0.63]
    rest = [w - p for p, w in zip(part, whole, strict=True)]
    share = share_of_means(*map(of_seeds, (part, whole, rest)))
    assert share == pytest.approx(sum(part) / sum(whole))
    for end, of_zero in ((share.low, "low"), (share.high, "high")):
        left = of_seeds([p - end * w for p, w in zip(part, whole, strict=True)])
        assert left.row[of_zero] == pytest.approx(0, abs=1e-12)
    with pytest.raises(UserError, match="may be 0, so nothing is a share of it"):
        share_of_means(*(Quantity(0.1, {"low": low, "high": 0.2 - low}) for low in (0, -0.1, 0)))


def interval(low, high, p=0.5):
    return Quantity((low + high) / 2, {"low": low, "high": high, "p": p})


@pytest.mark.parametrize(
    ("statement", "true", "false"),
    [
        (above, [interval(0.1, 0.3), interval(0.2, 0.4)], [interval(0.1, 0.3), interval(-0.1, 0.4)]),
        (below, [interval(-0.3, -0.1)], [interval(-0.3, -0.1), interval(-0.3, 0.1)]),
        (around, [interval(-0.1, 0.1), interval(-0.3, 0.1)], [interval(-0.1, 0.1), interval(0.1, 0.2)]),
        (told_apart, [interval(0, 1, p=0.01)], [interval(0, 1, p=0.01), interval(0, 1, p=0.06)]),
        (none_told_apart, [interval(0, 1, p=0.06)], [interval(0, 1, p=0.01), interval(0, 1, p=0.06)]),
    ],
)
def test_what_is_said_of_several_numbers_is_true_of_each(statement, true, false):
    assert statement(true)
    assert not statement(false)


def test_bounds_of_statements_need_not_be_zero():
    assert above([interval(0.2, 0.4)], 0.1)
    assert not above([interval(0.2, 0.4)], 0.3)
    assert not below([interval(0.2, 0.4)], 0.3)
    assert around([interval(0.2, 0.4)], 0.3)


def test_the_mean_of_seeds_has_an_interval_by_student():
    """With differences 1, 2 and 3 the standard error is 1 / sqrt(3), and t of two degrees of freedom is 4.303."""
    assert digits(of_seeds([2, 4, 6], less=[1, 2, 3])) == "2.000 [-0.484, 4.484]"


def seeds(values, rank=4):
    return Table("a table", pd.DataFrame([{"rank": rank, "seed": seed, "value": value} for seed, value in values]))


def test_tables_are_paired_by_seed_whatever_the_order_of_rows_and_the_means_among_them():
    after = seeds([(3, 6), (1, 2), (2, 4), (math.nan, 4)])
    before = seeds([(1, 1), (2, 2), (3, 3), (4, 50)])
    assert digits(paired(after, before)) == "2.000 [-0.484, 4.484]"
    with pytest.raises(UserError, match="several rows of one seed"):
        paired(after, seeds([(1, 1), (1, 2)]))


def test_a_statistic_across_ranks_is_of_each_seed():
    """By hand: slopes 2 and 4 of two seeds over three ranks, their mean 3."""
    x, y = (
        Table(
            "a table",
            pd.DataFrame(
                [{"rank": rank, "seed": seed, "value": value(rank, seed)} for seed in (1, 2) for rank in (4, 8, 16)]
            ),
        )
        for value in (lambda rank, seed: rank / seed, lambda rank, seed: 2 * rank + 7)
    )
    assert across_ranks(slope, (4, 8, 16), x, y) == pytest.approx(3)
    assert across_ranks(lambda x, y: max(y) - min(x), (8, 4), x, y).value == pytest.approx((23 - 4 + 23 - 2) / 2)


def test_a_spread_is_a_share_of_the_largest():
    assert spread([0.4, 0.5, 0.3]) == pytest.approx(0.4)


def test_lines_of_a_table_print_numbers_as_pages_do():
    assert rows([(4, 0.25, "-"), ("", interval(0, 1), "*p*")]) == "| 4 | 0.250 | - |\n|  | 0.500 [0.000, 1.000] | *p* |"


def test_cells_of_a_typst_table_are_printed_as_they_are():
    table = [(4, Quantity(0.5, {"low": 0.4, "high": 0.6}), "TTO, r_1 *"), ("- a", "#x", "a-b")]
    assert cells(table) == "[4], [0.500 \\[0.400, 0.600\\]], [TTO, r\\_1 \\*],\n[\\- a], [\\#x], [a-b],"
