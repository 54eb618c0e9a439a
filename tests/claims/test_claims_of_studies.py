"""Claims that no printed table can test: on made tables each holds, is contradicted, and says what it lacks."""

import pandas as pd
import pytest
from made_tables import around, claims_of, measured

from oversmoothing.claims.claim import CONTRADICTED, HOLDS, NOT_TESTED, judge
from oversmoothing.claims.measured import Measured, Rank

CLAIMS = claims_of(
    *("byte_by_byte", "argmaxable_classes", "forced_part", "bat_on_trial", "imposed_rank", "along_training"),
    *("saturation", "across_seeds"),
)


def by_rank(table, measure, ranks, **where):
    return [{"rank": rank, "measure": measure, "value": value, **where} for rank, value in ranks.items()]


def of_bytes(rare=0.3, frequent=0.1, argmax=0.0, low=0.1):
    """Twenty bytes; rank 288 has the lower NSMD at all of them, by `low`."""
    text = [{"class": b, "measure": "occurrences", "value": 100.0 - b, "kind": None, "rank": None} for b in range(20)]
    nsmd = [
        {"class": b, "measure": "nsmd", "rank": rank, "value": around((rare if b > 9 else frequent) + more)}
        for rank, more in ((4, low), (288, 0))
        for b in range(20)
    ]
    chosen = [{"class": b, "measure": "argmax_share", "rank": 4, "value": around(argmax, 0)} for b in range(20)]
    scores = by_rank("oversmoothing", "nsmd", {4: 0.3, 288: 0.1}, decoding="pure")
    return measured((4, 288), bytes=text + nsmd + chosen, oversmoothing=scores)


def of_heads(listed, counts):
    text = [{"class": b, "measure": "occurrences", "value": 100.0 - b, "kind": None, "rank": None} for b in range(20)]
    rows = by_rank("argmaxability", "unargmaxable", counts, condition="free", note=listed)
    return measured(tuple(counts), bytes=text, argmaxability=rows)


def of_forced(forced=(0.61, 0.21, 0.02), kl=(0.85, 0.44, 0.28, 0.22)):
    rows = []
    for rank, part, whole in zip((4, 8, 16, 288), (*forced, 0.0), kl, strict=True):
        for measure, value in (("forced", part), ("kl", whole), ("rest", whole - part)):
            rows.append({"rank": rank, "measure": measure, "value": around(value, 0.0001)})
    return measured((4, 8, 16, 288), forced=rows)


def of_bat(cut):
    rows = by_rank("bat_premise", "rejected_mass", {4: around(0.3), 8: around(0.2)})
    return measured((4, 8), bat_premise=rows + by_rank("", "top_rejected_mass", {4: around(cut), 8: around(cut, 0.02)}))


def of_imposed(low, high, whole=1.6):
    rows = by_rank("", "loss", {4: around(low, 0.001), 64: around(high, 0.001)}, kind="retrained")
    return measured((288,), imposed_rank=[*rows, *by_rank("", "loss", {288: around(whole, 0.002)})])


def of_trainings(end, falls=0.5, loss=2.6):
    """Two ranks with one block, whose last snapshot is `end`; three seeds."""
    series = {
        "loss": (5.0, 2.5, 2.5, loss),
        "singular_entropy": (1.0, 1.2, falls, end),
        "anisotropy": (0.1, 0.1, 0.2, end),
        "head_input_anisotropy": (0.1, 0.1, 0.1, end),
    }
    rows = [
        {"model": f"bn{rank}-s{seed}", "rank": rank, "seed": seed, "step": 10 * i, "measure": measure, "truth": None}
        | {"layer": 1 if measure == "anisotropy" else None, "value": value * (1 + seed / 1000 if i > 1 else 1)}
        for rank in (4, 288)
        for seed in (0, 1, 2)
        for measure, values in series.items()
        for i, value in enumerate(values if rank == 4 else (*values[:3], values[2]))
    ]
    return Measured({"along_training": pd.DataFrame(rows)}, [Rank(4, 4), Rank(288, 288)])


def of_laws(above):
    rows = [
        {"model": f"w16-s{seed}", "arm": "w16", "measure": measure, "value": value + seed / 100}
        for seed in (1, 2, 3)
        for measure, value in (("above_last", above), ("fitted", -seed / 100), ("parameters", 10.0))
    ]
    rows += [
        {"model": "big", "arm": "big", "measure": name, "value": value}
        for name, value in (("fitted", 1.0), ("parameters", 99.0))
    ]
    return measured((16,), saturation=rows)


def of_equals(floor):
    """Three full models, a pair of which leaks `floor` against each other."""
    names = {f"bn288-s{seed}": seed for seed in (0, 1, 2)}
    scores, pairs = [], []
    for metric in ("tto", "nsmd", "tv", "kl"):
        scores += by_rank("", metric, {4: around(0.3), 288: around(0.1)}, decoding="pure")
        pairs += [
            {"model": a, "truth": b, "measure": f"{metric}_floor", "value": floor + (names[a] + names[b]) / 1000}
            for a in names
            for b in names
            if a != b
        ]
    for row in scores:
        row["model"] = None
    run = measured((4, 288), oversmoothing=scores, across_seeds=pairs)
    table = run.table("oversmoothing")
    table["model"] = "bn" + table["rank"].astype(str) + "-s" + table.seed.astype(str)
    return run


NONE = measured((4, 8, 16, 288))
CASES = {  # evidence under which a claim holds, and evidence that contradicts it
    "rare-bytes-oversmoothed-more": (of_bytes(), of_bytes(rare=0.1, frequent=0.3)),
    "lowest-rank-worse-at-every-byte": (of_bytes(), of_bytes(low=-0.05)),
    "lowest-rank-never-predicts-the-rarest": (of_bytes(), of_bytes(argmax=0.01)),
    "low-ranks-cannot-predict-the-rarest": (
        of_heads(" ".join(f"{b:02X}" for b in range(10, 20)), {4: 10.0, 288: 0.0}),
        of_heads("0A", {4: 1.0, 288: 0.0}),
    ),
    "unargmaxable-bytes-fall": (
        of_heads("", {4: around(10), 8: around(3), 288: around(0)}),
        of_heads("", {4: around(1), 8: around(3), 288: around(0)}),
    ),
    "head-forces-most-at-4": (of_forced(), of_forced(forced=(0.4, 0.21, 0.02))),
    "little-is-forced-from-16": (of_forced(), of_forced(forced=(0.61, 0.21, 0.07))),
    "forced-is-the-cost-of-the-rank": (of_forced(), of_forced(forced=(0.61, 0.1, 0.02))),
    "bat-rejects-more-than-a-cut": (of_bat(0.1), of_bat(0.5)),
    "constrained-heads-lose": (of_imposed(2.1, 1.6), of_imposed(1.6, 2.1)),
    "only-low-ranks-cost": (of_imposed(2.1, 1.6), of_imposed(2.1, 1.9)),
    "layers-are-anisotropic": (of_trainings(0.5), of_trainings(0.05)),
    "few-dimensions-end-anisotropic": (of_trainings(0.5), of_trainings(0.05)),
    "singular-entropy-falls": (of_trainings(0.5), of_trainings(1.19, falls=1.19)),
    "anisotropy-rises-where-it-saturates": (of_trainings(0.5), of_trainings(0.1)),
    "singular-entropy-jumps-where-it-saturates": (of_trainings(1.5), of_trainings(0.9)),
    "small-models-end-above-the-fit": (of_laws(8.0), of_laws(-8.0)),
    "all-oversmooth": (of_equals(0.05), of_equals(0.2)),
}


def test_every_claim_has_its_cases():
    assert CASES.keys() == CLAIMS.keys()


@pytest.mark.parametrize("name", CASES)
def test_a_claim_can_hold_and_be_contradicted_and_says_what_it_lacks(name):
    holds, contradicted = (judge(CLAIMS[name], evidence) for evidence in CASES[name])
    assert holds.verdict == HOLDS, holds
    assert contradicted.verdict == CONTRADICTED, contradicted
    lacking = judge(CLAIMS[name], NONE)
    assert lacking.verdict == NOT_TESTED
    assert lacking.note.startswith("there is no table")


@pytest.mark.parametrize(
    ("name", "evidence", "note"),
    [
        ("forced-is-the-cost-of-the-rank", of_forced(kl=(0.85, 0.2, 0.28, 0.22)), "rank 8 has no clearly higher KL"),
        ("anisotropy-rises-where-it-saturates", of_trainings(0.5, loss=2.5), "no model saturates"),
        (
            "small-models-end-above-the-fit",
            measured((4,), saturation=[{"model": "a", "measure": "fitted", "value": 0.0}]),
            "fitted on no model",
        ),
    ],
)
def test_what_is_no_evidence_tests_nothing(name, evidence, note):
    found = judge(CLAIMS[name], evidence)
    assert (found.verdict, note in found.note) == (NOT_TESTED, True)
