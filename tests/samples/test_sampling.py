"""Sampling: the cache against plain forward passes, common random numbers, and the files of samples."""

import functools

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from step_jobs import job

import sample as sample_script
from oversmoothing.jobs import UserError
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT
from oversmoothing.models.weights import save_model
from oversmoothing.samples import generate as module
from oversmoothing.samples.draws import choose, uniforms
from oversmoothing.samples.generate import generate
from oversmoothing.samples.kv_cache import Cache
from oversmoothing.store.parquet import write_table

PURE, GREEDY = {"name": "pure"}, {"name": "greedy"}
NEARLY_ONE = 1 - 2**-53
DRAW = np.random.default_rng(0)
PROMPTS = [DRAW.bytes(8) for _ in range(7)]


@functools.cache
def small(**changes):
    shape = {"layers": 2, "heads": 2, "width": 16, "block": 40, "positions": "rotary", "rank": 6, **changes}
    model = GPT(GPTConfig(**shape), seed=1).eval()
    with torch.no_grad():
        model.head.weight.mul_(40)  # away from uniform
    return model


def continued(prompts=PROMPTS, windows=None, length=20, decoding=PURE, seed=3, batch=4, model=None, **more):
    windows = range(len(prompts)) if windows is None else windows
    groups = generate(model or small(), windows, prompts, length, decoding, seed, batch, **more)
    return pa.Table.from_batches(list(groups))


def texts(**arguments):
    return continued(**arguments)["continuation"].to_pylist()


@pytest.mark.parametrize("positions", ["learned", "rotary"])
@pytest.mark.parametrize(
    ("rank", "norm", "context"),
    [
        (6, "after", None),
        (6, "before", None),
        (None, "after", None),
        (6, "after", 1),
        (6, "after", 6),
        (6, "after", 20),
    ],
)
def test_the_cache_changes_no_logits(positions, rank, norm, context):
    model = small(positions=positions, rank=rank, bottleneck_norm=norm, context=context)
    tokens = torch.randint(0, 256, (3, 40), generator=torch.Generator().manual_seed(1))
    cache = Cache(model, 3, 40)
    with torch.no_grad():
        cached = [cache.feed(part) for part in (tokens[:, :9], *tokens[:, 9:].split(1, dim=1))]
        torch.testing.assert_close(torch.stack(cached, dim=1), model(tokens)[:, 8:], atol=1e-4, rtol=0)


def test_a_cache_in_bf16_is_as_near_as_bf16_is():
    """With the precision on, the cached and the plain pass differ by rounding of the same size."""
    model = small()
    tokens = torch.randint(0, 256, (3, 20), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        exact = model(tokens)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            plain, cache = model(tokens), Cache(model, 3, 20, "bf16")
            cached = [cache.feed(part) for part in (tokens[:, :9], *tokens[:, 9:].split(1, dim=1))]
    assert cache.buffers.dtype == torch.bfloat16
    assert (torch.stack(cached, dim=1) - exact[:, 8:]).abs().max() < 2 * (plain - exact).abs().max()


def test_greedy_is_the_argmax_of_a_plain_forward_pass_at_every_step():
    compared = 0
    for prompt, text in zip(PROMPTS, texts(decoding=GREEDY, length=32), strict=True):
        with torch.no_grad():
            logits = small()(torch.tensor([list(prompt + text)]))[0, len(prompt) - 1 : -1]
        best = logits.topk(2).values
        clear = (best[:, 0] - best[:, 1] > 1e-4).numpy()
        np.testing.assert_array_equal(np.frombuffer(text, np.uint8)[clear], logits.argmax(1).numpy()[clear])
        compared += clear.sum()
    assert compared > 0.95 * 7 * 32


def philox(key, counter):
    """Philox4x64-10 as its paper writes it, to check the generator and which counter stands for which byte."""
    mask = 2**64 - 1
    for _ in range(10):
        first, second = 0xD2E7470EE14C6C93 * counter[0], 0xCA5A826395121157 * counter[2]
        counter = [
            (second >> 64) ^ counter[1] ^ key[0],
            second & mask,
            (first >> 64) ^ counter[3] ^ key[1],
            first & mask,
        ]
        key = [(key[0] + 0x9E3779B97F4A7C15) & mask, (key[1] + 0xBB67AE8584CAA73B) & mask]
    return counter


def test_the_random_numbers_are_a_function_of_seed_window_and_byte():
    drawn = uniforms(1337, [4, 0, 2**31 - 1], 9)
    for row, window in zip(drawn, (4, 0, 2**31 - 1), strict=True):
        for j in range(9):
            bits = philox([1337, window], [1 + j // 4, 0, 0, 0])[j % 4]
            assert row[j] == (bits >> 11) / 2**53
    assert uniforms(2**32 - 1, [0], 1).shape == (1, 1)


def test_samples_depend_on_nothing_but_seed_window_and_prompt():
    everything = texts(batch=7)
    assert texts(batch=1) == texts(batch=3) == everything
    order = [5, 0, 6, 2, 1, 4, 3]
    shuffled = texts(prompts=[PROMPTS[i] for i in order], windows=order)
    assert shuffled == [everything[i] for i in order]
    assert [text[:9] for text in everything] == texts(length=9)
    assert all(a != b for a, b in zip(everything, texts(seed=4), strict=True))
    assert len(set(texts(prompts=[PROMPTS[0]] * 7))) == 7


def test_a_cpu_splits_a_batch_that_outgrows_its_cache_and_changes_nothing(monkeypatch):
    whole = texts(batch=7)
    monkeypatch.setattr(module, "CACHE_BYTES", 8 * 2 * 16 * 28 * 3)
    monkeypatch.setattr(module, "FEWEST", 2)
    assert [len(group) for group in generate(small(), range(7), PROMPTS, 20, PURE, 3, 7)] == [2, 2, 3]
    assert texts(batch=7) == whole


def test_prompts_of_any_lengths():
    ragged = [b"a", b"ab", PROMPTS[0], PROMPTS[1], b"b"]
    together = texts(prompts=ragged)
    for i, prompt in enumerate(ragged):
        assert texts(prompts=[prompt], windows=[i]) == [together[i]]


def test_choosing_inverts_the_cumulative_distribution():
    p = torch.tensor([[0.0, 0.25, 0.0, 0.5, 0.25, 0.0]])
    for u, token in ((0.0, 1), (0.2499, 1), (0.25, 3), (0.7499, 3), (0.75, 4), (NEARLY_ONE, 4)):
        assert choose(p, torch.tensor([u], dtype=torch.float64)).item() == token


def test_a_token_without_mass_is_never_chosen():
    generator = torch.Generator().manual_seed(0)
    p = torch.rand((4000, 256), generator=generator) ** 8 * (torch.rand((4000, 256), generator=generator) < 0.1)
    p[:, 0] *= 1e-30
    p /= p.sum(dim=1, keepdim=True) * (1 + 1e-6)  # the total stays below 1
    for u in (0.0, 2**-53, 0.5, 1 - 2**-30, NEARLY_ONE):
        tokens = choose(p, torch.full((4000,), u, dtype=torch.float64))
        assert (p.gather(1, tokens[:, None]) > 0).all()
    after = torch.arange(256) > tokens[:, None]
    assert (p.double() * after).sum(dim=1).max() < 1e-15


def test_every_map_samples_with_the_same_numbers():
    pure = texts()
    for decoding in ({"name": "top-k", "k": 256}, {"name": "top-p", "p": 1.0}, {"chain": [{"temperature": 1.0}]}):
        assert texts(decoding=decoding) == pure
    hot = {"chain": [{"temperature": 2.0}, "greedy"]}
    assert texts(decoding=hot) == texts(decoding={"name": "greedy"}) != pure
    assert texts(decoding={"name": "bat", "delta": 0.2}) != pure  # its head has rank 16


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"length": 33}, "prompt 0 of 8 bytes or tokens and 33 sampled ones do not fit into the model's block of 40"),
        ({"length": 0}, "0 bytes or tokens to sample"),
        ({"prompts": [b"a", b""]}, "prompt 1 is empty"),
        ({"decoding": {"name": "top-k", "k": 257}}, "k = 257"),
        ({"decoding": {"name": "worst"}}, "unknown name 'worst'"),
        ({"decoding": {"chain": [{"temperature": 2}, {"bat": 0.2}]}}, "bat maps no distributions"),
        ({"decoding": {"name": "bat"}}, "decoding bat: takes delta, not none"),
        ({"decoding": {"name": "bat", "delta": -1.0}}, "decoding bat: delta"),
    ],
)
def test_bad_inputs(changes, message):
    with pytest.raises(UserError, match=message):
        continued(**changes)


@pytest.mark.parametrize(
    ("decoding", "part", "says"),
    [
        (PURE, "norm.weight", "logits are not all finite"),
        ({"name": "bat", "delta": 0.2}, "head.weight", "decoding bat: weights: row 3 has NaN"),
    ],
)
def test_a_diverged_model_is_named_as_such(decoding, part, says):
    model = GPT(small().config, 1).eval()
    model.get_parameter(part).data[3] = float("nan")
    with pytest.raises(UserError, match=says):
        continued(model=model, decoding=decoding)


DECODINGS = [PURE, {"name": "top-p", "p": 0.9}, {"name": "bat", "delta": 0.2}]


@pytest.fixture
def sampling(tmp_path):
    save_model(tmp_path / "weights.safetensors", small().config, small().state_dict(), {})
    windows = {"window": pa.array(range(7), pa.int32()), "prompt": PROMPTS, "scored": [DRAW.bytes(12)] * 7}
    write_table(tmp_path / "windows.parquet", pa.table(windows), {})
    settings = {"decodings": DECODINGS, "batch": 4, "seed": 3, "precision": "float32", "threads": 1}
    inputs = {"weights": tmp_path / "weights.safetensors", "windows": tmp_path / "windows.parquet", "vocabulary": []}
    sampling = job(inputs, [tmp_path / f"{entry['name']}.parquet" for entry in DECODINGS], settings, model="bn6-s1")
    sampling.params.rank, sampling.params.device = None, "cpu"
    return sampling


def test_the_script_writes_one_file_for_each_decoding(sampling):
    sample_script.main(sampling)
    for path, decoding in zip(sampling.output, DECODINGS, strict=True):
        table = pq.read_table(path)
        assert table.schema.remove_metadata() == module.SAMPLES
        assert table["window"].to_pylist() == list(range(7))
        assert table["prompt"].to_pylist() == PROMPTS
        assert table["continuation"].to_pylist() == texts(decoding=decoding, length=12)
        assert table.schema.metadata[b"model"] == b"bn6-s1"
        assert decoding["name"].encode() in table.schema.metadata[b"settings"]
    assert pq.read_metadata(sampling.output[0]).num_row_groups == 2


@pytest.mark.parametrize(("rank", "same"), [(6, True), (256, True), (1, False)])
def test_a_head_truncated_below_full_rank_writes_other_text(sampling, rank, same):
    sample_script.main(sampling)
    whole = [pq.read_table(path) for path in sampling.output]
    sampling.params.rank = rank
    sample_script.main(sampling)
    assert ([pq.read_table(path) for path in sampling.output] == whole) == same


def test_windows_of_several_lengths(sampling):
    windows = pa.table({"window": pa.array([0, 1], pa.int32()), "prompt": PROMPTS[:2], "scored": [b"ab", b"abc"]})
    write_table(sampling.input.windows, windows, {})
    with pytest.raises(UserError, match=r"windows.parquet: windows score \[2, 3\] bytes"):
        sample_script.main(sampling)
