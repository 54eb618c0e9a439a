"""Samples and their quality in the real DAG: what comes out, and what a change costs."""

import pandas as pd
from recipes import CONFIG, MINE
from study import copy_built

QUALITY = "results/tables/sample_quality.csv"
FIVE = ("pure", "greedy", "top-k", "top-p", "temperature")


def test_every_model_and_decoding_is_in_the_table_and_gaps_have_a_reason(everything):
    table = pd.read_csv(everything.folder / QUALITY)
    assert {"bn4-s1337", "bn16-s1337", "svd4-s1337", "svd16-s1337", "truth"} <= set(table.model)
    assert set(table[table.model == "bn4-s1337"].decoding) == {*FIVE, "top-a"}
    assert set(table[table.model == "svd4-s1337"].decoding) == {"pure"}
    missing = table[table["mean"].isna()]
    assert set(missing.metric) == {"mauve"}  # six windows are too few for it
    assert missing.note.str.contains("100").all()


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


def test_one_more_decoding_samples_it_alone(everything, tmp_path):
    config = tmp_path / "extra.yaml"
    text = (everything.folder / "tests/config/tiny.yaml").read_text()
    config.write_text(text + "\nsamples: {decodings: [{name: min-p, min_p: 0.1}, {name: beam, width: 2}]}\n")
    planned = everything.planned(QUALITY, config=(str(config), MINE))
    assert planned == {"sample_extra": 6, "quality": 3, "quality_table": 1}


def test_another_language_model_resamples_nothing(everything, tmp_path):
    config = tmp_path / "model.yaml"
    text = (everything.folder / "tests/config/tiny.yaml").read_text()
    config.write_text(text.replace("max_steps: 12, warmup", "max_steps: 13, warmup"))
    planned = everything.planned(QUALITY, config=(str(config), MINE))
    assert planned == {"train_language_model": 1, "quality": 5, "human_quality": 1, "quality_table": 1}


def test_the_sampler_retrains_and_rescores_nothing(everything, tmp_path):
    study = copy_built(everything.folder, tmp_path / "copy")
    study.edit("scripts/oversmoothing/samples/cache.py", "self.filled = 0", "self.filled = 0 + 0")
    planned = study.planned(QUALITY, config=CONFIG)
    assert set(planned) == {"sample", "sample_svd", "quality", "quality_table"}
    assert study.planned(config=CONFIG) == {}
