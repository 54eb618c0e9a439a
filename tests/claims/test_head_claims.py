"""What heads force and what BAT rejects, as claims: what makes each hold, fail and stay open; what is no evidence."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.stats

from oversmoothing.bat_premise.measure import PREMISE
from oversmoothing.claims.added import NOTHING
from oversmoothing.claims.claims import BEYOND, CLAIMS, DISPUTE, GODEY
from oversmoothing.claims.comparison import Chance, Missing
from oversmoothing.claims.heads import BY_POSITION, Heads
from oversmoothing.claims.members import members
from oversmoothing.claims.table import NOT_ASKED, claims_page, claims_table
from oversmoothing.claims.verdict import FAILS, HOLDS, OPEN, judge_claim
from oversmoothing.forced.scores import FORCED_SCORES
from oversmoothing.page_formats import markdown
from oversmoothing.statistics import WindowSums, share_of_difference
from oversmoothing.store.parquet import open_writer

WINDOWS, POSITIONS, TRUTHS = 30, 4, ("one", "other")
KL = {4: 0.85, 8: 0.44, 16: 0.28, 32: 0.25, 288: 0.22}
FORCED = {4: 0.61, 8: 0.21, 16: 0.02, 32: 0.003, 288: 0.0}  # .97 and .95 of what ranks 4 and 8 cost
REJECTED = {4: (0.3, 0.25), 8: (0.1, 0.08)}  # mass of the nucleus, by BAT and by the cut
MARGIN = 0.01
TEST = {claim.id: claim.test for claim in BEYOND}
MOST, LITTLE, COST, CUT = TEST


@dataclass(frozen=True)
class Made(Heads):
    """Scores that are given and not read."""

    frames: dict = field(default_factory=dict)

    def read(self, what, model, *columns):
        if (what, model) not in self.frames:
            raise Missing(f"there is no {what} of {model}")
        return self.frames[what, model][list(columns)]


def facts(ranks, seeds):
    return [
        {"model": f"bn{rank}-s{seed}", "kind": "family", "rank": rank, "role": rank, "training": f"bn{rank}-s{seed}"}
        for seed in seeds
        for rank in ranks
    ]


def keys():
    return pd.MultiIndex.from_product([TRUTHS, range(WINDOWS), range(POSITIONS)], names=BY_POSITION)


def around(mean, noise, draw):
    """Values of all positions with noise by window, of exactly this mean."""
    by_window = np.tile(np.repeat(draw.normal(0, noise, WINDOWS), POSITIONS), len(TRUTHS))
    return mean + by_window - by_window.mean()


def made(kl=(), forced=(), rejected=(), ranks=tuple(KL), seeds=(1,), noise=0.002, margin=MARGIN, shift=()):
    """Heads of a family with these means by rank, the noise of windows, and a shift of all that is forced by seed."""
    draw, frames = np.random.default_rng(0), {}
    kl, forced, rejected = KL | dict(kl), FORCED | dict(forced), REJECTED | dict(rejected)
    for place, seed in enumerate(seeds):
        for rank in ranks:
            own = forced[rank] * (1 + (shift[place] if shift else 0.0))
            scores = {"kl": around(kl[rank], noise, draw), "forced": around(own, noise, draw)}
            frames["forced", f"bn{rank}-s{seed}"] = pd.DataFrame(scores, keys()).assign(rest=lambda f: f.kl - f.forced)
        for rank in set(ranks) & rejected.keys():
            both = (around(mean, noise, draw) for mean in rejected[rank])
            masses = dict(zip(("rejected_mass", "top_rejected_mass"), both, strict=True))
            frames["bat_premise", f"bn{rank}-s{seed}"] = pd.DataFrame(masses, keys())
    chance = Chance(200, 0, {"forced_of_kl": margin, "forced_of_cost": margin, "kl": 0.05})
    return Made(members(facts(ranks, seeds), "family"), {}, chance, frames)


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
    CUT: [
        (made(), made(rejected={4: (0.2, 0.25)}), made(rejected={8: (0.1, 0.1)})),
        (made(margin=1.0), made(rejected={8: (0.05, 0.08)}, margin=1.0), made(noise=0.2)),
    ],
}
EVERY = [(claim, *case) for claim, cases in EVIDENCE.items() for case in cases]


@pytest.mark.parametrize(("claim", "holding", "failing", "undecided"), EVERY)
def test_every_claim_can_hold_and_fail_and_stay_open(claim, holding, failing, undecided):
    verdicts = [judge_claim(TEST[claim], evidence).verdict for evidence in (holding, failing, undecided)]
    assert verdicts == [HOLDS, FAILS, OPEN]


def test_no_claim_lacks_cases_and_ids_are_unique():
    assert EVIDENCE.keys() == {claim.id for claim in BEYOND}
    every = [claim.id for claim in (*CLAIMS, *GODEY, *DISPUTE, *BEYOND)]
    assert len(set(every)) == len(every)


@pytest.mark.parametrize(
    ("claim", "evidence", "note"),
    [
        (LITTLE, made(ranks=(4, 8, 288)), "no model has a rank from 16 on and below full rank"),
        (MOST, made(ranks=(8, 288)), "no model has rank 4"),
        (COST, made(ranks=(4, 8)), "full rank"),
        (COST, made(kl={8: 0.22}), "rank 8 has no clearly higher KL to the truth than rank 288"),
        (COST, made(kl={4: 0.1}), "rank 4 has no clearly higher KL to the truth than rank 288"),
        (MOST, made(kl={4: 0.0}, forced={4: 0.0}, noise=0.0), "nothing to take a share of"),
        (CUT, made(ranks=(4,)), "no model has rank 8"),
        (CUT, Heads(members(facts((4, 8), (1,)), "family"), {}, made().chance), "there is no bat_premise of bn4-s1"),
        (MOST, Heads(members(facts((4,), (1,)), "family"), {}, made().chance), "there is no forced of bn4-s1"),
        (MOST, Made(made().family, {}, Chance(200, 0, {}), made().frames), "no margin for forced_of_kl"),
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
        (CUT, {"rejected": {4: (0.3, 0.3), 8: (0.1, 0.1)}}),
    ],
)
def test_numbers_at_the_bound_seldom_hold_or_fail(claim, at_the_bound):
    """Noise of windows alone, whose mean is left to chance: each claim holds or fails in few of 50 runs."""
    verdicts = []
    for run in range(50):
        draw, heads = np.random.default_rng(run + 1), made(**at_the_bound, noise=0.0, margin=0.0)
        for (_, model), frame in sorted(heads.frames.items()):
            for column in frame.columns.drop("rest", errors="ignore"):
                windows = draw.normal(0, 0.02 * (not model.startswith("bn288")), WINDOWS)
                frame[column] += np.tile(np.repeat(windows, POSITIONS), len(TRUTHS))
            if "kl" in frame:
                frame["rest"] = frame.kl - frame.forced
        verdicts.append(judge_claim(TEST[claim], heads).verdict)
    assert verdicts.count(HOLDS) <= 4
    assert verdicts.count(FAILS) <= 4


def test_a_share_is_that_of_the_means_and_its_interval_that_of_the_table():
    heads = made(noise=0.05)
    (found,) = TEST[MOST](heads)
    scores = heads.frames["forced", "bn4-s1"]
    part, whole, zero = WindowSums(), WindowSums(), WindowSums()
    windows = scores.index.get_level_values("window").to_numpy()
    for sums, values in ((part, scores.forced), (whole, scores.kl), (zero, 0 * scores.kl)):
        sums.add(windows, values.to_numpy())
    share, low, high = share_of_difference(part, whole, zero, 200, 0)
    assert found.effect == pytest.approx(share) == pytest.approx(0.61 / 0.85)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.02 * (high - low))
    assert found.margin == pytest.approx(MARGIN * share)
    assert found.n == WINDOWS * POSITIONS * len(TRUTHS)


def test_what_is_not_forced_varies_between_trainings_by_a_share_of_what_is():
    first, second = TEST[LITTLE](made())
    assert [found.effect for found in (first, second)] == pytest.approx([1 - 0.02 / 0.28, 1 - 0.003 / 0.25])
    assert [found.margin for found in (first, second)] == pytest.approx([MARGIN * 0.02 / 0.28, MARGIN * 0.003 / 0.25])


def test_several_seeds_are_paired_and_have_students_interval():
    low, _ = TEST[COST](made(seeds=range(5), shift=APART, kl={4: 0.9}))
    shares = 0.61 * (1 + np.array(APART)) / (0.9 - 0.22)
    assert low.effect == pytest.approx(shares.mean())
    assert low.margin == pytest.approx(scipy.stats.t.ppf(0.975, 4) * shares.std(ddof=1) / np.sqrt(5))
    assert low.freedom == 4


def test_within_one_model_no_margin_is_added():
    assert [found.margin for found in TEST[CUT](made(seeds=(1, 2)))] == [0, 0, 0, 0]


def write(path, schema, values):
    """Write a file of scores with these columns, all others 0."""
    path.parent.mkdir(exist_ok=True)
    columns = {name: values[name] if name in values else np.zeros(len(values)) for name in schema.names}
    truths = pa.array(values.index.get_level_values("truth")).dictionary_encode()
    columns |= {name: values.index.get_level_values(name) for name in ("window", "position")}
    arrays = [
        truths.cast(own.type) if own.name == "truth" else pa.array(columns[own.name]).cast(own.type) for own in schema
    ]
    with open_writer(path, schema, {}) as writer:
        writer.write_batch(pa.record_batch(arrays, schema=schema))


def test_files_are_read_and_stand_in_the_table_and_on_the_page(tmp_path):
    given, files = made(), {}
    for (what, model), values in given.frames.items():
        files[what, model] = tmp_path / what / f"{model}.parquet"
        write(files[what, model], FORCED_SCORES if what == "forced" else PREMISE, values)
    table = claims_table(BEYOND, Heads(given.family, files, given.chance), None, NOT_ASKED)
    expected = claims_table(BEYOND, given, None, NOT_ASKED)
    pd.testing.assert_frame_equal(table, expected)
    assert table.verdict.tolist() == [HOLDS] * 4
    assert table.chapter.tolist() == ["docs/forced.md"] * 3 + ["docs/bat.md"]
    text = markdown(claims_page(table, "T.", given.chance.run_to_run, given.family, NOTHING))
    assert "## Beyond the thesis: what heads force" in text
    assert "In this run 4 hold; on the thesis's printed means 4 are not printed." in text
    assert "the thesis does not ask it" in text
