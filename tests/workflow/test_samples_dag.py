"""Samples in the real DAG: what comes out, and what a change costs."""

import pandas as pd
from recipes import CONFIG, MINE
from study import copy_built, copy_project

SAMPLES = "results/tables/samples.csv"


def test_samples_continue_the_windows_prompts(everything):
    windows = pd.read_parquet(everything.folder / "results/windows.parquet")
    samples = pd.read_parquet(everything.folder / "results/samples/bn4-s1337/top-k.parquet")
    assert samples.prompt.tolist() == windows.prompt.tolist()
    assert {len(text) for text in samples.continuation} == {24}


def test_a_truncation_to_full_rank_writes_what_the_full_model_writes(everything):
    full, truncated = (
        pd.read_parquet(everything.folder / f"results/samples/{model}/pure.parquet").continuation.tolist()
        for model in ("bn16-s1337", "svd16-s1337")
    )
    assert full == truncated


def test_one_more_decoding_samples_it_alone(everything, tiny):
    config = tiny(more="\nsamples: {decodings: [{name: min-p, min_p: 0.1}, {name: bat, delta: 0.2}]}\n")
    planned = everything.planned(SAMPLES, config=(config, MINE))
    assert planned == {"sample_extra": 6, "samples_table": 1}


def test_chains_are_planned_by_their_names(tmp_path, tiny):
    hot, half = "{chain: [{temperature: 1.5}, {min-p: 0.05}]}", "{chain: [{top-p: 0.5}]}"
    more = f"decodings: [{{name: pure}}, {hot}]\nsamples: {{decodings: [{half}, {{chain: [p-less]}}]}}\n"
    project = copy_project(tmp_path / "project")
    output = project.snakemake(SAMPLES, "results/tables/decodings.csv", config=tiny(more=more), options=["-n"])
    for name in ("temperature-1.5+min-p-0.05", "top-p-0.5", "p-less"):
        assert f"results/samples/bn4-s1337/{name}.parquet" in output


def test_the_sampler_retrains_and_rescores_nothing(everything, tmp_path):
    study = copy_built(everything.folder, tmp_path / "copy")
    study.edit("scripts/oversmoothing/samples/cache.py", "self.filled = 0", "self.filled = 0 + 0")
    planned = study.planned("results/tables/oversmoothing.csv", SAMPLES, config=CONFIG)
    assert set(planned) == {"sample", "sample_svd", "samples_table"}
    assert study.planned(config=CONFIG) == {}
