"""The closed square: costs and shares by hand, Fieller's interval against its definition, and what people read."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from step_jobs import job, outputs

from oversmoothing.numerics.statistics import student_interval
from oversmoothing.store.layout import write_csv
from oversmoothing.tables.record import read_record, record
from studies.paired_ranks import square
from studies.paired_ranks.square import LESS_BOTH, SHARE, costs, ratio_interval, square_page, square_table

SEEDS = (1, 2, 3)
FULL = {1: 2.0, 2: 2.1, 3: 1.9}  # as trained; retrained 0.01 less
COSTS = {  # over the full model as trained, by seed
    ("full_head", 32): (-0.01, -0.01, -0.01),
    ("retrained", 4): (0.49, 0.59, 0.39),
    ("full_head", 4): (0.19, 0.29, 0.24),
    ("own_trunk", 4): (0.39, 0.39, 0.29),
    ("plain", 4): (0.41, 0.40, 0.30),
    ("backward", 4): (0.2, 0.2, 0.3),
    ("retrained", 16): (0.1, 0.1, 0.1),  # no plain head has this rank
}
LOSS = {"measure": "loss", "unit": "nats per byte"}
LEAK = {"measure": "tto", "unit": "probability", "truth": "truth"}


def differences(of=COSTS):
    rows = []
    for (kind, rank), by_seed in of.items():
        for seed, cost in zip(SEEDS, by_seed, strict=True):
            facts = {"kind": kind, "rank": rank, "model": f"{kind}{rank}-s{seed}", "seed": seed, "less": "full"}
            rows += [{**facts, **LOSS, "value": cost}, {**facts, **LEAK, "value": cost / 10}]
    for seed, loss in FULL.items():
        full = {"kind": "family", "rank": 32, "model": f"w32-s{seed}", "seed": seed}
        rows += [{**full, **LOSS, "value": loss}, {**full, **LEAK, "value": loss / 10}]
    return record(rows)


@pytest.fixture(scope="module")
def table():
    return square_table(differences())


def test_without_one_of_the_cells_there_is_no_square():
    for cell in (("full_head", 32), ("retrained", 4), ("full_head", 4), ("own_trunk", 4)):
        left = differences({key: cost for key, cost in COSTS.items() if key != cell})
        assert list(costs(left, "loss")) == []
        assert len(square_table(left)) == 0


def test_the_table_by_hand(table):
    keys = ["kind", "rank", "measure", "less"]
    found = table.fillna({"less": ""}).set_index(keys)[["value", "low", "high"]]
    expected = {
        ("full_head", 32, "loss", ""): [1.99, 2.09, 1.89],
        ("own_trunk", 4, "loss", ""): [2.39, 2.49, 2.19],
        ("full_head", 4, "loss", "control"): [0.2, 0.3, 0.25],
        ("retrained", 4, "loss", "control"): [0.5, 0.6, 0.4],
        ("own_trunk", 4, "loss", "control"): [0.4, 0.4, 0.3],
        ("full_head", 4, "tto", "control"): [0.02, 0.03, 0.025],
        ("plain", 4, "loss", ""): [2.41, 2.5, 2.2],
        ("backward", 4, "loss", "full"): [0.2, 0.2, 0.3],
        ("own_trunk", 4, "loss", LESS_BOTH): [-0.3, -0.5, -0.35],
    }
    for place, by_seed in expected.items():
        assert found.loc[place].tolist() == pytest.approx(student_interval(by_seed)), place
    assert found.value["full_head", 4, f"loss{SHARE}", ""] == pytest.approx(0.75 / 1.1)
    assert found.value["retrained", 4, f"loss{SHARE}", ""] == pytest.approx(1.5 / 1.1)
    assert set(table["rank"]) == {4, 32}
    assert (table.n == 3).all()
    assert set(table.unit[table.measure == f"tto{SHARE}"]) == {"of the cost of both"}


VALUES = st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=2, max_size=8)


@given(VALUES)
def test_a_ratio_is_in_its_interval_where_the_difference_cannot_be_distinguished_from_0(pairs):
    """Fieller's own definition, at the ends and beside them."""
    part, whole = np.array(pairs).T
    assert all(map(math.isnan, ratio_interval(part[:1], whole[:1])))
    assume(np.ptp(whole) > 1e-3)
    assume(np.ptp(part) > 1e-3)
    ratio, low, high = ratio_interval(part.tolist(), whole.tolist())
    _, below, above = student_interval(whole.tolist())
    assume(abs(below) > 1e-3 < abs(above))
    if below < 0 < above:
        assert np.isnan([ratio, low, high]).all()
        return
    assert low <= ratio <= high
    size = (high - low) / 100 + 1e-6
    for end, inwards in ((low, size), (high, -size)):
        assert _contains_0(part - (end + inwards) * whole)
        assert not _contains_0(part - (end - inwards) * whole)


def _contains_0(values):
    _, low, high = student_interval(values.tolist())
    return low <= 0 <= high


def test_the_page_has_a_row_per_trunk_and_head(table):
    (section,) = square_page(table, "T").sections
    rows = {
        tuple(row[name] for name in ("rank", "trunk trained behind", "read by", "head")): row
        for row in section.rows[:-1]
    }
    assert next(iter(rows)) == ("full", "full head", "full head", "retrained")
    assert rows["4", "head of rank r", "full head", "retrained"]["loss (nats): share"].mean == pytest.approx(0.75 / 1.1)
    trained = rows["4", "full head, gradient of rank r", "full head", "as trained"]
    assert trained["loss (nats): cost"].mean == pytest.approx(0.7 / 3)
    assert len(rows) == 6
    assert section.rows[-1]["trunk trained behind"] == "interaction"


def test_the_script_and_its_figure_with_a_panel_per_rank_and_measure(tmp_path):
    write_csv(differences().assign(table="paired_ranks_by_seed"), tmp_path / "paired_ranks_by_seed.csv")
    output = outputs(tmp_path)
    square.main(job({"seeds": tmp_path / "paired_ranks_by_seed.csv"}, output, {"truth": "truth"}))
    assert "0.250 [0.126, 0.374]" in output.markdown.read_text()
    assert "nan" not in output.markdown.read_text()
    assert output.png.is_file()
    table = read_record(output.csv)
    panels = square.draw(table, "truth").axes
    assert [len(axes.containers) for axes in panels] == [5, 5]
    whiskers = [container.lines[2][0].get_segments()[0] for container in panels[0].containers]
    heights = sorted(segment[1][1] - segment[0][1] for segment in whiskers)
    expected = table[(table.measure == "loss") & table.less.isin(["control", "full"])]
    np.testing.assert_allclose(heights, sorted(expected.high - expected.low))
