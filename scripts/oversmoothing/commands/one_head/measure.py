"""One model's head: spectrum, rows, unargmaxable tokens; with a text loss, gradient, TBAT, sets, what it forces."""

from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from tqdm import tqdm

from oversmoothing.bat.basis import Basis
from oversmoothing.commands.one_head.card import TEXT, TRUTH, named, of_rows, of_sets, sets_of_text, sets_of_truth
from oversmoothing.commands.one_head.forced import forced
from oversmoothing.commands.one_head.text import Passage, entering, owners
from oversmoothing.data.tokens.vocabulary import Vocabulary, as_before
from oversmoothing.jobs import UserError
from oversmoothing.measures.entries.argmaxability import classes
from oversmoothing.measures.entries.spectrum import head_spectrum
from oversmoothing.measures.entries.tbat import bounds, full
from oversmoothing.measures.logit_gradient import LogitGradient
from oversmoothing.models.final_norm import norm_before_head
from oversmoothing.models.head_rows import moments, orthonormal
from oversmoothing.models.heads import ModelHead
from oversmoothing.models.truths.token_model import TokenModel
from oversmoothing.numerics.singular_values import count_above, effective_rank
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.numerics.statistics import student_interval

NOTABLE = 0.01  # share of the largest singular value
EFFORT = 2  # of `argmaxable`: half its default, which takes seconds longer
ENOUGH = 5  # passages with a TBAT from which its mean gets an interval; of two, Student's t would be 12.7
NUMERICAL = 1e-6  # share of it below which one counts as zero, as in `head_gradient.column_space`


def measure_model(
    model: TokenModel,
    vocabulary: Vocabulary,
    passages: Sequence[Passage],
    options: Namespace,
    precision: str,
    begin: Callable[[str, str], None],
    truth: np.ndarray | None,
) -> dict[str, Any]:
    """Measure a model's head, and on the passages of a text what needs one; `begin` is told each part and its work.

    `truth` holds a truth's distributions, float64 (n, v), at n evenly spaced ones of the measured positions. Returned
    are all parts of `schemas.head.SCHEMA` but ``source``; one that was not measured, or needs linear logits where
    the model caps its own, is None.
    """
    begin("spectrum", f"singular values of the head, {len(model.head.weight):,} x {model.config.width:,}")
    try:
        measured: dict[str, Any] = {"model": _shape(model), "spectrum": spectrum(model.head.weight)}
    except ValueError as error:
        raise UserError(f"{model.name}: {error}; its weights are damaged") from error
    measured |= dict.fromkeys(("text", "tbat", "forced", "unargmaxable", "top_sets"))
    weights, hidden = model.head.weight.cpu().numpy(), None
    begin("rows", "directions of the head's rows")
    of = moments(weights)
    measured |= of_rows(weights, of, None if model.cap is not None else norm_before_head(model), vocabulary)
    bias = None if model.head.bias is None else model.head.bias.cpu().numpy()
    head = ModelHead(weights, bias=bias, alone=True)
    if passages:
        begin("text", "losses and gradients on the text")
        measured["text"], hidden, logits = of_text(model, vocabulary, passages, precision)
        measured["text"]["random_gradient_share"] = measured["spectrum"]["numerical_rank"] / len(weights)
        at = positions_of(len(logits), options.tbat_positions)
        p = logits[at].double().softmax(dim=-1).numpy()
        forced_at = positions_of(len(logits), 0 if truth is None else len(truth))
        log_q = logits[forced_at].double().log_softmax(dim=-1).numpy()
        del logits
        if options.tbat_positions and model.cap is None:
            begin("TBAT", f"TBAT at {len(p):,} positions")
            basis = full(head, orthonormal(weights, of))  # by its scatter, where that is exact enough
            measured["tbat"] = tbat(basis, p, owners(passages)[at], options.delta, options.mass_tolerance)
            del basis  # as large as the head in float64, and so is what `forced` makes
        if truth is not None:
            begin("forced", f"distance from the truth at {len(truth):,} positions")
            linear = None if model.cap is not None else head
            measured["forced"] = forced(linear, truth, log_q, owners(passages)[forced_at])
            del linear
    del head  # with what was made of it
    if not options.no_unargmaxable:
        if passages:
            begin("sets", "sets of tokens that can be the most probable")
            read = np.concatenate([passage.tokens for passage in passages])
            drawn, source = (sets_of_text(read), TEXT) if truth is None else (sets_of_truth(truth), TRUTH)
            measured["top_sets"] = of_sets(weights, bias, of, drawn, source)
        begin("unargmaxable", f"unargmaxable tokens, a proof for each of {len(weights):,} (the longest step)")
        measured["unargmaxable"] = unargmaxable(weights, bias, hidden, vocabulary)
    return measured


def spectrum(weight: Tensor) -> dict[str, Any]:
    """Return facts on the singular values of a head (v, d): ``spectrum`` of `schemas.head.SCHEMA`."""
    sigma = head_spectrum(weight)
    return {
        "largest": float(sigma[0]),
        "median": float(np.median(sigma)),
        "smallest": float(sigma[-1]),
        "notable_share": count_above(sigma, NOTABLE) / len(sigma),
        "effective_rank": effective_rank(sigma),
        "numerical_rank": count_above(sigma, NUMERICAL),
        "singular_values": sigma.tolist(),
    }


@torch.inference_mode()
def of_text(
    model: TokenModel, vocabulary: Vocabulary, passages: Sequence[Passage], precision: str
) -> tuple[dict[str, Any], np.ndarray, Tensor]:
    """Run a model over passages; return ``text`` of the schema, but for what the text is, and two arrays.

    These are what enters the head at the k positions, float32 (k, d), and the logits, float32 (k, v), on the CPU.
    """
    device = model.head.weight.device
    gradient = LogitGradient(model.head.weight)
    nats, special, size = 0.0, 0.0, 0
    hidden, kept = [], []
    for passage, entered in zip(passages, entering(model, passages, precision, "text"), strict=True):
        targets = torch.from_numpy(passage.tokens[passage.places]).to(device)
        special += float(model.special_mass(entered).double().sum())
        logits = model.logits(entered)
        nats += float(cross_entropy(logits, targets, reduction="none").double().sum())
        gradient.add(logits, targets, model.cap)
        size += len(vocabulary.decode(passage.tokens[passage.places].tolist()))
        hidden.append(entered.cpu().numpy())
        kept.append(logits.cpu())
    every = torch.cat(kept)
    measured = {
        "positions": len(every),
        "passages": len(passages),
        "passage_tokens": len(passages[0].tokens),
        "bytes": size,
        "loss_per_token": nats / len(every),
        "loss_per_byte": nats / size,
        "special_mass": special / len(every),
        "gradient_share": gradient.share(),
        "gradient_cosine": gradient.cosine(),
    }
    return measured, np.concatenate(hidden), every


def tbat(basis: Basis, p: np.ndarray, passage: np.ndarray, delta: float, mass_tolerance: float) -> dict[str, Any]:
    """Return ``tbat`` of `schemas.head.SCHEMA`, of distributions p (n, v), each of a `passage` (n,)."""
    rows = tqdm(p, desc="TBAT", unit="position", leave=False, disable=None)
    every = (bounds(basis, row[None], delta, mass_tolerance) for row in rows)
    found = np.array([[of[name].item() for name in ("low", "high", "undecided")] for of in every])
    ends = np.minimum(found[:, :2], 1)  # rounding may lead above 1
    low, high = ends.mean(axis=0).tolist()
    least, most = None, None
    if len(those := np.unique(passage)) >= ENOUGH:
        lows, highs = np.array([ends[passage == one].mean(axis=0) for one in those]).T.tolist()
        least, most = max(student_interval(lows)[1], 0.0), min(student_interval(highs)[2], 1.0)
    return {
        "positions": len(p),
        "passages": len(those),
        "delta": delta,
        "mass_tolerance": mass_tolerance,
        "low": low,
        "high": high,
        "interval": {"low": least, "high": most},
        "values": [dict(zip(("low", "high"), pair, strict=True)) for pair in ends.tolist()],
        "undecided": float(found[:, 2].mean()),
    }


def unargmaxable(
    weights: np.ndarray, bias: np.ndarray | None, hidden: np.ndarray | None, vocabulary: Vocabulary
) -> dict[str, Any]:
    """Return ``unargmaxable`` of `schemas.head.SCHEMA`; states in `hidden` (n, d) are tried first as witnesses."""
    found = classes(weights, hidden, EFFORT, bias)["argmaxable"]
    proved, undecided = np.flatnonzero(~found.filled(True)), np.flatnonzero(np.ma.getmaskarray(found))
    return {
        "low": len(proved),
        "high": len(proved) + len(undecided),
        "proved": named(vocabulary, proved.tolist()),
        "undecided_ids": vocabulary.ids[undecided].tolist(),
    }


def _shape(model: TokenModel) -> dict[str, Any]:
    tokens, excluded = model.config.vocabulary, len(model.special[0])
    sizes = {"layers": model.config.layers, "width": model.config.width, "tokens": tokens, "excluded": excluded}
    head = {"tied": model.tied, "bias": model.head.bias is not None, "cap": model.cap, "bos": as_before(model.bos)}
    return sizes | {"rows": tokens + excluded} | head
