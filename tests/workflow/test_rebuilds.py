"""The DAG rebuilds only what changed, and never misses a change: each claim proved by a dry-run."""

import os
import shutil
import time

import pytest
from recipes import CONFIG, blocks
from study import TABLE, copy_built, rules_of

SHOWN = "oversmoothing_table"
SCORED = {"score": 2, SHOWN: 1}
MODULES = "scripts/oversmoothing/"
TAU = ("metrics:\n", "metrics:\n  tau: 0.8\n")  # a change of the tiny config
HARMLESS = (
    (f"{MODULES}models/model.py", "class Block(nn.Module):", "# a comment\nclass Block(nn.Module):"),
    (f"{MODULES}scores/metrics.py", '"""Oversmoothing of', '"""Another docstring: oversmoothing of'),
    ("workflow/rules/models.smk", '"""The models:', '"""Another docstring:'),
    (f"{MODULES}scores/decodings/eta.py", "math.sqrt(epsilon)", "2 * math.sqrt(epsilon)"),  # which nothing here uses
    ("envs/lock.txt", "\nseaborn==", "\nseaborn==99."),
)


@pytest.fixture
def plan(study, tiny):
    """Plan the main table, which needs no study, under the tiny config with some of its text replaced."""

    def plan(*replaced, more=""):
        return study.planned(config=tiny(*replaced, more=f"studies: []\n{more}"))

    return plan


def test_touches_comments_and_what_decides_no_result_redo_nothing(study, plan):
    """Not even a touch of the corpus (above 1 MB), of the logits or of all code; a decoding is new until it is used."""
    assert (study.folder / "results/corpus/train.bin").stat().st_size > 1_000_000
    undo = [study.edit(*edit) for edit in HARMLESS]
    new = study.folder / MODULES / "scores/decodings/top_a.py"
    new.write_text(*blocks("A decoding method"))
    later, before = time.time() + 5, {}
    for path in (study.folder / "text.jsonl", *study.folder.glob("[scwr]*/**/*")):
        if path.is_file():
            before[path] = path.stat()
            os.utime(path, (later, later))
    try:
        assert plan(("folder: checkpoints, interval: 4}", "folder: scratch, interval: 5}\ndevice: cpu")) == {}
        assert plan(more="decodings: [{name: pure}, {name: top-a, a: 0.2}]\n") == {"tbat": 2, **SCORED}
    finally:
        new.unlink()
        before.pop(new, None)
        for path, stat in before.items():  # a result of the future would hide an edit of the next test
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        for back in undo:
            back()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (*TAU, SCORED),
        ("  - {rank: 4}\n", "  - {rank: 4}\n  - {rank: 8}\n", dict.fromkeys(("train", "logits", "score", "tbat"), 1)),
        ("tbat: {", "tbat: {delta: 0.1, ", {"tbat": 2}),
    ],
)
def test_a_changed_key_redoes_what_depends_on_it_and_no_more(plan, old, new, expected):
    assert plan((old, new)) == {**expected, SHOWN: 1}


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        (f"{MODULES}scores/metrics.py", "/ -math.log(2)", "/ -math.log(3)", SCORED),
        (f"{MODULES}scores/decodings/top_p.py", "mass == 1", "mass >= 1", {"tbat": 2, **SCORED}),
        ("resources/published/table_4_1.csv", "0.432", "0.433", {SHOWN: 1}),
        ("envs/lock.txt", "\nnumba==", "\nnumba==99.", {"tbat": 2, SHOWN: 1}),
    ],
)
def test_a_changed_module_or_package_redoes_what_imports_it_and_no_more(study, plan, path, old, new, expected):
    back = study.edit(path, old, new)
    try:
        assert plan() == expected
    finally:
        back()


BRIER = '    "new": Metric("New", "probability", "lower", formula=lambda pair: pair.dot(pair.p, pair.p)),\n'


@pytest.fixture(scope="module")
def whole(everything, tmp_path_factory):
    """A copy of the project with all its results, whose code a test may edit if it puts it back."""
    return copy_built(everything.folder, tmp_path_factory.mktemp("whole") / "project")


def test_in_a_whole_project_a_metric_redoes_what_is_scored_and_shown_and_a_decoding_nothing(whole):
    """Nothing is trained, run over the windows, sampled or judged, and TBAT stays as it is."""
    decodings = whole.folder / MODULES / "scores/decodings"
    shutil.copy(decodings / "top_a.py", decodings / "top_b.py")
    back = whole.edit(f"{MODULES}scores/catalogue/metrics.py", '    "tbat": Metric(', f'{BRIER}    "tbat": Metric(')
    planned = set(whole.planned("all", config=CONFIG))
    back()
    assert SHOWN in planned
    scored = {rule for rule in planned - rules_of() if not rule.endswith(("_table", "_figure"))}
    assert scored == {"score", "story", "all"}


def test_in_a_whole_project_the_sampler_retrains_and_rescores_nothing(whole):
    back = whole.edit(f"{MODULES}samples/kv_cache.py", "self.filled = 0", "self.filled = 0 + 0")
    planned = whole.planned(TABLE, "results/tables/samples.csv", config=CONFIG)
    back()
    assert set(planned) == {"sample", "sample_svd", "samples_table"}


def test_changed_text_is_seen_whatever_its_time_says(study, plan):
    path = study.folder / "text.jsonl"
    right, stat = path.read_bytes(), path.stat()
    other = path.with_name("other.jsonl")
    other.write_bytes(right.replace(b"a", b"b", 1))
    os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    try:
        other.replace(path)
        planned = plan()
    finally:
        path.write_bytes(right)
    assert (planned["build_corpus"], planned["train"]) == (1, 2)


def test_results_whose_records_are_lost_are_held_against_the_config_by_their_readers(copy, tiny):
    """Snakemake takes the scores as they are; they say that they were made with another tau."""
    shutil.rmtree(copy.folder / ".snakemake")
    table = copy.folder / TABLE
    table.unlink()
    config = tiny(TAU)
    output = copy.snakemake(config=config, check=False)
    assert "results/scores/tto/bn4-s1337.parquet: made with tau 0.9 and not 0.8" in output
    assert "run again with --forcerun score" in output
    assert not table.exists()
    copy.snakemake(config=config, options=["--forcerun", "score"])
    assert table.exists()
