"""Models over tokens in a study over bytes: what is made of them, what is left out, and what a change redoes."""

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
import yaml
from hub_models import write_neox, write_token_model
from study import MODELS, TABLE, TINY, Study, copy_built

from oversmoothing.models.truths.byte_view import load_byte_view
from oversmoothing.store.parquet import read_table, vectors

pytestmark = pytest.mark.slow
FAMILY = [{"rank": 4}, {"rank": 16, "published_as": 512}]
VIEWS = [{"name": "small", "hub": "./hub/small", "layout": "tokens"}]
LARGE = {"name": "large", "hub": "./hub/large", "layout": "tokens", "context": 16, "temperature": 1.25}
TABLES = [TABLE, *(f"results/tables/{name}.csv" for name in ("truths", "losses", "forced"))]
OTHERS = [f"results/tables/{name}.csv" for name in ("bytes", "entropy_difference")]
OF_INSIDE = {  # rules that read a head, hidden states or samples of each member
    *("tbat", "tbat_approximation", "forced", "best_head", "argmaxability", "ranks"),
    *("sample", "quality", "dynamics", "frontier", "logits", "hub_logits"),
}


def write(folder, name, family=(*FAMILY, *VIEWS), large=LARGE, **more):
    """Write what a config says beyond the tiny one, with two small models as byte views; return both."""
    own = yaml.safe_load((folder / TINY).read_text())["truths"]
    (folder / name).write_text(yaml.safe_dump({"family": [*family], "truths": [*own, large], **more}))
    return (TINY, name)


@pytest.fixture(scope="module")
def views(built, tmp_path_factory):
    """A built project with two small models of different tokenizers, and byte views of them in its config."""
    folder = copy_built(built, tmp_path_factory.mktemp("views") / "project").folder
    write_token_model(folder / "hub/large", "llama")
    write_neox(folder / "hub/small")
    views = Study(folder, write(folder, "views.yaml"))
    views.snakemake("assets")
    views.snakemake(*TABLES, *OTHERS, MODELS)
    return views


def test_the_tables_have_both_truths_and_say_what_a_byte_view_has_not(views):
    scores = views.table("oversmoothing")
    assert set(scores.truth.dropna()) == {"truth", "large"}
    for metric in ("tto", "nsmd", "tv", "kl"):
        found = scores[scores.measure == metric]
        assert len(found) == 6
        assert set(found.model) == {"bn4-s1337", "bn16-s1337", "small"}
    assert set(scores[scores.measure == "tbat"].model) == {"bn4-s1337", "bn16-s1337"}
    text = (views.folder / "results/tables/oversmoothing.md").read_text()
    assert "No TBAT of `small`, which reads tokens: a distribution of bytes is no softmax of few dimensions" in text
    forced = views.table("forced")
    assert set(forced.model) == {"bn4-s1337", "bn16-s1337"}
    assert set(forced.truth) == {"truth", "large"}  # the truth enters as a distribution


@pytest.mark.parametrize(("name", "context", "temperature"), [("small", 0, 1.0), ("large", 16, 1.25)])
def test_the_file_holds_what_the_model_gives_behind_the_text_before_a_window(views, name, context, temperature):
    path = views.folder / f"results/logits/{name}.parquet"
    settings = {"bos": "auto", "temperature": temperature}
    view = load_byte_view(views.folder / "hub" / name, name, settings, torch.device("cpu"), "float32")
    evaluation = (views.folder / "results/corpus/evaluation.bin").read_bytes()
    windows = read_table(views.folder / "results/windows.parquet").to_pylist()
    rows = read_table(path)
    logits, mass = vectors(rows["logits"].combine_chunks()), rows["special_mass"].to_numpy()
    for i, window in enumerate(windows):
        text = evaluation[max(0, window["offset"] - context) : window["offset"] + 32]
        found = view.next_bytes(text, len(text) - 24)
        of_window = slice(24 * i, 24 * (i + 1))
        with np.errstate(divide="ignore"):
            log_p = np.log(found.probabilities)
        np.testing.assert_allclose(logits[of_window], log_p, atol=1e-4)
        np.testing.assert_allclose(mass[of_window], found.dropped, atol=1e-6)
    facts = pq.read_metadata(path).metadata
    assert float(facts[b"special_mass_mean"]) == pytest.approx(mass.mean(), rel=1e-4, abs=1e-9)
    made_by = str({**pq.read_schema(path).metadata})
    assert f'"context": {context}' in made_by.replace("\\", "")
    assert not (views.folder / f"results/hidden/{name}.parquet").exists()
    assert not (views.folder / f"results/logits/{name}.head.safetensors").exists()


def test_a_second_run_does_nothing(views):
    assert views.planned(*TABLES) == {}


def test_another_context_or_temperature_redoes_that_truth_and_its_scores_alone(views):
    """Each member is scored again, and so are both truths: beside the one, and as the other."""
    for change in ({"context": 8}, {"temperature": 0.8}):
        config = write(views.folder, "changed.yaml", large=LARGE | change)
        expected = {"byte_logits": 1, "score": 3, "oversmoothing_table": 1}
        assert views.planned(TABLE, config=config) == expected
    more = views.planned(*TABLES, config=config)
    assert more == expected | {"score": 5, "truths_table": 1, "losses_table": 1, "forced": 2, "forced_table": 1}
    config = write(views.folder, "changed.yaml", inference={"batch": 3})
    assert "byte_logits" not in views.planned(TABLE, config=config)


def test_what_reads_the_inside_of_a_member_is_planned_as_without_the_byte_view(views):
    config = write(views.folder, "without.yaml", family=FAMILY)
    without, planned = views.planned("all", config=config), views.planned("all")
    assert {rule: planned.get(rule) for rule in OF_INSIDE} == {rule: without.get(rule) for rule in OF_INSIDE}
    more = {rule for rule in planned if planned[rule] > without.get(rule, 0)}
    assert more <= {"score", "byte_logits", "side_by_side", "side_by_side_table"}


def test_a_family_of_byte_views_alone_makes_what_distributions_tell(views):
    (views.folder / "alone.yaml").write_text(yaml.safe_dump({"family": VIEWS, "truths": [LARGE], "svd_ranks": []}))
    planned = views.planned("all", config=(TINY, "alone.yaml"))
    assert OF_INSIDE.isdisjoint(planned)
    assert {"decodings_table", "entropy_difference_table", "bytes_table"} <= set(planned)
    assert not {"samples_table", "forced_table"} & set(planned)
