"""A config that names what is not there, or says one thing twice, is refused under -n too and never reuses results."""

import pytest

TRUTH = """  - name: truth
    published_as: NanoGPT 300M
    model: {layers: 1, width: 24, heads: 3}
    training: {max_steps: 24}
"""


@pytest.fixture
def refused(study, tiny):
    """Plan, then run, a variation of the tiny config; return the one line by which both refuse it."""

    def plan_and_run(old, new, *targets):
        config = tiny((old, new))
        table = study.folder / "results/tables/oversmoothing.csv"
        before = table.read_bytes()
        outputs = [study.snakemake(*targets, config=config, options=how, check=False) for how in (["-n"], [])]
        assert table.read_bytes() == before
        lines = [output.split("ConfigError in")[1].splitlines()[1] for output in outputs]
        assert lines[0] == lines[1]
        assert "Traceback" not in outputs[0]
        return lines[0]

    return plan_and_run


def test_a_mistyped_truth_is_no_reason_to_use_the_scores_of_the_old_one(refused):
    line = refused(TRUTH, "  - {name: truth, published_as: NanoGPT 300M, path: nowhere.safetensors}\n")
    assert line.startswith("truths.0.path: no file nowhere.safetensors")


def test_a_key_that_stands_twice(refused):
    line = refused("svd_ranks: [4, 16]", "svd_ranks: [4, 16]\ntraining: {max_steps: 3}")
    assert "changed.yaml: training is given twice, in lines " in line


def test_a_published_table_that_is_gone_is_named_whatever_was_made_of_it(study):
    path = study.folder / "resources/published/table_4_1.csv"
    text = path.read_bytes()
    path.unlink()
    try:
        output = study.snakemake("all", options=["-n"], check=False)
    finally:
        path.write_bytes(text)
    assert "table_4_1.csv: no such file, but rule oversmoothing_table reads it" in output


def test_without_the_text_needs_can_be_told_but_nothing_is_planned_or_run(study):
    config = "config/workstation.yaml"
    message = "corpus.paths: no file matches 'data/*.parquet'"
    output = study.snakemake("needs", config=config)
    assert message in output
    assert "GPU hours" in output
    output = study.snakemake("", config=config, options=["-n"], check=False)
    assert message in output.split("ConfigError")[1].splitlines()[1]
