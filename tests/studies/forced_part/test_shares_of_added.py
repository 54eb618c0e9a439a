"""What heads force of the KL that a rank adds: by hand, where there is no such share, and in the kept tables."""

import math

import numpy as np
import pandas as pd
import pytest
from kept_runs import RUNS, STUDIES

from oversmoothing.numerics.crossed import crossed_interval
from oversmoothing.numerics.statistics import student_interval
from oversmoothing.tables.record import chosen, read_record, record
from studies.forced_part.added import ADDED, FORCED, LESS, OF_BEST_HEAD, OF_FORCED, with_added
from studies.forced_part.best_head_table import best_head_page
from studies.forced_part.finding import of_added
from studies.forced_part.table import forced_page

PARTS = ("rank", "head", "norm")
KL = {4: (0.9, 0.94), 16: (0.5, 0.4), 288: (0.3, 0.3)}  # nats, by seed; full rank alone forces nothing
BY_HAND = {  # of rank 4, by seed: sums of the parts below over what it adds, 0.6 and 0.64
    ADDED: (0.6, 0.64),
    "best_of_added": (0.2 / 0.6, 0.2 / 0.64),
    "trained_of_added": (0.3 / 0.6, 0.3 / 0.64),
    FORCED: (0.6 / 0.6, 0.6 / 0.64),
}


def made(kl=KL, seeds=(1, 2), forces=((0.2, 0.1, 0.3), (0.1, 0.0, 0.0), (0.0, 0.0, 0.0)), kind="family"):
    rows = []
    for (rank, values), parts in zip(kl.items(), forces, strict=True):
        for seed, value in zip(seeds, values, strict=False):
            facts = {"model": f"bn{rank}-s{seed}", "arm": f"bn{rank}", "kind": kind, "rank": rank, "seed": seed}
            numbers = {"kl": value, **dict(zip(PARTS, parts, strict=True)), "gap": 1e-9}
            rows += [{**facts, "truth": "t", "measure": name, "value": x, "n": 800} for name, x in numbers.items()]
    return record(rows)


def test_shares_of_what_a_rank_adds_by_hand():
    table = with_added(made(), OF_BEST_HEAD)
    for measure, (one, two) in BY_HAND.items():
        rows = chosen(table, measure=measure, rank=4, less=LESS)
        assert rows[rows.seed.notna()].value.tolist() == pytest.approx([one, two])
        assert rows[rows.seed.notna()].model.tolist() == ["bn4-s1", "bn4-s2"]
        (mean,) = rows[rows.seed.isna()].to_dict("records")
        assert (mean["value"], mean["low"], mean["high"]) == pytest.approx(student_interval([one, two]))
        assert (mean["n"], mean["unit"]) == (2, "nats" if measure == ADDED else "share of KL added")
    assert set(table[table["less"] == LESS]["rank"]) == {4, 16}
    pd.testing.assert_frame_equal(with_added(table, OF_BEST_HEAD), table)
    pd.testing.assert_frame_equal(table[table["less"].isna()], made())


def test_windows_move_a_share_as_its_derivative_says():
    """The interval is that of shares which change, window by window, as the ratio of the means does."""
    random, n = np.random.default_rng(2), np.array([40.0, 60.0, 20.0, 80.0])
    lowest = {(4, "kl"): 0.8, (4, "forced"): 0.3, (288, "kl"): 0.2}
    values = {(*key, seed): random.uniform(low, low + 0.2, 4) for key, low in lowest.items() for seed in (1, 2)}
    values |= {(288, "forced", seed): np.zeros(4) for seed in (1, 2)}
    windows, means = [], []
    for (rank, measure, seed), of in values.items():
        facts = {"model": f"bn{rank}-s{seed}", "truth": "t", "measure": measure}
        windows += [{**facts, "window": w, "n": n[w], "value": value} for w, value in enumerate(of)]
        known = {"arm": f"bn{rank}", "kind": "family", "rank": rank, "seed": seed}
        means.append({**facts, **known, "value": of @ n / n.sum()})
    table = with_added(record(means), OF_FORCED, pd.DataFrame(windows))

    def share(seed, weights):
        forced, kl, full = (values[(*key, seed)] @ weights for key in ((4, "forced"), (4, "kl"), (288, "kl")))
        return forced / (kl - full)

    steps = np.eye(4) * 1e-5
    moved = [[share(s, n) + (share(s, n + step) - share(s, n)) / 1e-5 * n.sum() for step in steps] for s in (1, 2)]
    added = [values[4, "kl", s] - values[288, "kl", s] for s in (1, 2)]
    for measure, square in ((FORCED, moved), (ADDED, added)):
        (mean,) = chosen(table, measure=measure, rank=4, seed=None).to_dict("records")
        assert (mean["low_crossed"], mean["high_crossed"]) == pytest.approx(crossed_interval(square, n)[1:], rel=1e-3)


@pytest.mark.parametrize(
    ("kl", "forces", "measures"),
    [
        (KL, ((0.2, 0.1, 0.3),) * 2 + ((0.0, 0.1, 0.0),), set()),  # the highest rank's head forces something, too
        ({**KL, 4: (0.31, 0.9)}, ((0.2, 0.1, 0.3),) * 2 + ((0.0,) * 3,), {ADDED}),  # what rank 4 adds may be 0
        ({288: (0.3, 0.3)}, ((0.0,) * 3,), set()),
    ],
)
def test_where_there_is_no_such_share(kl, forces, measures):
    table = with_added(made(kl, forces=forces), OF_BEST_HEAD)
    assert set(chosen(table, less=LESS, rank=4).measure) == measures


def test_one_seed_has_no_interval_and_arms_no_share():
    table = with_added(made(seeds=(1,)), OF_BEST_HEAD)
    rows = table[table["less"] == LESS]
    assert rows.seed.notna().all()
    assert rows.low.isna().all()
    assert chosen(rows, measure=FORCED, rank=4).value.item() == pytest.approx(1)
    assert not (with_added(made(kind="svd"), OF_BEST_HEAD)["less"] == LESS).any()


def test_pages_and_the_answer_say_them():
    best = with_added(made(), OF_BEST_HEAD)
    *_, of_ranks = best_head_page(best).sections
    assert of_ranks.rows[0]["the trained head"].mean == pytest.approx((0.3 / 0.6 + 0.3 / 0.64) / 2)
    only = best.replace({"measure": {"rank": "forced"}})
    forced = with_added(only[only["less"].isna()], OF_FORCED)
    first, *_, of_ranks = forced_page(forced, "t").sections
    assert first.rows[0]["forced, share of KL added"].mean == pytest.approx(0.2 / 0.6)
    assert math.isnan(first.rows[0]["forced, share of KL added"].low)
    assert of_ranks.rows[0]["behind its LayerNorm"].mean == pytest.approx((0.2 / 0.6 + 0.2 / 0.64) / 2)
    assert "adds to that of full rank" in " ".join(of_added(forced))


@pytest.mark.parametrize(("name", "shares"), [("forced", OF_FORCED), ("best_head", OF_BEST_HEAD)])
def test_kept_tables_have_these_rows_as_the_code_makes_them(name, shares):
    paths = [path for run in RUNS if (path := run / "tables" / f"{name}.csv").is_file()]
    assert STUDIES / "smollm2/tables" in {path.parent for path in paths}
    for path in paths:
        kept = read_record(path).assign(low_crossed=np.nan, high_crossed=np.nan)  # of which it lacks the windows
        bounded = kept.model[kept.measure.str.endswith("_at_most")]  # models of which bounds alone are known
        kept = kept[~kept.model.isin(bounded.dropna())].reset_index(drop=True)
        again = with_added(kept, shares)
        pd.testing.assert_frame_equal(again.assign(table=name), kept, check_dtype=False, rtol=1e-2, atol=1e-4)
