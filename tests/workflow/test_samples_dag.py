"""Samples in the real DAG: what comes out, and what a change costs."""

import pandas as pd
from recipes import MINE

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


def test_more_decodings_sample_these_alone(everything, tiny):
    more = ["{name: bat, delta: 0.2}", "{chain: [{temperature: 1.5}, {min-p: 0.05}]}"]
    config = tiny(more=f"\nsamples: {{decodings: [{', '.join(more)}]}}\n")
    named = "results/samples/truth/temperature-1.5+min-p-0.05.parquet"
    planned = everything.planned(SAMPLES, named, config=(config, MINE))
    assert planned == {"sample_extra": 6, "samples_table": 1}
