"""What a model shows at other temperatures, beside the softmax of its divided logits."""

import numpy as np
import pytest
from scipy.special import softmax
from step_jobs import write_logits

from oversmoothing.models.logit_files import read_logits
from studies.other_explanations.show import TEMPERATURES, tempered

TAU = 0.9


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(7)
    drawn = {name: {window: rng.normal(size=(6, 9)) for window in range(3)} for name in ("model", "truth")}
    return [write_logits(tmp_path / f"{name}.parquet", by_window) for name, by_window in drawn.items()]


def test_means_are_those_of_divided_logits(files):
    rows = {(row["temperature"], row["measure"]): row["value"] for row in tempered(*map(str, files), TAU)}
    assert len(rows) == 3 * len(TEMPERATURES)
    logits, truth = (np.concatenate([w.model for w in read_logits(path, {})]).astype(float) for path in files)
    p = softmax(truth, axis=1)
    outside = np.ones_like(p, dtype=bool)
    for row, place in zip(p, outside, strict=True):
        order = np.argsort(-row)
        place[order[: np.searchsorted(np.cumsum(row[order]), TAU) + 1]] = False
    for t in TEMPERATURES:
        q = softmax(logits / t, axis=1)
        expected = {
            "tto": (np.maximum(q - p, 0) * outside).sum(axis=1),
            "tv": abs(q - p).sum(axis=1) / 2,
            "kl": (p * np.log(p / q)).sum(axis=1),
        }
        for measure, values in expected.items():
            assert rows[t, measure] == pytest.approx(values.mean(), abs=1e-5)
