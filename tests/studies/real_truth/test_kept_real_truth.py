"""What pages say of the kept runs against a real language model is in their tables."""

import re

import pytest
from kept_runs import INTERVAL, QUOTED, ROOT, quotes

from oversmoothing.tables.record import read_record

TABLE = read_record(ROOT / "resources/studies/smollm2/tables/real_truth.csv")
LEVELS = TABLE[(TABLE.kind == "family") & TABLE.less.isna()]
OWN, REAL = "truth", "smollm2"


def cell(measure, truth, rank, **where):
    rows = TABLE if where else LEVELS
    for column, value in {"measure": measure, "truth": truth, "rank": rank, **where}.items():
        rows = rows[rows[column] == value]
    (only,) = rows.to_dict("records")
    return only


def printed(row):
    return f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"


@pytest.mark.parametrize("rank", [4, 8, 16, 32, 288])
def test_the_readme_has_both_truths(rank):
    readme = (ROOT / "README.md").read_text()
    (line,) = re.findall(rf"^\| {rank} \| .*$", readme, flags=re.MULTILINE)
    cells = [part.strip() for part in line.split("|")[1:-1]]
    assert cells[1::2] == [printed(cell(measure, truth, rank)) for measure in ("tto", "kl") for truth in (OWN, REAL)]
    thesis = {}
    for name in ("4_1", "4_2"):
        for row in read_csv_rows(ROOT / f"resources/published/table_{name}.csv"):
            thesis[row[0], row[1], row[2]] = row[4]
    role = "512" if rank == 288 else str(rank)
    published = [thesis[role, truth, measure] for measure in ("tto", "kl") for truth in ("NanoGPT 300M", "EvaByte")]
    assert cells[2::2] == published


def read_csv_rows(path):
    return [line.split(",") for line in path.read_text().splitlines()[1:]]


def test_expectations_held():
    """Those of config/smollm2.yaml, which were written before the run."""
    tto = TABLE[(TABLE.measure == "tto") & (TABLE.kind == "family")]
    steps = tto[tto.less.str.startswith("rank", na=False)]
    assert len(steps) == 5 * 7
    assert (steps.low > 0).all()  # against every truth
    main = steps[steps.truth.isin([OWN, REAL])]
    readme = " ".join((ROOT / "README.md").read_text().split())
    least = f"{main.value.min():.3f} [{main.low.min():.3f}, "
    assert f"each step in the table is above 0 against both truths, the least {least}" in readme
    assert cell("tto", REAL, 16, less="rank 288")["low"] > 0
    assert cell("forced_share", REAL, 4)["high"] < 0.63
    hidden = tto[(tto.truth == REAL) & (tto.less == OWN)]
    assert (hidden.low > 0.15).all()
    own = TABLE[(TABLE.model == OWN) & (TABLE.truth == REAL) & (TABLE.measure == "tto")].value.item()
    assert own < LEVELS[(LEVELS.truth == REAL) & (LEVELS.measure == "tto")].value.min()
    for control in ("smollm2-prompt", "smollm2-cool", "smollm2-warm"):
        moved = tto[(tto.truth == control) & (tto.less == REAL)]
        assert len(moved) == 5
        assert (moved.high < 0).all() or (moved.low > 0).all()


def test_expectations_held_on_the_second_text():
    """Those of config/smollm2_prose.yaml."""
    table = read_record(ROOT / "resources/studies/smollm2_prose/tables/real_truth.csv")
    steps = table[(table.measure == "tto") & (table.truth == REAL) & table.less.str.startswith("rank", na=False)]
    assert len(steps) == 3
    assert (steps.low > 0).all()
    shares = table[(table.measure == "forced_share") & (table["rank"] == 4) & table.less.isna()].set_index("truth")
    assert shares.high[REAL] < shares.low[OWN]


def test_each_number_of_the_page_is_in_a_table():
    runs = sorted((ROOT / "resources/studies").glob("smollm2*/tables/*.csv"))
    rows = [row for path in runs if path.stem != "rank_order" for row in read_record(path).to_dict("records")]
    known = {tuple(f"{row[name]:.3f}" for name in INTERVAL) for row in rows}
    quoted = quotes("docs/bytes.md", "## What came out")
    assert len(quoted) > 30
    assert [found for found in quoted if found not in known] == []
    assert QUOTED.findall((ROOT / "docs/bytes.md").read_text().partition("## What came out")[0]) == []


def test_what_the_controls_do_is_said_in_full():
    page = " ".join((ROOT / "docs/bytes.md").read_text().split())
    ends = {}
    for control in ("smollm2-prompt", "smollm2-cool", "smollm2-warm"):
        moved = TABLE[(TABLE.measure == "tto") & (TABLE.truth == control) & (TABLE.less == REAL)].value.abs()
        ends[control] = f"{moved.min():.3f} to {moved.max():.3f}"
    assert f"TTO of every rank is lower by {ends['smollm2-prompt']}." in page
    assert (
        f"at temperature 0.8 raises it by {ends['smollm2-cool']}, at 1.25 it lowers it by {ends['smollm2-warm']}."
        in page
    )
