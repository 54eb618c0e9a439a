"""Numbers of tables in templates: chosen by keys, exactly one each, and printed with and without their intervals."""

import pytest
from jinja2 import UndefinedError

from oversmoothing.jobs import UserError
from oversmoothing.tables.quantities import Quantity, Run, digits, environment, holds, of_seeds, share_of_means

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
        return environment(tmp_path, run=run).get_template("page.md").render()

    return shown


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ('run.forced("share", 4)', "0.625 [0.600, 0.650]"),
        ('run.forced("share", 4) | digits(2)', "0.62 [0.60, 0.65]"),
        ('run.forced("share", 4).crossed', "0.625 [0.500, 0.750]"),
        ('run.forced("share", 4).value', "0.625"),
        ('run.forced("share", 4) | percent', "63 % [60, 65]"),
        ('run.forced("share", 4).value | percent(1)', "62.5 %"),
        ('-run.forced("tto", 4, truth="a")', "0.043 [0.041, 0.045]"),
        ('run.forced("share", rank=8) - run.forced("share", rank=4)', "-0.345"),
        ('run.forced("size", 4) | digits(0)', "1,152"),
        ('run.forced.where("share").all() | max', "0.625 [0.600, 0.650]"),
        ('run.forced.all(rank=[4, 8], truth=None) | map(attribute="measure") | join(" ")', "share share gap size"),
        ('run.forced.column("rank", measure="share")', "[4, 8]"),
        ('run.claims(id="first")', "0.500 [0.400, 0.600]"),
        ('run.claims(id="first").bound | digits(1)', "0.9"),
        ("run.beside(rank=4)", "0.500"),
        ("of_seeds([2, 4, 6], less=[1, 2, 3])", "2.000 [-0.484, 4.484]"),
        ("at_loss([3, 1], [0.4, 0.2], 2)", "0.300"),
        ("correlation([1, 2, 3], [2, 4, 3])", "0.500"),
        ("slope([1, 2, 3], [2, 4, 3])", "0.500"),
    ],
)
def test_what_an_expression_prints(shown, expression, text):
    assert shown(f"{{{{ {expression} }}}}") == text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda run: run.forced("share", 8).crossed, "no interval over seeds and windows of share"),
        (lambda run: run.forced("tto", 4), r"forced\.csv .*'rank': 4.*: 2 rows, which differ in truth, value"),
        (lambda run: run.forced("tto", 8), r"forced\.csv .*'tto', 'rank': 8.*: no row"),
        (lambda run: run.forced("tto", 4, law="a"), r"forced\.csv: no column law"),
        (lambda run: run.losses, r"tables/losses\.csv: no such table"),
        (
            lambda run: digits(run.forced("share", 4).value * float("nan")),
            "a page cannot print a number that is missing",
        ),
        (lambda run: holds(run.forced("share", 4) > 1), "what the page says is not true of its tables"),
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
