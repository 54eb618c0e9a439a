"""Beam search against exhaustive search, and Mirostat's hold on the surprise."""

import functools

import numpy as np
import pytest
import torch

from oversmoothing.models.model import GPT, GPTConfig
from oversmoothing.samples.beam import beam_search
from oversmoothing.samples.draws import choose, uniforms
from oversmoothing.samples.mirostat import Mirostat

V, LENGTH = 3, 4
PROMPTS = [(0, 2, 1), (2, 2, 0), (1, 1, 1), (0, 0, 2)]


@functools.cache
def tiny(positions="rotary"):
    config = GPTConfig(layers=2, heads=2, width=8, block=12, positions=positions, vocabulary=V)
    model = GPT(config, seed=2).eval()
    with torch.no_grad():
        model.embedding.weight.mul_(50)
        model.head.weight.mul_(60)
    return model


@functools.cache
def log_probability(positions, prompt, text):
    with torch.no_grad():
        logits = tiny(positions)(torch.tensor([prompt + text]))[0, len(prompt) - 1 : -1]
    return logits.double().log_softmax(-1).gather(1, torch.tensor(text)[:, None]).sum().item()


def reference(positions, prompt, width):
    """Search with a beam, one plain forward pass for each text that grows."""
    beam = [()]
    for _ in range(LENGTH):
        grown = [(*text, token) for text in beam for token in range(V)]
        beam = sorted(grown, key=lambda text: -log_probability(positions, prompt, text))[:width]
    return beam[0]


@pytest.mark.parametrize("width", [1, 2, 5, V ** (LENGTH - 1), V**LENGTH, V**LENGTH + 7])
@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_equals_a_search_without_cache_or_batch(width, positions):
    """A beam as wide as the tree is exhaustive search."""
    texts, scores = beam_search(tiny(positions), torch.tensor(PROMPTS), LENGTH, width)
    expected = [reference(positions, prompt, width) for prompt in PROMPTS]
    assert list(map(tuple, texts.tolist())) == expected
    likeliest = [log_probability(positions, *both) for both in zip(PROMPTS, expected, strict=True)]
    assert scores.tolist() == pytest.approx(likeliest, abs=1e-4)


def test_wider_is_no_less_likely_here_and_ties_go_to_the_lowest_ids():
    prompts = torch.tensor(PROMPTS)
    narrow, wide = (beam_search(tiny(), prompts, LENGTH, width)[1] for width in (1, V**LENGTH))
    assert (wide > narrow - 1e-6).all()
    assert (wide > narrow + 0.01).any()
    flat = GPT(tiny().config, seed=2).eval()
    flat.head.weight.data.zero_()
    assert beam_search(flat, prompts, LENGTH, 2)[0].tolist() == [[0] * LENGTH] * 4


def distributions(steps, n):
    """Draw distributions of a wide range of entropies, unlike each other from step to step."""
    rng = np.random.default_rng(0)
    logits = rng.standard_normal((steps, n, 256)) * rng.uniform(2, 3, (steps, n, 1))
    return torch.from_numpy(logits).softmax(-1)


@pytest.mark.parametrize("tau", [3.0, 3.5])
def test_the_mean_surprise_approaches_its_target(tau):
    steps, n = 600, 20
    mirostat, state = Mirostat(tau, 0.1), None
    draws = torch.from_numpy(uniforms(1, range(n), steps).T.copy())
    surprise, pure = [], []
    for p, u in zip(distributions(steps, n), draws, strict=True):
        tokens, state = mirostat(p, u, state)
        surprise.append(-p.gather(1, tokens[:, None])[:, 0].log2())
        pure.append(-p.gather(1, choose(p, u)[:, None])[:, 0].log2())
    late = torch.stack(surprise)[100:]
    assert late.mean().item() == pytest.approx(tau, abs=0.05)
    assert abs(torch.stack(pure).mean().item() - tau) > 0.3


def test_one_step_by_hand():
    p = torch.tensor([[0.5, 0.25, 0.125, 0.125, 0.0]], dtype=torch.float64)
    u = torch.tensor([0.7], dtype=torch.float64)
    tokens, state = Mirostat(tau=1.0, rate=0.5)(p, u, None)  # bound 2 bits: 0.5 and 0.25 stay, and 0.7 is past 2/3
    assert tokens.item() == 1
    assert state.item() == 2.0 - 0.5 * (2.0 - 1.0)
    tokens, state = Mirostat(tau=1.0, rate=0.5)(p, u, state)  # 1.5 bits: only the first stays
    assert tokens.item() == 0
    assert state.item() == 1.5


def test_the_most_probable_token_stays_under_any_bound():
    p = torch.full((1, 256), 1 / 256)
    tokens, _ = Mirostat(1.0, 0.1)(p, torch.tensor([0.9], dtype=torch.float64), torch.tensor([-3.0]))
    assert tokens.item() == 0
