"""What heads force, as claims: what makes each hold, fail and stay open; what is no evidence."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.stats
from given_runs import POSITIONS, TRUTHS, WINDOWS, GivenRun, family, given_run

from oversmoothing.claims.added import of_studies
from oversmoothing.claims.comparison import Chance
from oversmoothing.claims.evidence import Run
from oversmoothing.claims.table import NOT_ASKED, claims_page, claims_table
from oversmoothing.claims.verdict import FAILS, HOLDS, OPEN, judge_claim
from oversmoothing.numerics.statistics import WindowSums, share_of_difference
from oversmoothing.store.parquet import open_writer
from oversmoothing.tables.formats import markdown
from studies.forced_part.claims import CLAIMS, MARGINS
from studies.forced_part.measure import FORCED_SCORES

KL = {4: 0.85, 8: 0.44, 16: 0.28, 32: 0.25, 288: 0.22}
FORCED = {4: 0.61, 8: 0.21, 16: 0.02, 32: 0.003, 288: 0.0}  # .97 and .95 of what ranks 4 and 8 cost
MARGIN = 0.01
TEST = {claim.id: claim.test for claim in CLAIMS}
MOST, LITTLE, COST = TEST


def made(kl=(), forced=(), ranks=tuple(KL), seeds=(1,), noise=0.002, margin=MARGIN, shift=(), draw=None):
    """A run of a family with these means by rank, the noise of windows, and a shift of all that is forced by seed."""
    kl, forced, shift = KL | dict(kl), FORCED | dict(forced), shift or [0] * len(seeds)
    means = {
        (rank, seed): {"kl": kl[rank], "forced": forced[rank] * (1 + more)}
        for seed, more in zip(seeds, shift, strict=True)
        for rank in ranks
    }
    margins = {"forced_of_kl": margin, "forced_of_cost": margin, "kl": 0.05}
    run = given_run("forced", means, noise, margins, draw)
    for frame in run.frames.values():
        frame["rest"] = frame.kl - frame.forced
    return run


APART = (-0.4, 0.4, 0.1, -0.3, 0.2)  # of what is forced, by seed
EVIDENCE = {
    # claim: evidence under which it holds, under which it does not, and under which nobody can tell
    MOST: [
        (made(), made(forced={4: 0.40}), made(forced={4: 0.43})),
        (made(seeds=range(5)), made(forced={4: 0.3}, seeds=range(5)), made(seeds=range(5), shift=APART)),
        (made(noise=0.1), made(forced={4: 0.2}, noise=0.1), made(forced={4: 0.44}, noise=0.1)),
        (made(margin=0.2), made(forced={4: 0.3}, margin=0.2), made(margin=0.4)),
    ],
    LITTLE: [
        (made(), made(forced={16: 0.07}), made(forced={16: 0.056})),
        (made(), made(forced={32: 0.06}), made(forced={32: 0.05})),
        (made(seeds=range(5)), made(forced={16: 0.2}, seeds=range(5), shift=APART), made(forced={16: 0.05}, noise=0.1)),
    ],
    COST: [
        (made(), made(forced={8: 0.13}), made(forced={8: 0.2})),
        (made(), made(forced={4: 0.5}), made(forced={4: 0.57})),
        (made(forced={4: 0.8, 8: 0.4}), made(kl={288: 0.1}), made(seeds=range(5), shift=APART)),
        (made(kl={4: 0.8, 8: 0.4}), made(kl={4: 1.2}), made(kl={8: 0.225})),
    ],
}
EVERY = [(claim, *case) for claim, cases in EVIDENCE.items() for case in cases]


@pytest.mark.parametrize(("claim", "holding", "failing", "undecided"), EVERY)
def test_every_claim_can_hold_and_fail_and_stay_open(claim, holding, failing, undecided):
    verdicts = [judge_claim(TEST[claim], evidence).verdict for evidence in (holding, failing, undecided)]
    assert verdicts == [HOLDS, FAILS, OPEN]


def test_no_claim_lacks_cases():
    assert EVIDENCE.keys() == {claim.id for claim in CLAIMS}


@pytest.mark.parametrize(
    ("claim", "evidence", "note"),
    [
        (LITTLE, made(ranks=(4, 8, 288)), "no model has a rank from 16 on and below full rank"),
        (MOST, made(ranks=(8, 288)), "no model has rank 4"),
        (COST, made(ranks=(4, 8)), "full rank"),
        (COST, made(kl={8: 0.22}), "rank 8 has no clearly higher KL to the truth than rank 288"),
        (COST, made(kl={4: 0.1}), "rank 4 has no clearly higher KL to the truth than rank 288"),
        (MOST, made(kl={4: 0.0}, forced={4: 0.0}, noise=0.0), "nothing to take a share of"),
        (MOST, Run({}, family((4, 1)), [], made().chance), "there is no forced of bn4-s1"),
        (MOST, GivenRun(family((4, 1)), Chance(200, 0, {}), made().frames), "no margin for forced_of_kl"),
    ],
)
def test_what_is_no_evidence_leaves_a_claim_open(claim, evidence, note):
    """Such as full rank, which forces nothing whatever is learned, and shares of a cost that is not there."""
    verdict = judge_claim(TEST[claim], evidence)
    assert verdict.verdict == OPEN
    assert note in verdict.note


@pytest.mark.parametrize(
    ("claim", "at_the_bound"),
    [
        (MOST, {"forced": {4: 0.425}}),
        (LITTLE, {"forced": {16: 0.056}}),
        (COST, {"forced": {4: 0.9 * 0.63, 8: 0.9 * 0.22}}),
    ],
)
def test_numbers_at_the_bound_seldom_hold_or_fail(claim, at_the_bound):
    """Noise of windows alone, whose mean is left to chance: each claim holds or fails in at most one of 20 runs."""
    runs = (made(**at_the_bound, noise=0.02, margin=0.0, draw=np.random.default_rng(n + 1)) for n in range(160))
    verdicts = [judge_claim(TEST[claim], run).verdict for run in runs]
    assert verdicts.count(HOLDS) <= 8
    assert verdicts.count(FAILS) <= 8


def test_a_share_is_that_of_the_means_and_its_interval_that_of_the_table():
    run = made(noise=0.05)
    (comparison,) = TEST[MOST](run)
    scores = run.frames["forced", "bn4-s1"]
    part, whole, zero = WindowSums(), WindowSums(), WindowSums()
    windows = scores.index.get_level_values("window").to_numpy()
    for sums, values in ((part, scores.forced), (whole, scores.kl), (zero, 0 * scores.kl)):
        sums.add(windows, values.to_numpy())
    share, low, high = share_of_difference(part, whole, zero, 200, 0)
    assert comparison.effect == pytest.approx(share) == pytest.approx(0.61 / 0.85)
    assert (comparison.low, comparison.high) == pytest.approx((low, high), abs=0.02 * (high - low))
    assert comparison.margin == pytest.approx(MARGIN * share)
    assert comparison.n == WINDOWS * POSITIONS * len(TRUTHS)


def test_what_is_not_forced_varies_between_trainings_by_a_share_of_what_is():
    first, second = TEST[LITTLE](made())
    assert [comparison.effect for comparison in (first, second)] == pytest.approx([1 - 0.02 / 0.28, 1 - 0.003 / 0.25])
    assert [comparison.margin for comparison in (first, second)] == pytest.approx(
        [MARGIN * 0.02 / 0.28, MARGIN * 0.003 / 0.25]
    )


def test_several_seeds_are_paired_and_have_students_interval():
    low, _ = TEST[COST](made(seeds=range(5), shift=APART, kl={4: 0.9}))
    shares = 0.61 * (1 + np.array(APART)) / (0.9 - 0.22)
    assert low.effect == pytest.approx(shares.mean())
    assert low.margin == pytest.approx(scipy.stats.t.ppf(0.975, 4) * shares.std(ddof=1) / np.sqrt(5))
    assert low.freedom == 4


def write(path, values):
    """Write a file of scores with these columns, all others 0."""
    path.parent.mkdir(exist_ok=True)
    rows = values.reset_index()
    columns = {name: rows.get(name, np.zeros(len(rows))) for name in FORCED_SCORES.names}
    with open_writer(path, FORCED_SCORES, {}) as writer:
        writer.write_table(pa.table(columns).cast(FORCED_SCORES))


def test_the_margins_are_measured_on_the_shares_of_each_seed():
    run = made(seeds=(1, 2), shift=(0, 0.1))
    measured = {key: [margin.values(run, member) for member in run.family] for key, margin in MARGINS.items()}
    assert [value.means for (value,) in measured["forced_of_kl"][:1]] == [pytest.approx((0.61 / 0.85, 0.671 / 0.85))]
    assert [len(values) for values in measured["forced_of_cost"]] == [1, 1, 0, 0, 0]


def test_files_are_read_and_stand_in_the_table_and_on_the_page(tmp_path):
    given = made()
    files = {(what, model): tmp_path / what / f"{model}.parquet" for what, model in given.frames}
    for key, path in files.items():
        write(path, given.frames[key])
    table = claims_table(CLAIMS, Run(files, family(*((rank, 1) for rank in KL)), [], given.chance), None, NOT_ASKED)
    pd.testing.assert_frame_equal(table, claims_table(CLAIMS, given, None, NOT_ASKED))
    assert table.verdict.tolist() == [HOLDS] * 3
    assert table.chapter.tolist() == ["docs/forced.md"] * 3
    text = markdown(claims_page(table, "T.", given.chance.run_to_run, given.family, of_studies(["forced_part"])))
    assert "## Beyond the thesis: what heads force" in text
    assert f"{100 * MARGIN:g} % for the forced share of KL, the forced share of what a rank costs" in text
    assert "In this run 3 hold; on the thesis's printed means 3 are not printed." in text
    assert "the thesis does not ask it" in text
