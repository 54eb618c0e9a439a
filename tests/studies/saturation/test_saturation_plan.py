"""What the study reads of a config, and how mistakes in its section read."""

import pytest
import yaml
from default_config import ROOT, default

import plan
from checks.config import check
from checks.paths import check_paths
from oversmoothing.fingerprint import versions
from studies.saturation.plan import fitted_names, models_in_table, trained_models

HISTORY = {"name": "a", "path": "no.csv", "parameters": 1}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"saturation": {"skip": 1.0}}, "saturation.skip: 1.0 is greater than or equal to"),
        ({"saturation": {"study": False}}, "saturation.study: false leaves nothing to fit"),
        ({"saturation": {"fitted": ["bn5-s1337"]}}, "saturation.fitted: there is no history of 'bn5-s1337'; there"),
        ({"saturation": {"histories": [HISTORY | {"name": "truth"}]}}, "truth is listed twice, or is a model of the"),
        ({"saturation": {"histories": [HISTORY | {"path": "a.txt"}]}}, "histories.0.path: 'a.txt' does not match"),
    ],
)  # fmt: skip
def test_mistakes_name_their_key(changes, message):
    with pytest.raises(plan.ConfigError, match=message):
        check(default(**changes))
    if changes != {"saturation": {"skip": 1.0}} and "path" not in message:  # which the schema refuses in any case
        check(default(**changes, studies=[]))


def test_a_history_that_is_not_there_is_named_with_its_key():
    config = default(saturation={"histories": [HISTORY]})
    with pytest.raises(plan.ConfigError, match=r"saturation\.histories\.0\.path: no file no\.csv"):
        check_paths(config)
    check_paths(config | {"studies": []})


def test_the_widths_study_extrapolates_to_models_smaller_than_all_that_the_law_is_fitted_to():
    config = default(**yaml.safe_load((ROOT / "config/widths.yaml").read_text()))
    models = plan.models.by_name(config)
    shapes = {model.name: model.settings["model"] for model in trained_models(config, models)}
    sizes = {name: shape["layers"] * shape["width"] ** 2 for name, shape in shapes.items()}
    fitted = fitted_names(config, models)
    assert len({sizes[name] for name in fitted}) >= 3  # else alpha cannot be told
    assert {"w16-s1337", "w32-s1337"} <= {name for name in sizes if sizes[name] < min(sizes[name] for name in fitted)}


def test_arms_are_not_compared_with_the_law():
    family = [{"width": 288, "heads": 6}, {"rank": 16}]
    more = [{"rank": 4, "head": "plain"}, {"backward_rank": 8}]
    without, arms = default(family=family), default(family=[*family, *more])
    assert models_in_table(arms, plan.models.by_name(arms)) == models_in_table(without, plan.models.by_name(without))


def test_its_steps_are_free_of_torch():
    assert set(versions("studies/saturation/measure.py")) == {"numpy", "scipy"}
    assert "torch" not in versions("studies/saturation/table.py")


@pytest.mark.parametrize(
    ("given", "filled"),
    [({}, {"skip": 0.25, "seed": 1337}), ({"saturation": {"skip": 0.5}}, {"skip": 0.5, "seed": 1337})],
)
def test_a_config_that_says_nothing_or_little_has_the_defaults(given, filled):
    plan.studies.fill_in(given)
    assert given["saturation"].items() >= filled.items()


def test_an_unknown_study_is_named():
    with pytest.raises(plan.ConfigError, match=r"studies\.0: 'saturations' is not one of \["):
        check(default(studies=["saturations"]))
    with pytest.raises(plan.ConfigError, match=r"studies: 'saturation' is text, not a list: write \[saturation\]"):
        check(default(studies="saturation"))
