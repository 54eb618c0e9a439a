"""What the study reads of a config, mistakes in its sections, and what its measurements import."""

import json

import pytest
from corpus_jobs import assert_a_flipped_bit_is_noticed
from default_config import DEFAULT, default
from imported import imported

import plan
from checks.config import check
from checks.paths import check_paths
from studies.along_training import others
from studies.along_training.plan import followed, memory, revisions

FAMILY = [{"width": 288, "heads": 6}, {"rank": 16}]
ARMS = [{"rank": 4, "head": "plain"}, {"backward_rank": 8}]


def models(**changes):
    return followed(plan.models.by_name(default(**changes)).values())


def test_members_are_followed_unless_their_head_is_no_matrix_and_no_arms():
    assert [model.name for model in models(family=FAMILY)] == ["w288-s1337", "bn16-s1337"]
    assert models(family=[*FAMILY, *ARMS, {"rank": 4, "output": "softcap"}]) == models(family=FAMILY)


NAME = "EleutherAI/pythia-70m"
PYTHIA = {"name": "pythia", "hub": NAME, "revisions": ["step0", "step512", "step143000"]}
OTHER = {"name": "o", "hub": "a/b"}


def listing(*models, **changes):
    """Return a config that lists these models."""
    return default(others={"models": list(models)}, **changes)


def test_models_are_assets_revision_by_revision():
    config = listing({**PYTHIA, "main_is": "step143000", "batch": 2}, OTHER)
    check(config)
    places = revisions(config)
    assert [(place, one.step) for place, one in places.items()] == [
        ("pythia/step0", 0),
        ("pythia/step512", 512),
        ("pythia/step143000", 143_000),
        ("o/main", None),
    ]
    last = {"repository": NAME, "revision": "step143000", "otherwise": "main"}
    assert plan.assets.by_name(config) == {
        "EleutherAI--pythia-70m@step0": {"repository": NAME, "revision": "step0"},
        "EleutherAI--pythia-70m@step512": {"repository": NAME, "revision": "step512"},
        "EleutherAI--pythia-70m@step143000@main": last,
        "a--b@main": {"repository": "a/b", "revision": "main"},
    }
    assert [one.settings["batch"] for one in places.values()] == [2, 2, 2, DEFAULT["others"]["batch"]]
    assert plan.assets.by_name(config | {"studies": []}) == {}
    assert [one["step"] for one in plan.assets.by_repository(config)[NAME].values()] == [0, 512, 143_000]
    main = listing({**PYTHIA, "revisions": ["step0", "main"], "main_is": "step143000"})
    assert [one.step for one in revisions(main).values()] == [0, 143_000]


def test_a_folder_of_revisions(tmp_path):
    for name in ("step0", "main"):
        (tmp_path / name).mkdir()
    entry = {"name": "own", "hub": str(tmp_path), "revisions": ["step0", "step8"], "main_is": "step8"}
    check_paths(listing(entry))
    assert [one.source for one in revisions(listing(entry)).values()] == [
        {"folder": f"{tmp_path}/step0"},
        {"folder": f"{tmp_path}/main", "instead_of": "step8", "revision": "main"},
    ]
    del entry["revisions"]
    assert revisions(listing(entry))["own/main"].source == {"folder": str(tmp_path)}
    entry["revisions"] = ["step0", "step4"]
    with pytest.raises(plan.ConfigError, match=r"others\.models: revision step4 of own: no folder .*step4"):
        check_paths(listing(entry))
    check_paths(listing(entry, studies=[]))


def test_the_memory_for_a_model_follows_its_files(tmp_path):
    one = revisions(listing(OTHER))["o/main"]
    manifest = tmp_path / "m.json"
    assert memory(one, str(manifest)) == 16_000
    for damaged in ("[" * 100_000, '{"files": {"model.safetensors": {}}}'):  # which the job names
        manifest.write_text(damaged)
        assert memory(one, str(manifest)) == 16_000
    files = {"model.safetensors": {"size": 10**10}, "tokenizer.json": {"size": 10**6}}
    manifest.write_text(json.dumps({"files": files}))
    assert 33_000 < memory(one, str(manifest)) < 36_000
    assert memory(one, str(manifest), attempt=2) == memory(one, str(manifest)) * 3 // 2


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"models": [PYTHIA, PYTHIA]}, "others.models: pythia/step0 is listed twice"),
        ({"models": [{**PYTHIA, "main_is": "v1"}]}, "others.models.0.main_is: v1 of pythia has no step"),
        ({"models": [{**PYTHIA, "main_is": "step512"}]}, "not the end of training: step143000 comes after"),
        ({"models": [{**PYTHIA, "revisions": ["main", "step9"], "main_is": "step9"}]}, "others.models.0.main_is:"),
        ({"models": [{**OTHER, "revisions": ["v1\n"]}]}, r"others.models.0.revisions.0: 'v1\\n' does not match"),
    ],
)  # fmt: skip
def test_mistakes_name_their_key(section, message):
    with pytest.raises(plan.ConfigError, match=message):
        check(default(others=section))


def test_the_text_is_read_only_as_its_manifest_has_it(tmp_path):
    assert_a_flipped_bit_is_noticed(tmp_path, others.main, "evaluation")


def test_no_edit_of_a_page_measures_snapshots_or_revisions_again():
    steps = ("studies/along_training/measure.py", "studies/along_training/others.py")
    found = {name.partition("/")[0] for name in imported(*steps)}
    assert found.isdisjoint({"tables", "claims", "commands", "samples", "argmaxability", "bytewise"})
