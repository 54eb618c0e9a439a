"""Mistakes in the study's section, what it makes, and what another rank or a longer text makes again."""

from pathlib import Path

import pytest
import yaml
from default_config import default
from study import TINY

import plan
from checks.config import check
from studies.known_law.laws import Law
from studies.known_law.plan import corpus_settings, full_of, judged, learners, mistakes, text_settings, texts, truths
from studies.known_law.table import described

LAWS = [{"name": "full"}]
TEXT = {"law": "full", "sequences": 10, "ranks": [4], "seeds": [1, 2]}
STAND_INS = {"sequences": 10, "seeds": [11], "passes": 1}
EVERY = yaml.safe_load((Path(__file__).parent / "every_rule_of_bytes.yaml").read_text())["known_law"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"laws": [*LAWS, {"name": "full"}]}, "laws: 'full' is the name of another"),
        ({"texts": [{**TEXT, "law": "other"}]}, "texts: there is no law 'other'"),
        ({"laws": [*LAWS, {"name": "more"}]}, "laws: no text of 'more'"),
        ({"truths": {**STAND_INS, "seeds": [2]}}, "truths.seeds: 2 is a"),
        ({"truths": {**STAND_INS, "others": [{"name": "law"}]}}, "truths.others: 'law' is the name of another"),
        ({"laws": [{"name": "full", "decoding": {"chain": [{"bat": 0.2}]}}]}, "laws: full: decoding chain: bat"),
        ({"sampled": 300}, r": sequences of 56 \+ 300 bytes exceed the block of the truth"),
    ],
)
def test_mistakes_name_their_key(changes, message):
    with pytest.raises(plan.ConfigError, match=rf"known_law\.?{message}"):
        check(default(known_law={"laws": LAWS, "texts": [TEXT]} | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tokens": {"vocabulary": 300}}, "laws are of bytes"),
        ({"truths": [{"name": "lm", "hub": "o/lm", "layout": "tokens"}]}, "a law is that of a truth that is trained"),
    ],
)
def test_a_law_needs_bytes_and_weights(changes, message):
    config = default(known_law={"laws": LAWS, "texts": [TEXT]}, **changes)
    assert any(mistake.startswith(f"known_law.laws: {message}") for mistake in mistakes(config))


def test_others_measure_the_members_of_one_seed_with_the_shortest_text_of_a_law():
    config = default(known_law={"laws": LAWS, "texts": [{**TEXT, "sequences": 20}, TEXT]})
    [member] = plan.studies.distributions(config)
    assert [member["facts"][key] for key in ("model", "law", "sequences")] == ["bn4-s1", "full", 10]
    text = plan.Run(config).texts[member["text"]]
    assert text.folder == "laws/full-10/"
    assert [text.truths[truth] for truth in member["truths"]] == ["results/laws/full/law.parquet"]


def test_a_law_may_be_decoded_by_a_chain():
    hot, mild = {"chain": [{"temperature": 1.5}, {"min-p": 0.1}]}, {"chain": [{"temperature": 1.5}, "pure"]}
    check(default(known_law={"laws": [{"name": "full", "decoding": hot}], "texts": [TEXT]}))
    zeros = [Law("full", decoding=entry).has_zeros for entry in (hot, mild, {"name": "top-h", "alpha": 0.4})]
    assert zeros == [True, False, True]
    law = {"law": "full", "rank": None, "decoding": hot}
    assert described(law) == "Law `full` (as it is, temperature-1.5+min-p-0.1 sampling)"


def test_each_text_has_its_members_and_stand_ins(copy):
    (copy.folder / "every.yaml").write_text(yaml.safe_dump({"known_law": EVERY}))
    jobs = copy.planned("results/tables/known_law.csv", config=(TINY, "every.yaml"))
    # Two seeds and stand-ins of two kinds of each short text; two seeds of the long one and of one more rank.
    learners = 3 * (2 + 1 + 1) + 2 + 2
    assert jobs["law_text"] == jobs["exact_law"] == jobs["read_stand_in"] == 3
    assert jobs["law_head"] == jobs["law_model"] == 1
    assert jobs["train"] == jobs["forced"] == jobs["score"] == learners


def test_other_stand_ins_say_what_differs_and_leave_the_first_as_they_are():
    more = {"name": "more", "sequences": 40, "after": 10, "passes": 3, "seeds": [9]}
    others = {"temperatures": [0.8], "others": [{"name": "shallow", "layers": 1}, more]}
    of, with_others = (
        default(known_law={"laws": LAWS, "texts": [TEXT], "truths": STAND_INS | further}) for further in ({}, others)
    )
    first, learned = texts(of)["full-10"], texts(with_others)
    assert [row["truth"] for row in truths(of, first)] == ["truth-s11"]
    found = {row["truth"]: (row["stand_ins"], row["text"], row["temperature"]) for row in truths(with_others, first)}
    assert found == {
        "truth-s11": ("stand-ins", "full-10", None),
        "shallow-s11": ("shallow", "full-10", None),
        "more-s9": ("more", "full-40-after-10", None),
        "truth-s11 at 0.8": ("stand-ins at 0.8", "full-10", 0.8),
    }
    assert truths(with_others, learned["full-40-after-10"]) == []  # which no member learns
    trained = judged(with_others, first) | judged(with_others, learned["full-40-after-10"])
    steps = {name: model.settings["training"]["max_steps"] for name, model in trained.items()}
    batch = of["training"]["batch"]
    assert (steps["truth-s11"], steps["shallow-s11"], steps["more-s9"]) == (10 // batch, 10 // batch, 120 // batch)
    assert trained["truth-s11"] == judged(of, first)["truth-s11"]
    layers = {name: trained[name].settings["model"]["layers"] for name in ("truth-s11", "shallow-s11", "more-s9")}
    assert layers == {"truth-s11": 3, "shallow-s11": 1, "more-s9": 3}
    assert text_settings(with_others, Law("full"))["sequences"]["train"] == 50
    assert corpus_settings(with_others, first) == corpus_settings(of, first)


def test_another_rank_or_seed_draws_no_text_again():
    of = default(known_law={"laws": LAWS, "texts": [TEXT]})
    more = default(known_law={"laws": LAWS, "texts": [{**TEXT, "ranks": [4, 8], "seeds": [1, 2, 3]}]})
    longer = default(known_law={"laws": LAWS, "texts": [{**TEXT, "sequences": 20}]})
    law, text = Law("full"), "full-10"
    assert text_settings(more, law) == text_settings(of, law) != text_settings(longer, law)
    assert corpus_settings(more, texts(more)[text]) == corpus_settings(of, texts(of)[text])
    kept = {name: model.settings for name, model in learners(of, texts(of)[text]).items()}
    assert kept.items() <= {name: model.settings for name, model in learners(more, texts(more)[text]).items()}.items()


def test_the_trainings_are_counted_among_what_a_config_needs():
    needed, more = (
        next(part for part in plan.studies.work(config) if "known laws" in part["what"])
        for config in (default(known_law={"laws": LAWS, "texts": [TEXT | of]}) for of in ({}, {"sequences": 10_000}))
    )
    assert needed["count"] == 2
    assert more["operations"] > needed["operations"] > 0


def test_members_of_lower_ranks_stand_beside_the_highest_of_their_seed():
    config = default(known_law={"laws": LAWS, "texts": [{**TEXT, "ranks": [4, 16]}]} | {"truths": STAND_INS})
    assert full_of(config) == {("laws/full-10/", f"bn4-s{seed}"): f"bn16-s{seed}" for seed in (1, 2)}
    assert full_of(default()) == {}
