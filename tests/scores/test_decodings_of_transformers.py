"""Our decodings against the logits warpers of transformers, in float64."""

import numpy as np
import pytest
import torch
from transformers.generation import logits_process

from oversmoothing.scores.decoding import decoder

ROWS = 800
OF_ALL = logits_process.TopHLogitsWarper(0.4)
OF_ALL.top_n = 5000  # of as many tokens as there are here, not of the 100 most probable ones
METHODS = {
    "top-k": ({"k": 2}, logits_process.TopKLogitsWarper(2)),
    "top-p": ({"p": 0.9}, logits_process.TopPLogitsWarper(0.9)),
    "temperature": ({"temperature": 0.8}, logits_process.TemperatureLogitsWarper(0.8)),
    "min-p": ({"min_p": 0.05}, logits_process.MinPLogitsWarper(0.05)),
    "typical": ({"mass": 0.95}, logits_process.TypicalLogitsWarper(0.95)),
    "eta": ({"epsilon": 0.0009}, logits_process.EtaLogitsWarper(0.0009)),
    "epsilon": ({"threshold": 0.0009}, logits_process.EpsilonLogitsWarper(0.0009)),
    "top-h": ({"alpha": 0.4}, OF_ALL),
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("v", [2, 256, 5000])
@pytest.mark.parametrize("library", [np.asarray, torch.asarray])
def test_equals_the_warper(name, v, library):
    """Of models from nearly flat to nearly certain; where a token is on the edge, rounding decides: in few rows."""
    settings, warper = METHODS[name]
    logits = np.random.default_rng(v).normal(size=(ROWS, v)) * np.geomspace(0.05, 12, ROWS)[:, None]
    logits = torch.from_numpy(logits)
    p = logits.softmax(dim=1)
    theirs = warper(None, logits).softmax(dim=1).numpy()
    ours = np.asarray(decoder({"name": name, **settings}, v)(library(p)))
    assert ours.dtype == np.float64
    same = ((ours > 0) == (theirs > 0)).all(axis=1)
    assert same.mean() > 0.99
    np.testing.assert_allclose(ours[same], theirs[same], rtol=0, atol=1e-12)
    if v > 2 and name != "temperature":
        assert ((ours == 0) & (p.numpy() > 0)).any(axis=1).mean() > 0.25
