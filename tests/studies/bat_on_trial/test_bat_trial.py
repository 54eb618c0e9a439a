"""BAT on trial, on numbers from which the table follows by hand."""

import numpy as np
import pandas as pd
import pytest
import yaml
from study import TINY

from oversmoothing.bat.basis import prepare
from oversmoothing.tables.formats import markdown
from oversmoothing.tables.record import chosen
from studies.bat_on_trial.show_trial import at_harm, correlations, trial_page, trial_table
from studies.bat_on_trial.trial import rejections, sums


def test_rivals_are_read_at_equal_harm():
    harm, caught = pd.Series([0.2, 0.1]), pd.Series([0.9, 0.5])
    assert at_harm(harm, caught, 0.1) == 0.5
    assert at_harm(harm, caught, 0.15) == pytest.approx(0.7)
    assert at_harm(harm, caught, 0.05) == pytest.approx(0.25)
    assert at_harm(harm, caught, 0.0) == 0


def test_sums_of_a_rejection():
    p, law = np.array([[0.5, 0.3, 0.2]]), np.array([[0.9, 0.1, 0.0]])
    both, possible = np.array([[False, True, True]]), np.array([[False, True, False]])
    assert sums(p, law, both) == pytest.approx({"impossible": 0.2, "caught": 0.2, "harm": 0.1})
    assert sums(p, law, possible) == pytest.approx({"impossible": 0.2, "caught": 0.0, "harm": 0.1})


def test_a_trial_gives_mass_what_is_caught_and_harm_by_arm():
    facts = {"law": "zeros", "sequences": 100, "text": "zeros-100", "kind": "family", "rank": 4, "arm": "bn4"}
    learners = [{**facts, "model": f"bn4-s{seed}", "seed": seed} for seed in (1, 2, 3)]
    of_model = {"window": 0, "of": "model", "n": 100, "impossible": 20.0}
    names = pd.DataFrame({"text": "zeros-100", "model": [row["model"] for row in learners]})
    cuts = [("bat", 0.22, 5.0, 1.0), ("top-p", 0.9, 15.0, 2.0), ("top-p", 0.99, 9.0, 1.0)]
    counted = pd.DataFrame(cuts, columns=["method", "parameter", "caught", "harm"]).assign(**of_model)
    trials = names.merge(counted, how="cross")
    seen = names.assign(tto=[0.1, 0.2, 0.3], nsmd=0, tv=0, kl=1, tbat=np.nan)
    nearest = trials.assign(of="nearest", caught=trials.caught / 2)
    table = trial_table(pd.concat([trials, nearest]), seen, learners)
    values = chosen(table, condition=None).set_index(["measure", "decoding"]).value
    assert values["impossible"].iloc[0] == pytest.approx(0.2)
    assert values["harm", "bat 0.22"] == pytest.approx(0.01)
    assert values["caught", "bat 0.22"] == pytest.approx(0.25)
    assert values["caught", "top-p"] == pytest.approx(0.45)
    assert values["tto_correlation"].iloc[0] == pytest.approx(0.2)
    assert not (table.measure == "tbat_correlation").any()
    text = markdown(trial_page(table))
    assert chosen(table, condition="free", measure="caught", decoding="bat 0.22").value.item() == pytest.approx(0.125)
    of_model, of_nearest, _ = trial_page(table).sections
    assert of_model.rows[0]["caught by bat 0.22"].mean == 2 * of_nearest.rows[0]["caught by bat 0.22"].mean
    assert "mass on impossible bytes: zeros" in text


def test_rank_correlations_by_hand():
    masses = pd.DataFrame({"window": 0, "position": range(4), "impossible": [0.0, 0.1, 0.2, 0.4]})
    order = masses.iloc[::-1].assign(
        up=[9.0, 3.0, 2.0, 1.0], down=[1.0, 2.0, 3.0, 4.0], mixed=[3.0, 4.0, 1.0, 2.0], same=5
    )
    found = correlations(masses, dict.fromkeys(("up", "down", "mixed", "same"), order))
    assert found == pytest.approx({"up": 1, "down": -1, "mixed": 0.6, "same": np.nan}, nan_ok=True)


def test_bat_rejects_nothing_of_a_full_head_and_rivals_what_they_say():
    p = np.array([[0.6, 0.3, 0.06, 0.04]])
    made = {(name, value): rejected for name, value, rejected in rejections(prepare(np.eye(4)), p)}
    assert not made["bat", 0.22].any()
    assert made["top-p", 0.85].tolist() == [[False, False, True, True]]
    assert made["min-p", 0.3].tolist() == [[False, False, True, True]]


def test_only_a_law_with_zeros_puts_bat_on_trial(copy):
    with_zeros = {"name": "zeros", "decoding": {"name": "top-p", "p": 0.9}}
    texts = [{"law": law, "sequences": 8, "ranks": [4], "seeds": [1, 2]} for law in ("full", "zeros")]
    laws = {"laws": [{"name": "full"}, with_zeros], "texts": texts, "prompt": 8, "sampled": 24}
    (copy.folder / "laws.yaml").write_text(yaml.safe_dump({"known_law": laws}))
    assert copy.planned("results/tables/bat_on_trial.csv", config=(TINY, "laws.yaml"))["bat_on_trial"] == 2
