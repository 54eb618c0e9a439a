"""The GPT against transformers' GPT-2 and Llama, and the ranks that its head can reach."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from oversmoothing.jobs import UserError
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT, attend, rotary_angles, rotate

SMALL = {"layers": 2, "heads": 2, "width": 16, "block": 24}


def small(**changes):
    return GPT(GPTConfig(**{**SMALL, **changes}), seed=1).eval()


def tokens(batch=2, time=24):
    return torch.randint(0, 256, (batch, time), generator=torch.Generator().manual_seed(1))


def test_equals_transformers_gpt2():
    ours = small(biases=True)
    theirs = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=256, n_positions=24, n_embd=16, n_layer=2, n_head=2,
            activation_function="gelu", tie_word_embeddings=False,
        )
    ).eval()  # fmt: skip
    body = theirs.transformer
    pairs = [(body.wte, ours.embedding), (body.wpe, ours.position_embedding), (theirs.lm_head, ours.head)]
    for block, other in zip(ours.blocks, body.h, strict=True):
        pairs += [(other.attn.c_attn, block.attention.query_key_value), (other.attn.c_proj, block.attention.out)]
        pairs += [(other.mlp.c_fc, block.feed_forward.into), (other.mlp.c_proj, block.feed_forward.out)]
        pairs += [(other.ln_1, block.attention_norm), (other.ln_2, block.feed_forward_norm)]
    with torch.no_grad():
        for theirs_of, ours_of in pairs:
            weight = ours_of.weight
            theirs_of.weight.copy_(weight.T if type(theirs_of).__name__ == "Conv1D" else weight)
            if getattr(ours_of, "bias", None) is not None:
                theirs_of.bias.copy_(ours_of.bias.normal_(generator=torch.Generator().manual_seed(len(weight))))
        torch.testing.assert_close(ours(tokens()), theirs(tokens()).logits, atol=1e-5, rtol=1e-5)


def test_rotation_equals_transformers_llama():
    query, key = torch.randn(2, 1, 3, 10, 8)
    angles = rotary_angles(8, 10)
    wide = torch.cat((angles, angles), dim=-1)[None]
    expected = apply_rotary_pos_emb(query, key, wide.cos(), wide.sin())
    for ours, theirs in zip((query, key), expected, strict=True):
        torch.testing.assert_close(rotate(ours, angles.cos(), angles.sin()), theirs)


@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_is_causal(positions):
    model = small(positions=positions, rank=8)
    changed = tokens()
    changed[:, 10] = (changed[:, 10] + 1) % 256
    with torch.no_grad():
        before, after = model(tokens()), model(changed)
    torch.testing.assert_close(before[:, :10], after[:, :10])
    assert (before[:, 10:] != after[:, 10:]).any()


@pytest.mark.parametrize(("layers", "context"), [(1, 5), (2, 5), (2, 6), (3, 1), (3, 24), (4, 2)])
@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_a_byte_beyond_the_context_changes_no_logit_and_the_last_in_it_does(layers, context, positions):
    """In training on a CPU in bf16 as well, where the attention has other code."""
    model, changed, at = (
        small(layers=layers, block=30, context=context, positions=positions, rank=8),
        tokens(time=30),
        3,
    )
    changed[:, at] = (changed[:, at] + 1) % 256

    def moved(outputs):
        return (outputs(tokens(time=30)) - outputs(changed)).abs().amax(dim=(0, 2)) > 0

    inside = [at <= position < at + context for position in range(30)]
    assert not moved(model)[at + context :].any()
    with torch.autocast("cpu", torch.bfloat16):
        assert not moved(model)[at + context :].any()
    model.double()  # so that what is far away is not lost in rounding
    assert moved(lambda read: model.hidden(read)[1]).tolist() == inside
    assert sum(model.config.reaches) == context - 1


@torch.no_grad()
def test_a_context_of_the_block_or_more_limits_nothing_and_is_not_stated_where_there_is_none():
    full = small(rank=4)
    for context in (24, 25, 1000):
        assert torch.equal(small(rank=4, context=context)(tokens()), full(tokens()))
    assert not torch.equal(small(rank=4, context=23)(tokens()), full(tokens()))
    assert "context" not in full.config.as_dict()
    assert GPTConfig.from_dict(full.config.as_dict()) == full.config
    assert GPTConfig.from_dict(small(context=5).config.as_dict()).context == 5
    weights = small(rank=4, context=3).state_dict()
    assert all(torch.equal(weights[name], value) for name, value in full.state_dict().items())


@pytest.mark.parametrize("time", [9, 300])
@pytest.mark.parametrize("reach", [0, 3, 8])
def test_attention_to_a_few_tokens_equals_a_masked_softmax(time, reach):
    draw = torch.Generator().manual_seed(1)
    query, key, value = (torch.randn(2, 3, time, 8, generator=draw) for _ in range(3))
    back = torch.arange(time)[:, None] - torch.arange(time)
    scores = (query @ key.mT / 8**0.5).masked_fill((back < 0) | (back > reach), -torch.inf)
    expected = scores.softmax(-1) @ value
    torch.testing.assert_close(attend(query, key, value, 0.0, reach), expected)
    low = [x.bfloat16().requires_grad_() for x in (query, key, value)]
    torch.testing.assert_close(attend(*low, 0.0, reach).float(), expected, atol=0.05, rtol=0.05)


@pytest.mark.parametrize(("norm", "reachable"), [("after", 3), ("before", 4)])
def test_rank_of_the_logits(norm, reachable):
    """With the LayerNorm after the bottleneck h lies in r - 1 dimensions (its gain scaled out), so do the logits."""
    model = small(rank=4, bottleneck_norm=norm)
    with torch.no_grad():
        logits = model(tokens(batch=8)).reshape(-1, 256).double()
    singular = torch.linalg.svdvals(logits)
    assert int((singular > 1e-5 * singular[0]).sum()) == reachable


def test_hidden_vectors_are_what_enters_bottleneck_and_head():
    for norm in ("after", "before"):
        model = small(rank=4, bottleneck_norm=norm)
        with torch.no_grad():
            pre, post = model.hidden(tokens())
            assert pre.shape == (2, 24, 16)
            assert post.shape == (2, 24, 4)
            down = model.bottleneck(pre)
            torch.testing.assert_close(model.norm(down) if norm == "after" else down, post)
            torch.testing.assert_close(post @ model.head.weight.T, model(tokens()))


@pytest.mark.parametrize("time", [1, 24, 300])
def test_attention_in_training_on_a_cpu_equals_the_fused_kernel(time):
    """In bf16 the products are taken one by one: as near to float64 as the fused kernel, gradients too."""
    draw = torch.Generator().manual_seed(1)
    exact = [torch.randn(2, 3, time, 8, generator=draw).bfloat16() for _ in range(4)]

    def mix(attention, dtype):
        query, key, value = (x.to(dtype).requires_grad_() for x in exact[:3])
        mixed = attention(query, key, value)
        mixed.backward(exact[3].to(dtype))
        return [x.detach().double() for x in (mixed, query.grad, key.grad, value.grad)]

    def fused(*qkv):
        return F.scaled_dot_product_attention(*qkv, is_causal=True)

    truth = mix(fused, torch.float64)
    ours = mix(lambda *qkv: attend(*qkv, dropout=0.0), torch.bfloat16)
    theirs = mix(fused, torch.bfloat16)
    for a, b, right in zip(ours, theirs, truth, strict=True):
        assert (a - right).norm() <= 2 * (b - right).norm() + 1e-6
        torch.testing.assert_close(a, right, atol=0.1, rtol=0.02)


def test_the_head_stays_float32_under_autocast():
    model = small(rank=4)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        post = model.hidden(tokens())[1]
        logits = model.logits(post)
    assert logits.dtype == torch.float32
    expected = post.float().numpy() @ model.head.weight.detach().numpy().T
    np.testing.assert_allclose(logits.numpy(), expected, atol=1e-6)


@pytest.mark.parametrize("rank", [4, 64, None])
@torch.no_grad()
def test_initialisation_by_inputs_starts_every_layer_at_a_variance_of_one(rank):
    model = GPT(GPTConfig(layers=2, heads=4, width=64, block=32, rank=rank), seed=3, initial="fan_in")
    tokens = torch.randint(256, (16, 32), generator=torch.Generator().manual_seed(0))
    post = model.hidden(tokens)[1]
    assert model.embedding(tokens).var() == pytest.approx(1, rel=0.1)
    assert post.var() == pytest.approx(1, rel=0.05)
    assert model.logits(post).var() == pytest.approx(1, rel=0.4 if rank == 4 else 0.2)
    assert model.blocks[0].feed_forward.out.weight.std() == pytest.approx(256**-0.5 / 2, rel=0.05)  # 2 layers, 2 each


def test_initialisation_follows_gpt2():
    model = small(layers=8, width=64)
    assert model.head.weight.std().item() == pytest.approx(0.02, rel=0.05)
    residual = torch.cat([block.attention.out.weight.flatten() for block in model.blocks])
    assert residual.std().item() == pytest.approx(0.02 / 4, rel=0.05)
    assert torch.equal(model.norm.weight, torch.ones(64))


@pytest.mark.parametrize("rank", [None, 4, 16])
def test_a_flat_start_is_that_of_pytorchs_encoder_and_a_matched_one_has_a_head_as_large_as_a_full_one(rank):
    config = GPTConfig(layers=2, heads=4, width=64, block=32, rank=rank, bottleneck_norm="before", biases=True)
    flat, matched = (GPT(config, seed=3, initial=initial) for initial in ("flat", "matched"))
    block = flat.blocks[0]
    attention = torch.nn.MultiheadAttention(64, 4).in_proj_weight
    assert block.attention.query_key_value.weight.std().item() == pytest.approx(attention.std().item(), rel=0.05)
    for weight in (block.attention.out, block.feed_forward.into, block.feed_forward.out, flat.embedding, flat.head):
        assert weight.weight.std().item() == pytest.approx(0.02, rel=0.1)
    assert not any(value.any() for name, value in flat.named_parameters() if name.endswith("bias"))
    product = {
        model: (model.head.weight @ model.bottleneck.weight if rank else model.head.weight).std().item()
        for model in (flat, matched)
    }
    assert product[matched] == pytest.approx(0.02, rel=0.15)
    assert product[flat] == pytest.approx(0.02 * 0.02 * rank**0.5 if rank else 0.02, rel=0.15)
    same = [n for n, value in flat.named_parameters() if torch.equal(value, matched.get_parameter(n))]
    assert len(list(flat.named_parameters())) - len(same) == (2 if rank else 0)


@pytest.mark.parametrize("initial", ["fan_in", "matched"])
def test_members_of_a_family_start_from_the_same_trunk(initial):
    low, high = (GPT(small(rank=rank).config, seed=3, initial=initial) for rank in (4, 16))
    for name, parameter in low.blocks.named_parameters():
        assert torch.equal(parameter, high.blocks.get_parameter(name)), name


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"width": 15}, "width 15 is not a multiple of heads 2"),
        ({"rank": 17}, "rank 17 must lie between 1 and the width, 16"),
        ({"rank": 0}, "rank 0"),
        ({"context": 0}, "context 0 must be a whole number from 1 on"),
        ({"positions": "sine"}, "positions is 'sine'"),
        ({"bottleneck_norm": "both"}, "bottleneck_norm is 'both'"),
        ({"positions": "rotary", "width": 6}, "even head size, not 6 / 2"),
        ({"beside": True}, "unknown key 'beside'"),
        ({"layers": 2.5}, r"layers 2\.5 must be a whole number from 0 on"),
        ({"dropout": 1}, "dropout 1 must lie between 0 and 1"),
    ],
)
def test_impossible_shapes(changes, message):
    with pytest.raises(UserError, match=message):
        GPTConfig.from_dict({**SMALL, **changes})
    with pytest.raises(UserError, match="missing"):
        GPTConfig.from_dict({"layers": 2})
    assert GPTConfig.from_dict({**SMALL, "beside": False}) == GPTConfig.from_dict(SMALL)  # as weights of v0.5 say


def test_a_context_longer_than_the_block():
    with pytest.raises(ValueError, match="25 tokens do not fit into a block of 24"):
        small()(tokens(time=25))
