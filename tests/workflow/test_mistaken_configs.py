"""A config that names what is not there, or says one thing twice, is refused under -n too and never reuses results."""

import pytest
from study import TABLE

TRUTH = """  - name: truth
    published_as: NanoGPT 300M
    model: {layers: 1, width: 24, heads: 3}
    training: {max_steps: 24}
"""
MISTYPED = "  - {name: truth, published_as: NanoGPT 300M, path: nowhere.safetensors}\n"


@pytest.mark.parametrize(
    ("old", "new", "options", "message"),
    [
        (TRUTH, MISTYPED, ["-n"], "truths.0.path: no file nowhere.safetensors"),
        ("svd_ranks: [4, 16]", "svd_ranks: [4, 16]\ntraining: {max_steps: 3}", [], ": training is given twice, in lin"),
    ],
)
def test_a_mistake_is_no_reason_to_use_the_results_of_another_config(study, tiny, old, new, options, message):
    before = (study.folder / TABLE).read_bytes()
    output = study.snakemake(config=tiny((old, new)), options=options, check=False)
    assert message in output.split("ConfigError in")[1].splitlines()[1]
    assert "Traceback" not in output
    assert (study.folder / TABLE).read_bytes() == before


def test_a_published_table_that_is_gone_is_named_whatever_was_made_of_it(study):
    path = study.folder / "resources/published/table_4_1.csv"
    text = path.read_bytes()
    path.unlink()
    try:
        output = study.snakemake("all", options=["-n"], check=False)
    finally:
        path.write_bytes(text)
    assert "table_4_1.csv: no such file, but rule oversmoothing_table reads it" in output


def test_without_the_text_needs_can_be_told_but_nothing_is_planned_or_run(study, tmp_path, monkeypatch):
    """A package of another version than the lock's is named too, at the start of every command."""
    config = "config/workstation.yaml"
    message = "corpus.paths: no file matches 'data/*.parquet'"
    (tmp_path / "torch-9.9.9.dist-info").mkdir()
    (tmp_path / "torch-9.9.9.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 9.9.9\n")
    with monkeypatch.context() as patch:
        patch.setenv("PYTHONPATH", str(tmp_path))
        output = study.snakemake("needs", config=config)
    assert output.count("torch 9.9 is installed and 2.13 locked: results may differ") == 1
    assert message in output
    assert "GPU hours" in output
    output = study.snakemake("", config=config, options=["-n"], check=False)
    assert message in output.split("ConfigError")[1].splitlines()[1]
