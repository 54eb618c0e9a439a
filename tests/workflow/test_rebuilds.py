"""The DAG rebuilds only what changed, and never misses a change: each claim proved by a dry-run."""

import os
import shutil
import time

import pytest
from recipes import MINE, blocks
from study import TINY, copy_built, rules_of

TABLE = "oversmoothing_table"
TAU = ("metrics:\n", "metrics:\n  tau: 0.8\n")  # a change of the tiny config


def test_a_second_run_does_nothing(study):
    assert study.planned() == {}
    assert study.planned(target="results/models/truth/weights.safetensors") == {}


def test_comments_docstrings_and_touches_change_nothing(study):
    """Not even a touch of the corpus (above 1 MB), of the weights, of the logits or of every line of code."""
    assert (study.folder / "results/corpus/train.bin").stat().st_size > 1_000_000
    undo = [
        study.edit(
            "scripts/oversmoothing/models/model.py", "class Block(nn.Module):", "# a comment\nclass Block(nn.Module):"
        ),
        study.edit(
            "scripts/oversmoothing/scores/metrics.py", '"""Oversmoothing of', '"""Another docstring: oversmoothing of'
        ),
        study.edit("workflow/rules/models.smk", '"""The models:', '"""Another docstring:'),
    ]
    later = time.time() + 5
    for folder in ("scripts", "workflow", "config", "results", "resources"):
        for path in (study.folder / folder).rglob("*"):
            if path.is_file():
                os.utime(path, (later, later))
    os.utime(study.folder / "text.jsonl", (later, later))
    try:
        assert study.planned() == {}
    finally:
        for back in undo:
            back()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (*TAU, {"score": 2, TABLE: 1}),
        (
            "  - {rank: 4}\n",
            "  - {rank: 4}\n  - {rank: 8}\n",
            {"train": 1, "logits": 1, "score": 1, "tbat": 1, TABLE: 1},
        ),
        ("tbat: {", "tbat: {delta: 0.1, ", {"tbat": 2, TABLE: 1}),
        ("folder: checkpoints, interval: 4}", "folder: scratch, interval: 5}\ndevice: cpu", {}),  # where it is computed
    ],
)
def test_a_changed_key_redoes_what_depends_on_it_and_no_more(study, tiny, old, new, expected):
    assert study.planned(config=tiny((old, new))) == expected


SCORED = {"score": 2, TABLE: 1}
BRIER = '    "new": Metric("New", "probability", "lower", formula=lambda pair: pair.dot(pair.p, pair.p)),\n'
RETRAINED = {"train": 2, "train_truth": 1, "logits": 3, "score": 2, "tbat": 2, TABLE: 1}


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        ("scripts/oversmoothing/scores/metrics.py", "/ -math.log(2)", "/ -math.log(3)", SCORED),
        ("scripts/oversmoothing/scores/decodings/top_p.py", "mass == 1", "mass >= 1", {"tbat": 2, **SCORED}),
        ("scripts/oversmoothing/scores/decodings/eta.py", "math.sqrt(epsilon)", "2 * math.sqrt(epsilon)", {}),
        ("scripts/oversmoothing/models/model.py", "[:rows], std=std", "[:rows], std=1.5 * std", RETRAINED),
        ("scripts/oversmoothing/bat/simplex.py", "FEASIBLE = 1e-9", "FEASIBLE = 1e-10", {"tbat": 2, TABLE: 1}),
        (
            "scripts/oversmoothing/models/inference.py",
            "range(",
            "range(0 + ",
            {"logits": 3, "score": 2, "tbat": 2, TABLE: 1},
        ),
        ("resources/published/table_4_1.csv", "0.432", "0.433", {TABLE: 1}),
        ("envs/lock.txt", "\nnumba==", "\nnumba==99.", {"build_corpus": 1, "draw_windows": 1, **RETRAINED}),
        ("envs/lock.txt", "\nseaborn==", "\nseaborn==99.", {}),
    ],
)
def test_a_changed_module_or_package_redoes_what_imports_it_and_no_more(study, path, old, new, expected):
    back = study.edit(path, old, new)
    try:
        assert study.planned() == expected
    finally:
        back()


def test_a_new_decoding_redoes_nothing_until_it_is_used(study, tiny):
    module = study.folder / "scripts/oversmoothing/scores/decodings/top_a.py"
    (code,) = blocks("A decoding method")
    module.write_text(code)
    used = tiny(more="decodings: [{name: pure}, {name: top-a, a: 0.2}]\n")
    try:
        assert study.planned() == {}
        assert study.planned(config=used) == {"tbat": 2, **SCORED}
    finally:
        module.unlink()


SCORED_IN_ALL = {"score"}
SHOWN_IN_ALL = {"story", "all"}  # and tables and figures


def test_in_a_whole_project_a_metric_redoes_what_is_scored_and_shown_and_a_decoding_nothing(everything, tmp_path):
    """Nothing is trained, run over the windows, sampled or judged, and TBAT stays as it is."""
    copy = copy_built(everything.folder, tmp_path / "copy")
    assert copy.planned("all", config=(TINY, MINE)) == {}
    decodings = copy.folder / "scripts/oversmoothing/scores/decodings"
    shutil.copy(decodings / "top_a.py", decodings / "top_b.py")
    assert copy.planned("all", config=(TINY, MINE)) == {}
    copy.edit("scripts/oversmoothing/scores/catalogue/metrics.py", '    "tbat": Metric(', f'{BRIER}    "tbat": Metric(')
    planned = set(copy.planned("all", config=(TINY, MINE)))
    assert TABLE in planned
    scored = {rule for rule in planned - rules_of() if not rule.endswith(("_table", "_figure"))}
    assert scored == SCORED_IN_ALL | SHOWN_IN_ALL


def test_changed_text_is_seen_whatever_its_time_says(study):
    path = study.folder / "text.jsonl"
    right, stat = path.read_bytes(), path.stat()
    other = path.with_name("other.jsonl")
    other.write_bytes(right.replace(b"a", b"b", 1))
    os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    try:
        other.replace(path)
        planned = study.planned()
    finally:
        path.write_bytes(right)
    assert planned["build_corpus"] == 1
    assert planned["train"] == 2
    assert study.planned() == {}


def test_results_whose_records_are_lost_are_held_against_the_config_by_their_readers(copy, tiny):
    """Snakemake takes the scores as they are; they say that they were made with another tau."""
    shutil.rmtree(copy.folder / ".snakemake")
    table = copy.folder / "results/tables/oversmoothing.csv"
    table.unlink()
    config = tiny(TAU)
    assert copy.planned(config=config) == {TABLE: 1}
    output = copy.snakemake(config=config, check=False)
    assert "results/scores/tto/bn4-s1337.parquet: made with tau 0.9 and not 0.8" in output
    assert "run again with --forcerun score" in output
    assert not table.exists()
    copy.snakemake(config=config, options=["--forcerun", "score"])
    assert table.exists()
