"""Acceptance of drafts: against speculative sampling played out, by hand, and from logits to the table."""

import numpy as np
import pytest
from step_jobs import job, outputs, write_logits

from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.probabilities import softmax
from oversmoothing.tables.record import read_record
from studies.accepted_drafts import measure, show
from studies.accepted_drafts.measure import acceptance

DECODINGS = [
    {"name": "pure"},
    {"name": "greedy"},
    {"name": "top-k", "k": 3},
    {"name": "top-p", "p": 0.7},
    {"name": "temperature", "temperature": 0.6},
]


def two(seed, n=4, v=9):
    return [softmax(2 * logits) for logits in np.random.default_rng(seed).normal(size=(2, n, v))]


@pytest.mark.parametrize("settings", DECODINGS, ids=lambda settings: settings["name"])
def test_it_is_the_share_of_accepted_drafts(settings):
    """Drafts are drawn and accepted as in Algorithm 1, and with the residual distribution the truth comes out."""
    decode = decoder(settings)
    draft, truth = two(1)
    found = acceptance(draft, truth, decode)
    q, p = decode(draft), decode(truth)
    draw, count = np.random.default_rng(2), 40_000
    for i in range(len(q)):
        x = draw.choice(len(q[i]), size=count, p=q[i])
        kept = draw.random(count) < np.minimum(1, p[i][x] / q[i][x])
        assert found[i] == pytest.approx(kept.mean(), abs=0.01)
        left = np.maximum(p[i] - q[i], 0)
        if not kept.all():
            x[~kept] = draw.choice(len(left), size=(~kept).sum(), p=left / left.sum())
        np.testing.assert_allclose(np.bincount(x, minlength=len(q[i])) / count, p[i], atol=0.015)


def test_by_hand():
    """Top-p 0.7 keeps two tokens of the model, (5/8, 3/8), and one of the truth, of which the model has 5/8."""
    draft, truth = np.array([[0.5, 0.3, 0.2]]), np.array([[0.75, 0.05, 0.2]])
    assert acceptance(draft, truth, decoder({"name": "pure"})) == pytest.approx([0.5 + 0.05 + 0.2])
    assert acceptance(draft, truth, decoder({"name": "top-p", "p": 0.7})) == pytest.approx([5 / 8])
    assert acceptance(draft, truth, decoder({"name": "greedy"})) == pytest.approx([1])
    assert acceptance(draft[:, ::-1], truth, decoder({"name": "greedy"})) == pytest.approx([0])


def test_a_large_vocabulary():
    draft, truth = two(3, 2, 5000)
    for settings in DECODINGS:
        decode = decoder(settings)
        expected = np.minimum(decode(draft), decode(truth)).sum(axis=1)
        np.testing.assert_allclose(acceptance(draft, truth, decode), expected, atol=1e-12)


def test_from_logits_to_the_table(tmp_path):
    """As the sum of minima of the decoded distributions, over all positions."""
    logits = {
        name: np.random.default_rng(seed).normal(size=(3, 5, 9)) for seed, name in enumerate(("bn4", "one", "two"))
    }
    paths = {name: write_logits(tmp_path / f"{name}.parquet", dict(enumerate(rows))) for name, rows in logits.items()}
    inputs = {"model": paths["bn4"], "truths": [paths["one"], paths["two"]]}
    settings = {"decodings": DECODINGS, "truths": ["one", "two"]}
    measure.main(job(inputs, tmp_path / "scores.parquet", settings, model="bn4"))
    settings = {"decodings": [entry["name"] for entry in DECODINGS], "resamples": 50, "seed": 1}
    settings["models"] = [{"model": "bn4", "rank": 4, "seed": 7}]
    output = outputs(tmp_path)
    show.main(job({"scores": [tmp_path / "scores.parquet"]}, output, settings))
    table = read_record(output.csv).set_index(["truth", "decoding"])
    laws = {name: softmax(rows.reshape(15, 9).astype(np.float32)) for name, rows in logits.items()}
    for (truth, decoding), row in table.iterrows():
        decode = decoder(next(entry for entry in DECODINGS if entry["name"] == decoding))
        minima = np.minimum(decode(laws["bn4"]), decode(laws[truth])).sum(axis=1)
        assert row.value == pytest.approx(minima.mean(), abs=1e-6)
        assert row.low <= row.value <= row.high
        assert row.n == 15
    assert len(table) == 2 * len(DECODINGS)
    shown = output.markdown.read_text()
    assert "Accepted by `one`" in shown
    assert "top-p ↑" in shown
