"""A hand-made run: what its files say, and what is said where they lack something."""

import re
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.special
import scipy.stats
from made_evidence import FILES
from made_scores import write_scores
from step_jobs import write_logits

from oversmoothing.claims import evidence as module
from oversmoothing.claims import models
from oversmoothing.claims.added import NOTHING
from oversmoothing.claims.choose import frequent_bytes, rarest_bytes
from oversmoothing.claims.claim import Claim
from oversmoothing.claims.claims import CLAIMS
from oversmoothing.claims.comparison import Chance, Comparison, Missing, Outcome, agree, constant
from oversmoothing.claims.evidence import Run
from oversmoothing.claims.members import members
from oversmoothing.claims.published import Published
from oversmoothing.claims.table import MARGINS, claims_page, claims_table
from oversmoothing.claims.verdict import judge_claim
from oversmoothing.store.parquet import write_table
from oversmoothing.tables.formats import latex, markdown

CHANCE = Chance(300, 0, dict.fromkeys(MARGINS, 0.1) | {"losses": 0.02, "accuracies": 0.02, "tbat": 0.2})
WINDOWS, SCORED = 20, 25
LEVELS = {4: 1.0, 8: 0.6, 288: 0.58}


def facts(ranks=(4, 8, 288), seeds=(1,)):
    names = {f"bn{rank}-s{seed}": rank for seed in seeds for rank in ranks}
    return [
        {"model": name, "kind": "family", "rank": rank, "role": {288: 512}.get(rank, rank), "training": name}
        for name, rank in names.items()
    ]


def written(folder, metric, model, level):
    """Write scores under two decodings that share what is hard about each window."""
    hard = np.random.default_rng(0).normal(0, 0.2, WINDOWS)
    draw = np.random.default_rng(len(model))
    scores = [
        (window, truth, decoding, (level + hard[window] + draw.normal(0, 0.05, SCORED)) / factor)
        for window, truth in product(range(WINDOWS), ("one", "other"))
        for factor, decoding in enumerate(("pure", "greedy"), start=1)
    ]
    return write_scores(folder / metric / f"{model}.parquet", scores)


@pytest.fixture
def files(tmp_path):
    return {
        (metric, row["model"]): written(tmp_path, metric, row["model"], LEVELS[row["rank"]])
        for metric in models.MAIN
        for row in facts(seeds=(1, 2))
    }


def run(files, **changes):
    return Run(files, facts(**changes), ["pure", "greedy"], CHANCE)


def test_the_mean_is_over_all_positions_truths_and_seeds(files):
    value = run(files, seeds=(1, 2)).score("tto", members(facts(seeds=(1, 2)), "family")[0])
    tables = [pd.read_parquet(files["tto", f"bn4-s{seed}"]).query("decoding == 'pure'") for seed in (1, 2)]
    assert value.means == pytest.approx([table.value.mean() for table in tables])
    assert value.n == 2 * 2 * WINDOWS * SCORED
    assert value.trainings == ("bn4-s1", "bn4-s2")


def test_a_fall_that_is_clear_holds_and_the_row_names_its_weakest_comparison(files):
    verdict = judge_claim(models.falls_up_to_32, run(files))
    assert (verdict.verdict, verdict.held, verdict.comparisons) == ("holds", 4, 4)
    assert verdict.weakest.name.endswith("rank 4 against rank 8")
    assert verdict.weakest.effect == pytest.approx(0.4, abs=0.02)
    assert verdict.weakest.high - verdict.weakest.low < 0.05


def test_ranks_close_together_cannot_be_told_with_one_seed(files):
    evidence = run({**files, **{("tbat", model): path for (metric, model), path in files.items() if metric == "tto"}})
    clear, unclear = models.tbat_falls(evidence)
    assert (clear.name, clear.outcome) == ("TBAT, rank 4 against rank 8", Outcome.HOLDS)
    assert (unclear.name, unclear.outcome) == ("TBAT, rank 8 against rank 288", Outcome.UNDECIDED)
    assert np.isinf(agree(unclear, clear).margin)


def test_a_number_beside_zero_has_its_interval_over_windows(files):
    evidence = run(files)
    member = evidence.family[0]
    beside_zero = evidence.compare(evidence.score("nsmd", member), constant(0), "")
    table = pd.read_parquet(files["nsmd", "bn4-s1"]).query("decoding == 'pure'")
    means = table.groupby("window").value.mean().to_numpy()
    draws = np.random.default_rng(5).integers(0, WINDOWS, (3000, WINDOWS))
    ends = np.quantile(means[draws].mean(axis=1), [0.025, 0.975])
    assert (beside_zero.low, beside_zero.high) == pytest.approx(ends, abs=0.02)


def test_losses_and_accuracies_are_of_the_logits_and_have_margins_of_their_own(tmp_path):
    logits, targets = (
        np.random.default_rng(3).normal(0, 2, (2, SCORED, 8)),
        np.arange(2 * SCORED).reshape(2, SCORED) % 8,
    )
    path = write_logits(tmp_path / "bn4-s1.parquet", dict(enumerate(logits)), dict(enumerate(targets)))
    evidence = run({("logits", "bn4-s1"): path})
    accuracy, loss = (of(evidence.family[0]) for of in (evidence.accuracy, evidence.loss_on_windows))
    assert (accuracy.kind, loss.kind) == ("accuracies", "losses")
    assert accuracy.mean == pytest.approx((logits.argmax(2) == targets).mean())
    right = np.take_along_axis(scipy.special.log_softmax(logits, axis=2), targets[:, :, None], axis=2)
    assert loss.mean == pytest.approx(-right.mean(), rel=1e-5)


def test_each_file_is_read_once(files, monkeypatch):
    read = []
    original = module.sum_scores
    monkeypatch.setattr(module, "sum_scores", lambda path, *rest: read.append(path) or original(path, *rest))
    evidence = run(files)
    for _ in range(2):
        models.falls_up_to_32(evidence)
        for metric in models.MAIN:
            evidence.score(metric, evidence.family[-1])
    assert len(read) == len(set(read)) == 4 * 3


@pytest.mark.parametrize(
    ("changes", "claim", "note"),
    [
        ({}, "tbat-falls", "there is no tbat of bn4-s1"),
        ({}, "no-change-from-32-to-128", "no model stands for the thesis's rank 128"),
        ({}, "temperature-lowest-under-tv", "temperature is not among the `decodings`"),
        ({}, "svd-monotone", "it takes two ranks in `svd_ranks`"),
        ({"ranks": (4, 8)}, "tbat-zero-at-full-rank", "full rank"),
        ({"ranks": (4,)}, "falls-up-to-32", "it takes two ranks up to 32"),
        ({"ranks": ()}, "order-under-kl", "no model of the family has a rank"),
    ],
)
def test_what_a_claim_lacks_stands_in_its_note(files, changes, claim, note):
    test = next(known.test for known in CLAIMS if known.id == claim)
    verdict = judge_claim(test, run(files, **changes))
    assert verdict.verdict == "cannot tell"
    assert note in verdict.note


@pytest.mark.parametrize("ranks", [(), (4,), (288,), (4, 8, 288)])
def test_no_claim_is_dropped_and_none_fails_whatever_is_missing(files, ranks):
    evidence = run({}, ranks=ranks) if ranks else run(files, ranks=())
    table = claims_table(CLAIMS, evidence, Published(FILES))
    assert list(table.id) == [claim.id for claim in CLAIMS]
    assert (table.verdict == "cannot tell").all()
    assert table.note.notna().all()
    page = claims_page(table, "Claims.", CHANCE.run_to_run, evidence.family, NOTHING)
    for text in (markdown(page), latex(page)):
        assert "nan" not in text.split()
        assert "cannot tell" in text


def test_the_page_says_who_stands_for_whom_and_how_it_was_decided(files):
    evidence = run(files)
    table = claims_table([*CLAIMS, in_one_order()], evidence, Published(FILES))
    text = markdown(claims_page(table, "Claims.", CHANCE.run_to_run, evidence.family, NOTHING))
    for said in (
        "Rank 288 stands for the thesis's 512",
        "2 % for losses, accuracies; 10 % for TTO, NSMD, TV, KL, Entropy difference",
        "20 % for TBAT;",
        "but for 2.5 % of runs",
        "Fisher: of a correlation over n models",
        "in 65 to 90 % of cases",
    ):
        assert said in text
    rows = {claim.id: next(line for line in text.splitlines() if f"{claim.id})" in line) for claim in CLAIMS}
    for said in ("holds (4 of 4)", "holds (16 of 16)", "0.012 (TV, rank 16 against rank 32)", "] (windows), ± "):
        assert said in rows["falls-up-to-32"]
    undecided = next(line for line in text.splitlines() if "one-order)" in line)
    assert "but the order to agree with is not clear" in undecided
    assert "True by construction, no finding." in rows["tbat-zero-at-full-rank"]
    assert text.count("True by construction") == 1
    assert re.search(r"\d+ hold \(1 by construction\), 2 do not hold", text)


@pytest.mark.parametrize(
    ("interval", "half", "bound", "cell"),
    [
        ("windows", 0.4, 0.0, "-0.500 [-0.900, -0.100] (windows), at most 0.0097 with all 4 together |"),
        ("Fisher, n = 5 models", 0.4, 0.7, "(Fisher, n = 5 models), at most 0.0097 with all 4 together, against 0.7"),
        ("residuals", 0.6, 0.0, "-0.500 [-1.100, 0.100] (residuals) |"),
        ("windows", 0.0, 0.0, "-0.500 (none) |"),
    ],
)
def test_a_row_says_what_its_interval_is_and_what_all_comparisons_allow(interval, half, bound, cell):
    compared = [Comparison("x", -0.5, -0.5 - half, -0.5 + half, bound, interval=interval)]
    compared += [Comparison("y", 2.0, 2.0 - half, 2.0 + half, bound)] * 3
    table = claims_table([Claim("x", "4.2", "It is.", "Look.", lambda _: compared)], None, None)
    row = table.iloc[0]
    assert row.upper == pytest.approx(-0.5 + half * scipy.stats.norm.isf(0.025 / 4) / scipy.stats.norm.isf(0.025))
    assert row.interval == (interval if half else "none")
    assert row.verdict == ("cannot tell" if half and row.upper > bound else "does not hold")
    assert cell in markdown(claims_page(table, "Claims.", CHANCE.run_to_run, [], NOTHING))


def in_one_order():
    def test(evidence):
        tto, kl = ([evidence.score(metric, member) for member in evidence.family[-2:]] for metric in ("tto", "kl"))
        return [agree(evidence.compare(*tto, "TTO"), evidence.compare(*kl, "KL"))]

    return Claim("one-order", "4.2", "TTO and KL put two ranks in one order.", "One beside the other.", test)


def test_the_rarest_and_the_most_frequent_must_not_be_the_same_bytes(files, tmp_path):
    for count, path in ((19, tmp_path / "few.parquet"), (20, tmp_path / "enough.parquet")):
        texts = [bytes(range(97, 97 + count)) + b"abab"] * WINDOWS
        write_table(path, pa.table({"window": range(WINDOWS), "scored": texts}), {})
    with pytest.raises(Missing, match="only 19 different bytes stand in the windows; it takes 20"):
        rarest_bytes(run({**files, ("windows", ""): tmp_path / "few.parquet"}))
    evidence = run({**files, ("windows", ""): tmp_path / "enough.parquet"})
    assert (frequent_bytes(evidence), rarest_bytes(evidence)) == (list(range(97, 107)), list(range(107, 117)))


def test_a_checkpoint_without_rank_is_in_no_claim():
    rows = [*facts(), {"model": "mine", "kind": "family", "rank": None, "role": 32, "training": "mine"}]
    assert [str(member) for member in members(rows, "family")] == ["rank 4", "rank 8", "rank 288"]
    with pytest.raises(Missing, match="windows"):
        run({("nsmd", "bn4-s1"): "x"}).by_frequency()
