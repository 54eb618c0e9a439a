"""Whose snapshots are measured, and what the measurement imports."""

from default_config import default
from imported import imported

import plan
from studies.along_training.plan import followed, tbat

FAMILY = [{"width": 288, "heads": 6}, {"rank": 16}]
ARMS = [{"rank": 4, "head": "plain"}, {"rank": 4, "head": "beside_full"}, {"backward_rank": 8}]


def models(**changes):
    return followed(plan.models.by_name(default(**changes)).values())


def test_arms_are_followed_beside_the_family_unless_a_second_head_drives_their_trunk():
    with_arms = models(family=[*FAMILY, *ARMS])
    assert [model for model in with_arms if model.kind == "family"] == models(family=FAMILY)
    assert [model.name for model in with_arms if model.kind != "family"] == ["pl4-s1337", "bw8-s1337"]


def test_a_model_whose_head_is_no_matrix_is_not_followed():
    assert models(family=[*FAMILY, {"rank": 4, "output": "softcap"}]) == models(family=FAMILY)


def test_without_snapshots_nothing_is_followed():
    assert models(training={**default()["training"], "snapshots": False}) == []


def test_tbat_is_measured_of_full_models_of_several_seeds():
    assert tbat(default(family=FAMILY), "w288-s1337") is None
    several = default(family=FAMILY, seeds=[1, 2])
    assert tbat(several, "bn16-s1") is None
    assert tbat(several, "w288-s2").keys() == {"first_step", "delta", "condition", "mass_tolerance"}


def test_what_it_computes_with():
    """A longer list means that more edits measure all snapshots again."""
    imports = """
        bat data fingerprint forced jobs printable store training
        models/device models/factored_head models/head_gradient models/heads models/inference models/logit_files
        models/logit_gradient models/logits models/model models/output_kinds models/output_layers models/predictor
        models/spectra models/weights
        numerics/compiled numerics/distributions numerics/geometry numerics/layer_norm
        numerics/singular_values numerics/softcap numerics/spaced_positions
        scores/candidates scores/catalogue/metrics scores/files scores/metrics scores/nucleus scores/probabilities
        scores/tbat
    """
    assert imported("studies/along_training/measure.py") == set(imports.split())
