"""Output layers that are not linear, against linear ones, each other and their formulas in NumPy."""

import numpy as np
import pytest
import torch
from recipes import blocks
from scipy.special import log_expit, log_softmax, logsumexp
from torch.nn import functional as F

from oversmoothing.jobs import UserError
from oversmoothing.models import output_kinds, output_layers
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.heads import read_model_head
from oversmoothing.models.model import GPT
from oversmoothing.models.output_kinds import KINDS, LINEAR, NOT_LINEAR, PARTITIONS, PIECES
from oversmoothing.models.output_layers import (
    function_of,
    mixture,
    monotone,
    multi_facet,
    sigsoftmax,
    softcap,
    two_layer,
)
from oversmoothing.models.predictor import head_matrix
from oversmoothing.models.spectra import read_head
from oversmoothing.models.weights import load_model, save_model
from oversmoothing.samples.bat import decoder_of
from oversmoothing.samples.kv_cache import Cache

SHAPE = {"layers": 1, "heads": 2, "width": 16, "block": 32, "rank": 4}
R, V = 4, 11
DRAW = np.random.default_rng(1)
H, W = DRAW.normal(size=(3, 5, R)), DRAW.normal(size=(V, R))
TOKENS = torch.randint(0, 256, (4, 32), generator=torch.Generator().manual_seed(1))


def model_of(kind, **changes):
    return GPT(GPTConfig(**{**SHAPE, **changes}, output=kind), seed=1, initial="fan_in").eval()


def arrays(kind, r=R):
    """Weights of a kind beside the head's matrix, drawn."""
    return {name: DRAW.normal(size=shape) for name, shape in KINDS[kind].weights(r).items()}


def tensors(weights):
    return {name: torch.from_numpy(array) for name, array in weights.items()}


@pytest.mark.parametrize("initial", ["gpt2", "fan_in"])
@pytest.mark.parametrize("kind", NOT_LINEAR)
def test_a_model_starts_from_the_trunk_of_a_linear_one(kind, initial):
    linear, other = (GPT(GPTConfig(**SHAPE, output=output), 3, initial) for output in (LINEAR, kind))
    for name, tensor in linear.state_dict().items():
        if name != "head.weight":
            assert torch.equal(tensor, other.state_dict()[name][: len(tensor)]), name
    if KINDS[kind].reads(R) == R:
        factor = KINDS[kind].gain if initial == "fan_in" else 1.0
        torch.testing.assert_close(other.head.weight, factor * linear.head.weight)


@pytest.mark.parametrize("rank", [4, None])
@pytest.mark.parametrize("kind", NOT_LINEAR)
@torch.no_grad()
def test_initialisation_by_inputs_starts_at_a_variance_of_about_one(kind, rank):
    tokens = torch.randint(256, (16, 32), generator=torch.Generator().manual_seed(0))
    shape = {"layers": 1, "heads": 4, "width": 64, "block": 32, "rank": rank, "output": kind}
    drawn = [GPT(GPTConfig(**shape), seed=seed, initial="fan_in")(tokens).var().item() for seed in range(5)]
    assert np.mean(drawn) == pytest.approx(1, rel=0.3 if rank == 4 else 0.2)


@pytest.mark.parametrize(
    ("function", "of_linear"),
    [
        (lambda h, w: softcap(h, w, 2.0), lambda z: 2 * np.tanh(z / 2)),
        (sigsoftmax, lambda z: np.log(np.exp(z) / (1 + np.exp(-z)))),
        (lambda h, w: monotone(h, w, torch.zeros(PIECES, dtype=torch.float64)), lambda z: z),
    ],
)
def test_functions_of_linear_logits(function, of_linear):
    h = 9 * H  # beyond the pieces of the monotone map as well
    assert abs(h @ W.T).max() > 20
    np.testing.assert_allclose(function(torch.from_numpy(h), torch.from_numpy(W)), of_linear(h @ W.T), rtol=1e-9)


@pytest.mark.parametrize("bottleneck_norm", ["after", "before"])
@torch.no_grad()
def test_a_mixture_of_one_softmax_is_the_linear_head_to_the_bit(bottleneck_norm, monkeypatch):
    monkeypatch.setitem(KINDS, "mos1", output_kinds.mixture(1, "of one"))
    one, linear = (model_of(kind, bottleneck_norm=bottleneck_norm) for kind in ("mos1", LINEAR))
    assert KINDS["mos1"].gain == pytest.approx(1)
    assert one.load_state_dict(linear.state_dict(), strict=False).missing_keys == ["output.prior"]
    assert torch.equal(one(TOKENS), linear(TOKENS).log_softmax(-1))


@pytest.mark.parametrize("rank", [4, None])
@pytest.mark.parametrize("kind", ["mos2", "mos4", "mfs3"])
@torch.no_grad()
def test_each_vector_that_enters_is_behind_a_norm_of_its_own(kind, rank):
    model, width = model_of(kind, rank=rank), rank or SHAPE["width"]
    post = model.hidden(TOKENS)[1]
    assert post.shape[-1] == model.config.entering == KINDS[kind].vectors * width
    vectors = post.unflatten(-1, (-1, width))
    torch.testing.assert_close(vectors.mean(-1), torch.zeros(vectors.shape[:-1]), atol=1e-5, rtol=0)
    torch.testing.assert_close(vectors.var(-1, correction=0), torch.ones(vectors.shape[:-1]), atol=1e-2, rtol=0)
    assert torch.linalg.matrix_rank(model.bottleneck.weight) == min(len(model.bottleneck.weight), SHAPE["width"])


@pytest.mark.parametrize("kind", ["mos2", "mos4"])
def test_a_mixture_of_softmaxes_is_the_sum_of_their_probabilities(kind):
    weights, k = arrays(kind), KINDS[kind].times
    h = DRAW.normal(size=(3, 5, k * R))
    pi = np.exp(log_softmax(h @ weights["prior"].T, axis=-1))
    contexts = [h[..., i * R : (i + 1) * R] for i in range(k)]
    p = sum(pi[..., [i]] * np.exp(log_softmax(context @ W.T, axis=-1)) for i, context in enumerate(contexts))
    found = mixture(torch.from_numpy(h), torch.from_numpy(W), **tensors(weights))
    np.testing.assert_allclose(found.numpy(), np.log(p), rtol=1e-10)


def test_in_the_first_of_several_softmaxes_classes_read_the_facets_in_turn():
    weights = arrays("mfs3")
    facets = DRAW.normal(size=(3, 5, KINDS["mfs3"].vectors, R))
    h = facets.reshape(3, 5, -1)
    first = np.stack([facets[..., i % PARTITIONS, :] @ W[i] for i in range(V)], axis=-1)
    others = [facets[..., PARTITIONS + k, :] @ W.T for k in range(2)]
    prior = log_softmax(h @ weights["prior"].T, axis=-1)
    p = [log_softmax(z, axis=-1) + prior[..., [k]] for k, z in enumerate([first, *others])]
    found = multi_facet(torch.from_numpy(h), torch.from_numpy(W), **tensors(weights))
    np.testing.assert_allclose(found.numpy(), logsumexp(p, axis=0), rtol=1e-10)


def test_a_monotone_map_interpolates_between_its_knots():
    slopes = DRAW.normal(size=PIECES)
    heights = np.log1p(np.exp(slopes + np.log(np.e - 1))) * 20 / PIECES
    z = np.linspace(-10, 10, 301)[:, None]
    found = monotone(torch.from_numpy(z), torch.ones(1, 1, dtype=torch.float64), torch.from_numpy(slopes))[:, 0]
    knots = np.concatenate([[0], heights.cumsum()]) - 10
    np.testing.assert_allclose(found, np.interp(z[:, 0], np.linspace(-10, 10, PIECES + 1), knots), atol=1e-12)
    assert (found.diff() > 0).all()


def test_two_layers():
    u, w = DRAW.normal(size=(8, R)), DRAW.normal(size=(V, 8))
    found = two_layer(torch.from_numpy(H), torch.from_numpy(w), torch.from_numpy(u))
    inner = torch.nn.functional.gelu(torch.from_numpy(H @ u.T)).numpy()
    np.testing.assert_allclose(found, inner @ w.T, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_rank_of_the_log_probabilities(kind):
    """At most r + 1 for a linear head, that of the logits and of the vector of ones; above it for each other kind."""
    draw = torch.Generator().manual_seed(2)
    sizes = ((400, KINDS[kind].vectors * R), (64, KINDS[kind].reads(R)))
    h, w = (torch.randn(n, m, generator=draw, dtype=torch.float64) for n, m in sizes)
    more = [2 * torch.randn(*shape, generator=draw, dtype=torch.float64) for shape in KINDS[kind].weights(R).values()]
    values = F.linear(h, w) if kind == LINEAR else function_of(kind)(3 * h, w, *more)
    singular = torch.linalg.svdvals(values.log_softmax(-1))
    rank = int((singular > 1e-9 * singular[0]).sum())
    assert rank == R + 1 if kind == LINEAR else rank > R + 1


@pytest.mark.parametrize("kind", NOT_LINEAR)
@torch.no_grad()
def test_it_is_stored_and_gives_bytewise_what_a_pass_gives_and_in_float32_under_autocast(kind, tmp_path):
    model = model_of(kind)
    save_model(tmp_path / "w.safetensors", model.config, model.state_dict(), {})
    again = load_model(tmp_path / "w.safetensors", shape={**SHAPE, "output": kind})
    assert torch.equal(again(TOKENS), model(TOKENS))
    cache = Cache(model, len(TOKENS), 10)
    fed = [cache.feed(TOKENS[:, :8]), cache.feed(TOKENS[:, 8:9])]
    torch.testing.assert_close(torch.stack(fed, 1), model(TOKENS)[:, 7:9], atol=1e-5, rtol=1e-5)
    with pytest.raises(UserError, match="asks for"):
        load_model(tmp_path / "w.safetensors", shape=SHAPE)
    with torch.autocast("cpu", torch.bfloat16):
        post = model.hidden(TOKENS)[1]
        values = model.logits(post)
    assert values.dtype == torch.float32
    of_output = (weight.double() for weight in model.output.parameters())
    exact = function_of(kind)(post.double(), model.head.weight.double(), *of_output)
    torch.testing.assert_close(values.double(), exact, atol=1e-4, rtol=1e-4)


def test_what_reads_a_head_as_a_matrix_refuses_one_that_is_none(tmp_path):
    model, path = model_of("mos2"), tmp_path / "w.safetensors"
    save_model(path, model.config, model.state_dict(), {})
    message = "output: mos2 is no linear head, so that no matrix stands for it; name another"
    for read in (read_head, read_model_head):
        with pytest.raises(UserError, match=f"w.safetensors: {message}"):
            read(path)
    with pytest.raises(UserError, match=f"^mine: {message}"):
        head_matrix(model, "mine")
    with pytest.raises(UserError, match=f"decoding bat: {message}"):
        decoder_of({"name": "bat", "delta": 0.22}, model)


def test_one_of_ones_own(monkeypatch):
    """The recipe of CONTRIBUTING.md."""
    function, entry = blocks("An output layer")
    made = dict(vars(output_layers))
    exec(function, made)
    (kind,) = eval(f"{{{entry}}}", dict(vars(output_kinds))).items()
    monkeypatch.setitem(KINDS, *kind)
    monkeypatch.setitem(vars(output_layers), "sigmoid", made["sigmoid"])
    values = model_of("sigmoid")(TOKENS)
    assert values.shape == (*TOKENS.shape, 256)
    by_hand = log_expit(H @ W.T)
    np.testing.assert_allclose(function_of("sigmoid")(torch.from_numpy(H), torch.from_numpy(W)), by_hand, rtol=1e-12)
