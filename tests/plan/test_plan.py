"""The config: what it may hold, which models follow from it, and how its mistakes read."""

import json
from pathlib import Path

import pytest
import yaml
from default_config import DEFAULT, default

import plan
from checks.config import check, check_device
from checks.paths import check_models, check_paths
from oversmoothing.models.output_kinds import KINDS, LINEAR
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.tables import kinds
from plan.model_types import ByBytes, Checkpoint, Hub, of_type
from plan.settings import ConfigError

ROOT = Path(__file__).resolve().parents[2]
CHAIN = {"chain": [{"temperature": 1.5}, {"min-p": 0.05}]}
ARMS = [{"width": 288, "heads": 6}, {"rank": 4}, {"rank": 4, "head": "plain"}]
TAILR, MIXCE = ({"name": "tailr", "gamma": 0.1}, {"name": "mixce", "eta": 0.5})
ARMS += [{"backward_rank": 4}]


def shipped(name):
    """Return a config of the project, laid over the default."""
    return default(**yaml.safe_load((ROOT / f"config/{name}.yaml").read_text()))


@pytest.mark.parametrize("name", sorted({path.stem for path in (ROOT / "config").glob("*.yaml")} - {"config"}))
def test_shipped_configs_are_valid_and_keep_their_results_apart(name):
    config = shipped(name)
    check(config)
    assert config["results"] != DEFAULT["results"]
    assert plan.models.checkpoints(config, "m")["folder"] == f"{config['results']}/checkpoints/m"


def test_full_heads_of_equal_loss_join_the_models_of_the_replication():
    """Whatever both configs train, the second finds trained."""
    ranks, more = map(shipped, ("replication", "equal_loss"))
    assert more["results"] == ranks["results"]
    first, second = map(plan.models.by_name, (ranks, more))
    assert {first[name].kind for name in first.keys() - second.keys()} == {"svd", "family"}
    assert more["seeds"] == ranks["seeds"][:5]
    alone = {first[name].seed for name in first.keys() - second.keys() if first[name].kind == "family"}
    assert alone == {*ranks["seeds"][5:]}
    shared = first.keys() & second.keys()
    assert [second[name] for name in shared] == [first[name] for name in shared]
    assert {second[name].rank for name in second.keys() - shared} == {288}
    third = plan.models.by_name(shipped("equal_loss_controls"))
    assert [third[name] for name in second] == list(second.values())
    assert {third[name].kind for name in third.keys() - second.keys()} == {"context", "layers"}


def test_a_member_states_a_context_or_layers_only_where_its_entry_does():
    """So that the settings of all other models, by which they are known, stay as they are."""
    family = [{"rank": 4}, {"rank": 4, "context": 8}, {"rank": 4, "layers": 1}]
    config = default(family=family)
    check(config)
    models = plan.models.by_name(config)
    usual, near, flat = (models[f"bn4{name}-s1337"].settings for name in ("", "-context8", "-layers1"))
    assert "context" not in usual["model"]
    assert usual == plan.models.by_name(default(family=family[:1]))["bn4-s1337"].settings
    assert near == {**usual, "model": {**usual["model"], "context": 8}}
    assert flat == {**usual, "model": {**usual["model"], "layers": 1}}
    for entry, message in (
        ({"rank": 4, "context": 0}, r"family\.1: context: 0, but a model sees at least the last byte; write 1 or more"),
        ({"rank": 4, "temperature": 1.0}, r"family\.1: .* must have either"),
    ):
        with pytest.raises(ConfigError, match=message):
            check(default(family=[family[0], entry]))


def test_thesis_scale():
    config = shipped("thesis")
    models = plan.models.by_name(config)
    assert [m.rank for m in models.values() if m.kind == "family"] == [4, 8, 12, 16, 32, 128, 512]
    shape = models["bn512-s1337"].settings["model"]
    assert (shape["layers"], shape["heads"], shape["width"], shape["block"]) == (16, 16, 512, 1024)
    assert (shape["positions"], shape["dropout"]) == ("learned", 0.1)
    training = models["bn512-s1337"].settings["training"]
    assert training["batch"] * training["accumulation"] * shape["block"] == 16 * 16 * 1024
    assert all(not row["differs"] for row in plan.thesis.compared(config, "family", METRICS))
    for changed in ({"learning_rate": 0.001}, {"head_rate": "scaled"}, {"batch": 4}):
        other = {**config, "training": {**config["training"], **changed}}
        assert plan.thesis.compared(other, "family", METRICS)[0]["differs"] == ["recipe"]


def test_truths_from_the_hub_are_assets():
    config = shipped("thesis")
    name = "EvaByte--EvaByte@main"
    assert plan.assets.by_name(config)[name] == {"repository": "EvaByte/EvaByte", "revision": "main"}
    evabyte = plan.models.by_name(config)["evabyte"]
    assert (evabyte.kind, type(evabyte)) == ("truth", Hub)
    wanted = {"asset": "EvaByte--EvaByte@main", "layout": "evabyte", "bos": True, "batch": 16, "precision": "bf16"}
    assert evabyte.settings == wanted
    assert plan.samples.sampling_settings(config, [], evabyte)["batch"] == 16
    assert plan.samples.sampling_settings(config, [])["batch"] == 100
    rows = {row["model"]: row["differs"] for row in plan.thesis.compared(config, "truth")}
    assert rows["evabyte"] == rows["gpt-300m"] == plan.thesis.all_truths(config)["differs"] == []
    config["corpus"]["fineweb"]["repository"] = "HuggingFaceFW/fineweb-edu"
    assert plan.thesis.all_truths(config)["differs"] == ["data"]


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("step143000", 143_000), ("stage1-step101000-tokens424B", 101_000), ("checkpoint-500", 500), ("step_7", 7),
        ("main", None), ("v2.1", None), ("misstep3", None),
    ],
)  # fmt: skip
def test_steps_in_the_names_of_revisions(name, step):
    assert plan.assets.step(name) == step


def test_a_truth_has_a_seed_that_no_member_has():
    def seeds(**settings):
        return [truth.seed for truth in plan.models.by_name(default(**settings)).values() if truth.kind == "truth"]

    assert seeds() == seeds(seeds=[1, 2]) == [11]
    assert seeds(seeds=[11, 12]) == [13]
    assert seeds(truths=[{"name": "t", "model": {}, "seed": 1337}, {"name": "u", "model": {}}]) == [1337, 11]


def test_another_truth_in_evabytes_place_differs(tmp_path):
    other = {"name": "other", "published_as": "EvaByte", "hub": "o/n", "layout": "causal_lm", "byte_offset": 3}
    config = default(truths=[other])
    check(config)
    assert plan.thesis.compared(config, "truth")[0]["differs"] == ["data", "truth"]
    as_given = [plan.thesis.compared(config, "truth", itself=itself)[0]["published_as"] for itself in (False, True)]
    assert as_given == ["EvaByte", None]  # its own loss is not EvaByte's
    evabyte = default(truths=[{**other, "hub": "EvaByte/EvaByte", "layout": "evabyte"}])
    assert plan.thesis.compared(evabyte, "truth", itself=True)[0]["published_as"] == "EvaByte"
    hub = {"asset": "o--n@main", "layout": "causal_lm", "byte_offset": 3, "bos": None}
    assert plan.models.by_name(config)["other"].settings == hub
    folder = default(truths=[{**other, "hub": str(tmp_path)}])
    (asset,) = plan.assets.by_name(folder).values()
    assert asset == {"folder": str(tmp_path)}
    with pytest.raises(ConfigError, match=r"truths\.0\.hub: no folder .*nowhere"):
        check_paths(default(truths=[{**other, "hub": str(tmp_path / "nowhere")}]))


def test_a_byte_view_has_distributions_and_no_head():
    views = [{"name": name, "hub": "o/n", "layout": "tokens"} for name in ("truth", "member")]
    given = {"context": 5, "temperature": 0.8, "bos": [7, 8], "precision": "bf16"}
    config = default(truths=[views[0], {**views[0], "name": "other", **given}], family=[{"rank": 4}, views[1]])
    check(config)
    models = plan.models.by_name(config)
    usual = {"asset": "o--n@main", "layout": "byte_view", "bos": "auto", "temperature": 1.0}
    assert models["truth"].settings == usual | {"context": 1000}
    assert models["member"].settings == usual | {"context": 0}  # what the family reads
    assert models["other"].settings == usual | given
    by_bytes = of_type(ByBytes, models)
    assert [model.name for model in by_bytes] == ["member", "truth", "other"]
    assert not any(model.linear for model in by_bytes)
    assert plan.models.byte_views(config, "family") == ["member"]
    assert plan.models.byte_views(config, "truth") == ["truth", "other"]
    assert {"member", "truth", "other"}.isdisjoint(plan.samples.judged_decodings(config))
    compared = {row["model"] for row in plan.models.compared_models(config)}
    assert {"truth", "other", "bn4-s1337"} <= compared
    assert "member" not in compared
    of_job = plan.models.byte_view_settings(config, models["truth"])
    assert of_job == models["truth"].settings | {key: config["inference"][key] for key in ("precision", "threads")}
    assert plan.models.byte_view_settings(config, models["other"])["precision"] == "bf16"


def test_the_memory_of_a_byte_view_goes_with_its_weights(tmp_path):
    view = {"name": "t", "hub": "o/n", "layout": "tokens"}
    config = default(truths=[view], assets=str(tmp_path))
    model = plan.models.by_name(config)["t"]
    assert plan.resources.byte_view_memory(config, model) == plan.needs.study(config)["memory"] == 16_000
    files = {"model.safetensors": {"size": 4 * 10**9}, "config.json": {"size": 10**9}}
    (tmp_path / "o--n@main.json").write_text(json.dumps({"files": files}))
    expected = 2000 + 12_000 + 2 * config["windows"]["scored"]
    assert plan.resources.byte_view_memory(config, model) == plan.needs.study(config)["memory"] == expected
    assert 240 < plan.resources.byte_view_time(config | {"device": "cpu"}, model) <= 1440


FINEWEB = {"source": "fineweb", "cut": None, "overlap_words": None}
SHARD = DEFAULT["corpus"]["fineweb"]["train"][0]
SUM = "0123456789abcdef" * 4
PACKAGE = {"package": "small-model==0.1", "sha256": SUM}
VIEW = {"layout": "tokens"}


def test_files_and_packages_are_assets_that_are_made_here(tmp_path):
    path = str(tmp_path / "small.gguf")
    members = [{"name": "packed", "hub": PACKAGE}]
    config = default(family=members, truths=[{"name": "file", "hub": path}], tokens={"tokenizer": PACKAGE}, studies=[])
    assets = plan.assets.by_name(config)
    of_file = f"gguf-{tmp_path}/small.gguf".replace("/", "--")
    assert assets == {of_file: {"gguf": path}, "package-small-model@0.1": PACKAGE}
    models = plan.models.by_name(config)
    assert [models[name].settings["asset"] for name in ("file", "packed")] == [*assets]
    assert plan.assets.by_repository(config) == {}
    assert [plan.assets.files_in_folder(source) for source in assets.values()] == [[path], []]
    needs = plan.needs.study(config)
    assert (needs["fetched"], needs["converted"]) == ({"small-model==0.1": 0}, 0)
    with pytest.raises(ConfigError, match=r"truths\.0\.hub: no file .*small\.gguf \(searched in"):
        check_paths(config)
    (tmp_path / "small.gguf").write_bytes(bytes(10**7))
    check_paths(config)
    with pytest.raises(
        ConfigError, match=r"truths\.0\.hub: .*small\.gguf: no GGUF file, which begins with the letters"
    ):
        check_models(config)
    assert plan.needs.study(config)["converted"] == 8 * 10**7
    assert plan.resources.asset_memory(assets[of_file]) == 1500 + 12 * 10
    assert plan.resources.asset_memory(assets[of_file], attempt=2) == (1500 + 12 * 10) * 3 // 2


def test_models_by_name():
    models = plan.models.by_name(default(seeds=[1, 2], svd_ranks=[4]))
    assert {"bn4-s1", "bn4-s2"} < models.keys()
    assert models["svd4-s2"].source == "bn288-s2"
    assert models["truth"].settings["model"]["rank"] is None
    assert models["truth"].settings["model"]["layers"] == 3
    assert models["truth"].settings["training"]["learning_rate"] == DEFAULT["training"]["learning_rate"]
    assert models["bn4-s1"].settings["seed"] == 1


def test_capped_members_and_their_truncated_heads_have_no_linear_logits():
    members = [{"rank": 4}, {"name": "plain", "hub": "o/plain"}, {"name": "soft", "hub": "o/soft", "capped": True}]
    chosen = {"tokens": {"tokenizer": "o/soft"}, "svd_ranks": [8], "svd_of": "soft"}
    chosen |= {"frontier": {"deltas": []}} if "frontier" in default() else {}  # BAT needs linear logits
    config = default(family=members, truths=[{"name": "t", "hub": "o/t"}], **chosen)
    check(config)
    models = plan.models.by_name(config)
    assert [models[name].settings["capped"] for name in ("plain", "soft")] == [False, True]
    assert "capped" not in models["t"].settings  # of a truth only distributions are read
    assert plan.models.capped(config) == ["soft", "svd8-soft"]
    with pytest.raises(ConfigError, match=r"truths\.0: .*unknown key 'capped'"):
        check(default(truths=[{"name": "t", "hub": "o/t", "capped": True}]))
    with pytest.raises(ConfigError, match=r"family\.0: .* must have either"):
        check(default(family=[{"rank": 4, "capped": True}]))


def test_the_head_of_a_member_from_the_hub_is_truncated_instead():
    members = [{"rank": 4}, {"name": "small", "hub": "o/small"}, {"name": "large", "hub": "o/large"}]
    chosen = {"svd_ranks": [8, 16], "svd_of": "large"}
    config = default(tokens={"tokenizer": "o/large"}, family=members, **chosen)
    check(config)
    models = plan.models.by_name(config)
    assert plan.models.names(models, "svd") == ["svd8-large", "svd16-large"]
    assert (models["svd8-large"].source, models["svd8-large"].rank, models["svd8-large"].seed) == ("large", 8, None)
    shown = plan.models.with_truncated_heads(models)
    assert plan.models.names(shown, "svd", "family") == ["svd8-large", "svd16-large", "large"]
    assert plan.models.truncated_model(config) == "large"
    with pytest.raises(ConfigError, match="svd_of: bn4 is no member of the family from the hub; there are small, la"):
        check({**config, "svd_of": "bn4"})


def test_top_k_reaches_as_far_as_the_vocabulary():
    """That of a tokenizer is not known before it is read."""
    for tokens, k in (("bytes", 256), ({"vocabulary": 512}, 512), ({"tokenizer": "o/large"}, 50_000)):
        check(default(tokens=tokens, decodings=[{"name": "pure"}, {"name": "top-k", "k": k}]))


def test_a_checkpoint_of_the_users_own():
    config = default(family=[{"rank": 4}, {"name": "mine", "path": "w.safetensors"}])
    check(config)
    mine = plan.models.by_name(config)["mine"]
    assert (type(mine), mine.path, mine.rank) == (Checkpoint, "w.safetensors", None)


def test_a_sweep_of_widths_has_no_bottleneck_and_truncates_the_widest():
    config = default(family=[{"width": 64, "heads": 2}, {"width": 32, "heads": 1}], svd_ranks=[8])
    check(config)
    models = plan.models.by_name(config)
    wide = models["w64-s1337"]
    assert (wide.kind, wide.rank, wide.published_as) == ("family", 64, None)
    shape = wide.settings["model"]
    assert (shape["width"], shape["heads"], shape["rank"]) == (64, 2, None)
    assert models["svd8-s1337"].source == "w64-s1337"
    assert plan.models.family_ranks(config) == [32, 64]


def test_settings_do_not_depend_on_the_order_of_keys():
    shuffled = dict(reversed(list(DEFAULT["model"].items())))
    one, other = (plan.models.by_name(config)["bn4-s1337"] for config in (DEFAULT, {**DEFAULT, "model": shuffled}))
    assert str(one.settings) == str(other.settings)


def test_where_a_row_is_not_like_the_published_one():
    rows = {row["model"]: row for row in plan.thesis.compared(DEFAULT, "family", METRICS)}
    assert rows["bn4-s1337"]["differs"] == ["data", "scale", "recipe"]
    other = default(metrics={"tau": 0.5, "tbat": {"delta": 0.1, "condition": "tangent"}})
    assert plan.thesis.compared(other, "family") == list(rows.values())
    for metric, differs in (("tto", ["tau"]), ("tv", []), ("tbat", ["delta", "condition"])):
        assert plan.thesis.compared(other, "family", [metric])[0]["differs"] == ["data", "scale", "recipe", *differs]
    assert rows["bn288-s1337"]["differs"] == ["data", "scale", "recipe", "rank"]
    assert rows["bn288-s1337"]["published_as"] == "512"
    assert plan.thesis.compared(DEFAULT, "truth")[0]["differs"] == ["data", "recipe", "truth"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metrics": {"tua": 0.9}}, "metrics: unknown key 'tua'; did you mean 'tau'?"),
        ({"colour": 1}, "top level: unknown key 'colour'; known keys: assets, checkpoints"),
        ({"training": {"learning_rate": "1e-3"}}, r"training.learning_rate: .1e-3. is text, .*write 0.001"),
        ({"family": [{"rank": 300}]}, "bn300-s1337: rank 300 must lie between 1 and the width, 288"),
        ({"family": [{"rank": 4}, {"rank": 4}]}, "two models are called 'bn4-s1337'"),
        ({"family": [{"rank": 4, "name": "x"}]}, "family.0: .* must have either `rank`.*, or `width` and `heads`, or"),
        ({"family": [{"rank": 4, "head": "plain", "published_as": 8}]}, "family.0: `published_as` goes with `rank`"),
        ({"family": [{"width": 32}]}, "family.0: .* must have either `rank`.*, or `width` and `heads`"),
        ({"family": [{"width": 32, "heads": 5}]}, "w32-s1337: width 32 is not a multiple of heads 5"),
        ({"family": [{"rank": 4.0}]}, "family.0.rank: 4.0 is not of type 'integer'"),
        ({"seeds": [True]}, "seeds.0: True is not of type 'integer'"),
        ({"model": {True: 1}}, "model: unknown key 'True'"),
        ({"corpus": {"splits": {"train": float("nan")}}}, "corpus.splits.train: nan is not a finite"),
        ({"checkpoints": {"folder": "results/models"}}, "checkpoints.folder: results/models holds results"),
        ({"model": {"heads": 32}}, "rotary positions need an even head size, not 288 / 32"),
        ({"windows": {"scored": 500}}, "windows: prompt \\+ scored is 556 bytes, longer than the block of bn4-s1337"),
        ({"tokens": {"vocabulary": 512}, "windows": {"prompt": 2000, "scored": 2}}, r"prompt \+ scored is 2002 tokens"),
        ({"family": [{"backward_rank": 4}, {"rank": 4, "head": "plain"}]}, "family: arms, such as .* are held against"),
        ({"family": [{"rank": 4}, {"backward_rank": 257}]}, "bw257-s1337: backward_rank is above 256, the rank of its"),
        ({"family": [{"backward_rank": 4, "rank": 4}]}, "family.0: .* must have either `rank`.*, or `backward_rank`"),
        ({"family": [*ARMS, {"objective": {"name": "tailr"}}]}, "family.4.objective tailr: takes gamma, not none"),
        ({"family": [{"backward_rank": 4, "objective": TAILR}]}, "family.0: .* must have either `rank`"),
        (
            {"family": [{"rank": 4}, *({"objective": {"name": "tailr", "gamma": x}} for x in (0.1, 0.5))]},
            "family: tailr stands there with two values; tables take them for one, so keep one",
        ),
        ({"training": {"objective": {"name": "mixce", "eta": 1}}}, "training.objective mixce: eta = 1 is ordinary tr"),
        ({"training": {"objective": {"name": "mixce", "eat": 1}}}, "unknown key 'eat'; did you mean 'eta'"),
        ({"truths": [{"name": "t"}]}, "truths.0: t must have either `model` .*, or `path`, or `hub`"),
        ({"truths": [{"name": "t", "hub": "o/n"}]}, "truths.0: t: `layout` .* goes with `hub`"),
        ({"truths": [{"name": "t", "hub": {"package": "a==1"}}]}, "truths.0.hub: 'sha256' is a required property"),
        ({"truths": [{"name": "t", "hub": PACKAGE | {"package": "-r==1"}}]}, "truths.0.hub.package: '-r==1' does not"),
        ({"truths": [{"name": "t", "hub": PACKAGE | {"package": "a==1\n"}}]}, r"truths.0.hub.package: 'a==1\\n' doe"),
        ({"truths": [{"name": "t", "hub": PACKAGE | {"sha256": SUM + "\n"}}]}, r"truths.0.hub.sha256: '.*\\n' does"),
        ({"truths": [{"name": "t", "hub": PACKAGE | {"parts": [PACKAGE]}}]}, "'joined' is a dependency of 'parts'"),
        ({"truths": [{"name": "t", "hub": PACKAGE | {"parts": ["a==1"], "joined": SUM}}]}, "parts.0: 'a==1' is not"),
        ({"truths": [{"name": "t\n", "model": {}}]}, r"truths.0.name: 't\\n' does not match"),
        (
            {"truths": [VIEW | {"name": name, "hub": PACKAGE | {"sha256": name * 64}} for name in "ab"]},
            "package small-model==0.1: its wheel has two checksums in the config, a{64} and b{64}; keep one",
        ),
        ({"truths": [{"name": "t", "model": {}, "batch": 4}]}, "truths.0: t: `batch` goes with `hub`"),
        ({"truths": [{"name": "t", "hub": "o/n", "layout": "causal_lm", "bos": True}]}, "truths.0: t: `bos` is true"),
        ({"truths": [{"name": "t", "hub": "o/n", "layout": "evabyte", "bos": [1, 2]}]}, "truths.0: t: `bos` is true"),
        ({"truths": [{"name": "t", "hub": "o/n", "layout": "tokens", "bos": []}]}, r"truths.0.bos: \[\] should be"),
        ({"truths": [{"name": "t", "model": {}, "bos": False}]}, "truths.0: t: `bos` goes with `hub`"),
        (
            {"truths": [{"name": "t", "hub": "o/n", "layout": "tokens", "byte_offset": 1}]},
            "truths.0: t: `byte_offset` goes with `layout: causal_lm`; the others' is known",
        ),
        ({"truths": [{"name": "t", "hub": "o/n", "layout": "tokens", "batch": 4}]}, "truths.0: t: `batch`: with"),
        ({"truths": [{"name": "t", "hub": "o/n", "layout": "evabyte", "context": 10}]}, "truths.0: t: `context`"),
        ({"family": [{"name": "m", "hub": "o/n"}]}, "family.0: m: `hub` goes with `tokens`: {tokenizer: o/n}; over"),
        ({"family": [{"name": "m", "hub": "o/n", "layout": "tokens", "capped": True}]}, "family.0: m: `capped`: of"),
        (
            {"tokens": {"tokenizer": "o/n"}, "truths": [{"name": "t", "hub": "o/n"}]}
            | {"family": [{"name": "m", "hub": "o/n", "layout": "tokens"}]},
            "family.0: m: `layout` is for tokens: bytes; leave it out",
        ),
        (
            {"family": [{"rank": 4}, {"name": "m", "hub": "o/n", "layout": "tokens"}], "svd_of": "m"},
            "svd_of: m is no member of the family from the hub; there are none",
        ),
        ({"truths": [{"name": "t", "model": {"rank": 400}}]}, "t: rank 400 must lie between 1 and the width"),
        ({"corpus": {"source": "files"}}, "corpus.paths: source: files needs at least one path"),
        ({"corpus": FINEWEB | {"fineweb": {"train": [SHARD], "evaluation": [SHARD]}}}, "evaluation: .* is in train"),
        ({"corpus": FINEWEB | {"cut": 900}}, "corpus.cut: write null for source: fineweb"),
        ({"corpus": FINEWEB | {"overlap_words": 9}}, "corpus.overlap_words: write null for source: fineweb"),
        ({"corpus": {"splits": {"train": 0.5}}}, "corpus.splits: the shares .* must add up to 1"),
        (
            {"corpus": {"splits": {"train": 0, "validation": 0, "evaluation": 1}}},
            "corpus.splits.train: 0, but .* learns from this split; give it a share",
        ),
        ({"corpus": {"cut": {"text": ""}}}, "corpus.cut"),
        ({"decodings": [{"name": "top-k"}]}, "decodings.0: decoding top-k: takes k, not none"),
        ({"decodings": [{"name": "pure", "k": 3}]}, "decodings.0: decoding pure: takes no setting, not k"),
        ({"decodings": [{"name": "greedy"}]}, "decodings: `{name: pure}` is missing"),
        (
            {"tokens": {"vocabulary": 512}, "samples": {"decodings": [{"name": "top-k", "k": 513}]}},
            "samples.decodings.0: decoding top-k: k = 513 is above 512, the size of the vocabulary",
        ),
        ({"decodings": [{"name": "top-k", "k": 1}, {"name": "top-k", "k": 2}]}, "decodings: top-k is listed twice"),
        (
            {"metrics": {"tbat": {"condition": "tangent"}}, "model": {"bottleneck_norm": "before"}},
            "metrics.tbat.condition: tangent asks for model.bottleneck_norm: after",
        ),
        ({"samples": {"show": [100]}}, "samples.show: there is no window 100; windows.count is 100"),
        ({"decodings": [{"name": "pure"}, {}]}, "decodings.1: decoding: write `name: METHOD`"),
        ({"decodings": [{"name": "pure", "chain": ["greedy"]}]}, "decodings.0: decoding chain: name stands beside it"),
        ({"decodings": [{"name": "pure"}, {"chain": [{"bat": 0.2}]}]}, "decodings.1: decoding chain: bat maps no"),
        ({"decodings": [{"name": "pure"}, {"chain": [{"top-p": 2}]}]}, "decodings.1: decoding top-p: p = 2 is not"),
        ({"decodings": [{"name": "pure"}, CHAIN], "samples": {"decodings": [CHAIN]}}, r"decodings: temp.* twice"),
        ({"family": ARMS[2:]}, "family: arms, such as `head: plain`, are held against other members"),
        ({"family": [{"output": "mos2"}]}, "family.0: .* must have either `rank`.*, or `rank` and `output`, or"),
        (
            {"tokens": {"vocabulary": 512}, "family": [{"rank": 4}, {"rank": 4, "output": "mos2"}]},
            r"family.1: heads that are not linear \(`output`\) are for tokens: bytes; remove the entry",
        ),
        ({"learning_rates": {"tried": [0.1], "seed": 1337}}, "learning_rates.seed: 1337 is one of seeds; choose on"),
    ],
)  # fmt: skip
def test_mistakes_name_their_key(changes, message):
    with pytest.raises(ConfigError, match=message):
        check(default(**changes))


def test_the_corpus_depends_on_the_versions_it_is_harvested_from(monkeypatch):
    before = plan.corpus.corpus_settings(DEFAULT)
    assert before["packages"]["torch"].count(".") == 2
    monkeypatch.setattr(plan.corpus, "version", lambda package: "99.0")
    assert plan.corpus.corpus_settings(DEFAULT) != before
    assert "packages" not in plan.corpus.corpus_settings(default(corpus={"source": "files", "paths": ["x"]}))


def test_a_training_asks_for_what_its_size_needs():
    config = shipped("thesis")
    models = plan.models.by_name({**config, "device": "cuda"})
    small, large = models["bn4-s1337"], models["gpt-300m"]
    assert 4000 < plan.resources.training_memory(small) < 6000
    assert 10_000 < plan.resources.training_memory(large) < 20_000
    seconds = [int(plan.resources.stop_signal(model).partition("@")[2]) for model in (small, large)]
    assert 120 < seconds[0] < seconds[1]
    saved = 12 * 300e6 / 1e9  # GB
    assert seconds[1] >= 120 + 50 * saved
    assert plan.resources.training_time({**config, "device": "cuda"}, large) == 24 * 60


def test_a_retry_asks_for_half_as_much_again():
    assert [plan.resources.scaled(2000, attempt) for attempt in (1, 2, 3)] == [2000, 3000, 4000]
    assert [plan.resources.per_attempt(runtime=60)["runtime"](None, attempt) for attempt in (1, 2)] == [60, 90]
    model = plan.models.by_name(DEFAULT)["bn4-s1337"]
    assert plan.resources.training_memory(model, 3) == 2 * plan.resources.training_memory(model)
    assert plan.resources.sampling_memory(DEFAULT, model, 3) == 2 * plan.resources.sampling_memory(DEFAULT, model)


def test_jobs_elsewhere_must_be_told_the_device():
    with pytest.raises(ConfigError, match="device: auto looks for a GPU on this machine"):
        check_device(DEFAULT)
    check_device(default(device="cpu"))


def test_claims_know_for_whom_a_model_stands_and_whose_training_it_is():
    rows = {row["model"]: row for row in plan.models.compared_models(default(seeds=[1337, 2]))}
    assert rows["bn288-s2"] == {"model": "bn288-s2", "kind": "family", "rank": 288, "role": 512, "training": "bn288-s2"}
    assert (rows["svd4-s2"]["role"], rows["svd4-s2"]["training"]) == (4, "bn288-s2")
    assert (rows["truth"]["role"], rows["truth"]["training"]) == (None, "truth")


def test_arms_of_the_family_share_all_but_how_the_rank_is_imposed():
    family = [{"width": 288, "heads": 6}, {"rank": 16}, {"rank": 16, "head": "plain"}, {"backward_rank": 16}]
    config = default(family=family, svd_ranks=[4])
    check(config)
    models = plan.models.by_name(config)
    full, bottleneck, plain, backward = (models[f"{name}-s1337"] for name in ("w288", "bn16", "pl16", "bw16"))
    assert plain.settings["model"] == {**bottleneck.settings["model"], "bottleneck_norm": "before"}
    assert plain.settings["training"] == bottleneck.settings["training"] == full.settings["training"]
    assert backward.settings["model"] == full.settings["model"]
    assert backward.settings["training"] == {**full.settings["training"], "backward_rank": 16}
    assert models["svd4-s1337"].source == "w288-s1337"


def compared(config):
    """Return what claims, tables by rank and judges of samples see of a config."""
    of_models = plan.models.compared_models(config), plan.models.family_ranks(config)
    return *of_models, plan.samples.judged_decodings(config), plan.thesis.compared(config, "family")


def test_a_chain_stands_where_a_method_may_and_changes_no_setting_of_others():
    extra = {"name": "min-p", "min_p": 0.1}
    without = default(samples={"decodings": [extra]})
    chains = default(
        decodings=[*DEFAULT["decodings"], CHAIN, {"chain": [{"top-p": 0.5}]}],
        samples={"decodings": [extra, {"chain": ["p-less"]}]},
    )
    check(chains)
    before, after = (plan.samples.judged_decodings(config)["truth"] for config in (without, chains))
    assert set(after) - set(before) == {"temperature-1.5+min-p-0.05", "top-p-0.5", "p-less"}
    one, other = (plan.samples.sampling_settings(config, [extra]) for config in (without, chains))
    assert one == other
    assert plan.samples.sampling_settings(without, without["decodings"])["decodings"] == DEFAULT["decodings"]


def test_an_output_layer_is_an_arm_that_differs_in_nothing_else():
    kinds = [kind for kind in KINDS if kind != LINEAR]
    family = [{"rank": 288}, {"rank": 4}, *({"rank": 4, "output": kind} for kind in kinds)]
    config = default(family=family)
    check(config)
    models = plan.models.by_name(config)
    linear = models["bn4-s1337"]
    for kind in kinds:
        member = models[f"{kind}-bn4-s1337"]
        assert (member.kind, member.rank, member.linear) == (kind, 4, False)
        assert member.settings == {**linear.settings, "model": {**linear.shape, "output": kind}}


def test_a_model_under_another_objective_differs_in_nothing_else():
    """Claims, decodings and tables by rank have none of the arms, which would mix heads of different kinds."""
    entries = [{"objective": TAILR}, *({"rank": 16, "objective": own} for own in (TAILR, MIXCE))]
    family = [{"width": 288, "heads": 6}, {"rank": 16}]
    more = [{"rank": 4, "head": "plain"}, {"backward_rank": 8}]
    without, config = default(family=family), default(family=[*family, *entries, *more])
    check(config)
    models = plan.models.by_name(config)
    names = ["tailr0.1-s1337", "bn16-tailr0.1-s1337", "bn16-mixce0.5-s1337"]
    assert [name for name, model in models.items() if model.kind in ("tailr", "mixce")] == names
    assert [models[name].kind for name in names] == ["tailr", "tailr", "mixce"]
    assert [models[name].rank for name in names] == [288, 16, 16]
    for name, entry, ordinary in zip(names, entries, ["w288", "bn16", "bn16"], strict=True):
        own, other = models[name].settings, models[f"{ordinary}-s1337"].settings
        assert other["training"]["objective"] == {"name": "cross-entropy"}
        assert own == {**other, "training": {**other["training"], "objective": entry["objective"]}}
    assert models["truth"].settings["training"]["objective"] == {"name": "cross-entropy"}
    assert compared(config) == compared(without)


def test_every_arm_has_a_title_and_a_look_of_its_own():
    assert {arm.kind for arm in plan.studies.arms(default())} <= set(kinds.KINDS)
    assert len(set(kinds.TITLES.values())) == len({own.look for own in kinds.KINDS.values()}) == len(kinds.KINDS)


def test_each_member_takes_the_learning_rate_that_its_trials_chose():
    config = default(family=ARMS, learning_rates={"tried": [0.001, 0.002], "seed": 0}, seeds=[1, 2])
    check(config)
    trials = plan.models.trials(config)
    assert len(trials) == 2 * len(ARMS)
    trial = trials["pl4-r0.002-s0"]
    assert (trial.settings["seed"], trial.settings["training"]["learning_rate"]) == (0, 0.002)
    assert not trial.settings["training"]["snapshots"]
    models = plan.models.by_name(config)
    for seed in (1, 2):
        member = models[f"pl4-s{seed}"]
        assert "learning_rate" not in member.settings["training"]
        assert plan.models.learning_rate_file(config, member) == "results/learning_rates/pl4.json"
        same = {"learning_rate": None, "snapshots": None}
        assert {**member.settings["training"], **same} == {**trial.settings["training"], **same}
    assert plan.models.learning_rate_file(config, models["truth"]) is None
    assert models["truth"].settings["training"]["learning_rate"] == 0.001
    assert plan.models.tried(trials)["pl4"] == ["pl4-r0.001-s0", "pl4-r0.002-s0"]
    assert plan.models.tried(trials).keys() == {models[name].arm for name in models if name.endswith("-s1")} - {
        *(f"svd{rank}" for rank in config["svd_ranks"])
    }


def test_rates_that_would_be_one_trial_are_refused():
    config = default(learning_rates={"tried": [0.001, 0.002, 0.0010000001], "seed": 0})
    with pytest.raises(ConfigError, match=r"learning_rates.tried: 0.0010000001 and another agree in the six digits"):
        plan.models.trials(config)


def test_what_is_wanted_is_made_and_nothing_else():
    made = ["results/tables/losses.csv", "results/figures/losses.png", "results/tables/tbat.csv"]
    assert plan.wanted(DEFAULT, made) == made
    assert plan.wanted(default(wanted=["losses"]), made) == made[:2]
    with pytest.raises(ConfigError, match=r"wanted: this config makes no table or figure 'loses'; it makes losses"):
        plan.wanted(default(wanted=["loses"]), made)
