"""The quality of samples in the real DAG: what comes out, and what a change costs."""

import pandas as pd
from hub_models import files_of, write_gpt2
from local_hub import Repo, local_hub
from study import TINY

from oversmoothing.tables.record import read_record

QUALITY = "results/tables/sample_quality.csv"
DECODINGS = ("pure", "greedy", "top-k", "top-p", "temperature")


def test_every_model_and_decoding_is_in_the_table_and_gaps_have_a_reason(everything):
    table = read_record(everything.folder / QUALITY)
    assert {"bn4-s1337", "bn16-s1337", "svd4-s1337", "svd16-s1337", "truth"} <= set(table.model)
    assert set(table[table.model == "bn4-s1337"].decoding) == {*DECODINGS, "top-a"}
    assert set(table[table.model == "svd4-s1337"].decoding) == {"pure"}
    missing = table[table.value.isna()]
    assert set(missing.measure) == {"mauve"}  # six windows are too few for it
    assert missing.note.str.contains("100").all()


def test_one_more_decoding_judges_the_models_that_it_samples(planned):
    more = "samples: {decodings: [{name: min-p, min_p: 0.1}]}\nwindows:"
    assert planned(QUALITY, ("\nwindows:", f"\n{more}")) == {"sample_extra": 3, "quality": 3, "sample_quality_table": 1}


def test_another_language_model_resamples_nothing(planned):
    judged = {"human_features": 1, "quality": 5, "human_quality": 1, "sample_quality_table": 1}
    judged |= {"train_language_model": 1}
    assert planned(QUALITY, ("max_steps: 12, warmup", "max_steps: 13, warmup")) == judged


def test_a_judge_from_the_hub_is_fetched_once_and_reads_offline(copy, tmp_path, monkeypatch):
    write_gpt2(tmp_path / "gpt2")
    (tmp_path / "gpt2/modeling_own.py").write_text("raise SystemExit('ran')")
    (copy.folder / "judge.yaml").write_text("quality: {language_model: owner/judge}\n")
    config, judged = (TINY, "judge.yaml"), "results/quality/bn4-s1337.parquet"
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    with local_hub({"owner/judge": Repo(files_of(tmp_path / "gpt2"))}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        copy.snakemake("assets", config=config)
        monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
        copy.snakemake(judged, config=config)
    assert not list((tmp_path / "home").rglob("*.py"))
    quality = pd.read_parquet(copy.folder / judged)
    assert set(quality[(quality.metric == "perplexity") & quality.value.notna()].decoding) == set(DECODINGS)
    assert copy.planned(judged, config=config) == {}
