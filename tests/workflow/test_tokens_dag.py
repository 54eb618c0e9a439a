"""The workflow over tokens: those that it learns from the text, and those of models from the hub."""

import json
import re

import matplotlib.image
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from hub_models import write_neox
from safetensors.numpy import load_file
from study import ROOT, TINY, TOKENS, Study, copy_project, listed

from oversmoothing.data.tokens.vocabulary import load_tokenizer, read_vocabulary, vocabulary_of
from oversmoothing.store.parquet import read_table

pytestmark = pytest.mark.slow
LEARNED = yaml.safe_load((ROOT / TOKENS[1]).read_text())
HUB = {
    "tokens": {"tokenizer": "./hub/truth"},
    "family": [{"name": "small", "hub": "./hub/small"}, {"name": "large", "hub": "./hub/large", "batch": 2}],
    "truths": [{"name": "truth", "hub": "./hub/truth"}],
    "svd_ranks": [4, 16],
    "svd_of": "large",
    "windows": LEARNED["windows"],
}
for more in ROOT.glob("tests/studies/*/from_hub.yaml"):  # what a study needs where models are from the hub
    HUB |= yaml.safe_load(more.read_text())
WIDTHS = {"small": 8, "large": 24, "truth": 32}
OF_BYTES = {"claims", *listed("", "of bytes alone")}
# Of other configs.
ELSEWHERE = {"learning_rates", *listed("", "(?:if the config lists any|with several (?:seeds|truths|steps|sizes))")}
ELSEWHERE |= {*listed("", r"with `\w+\.\w+`")}  # a key of a study that the default leaves empty
OF_TRAINED = {"architecture", *listed("", "models trained here")}
SPEAK_OF_TOKENS = ("argmaxability", *listed("Tables", "of tokens alone"), *listed("Tables", "of bytes or tokens"))
WITHOUT_LATEX = ("samples", "frontier")


def of_tokens(kind):
    """Names of the tables or of the figures that pages list, without those of bytes and of other configs."""
    return set(listed(kind)) - OF_BYTES - ELSEWHERE


def over_tokens(study, own):
    """Return a study over tokens, under what a config says beyond the tiny one."""
    (study.folder / "tokens.yaml").write_text(yaml.safe_dump(own))
    return Study(study.folder, (TINY, "tokens.yaml"))


@pytest.fixture(scope="module")
def learned(once, built):
    def build(folder):
        over_tokens(copy_project(folder, built), LEARNED).snakemake("all")

    return over_tokens(Study(once("learned_tokens", build)), LEARNED)


@pytest.fixture(scope="module")
def from_hub(once, built):
    def build(folder):
        study = over_tokens(copy_project(folder, built), HUB)
        for name, width in WIDTHS.items():
            write_neox(folder / "hub" / name, int(name == "truth"), 2, width)
        study.snakemake("assets")
        study.snakemake("all")

    return over_tokens(Study(once("hub_tokens", build)), HUB)


def check_everything_is_there(study, without=frozenset()):
    names = of_tokens("Tables") - without
    assert len(names) >= 10
    for name in names:
        assert len(pd.read_csv(study.path(f"tables/{name}.csv"))) >= 2, name
        for suffix in ("md", "html", *(() if name in WITHOUT_LATEX else ("tex",))):
            text = study.path(f"tables/{name}.{suffix}").read_text()
            assert len(text) > 200, f"{name}.{suffix}"
            assert not re.search(r"\bnan\b", text), f"{name}.{suffix}"
    assert {path.stem for path in study.path("tables").glob("*.csv")} == names
    without = without | ({"losses"} if "architecture" in without else set())  # of trainings, as a figure
    names = of_tokens("Figures") - without
    prompts = [entry["name"] for entry in study_config(study).get("showcase", [])]
    drawn = {name.replace("typical", prompt) for name in names for prompt in prompts or ["typical"]}
    made = {path.stem for path in study.path("figures").glob("*.png")}
    assert {name for name in made if not name.startswith("frontier_")} == drawn  # a figure of each temperature
    for name in drawn:
        assert matplotlib.image.imread(study.path(f"figures/{name}.png")).std() > 0.05, name
    for name in SPEAK_OF_TOKENS:
        for suffix in ("md", "html", "tex"):
            text = study.path(f"tables/{name}.{suffix}").read_text()
            assert "token" in text, name
            assert not re.search(r"\bbytes?\b", re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL), re.IGNORECASE)


def study_config(study):
    return yaml.safe_load((study.folder / TINY).read_text()) | yaml.safe_load(
        (study.folder / "tokens.yaml").read_text()
    )


def test_every_table_and_figure_over_learned_tokens(learned):
    check_everything_is_there(learned, {*listed("", "members from the hub beside")})


def test_a_second_run_over_learned_tokens_does_nothing(learned):
    assert learned.planned("all") == {}


@pytest.mark.parametrize("made", ["learned", "from_hub"])
def test_what_heads_force_over_tokens_adds_up_to_the_divergence_that_is_scored(request, made):
    study = request.getfixturevalue(made)
    rows = pd.concat([study.table("forced"), study.table("forced_heads")])
    models = rows.drop_duplicates("model").set_index("model").kind
    assert {"family", "svd"} <= set(models)
    for model in models.index:
        found = read_table(study.path(f"scores/forced/{model}.parquet")).to_pandas()
        assert (found.gap <= 1e-9).all()
        np.testing.assert_allclose(found.kl, found.forced + found.rest, rtol=1e-12)
        scored = read_table(study.path(f"scores/kl/{model}.parquet")).to_pandas()
        np.testing.assert_allclose(found.kl, scored.value[scored.decoding == "pure"], atol=1e-4)


def test_the_learned_tokens_are_those_of_the_corpus(learned):
    tokenizer, vocabulary = (
        load_tokenizer(learned.path("tokens/tokenizer.json")),
        read_vocabulary(learned.path("tokens/vocabulary.parquet")),
    )
    assert len(vocabulary) == 400
    assert pq.read_schema(learned.path("tokens/vocabulary.parquet")).names == ["token", "id", "bytes"]
    manifest = json.loads(learned.path("tokens/manifest.json").read_text())
    assert (manifest["vocabulary"], manifest["dtype"]) == (400, "int32")
    for split in ("train", "validation"):
        tokens, text = np.fromfile(learned.path(f"tokens/{split}.bin"), "int32"), learned.path(f"corpus/{split}.bin")
        assert vocabulary.decode(tokens.tolist()) == text.read_bytes()
        assert manifest["splits"][split]["tokens"] == len(tokens) < len(text.read_bytes())
    windows = read_table(learned.path("windows.parquet")).to_pylist()
    evaluation = learned.path("corpus/evaluation.bin").read_bytes()
    for row in windows:
        assert (len(row["prompt_tokens"]), len(row["scored_tokens"])) == (4, 8)
        assert evaluation[row["offset"] :].startswith(row["prompt"] + row["scored"])
    assert first_ids(vocabulary_of(tokenizer, "own")) == first_ids(vocabulary)


def first_ids(vocabulary):
    return vocabulary.ids[:50].tolist()


def test_models_have_a_class_for_each_token(learned):
    for model in ("bn4-s1337", "truth"):
        head = load_file(learned.path(f"models/{model}/weights.safetensors"))["head.weight"]
        assert len(head) == 400
        beside = load_file(learned.path(f"logits/{model}.head.safetensors"))["head.weight"]
        assert np.array_equal(beside.astype(np.float32), head)
        assert pq.read_schema(learned.path(f"logits/{model}.parquet")).names[-1] == "state"
    classes = read_table(learned.path("argmaxability/bn4-s1337.parquet")).to_pandas()
    assert classes["class"].max() == 399
    assert set(learned.table("losses").unit) == {"nats per token", "nats per byte", "share of tokens"}


def test_samples_are_texts(learned):
    vocabulary = read_vocabulary(learned.path("tokens/vocabulary.parquet"))
    texts = read_table(learned.path("samples/bn4-s1337/pure.parquet"))["continuation"].to_pylist()
    longest = max(map(len, vocabulary.texts))
    assert all(8 <= len(text) <= 8 * longest for text in texts)
    assert len({len(text) for text in texts}) > 1  # eight tokens each, not eight bytes


def test_every_table_and_figure_of_hub_members(from_hub):
    check_everything_is_there(from_hub, OF_TRAINED)
    assert "along training" not in from_hub.path("tables/losses.md").read_text()


def test_a_second_run_with_hub_members_does_nothing(from_hub):
    assert from_hub.planned("all") == {}


def test_rows_that_pad_a_head_are_no_classes(from_hub):
    """A GPT-NeoX of 320 rows, whose tokenizer has fewer ids."""
    vocabulary = read_vocabulary(from_hub.path("tokens/vocabulary.parquet"))
    rows = load_file(from_hub.folder / "hub/large/model.safetensors")["embed_out.weight"]
    assert 256 < len(vocabulary) < len(rows) == 320
    for name, width in WIDTHS.items():
        head = load_file(from_hub.path(f"logits/{name}.head.safetensors"))["head.weight"]
        assert head.shape == (len(vocabulary), width)
        mass = read_table(from_hub.path(f"logits/{name}.parquet"), ["special_mass"])["special_mass"].to_numpy()
        assert mass.min() > 0
    own = load_file(from_hub.path("logits/large.head.safetensors"))["head.weight"]
    assert np.array_equal(own.astype(np.float32), rows[vocabulary.ids])
    for metric in ("tv", "tbat"):
        found = from_hub.table("oversmoothing")
        assert set(found[found.measure == metric].model) == {"small", "large"}, metric
