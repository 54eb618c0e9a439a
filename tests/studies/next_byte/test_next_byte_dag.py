"""The study in the real DAG: its numbers are those of the models, and a change of prompt costs next to nothing."""

import pytest
import torch

from oversmoothing.models.weights import load_model
from oversmoothing.tables.record import read_record

FIGURES = [
    f"results/figures/{name}.png" for name in ("next_byte_water", "next_byte_svd_water", "oversmoothing_illustrated")
]
EVERYTHING = ["results/tables/next_byte.csv", *FIGURES]
SHOWN = {"logits": 3, "svd_logits": 2, "score": 4, "tbat": 2, "next_byte_table": 1}


def test_the_table_holds_what_the_models_say(everything):
    rows = read_record(everything.folder / "results/tables/next_byte.csv")
    table = rows.pivot(index=["prompt", "model"], columns="measure", values="value")
    assert len(table) == 2 * 5
    for name, prompt, target in (("water", b"wate", "r"), ("democracy", b"our system, where v", "o")):
        for model in ("truth", "bn4-s1337", "bn16-s1337"):
            gpt = load_model(everything.folder / f"results/models/{model}/weights.safetensors")
            with torch.inference_mode():
                p = gpt(torch.tensor([list(prompt)]))[0, -1].softmax(dim=-1).numpy()
            assert table.p_next[name, model] == pytest.approx(p[ord(target)], rel=1e-4)
        full, truncated = table.loc[(name, "bn16-s1337")], table.loc[(name, "svd16-s1337")]
        assert truncated[["tto", "nsmd", "tv", "kl"]].tolist() == pytest.approx(
            full[["tto", "nsmd", "tv", "kl"]].tolist(), abs=1e-5
        )
    assert table.tbat.notna().sum() == 4


def test_another_prompt_reruns_no_window_and_trains_nothing(planned):
    jobs = planned(EVERYTHING, ("prompt: wate, next: r", "prompt: null"))
    assert jobs == {"draw_showcase": 1, **SHOWN, "oversmoothing_illustrated": 1}


def test_a_renamed_prompt_redraws_its_figures_alone(planned):
    targets = [f"results/figures/next_byte_{part}lake.png" for part in ("", "svd_")]
    assert planned(targets, ("name: water", "name: lake")) == {"next_byte_table": 1}


def test_a_metric_that_is_added_is_shown(everything):
    assert "brier" in set(read_record(everything.folder / "results/tables/next_byte.csv").measure)
    assert "Brier" in (everything.folder / "results/figures/next_byte_water.svg").read_text()
