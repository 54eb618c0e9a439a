"""Which models are compared, and what the texts of laws may name."""

import pytest
from default_config import default

import plan
from checks.config import check
from studies.known_law import plan as known_law
from studies.other_explanations.plan import of_model, rows

FAMILY = [{"rank": 4}, {"rank": 288}, {"rank": 288, "max_steps": 300}, {"rank": 4, "output": "mos2"}]
OTHERS = [{"rank": 4, "head": "plain"}, {"backward_rank": 4}]
LAWS = [{"name": "full"}]
TEXT = {"law": "full", "sequences": 100, "ranks": [4], "seeds": [1, 2], "arms": ["mos2-bn4", "bn288-300steps"]}


def config(**changes):
    return default(seeds=[1, 2], family=[*FAMILY, *OTHERS], svd_ranks=[], **changes)


def test_linear_heads_outputs_and_shorter_trainings_are_compared():
    compared = rows(config())
    assert {row["arm"] for row in compared} == {"bn4", "bn288", "bn288-300steps", "mos2-bn4", "pl4"}
    steps = {row["arm"]: row["steps"] for row in compared}
    assert (steps["bn288"], steps["bn288-300steps"]) == (900, 300)
    sizes = {row["arm"]: (row["parameters"], row["products"]) for row in compared}
    assert sizes["bn4"] == (4 * (288 + 256), 4 * (288 + 256))
    assert sizes["mos2-bn4"] == (4 * (2 * 288 + 256) + 2 * 8, 4 * (2 * 288 + 2 * 256) + 2 * 8)
    for without_pairs in ({"seeds": [1]}, {"family": FAMILY[:3]}, {"family": [*FAMILY[2:], *OTHERS]}):
        assert rows({**config(), **without_pairs}) == []


def test_a_shorter_training_reads_less_of_the_text_of_a_law():
    of_law = config(known_law={"laws": LAWS, "texts": [TEXT]})
    check(of_law)
    text = known_law.texts(of_law)["full-100"]
    learners = known_law.learners(of_law, text)
    steps = {name: of_model(model)["steps"] for name, model in learners.items()}
    assert steps == {
        f"{arm}-s{s}": n for s in (1, 2) for arm, n in (("mos2-bn4", 50), ("bn288-300steps", 17), ("bn4", 50))
    }
    assert set(known_law.judged(of_law, text)) == {"bn4-s1", "bn4-s2"}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([TEXT | {"arms": ["mos2-bn8"]}], r"no member of `family` is called 'mos2-bn8'; use bn288, bn288-300"),
        ([TEXT | {"ranks": [8]}], r"learning rates are tried for members of `family` alone; add \{rank: 8\}"),
        ([TEXT, TEXT | {"sequences": 200}], "two of the law 'full' have `arms`"),
    ],
)
def test_mistakes_in_texts_name_what_to_do(texts, message):
    rates = {"tried": [0.001, 0.002], "seed": 0}
    with pytest.raises(plan.ConfigError, match=f"known_law.texts: {message}"):
        check(config(known_law={"laws": LAWS, "texts": texts}, learning_rates=rates))
