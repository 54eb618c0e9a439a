"""Measures of one revision of a causal language model: size, head, hidden states, and loss on a text."""

import logging
from collections.abc import Iterator, Mapping
from itertools import groupby, islice
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from oversmoothing.data.reader import read_split
from oversmoothing.hub.manifest import asset_folder, read_asset
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.measures.entries.spectrum import head_spectrum
from oversmoothing.models.device import autocast, setup
from oversmoothing.models.pretrained.auto import LanguageModel, load_language_model, softcap_in
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import digest, provenance
from studies.along_training.sums import Sums, row, vectors

logger = logging.getLogger(__name__)

MEASURES = pa.schema(
    [
        ("measure", pa.string()),
        ("layer", pa.int32()),  # from 1, the first block's output; null for other measures
        ("value", pa.float64()),
        ("n", pa.int64()),  # number of tokens or bytes; for the head, of singular values
        ("read", pa.string()),  # the revision; null for a user's folder
        ("commit", pa.string()),  # on the hub; null for a folder
        ("instead_of", pa.string()),  # the revision asked for, if another was read
        ("weights", pa.string()),  # SHA-256 over those of the weight files
    ]
)
DAMAGED = "others.models: {}: its logits are not all finite; its weights are damaged"


def main(job: Job) -> None:
    """Read the manifest of its files and the beginning of the split; write the measures."""
    settings, name = job.params.settings, job.wildcards.revision
    device, precision = setup(job.params.device, settings)
    data = read_split(job.input.evaluation, job.input.manifest, "evaluation")[: settings["bytes"]]
    text = data.tobytes().decode("utf-8", errors="ignore")  # without a partial character at its end
    folder = asset_folder(job.input.asset)
    made_of = origin(read_asset(job.input.asset))
    if made_of["instead_of"]:
        logger.warning("%s: revision %s is read in place of %s", name, made_of["read"], made_of["instead_of"])
    model = load_language_model(folder, device, "others.models")
    logger.info("%s over %d bytes on %s in %s", name, len(data), device, precision)
    try:
        rows = measure(model, text, settings["context"], settings["batch"], precision, name)
    except ValueError as error:
        raise UserError(f"others.models: {folder}: {error}; its weights are damaged") from error
    made_by = provenance(settings, model=name, precision=precision, device=device.type)
    write_table(job.output[0], pa.Table.from_pylist([one | made_of for one in rows], schema=MEASURES), made_by)


def origin(manifest: Mapping[str, Any]) -> dict[str, str | None]:
    """Return which revision a manifest describes, and a digest of its weights (see `oversmoothing.hub.client.fetch`).

    Two revisions with the same ``weights`` hold the same numbers, whatever steps their names state.
    """
    sums = {path: facts["sha256"] for path, facts in manifest["files"].items() if path.endswith(".safetensors")}
    return {
        "read": manifest.get("revision"),
        "commit": manifest.get("commit"),
        "instead_of": manifest.get("instead_of"),
        "weights": digest(sums),
    }


@torch.inference_mode()
def measure(
    model: LanguageModel, text: str, context: int, batch: int, precision: str, name: str
) -> list[dict[str, Any]]:
    """Return rows of `MEASURES` without what was read.

    The text is read in stretches of `context` tokens, which overlap by one, so that every token but the first is
    predicted once. Matrix products are in `precision`; weights, softmax and head are float32. Measures: the sizes of
    the model; those of `Sums`, ``anisotropy`` after each block as far as transformers provides it; and
    ``loss_per_byte``, the same nats as in ``loss`` divided by the bytes of all predicted tokens. A `UserError` names a
    model that cannot be measured, or says that the text is too short.
    """
    head = model.model.get_output_embeddings()
    first = prefix(model.tokenizer)
    _check(model, context, first, name)
    sigma, cap = head_spectrum(head.weight), softcap_in(model.model.config, "config.json", f"others.models: {name}")
    own, before = Sums(head.weight), len(first)
    tokens = model.tokenizer(
        text, add_special_tokens=False, split_special_tokens=True, return_offsets_mapping=True, verbose=False
    )
    if (highest := max(tokens["input_ids"], default=0)) >= len(head.weight):
        raise UserError(f"others.models: {name}: its tokenizer has token {highest}, but its head has no such row")
    inputs: list[Tensor] = []
    with head.register_forward_hook(lambda head, given, logits: inputs.append(given[0])):
        for ids in _batches(tokens["input_ids"], context - before, batch, first):
            ids = ids.to(model.model.device)
            with autocast(model.model.device, precision):
                output = model.model(input_ids=ids, output_hidden_states=True, use_cache=False)
            entered = inputs.pop()
            for layer, states in enumerate(_after_blocks(output.hidden_states, entered), 1):
                own.leave(layer, vectors(states[:, before:-1]))
            own.entered.add(vectors(entered[:, before:-1]))
            for logits, stretch in zip(output.logits, ids, strict=True):  # one at a time, to bound memory
                predicting, targets = logits[before:-1].float(), stretch[before + 1 :]
                own.nats += float(cross_entropy(predicting, targets, reduction="none").double().sum())
                own.gradient.add(predicting, targets, cap)
            own.count += ids[:, before + 1 :].numel()
    if not own.count:
        raise UserError(f"others.bytes: the text has fewer than two tokens for {name}; raise it")
    if not np.isfinite(own.nats):
        raise UserError(DAMAGED.format(name))
    predicted = len(text[tokens["offset_mapping"][0][1] :].encode())
    rows = [row(size, number, 1) for size, number in sizes(model.model).items()]
    return [*rows, *own.rows(sigma), row("loss_per_byte", own.nats / predicted, predicted)]


def sizes(model: Any) -> dict[str, int]:
    """Return how many weights there are, shared ones counted once, and how many outside embeddings and head."""
    head = model.get_output_embeddings()
    outer = [head, *(module for module in model.modules() if isinstance(module, nn.Embedding))]
    left_out = {id(weights) for module in outer for weights in module.parameters()}
    return {
        "parameters": sum(weights.numel() for weights in model.parameters()),
        "parameters_without_embeddings": sum(w.numel() for w in model.parameters() if id(w) not in left_out),
        "vocabulary": head.weight.shape[0],
        "width": head.weight.shape[1],
    }


def _check(model: LanguageModel, context: int, first: list[int], name: str) -> None:
    """Reject models that cannot be measured, such as those that see future tokens: the Auto classes also load BERT."""
    if context > model.context:
        raise UserError(f"others.context: {name} reads at most {model.context} tokens, not {context}; lower it")
    if context - len(first) < 2:
        raise UserError(f"others.context: {name} begins each text with its own token; raise {context}")
    if not model.tokenizer.is_fast:
        raise UserError(f"others.models: {name}: it has no tokenizer.json, which is needed to map tokens to bytes")
    ids = torch.tensor([[*first, 0, 1, 2], [*first, 0, 1, 3]], device=model.model.device)
    one, other = model.model(input_ids=ids, use_cache=False).logits[:, :-1]
    if not (one.isfinite().all() and other.isfinite().all()):
        raise UserError(DAMAGED.format(name))
    if not torch.allclose(one, other, rtol=1e-3, atol=1e-3 * float(one.abs().max())):
        raise UserError(f"others.models: {name}: it attends to later tokens, so it is not a causal language model")


def _batches(tokens: list[int], length: int, batch: int, first: list[int]) -> Iterator[Tensor]:
    """Yield ids, int64 (at most `batch`, length), of stretches of equal length, each preceded by `first`."""
    stretches = [first + tokens[start : start + length] for start in range(0, len(tokens) - 1, length - 1)]
    for _, alike in groupby(stretches, key=len):
        while rows := list(islice(alike, batch)):
            yield torch.tensor(rows)


def _after_blocks(hidden: tuple[Tensor, ...], entered: Tensor) -> tuple[Tensor, ...]:
    """Return the outputs of the blocks as far as transformers provides them.

    The first of its hidden states is the embedding. For most models, GPT-NeoX among them, the last one is not the
    output of the last block but the head's input, after another LayerNorm.
    """
    return hidden[1:-1] if torch.equal(hidden[-1], entered) else hidden[1:]


def prefix(tokenizer: Any) -> list[int]:
    """Return the tokens that a tokenizer puts before every text: its beginning-of-sentence token, or none."""
    marked = tokenizer("", add_special_tokens=True)["input_ids"]
    return marked[:1] if marked and marked[0] == tokenizer.bos_token_id else []


if __name__ == "__main__":
    run(main)
