"""Our decodings against the logits warpers of transformers, in float64."""

import numpy as np
import pytest
import torch
from transformers.generation import logits_process

from oversmoothing.scores.decoding import decoder

ROWS = 800
EDGE = 1e-9  # rows in which a token is this near to being kept or dropped have no one answer
OF_ALL = logits_process.TopHLogitsWarper(0.4)
OF_ALL.top_n = 5000  # of as many tokens as there are here, not of the 100 most probable ones
METHODS = {
    "top-k": ({"k": 5}, logits_process.TopKLogitsWarper(5)),
    "top-p": ({"p": 0.9}, logits_process.TopPLogitsWarper(0.9)),
    "temperature": ({"temperature": 0.8}, logits_process.TemperatureLogitsWarper(0.8)),
    "min-p": ({"min_p": 0.05}, logits_process.MinPLogitsWarper(0.05)),
    "typical": ({"mass": 0.95}, logits_process.TypicalLogitsWarper(0.95)),
    "eta": ({"epsilon": 0.0009}, logits_process.EtaLogitsWarper(0.0009)),
    "epsilon": ({"threshold": 0.0009}, logits_process.EpsilonLogitsWarper(0.0009)),
    "top-h": ({"alpha": 0.4}, OF_ALL),
}


def logits_of_all_entropies(v):
    """Logits (n, v) from nearly flat to nearly certain; no two of a row are equal."""
    rng = np.random.default_rng(v)
    return rng.normal(size=(ROWS, v)) * np.geomspace(0.05, 12, ROWS)[:, None]


def on_an_edge(name, p):
    """Whether rounding decides what is kept of each row, bool (n,)."""
    if name in ("temperature", "top-k"):
        return np.zeros(len(p), bool)
    logs = np.log(p)
    entropy = -(p * logs).sum(axis=1, keepdims=True)
    if name == "top-p":
        distance = np.cumsum(-np.sort(-p, axis=1), axis=1) - 0.9
    elif name == "min-p":
        distance = p / p.max(axis=1, keepdims=True) - 0.05
    elif name == "epsilon":
        distance = p / 0.0009 - 1
    elif name == "top-h":
        falling = -np.sort(-p, axis=1)
        distance = np.cumsum(-falling * np.log(falling), axis=1) - 0.4 * entropy
    elif name == "eta":  # transformers holds epsilon in single precision
        threshold = np.minimum(0.0009, np.sqrt(0.0009) * np.exp(-entropy))
        return (np.abs(p / threshold - 1) < 1e-6).any(axis=1)
    else:
        surprise = np.abs(-logs - entropy)
        order = np.argsort(surprise, axis=1)
        ordered = np.take_along_axis(surprise, order, axis=1)
        mass = np.cumsum(np.take_along_axis(p, order, axis=1), axis=1)
        last = (mass < 0.95).sum(axis=1, keepdims=True).clip(max=p.shape[1] - 1)
        apart = ordered - np.take_along_axis(ordered, last, axis=1)
        np.put_along_axis(apart, last, 1.0, axis=1)  # those equal to the last one kept, to the grid of 1e-9
        return (np.abs(mass - 0.95) < EDGE).any(axis=1) | (np.abs(apart) < 2 * EDGE).any(axis=1)
    return (np.abs(distance) < EDGE).any(axis=1)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("v", [2, 256, 5000])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_equals_the_warper(name, v, library):
    settings, warper = METHODS[name]
    if name == "top-k":
        settings, warper = {"k": min(5, v)}, logits_process.TopKLogitsWarper(min(5, v))
    logits = torch.from_numpy(logits_of_all_entropies(v))
    p = logits.softmax(dim=1)
    theirs = warper(None, logits).softmax(dim=1).numpy()
    decode = decoder({"name": name, **settings}, v)
    ours = decode(p.numpy()) if library == "numpy" else decode(p).numpy()
    assert ours.dtype == np.float64
    sure = ~on_an_edge(name, p.numpy())
    assert sure.mean() > 0.9
    np.testing.assert_array_equal(ours[sure] > 0, theirs[sure] > 0)
    np.testing.assert_allclose(ours[sure], theirs[sure], rtol=0, atol=1e-12)
    if v > 2 and name != "temperature":
        assert ((ours == 0) & (p.numpy() > 0)).any(axis=1).mean() > 0.25
