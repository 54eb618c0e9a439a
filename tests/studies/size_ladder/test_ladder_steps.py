"""The steps of the ladder on tiny models: a table of one rung from weights, a truth and best heads."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import log_softmax
from step_jobs import job, outputs, write_logits

from oversmoothing.jobs import UserError
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.inference import run_windows
from oversmoothing.models.model import GPT
from oversmoothing.models.weights import save_model
from oversmoothing.numerics.singular_values import effective_rank, singular_values
from oversmoothing.store.parquet import read_table, write_table
from oversmoothing.tables.record import chosen, read_record
from studies.size_ladder import best, measure, show
from studies.size_ladder.parts import BEHIND_NORM, EFFECTIVE_RANK, FREE, LOSS, OWN, THERE, reported

SCORED = [b"efghijk", b"lmnopqr", b"1234567", b"x y z w"]
WINDOWS = pa.table({"window": pa.array(range(4), pa.int32()), "prompt": [b"abcd"] * 4, "scored": SCORED})
RANKS = (2, 16)
SETTINGS = {"truths": ["own", "stays"], "batch": 2, "tau": 0.9, "parts": 3, "ranks": 1000}


def gpt(rank, seed):
    """A model whose weights are large enough that its distributions are no constants."""
    model = GPT(GPTConfig(layers=1, heads=2, width=16, block=32, rank=rank), seed).eval()
    for weight in model.parameters():
        weight.data *= 4 if weight.dim() >= 2 else 1
    return model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models of two ranks and seeds, two truths, and what the step measures of each model."""
    where = tmp_path_factory.mktemp("ladder")
    write_table(where / "windows.parquet", WINDOWS, {})
    for name, seed in (("own", 11), ("stays", 12)):
        states = {state.window: state for state in run_windows(gpt(None, seed), WINDOWS, 4)}
        logits = {window: state.logits for window, state in states.items()}
        write_logits(where / f"{name}.parquet", logits, {window: state.target for window, state in states.items()})
    for rank in RANKS:
        for seed in (1, 2):
            model, name = gpt(rank, seed), f"bn{rank}-s{seed}"
            save_model(where / f"{name}.safetensors", model.config, model.state_dict(), {})
            files = {"weights": where / f"{name}.safetensors", "windows": where / "windows.parquet"}
            files["truths"] = [where / "own.parquet", where / "stays.parquet"]
            measure.main(job(files, [where / f"{name}.measured.parquet"], SETTINGS, model=name))
            write_table(where / f"{name}.history.parquet", pa.table({"validation_loss": [5.0, 4.0 + 0.1 * rank]}), {})
    for truth in ("own", "stays"):
        files = {"truth": where / f"{truth}.parquet", "start": where / "bn2-s1.safetensors"}
        best.main(job(files, [where / f"{truth}.best.parquet"], {"rank": 2, "per_window": 3}, model=truth))
    return where


def read(path):
    return read_table(path).to_pandas()


def test_loss_and_effective_rank_are_those_of_the_states(folder):
    table = read(folder / "bn2-s1.measured.parquet")
    states = list(run_windows(gpt(2, 1), WINDOWS, 4))
    losses = [-log_softmax(state.logits, axis=1)[np.arange(7), state.target].mean() for state in states]
    assert chosen(table, measure=LOSS).value.tolist() == pytest.approx(losses, rel=1e-4)
    (used,) = chosen(table, measure=EFFECTIVE_RANK).value
    assert used == pytest.approx(effective_rank(singular_values(np.concatenate([state.post for state in states]))))
    assert 1 < used <= 2


def test_parts_are_measured_on_every_other_window_and_grow_with_what_is_forced(folder):
    narrow, full = (read(folder / f"bn{rank}-s1.measured.parquet") for rank in RANKS)
    for truth in ("own", "stays"):
        of = {name: chosen(narrow, truth=truth, measure=name) for name in (THERE, FREE, BEHIND_NORM)}
        assert {tuple(rows.window) for rows in of.values()} == {(1, 3)}
        assert {tuple(rows.n) for rows in of.values()} == {(3, 3)}
        free, behind, kl = (of[name].value.to_numpy() for name in (FREE, BEHIND_NORM, THERE))
        assert (free > 0).all()
        assert (free <= behind + 1e-9).all()
        assert (behind <= kl + 1e-6).all()
        assert chosen(full, truth=truth, measure=FREE).value.mean() < free.mean()
        found = read(folder / f"{truth}.best.parquet")
        assert found.window.tolist() == [1, 3]
        assert (found.value > 0).all()


def test_the_table_of_a_rung_is_made_of_these_files(folder):
    models = [
        {
            **{"model": f"bn{rank}-s{seed}", "kind": "shorter", "rank": rank, "seed": seed, "arm": f"bn{rank}"},
            **{"size": "w16x1", "width": 16, "weights": 3072, "steps": 8, "bytes": 512, "truths": ["own"]},
        }
        for rank in RANKS
        for seed in (1, 2)
    ]
    files = {
        "measured": [folder / f"{row['model']}.measured.parquet" for row in models],
        "histories": [folder / f"{row['model']}.history.parquet" for row in models],
        "best": [folder / "own.best.parquet", folder / "stays.best.parquet"],
    }
    fitted = [{"size": "w16x1", "truth": "own", "rank": 2}, {"size": None, "truth": "stays", "rank": 2}]
    settings = {"models": models, "rungs": [{"size": "w16x1", "steps": 8, "own": "own"}], "truth": "stays"}
    written = outputs(folder)
    written.seeds = folder / "seeds.csv"
    made = job(files, folder, {**settings, "best": fitted, "unit": "byte"})
    made.output = written
    show.main(made)
    table = read_record(written.csv)
    (added,) = chosen(table, measure="added", truth=OWN).to_dict("records")
    measured = {row["model"]: read(path) for row, path in zip(models, files["measured"], strict=True)}
    of = {name: chosen(values, truth="own", measure=THERE).value.mean() for name, values in measured.items()}
    by_hand = np.mean([of[f"bn2-s{seed}"] - of[f"bn16-s{seed}"] for seed in (1, 2)])
    assert added["value"] == pytest.approx(by_hand, rel=1e-4)
    (loss,) = chosen(table, measure="validation_loss", less="full rank").to_dict("records")
    assert loss["value"] == pytest.approx(4.2 - 5.0)
    seeds = read_record(written.seeds)
    assert chosen(seeds, measure="added", truth=OWN).value.mean() == pytest.approx(by_hand, rel=1e-4)
    assert "Of the KL that a rank adds, against `own`" in written.markdown.read_text()


def test_one_window_cannot_be_halved(folder, tmp_path):
    write_logits(tmp_path / "one.parquet", {0: np.zeros((4, 256), np.float32)})
    files = {"truth": tmp_path / "one.parquet", "start": folder / "bn2-s1.safetensors"}
    with pytest.raises(UserError, match=r"windows\.count: at least 2"):
        best.main(job(files, [tmp_path / "best.parquet"], {"rank": 2, "per_window": 2}, model="one"))


def test_every_other_window_is_reported():
    assert [reported(i) for i in range(4)] == [False, True, False, True]
