"""Acceptance of drafts: against speculative sampling played out, by hand, and from logits to the table."""

from types import SimpleNamespace

import numpy as np
import pytest
from test_scores import write_logits

from oversmoothing.models.window_logits import read_logits
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
    draw = np.random.default_rng(seed)
    return tuple(softmax(draw.normal(size=(n, v)) * 2) for _ in range(2))


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
    paths = {name: write_logits(tmp_path / f"{name}.parquet", seed) for seed, name in enumerate(("bn4", "one", "two"))}
    truths = ["one", "two"]
    (tmp_path / "scores").mkdir()
    scores = tmp_path / "scores/bn4.parquet"
    settings = {"decodings": DECODINGS, "truths": truths}
    measure.main(
        SimpleNamespace(
            params=SimpleNamespace(settings=settings),
            input=SimpleNamespace(model=paths["bn4"], truths=[paths[name] for name in truths]),
            output=[scores],
            wildcards=SimpleNamespace(model="bn4"),
        )
    )
    output = SimpleNamespace(csv=tmp_path / "t.csv", markdown=tmp_path / "t.md", html=tmp_path / "t.html")
    settings = {"decodings": [own["name"] for own in DECODINGS], "resamples": 50, "seed": 1}
    settings["models"] = [{"model": "bn4", "rank": 4, "seed": 7}]
    show.main(
        SimpleNamespace(
            params=SimpleNamespace(settings=settings), input=SimpleNamespace(scores=[scores]), output=output
        )
    )
    table = read_record(output.csv).set_index(["truth", "decoding"])
    windows = list(read_logits(paths["bn4"], {name: paths[name] for name in truths}))
    for truth in truths:
        for own in DECODINGS:
            decode = decoder(own)
            minima = [np.minimum(decode(softmax(w.model)), decode(softmax(w.truths[truth]))) for w in windows]
            row = table.loc[(truth, own["name"])]
            assert row.value == pytest.approx(np.concatenate(minima).sum(axis=1).mean(), abs=1e-6)
            assert row.low <= row.value <= row.high
            assert row.n == 15
    shown = output.markdown.read_text()
    assert "Accepted by `one`" in shown
    assert "top-p ↑" in shown
