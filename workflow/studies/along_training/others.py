"""Measures of one revision of a causal language model: size, head, hidden states, and loss on a text."""

import logging
from collections.abc import Iterator, Mapping, Sequence
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
from oversmoothing.models.device import autocast, setup
from oversmoothing.models.head_spectrum import head_spectrum
from oversmoothing.models.pretrained.auto import LanguageModel, load_language_model, softcap_in
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import digest, provenance
from studies.along_training.sums import Sums, row, spectrum, vectors, watching

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
SPECTRUM = pa.schema([("index", pa.int32()), ("singular_value", pa.float64())])
DAMAGED = "others.models: {}: its logits are not all finite; its weights are damaged"


def main(job: Job) -> None:
    """Read the manifest of its files and the beginning of the split; write measures and singular values."""
    settings, name = job.params.settings, job.wildcards.revision
    device, precision = setup(job.params.device, settings)
    text = beginning(read_split(job.input.evaluation, job.input.manifest, "evaluation"), settings["bytes"])
    folder = asset_folder(job.input.asset)
    made_of = origin(read_asset(job.input.asset))
    if made_of["instead_of"]:
        logger.warning("%s: revision %s is read in place of %s", name, made_of["read"], made_of["instead_of"])
    model = load_language_model(folder, device, "others.models")
    logger.info("%s over %d bytes on %s in %s", name, len(text), device, precision)
    try:
        rows, sigma = measure(model, text, settings["context"], settings["batch"], precision, name)
    except ValueError as error:
        raise UserError(f"others.models: {folder}: {error}; its weights are damaged") from error
    made_by = provenance(settings, model=name, precision=precision, device=device.type)
    write_table(job.output.measures, pa.Table.from_pylist([one | made_of for one in rows], schema=MEASURES), made_by)
    write_table(job.output.spectrum, pa.Table.from_pylist(spectrum(sigma), schema=SPECTRUM), made_by)


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
    model: LanguageModel, data: np.ndarray, context: int, batch: int, precision: str, name: str
) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Return rows of `MEASURES` without what was read, and the singular values of the head in decreasing order.

    The text `data` is UTF-8, uint8 (bytes,), read in stretches of `context` tokens, each without the preceding ones.
    Matrix products are in `precision`; weights, softmax and head are float32. Measures: ``parameters``, and
    ``parameters_without_embeddings`` (also without the head); ``vocabulary`` and ``width`` of the head; those of
    `Sums`, ``anisotropy`` after each block as far as transformers provides it; and ``loss_per_byte``, the same nats as
    in ``loss`` divided by the bytes of all predicted tokens, comparable between tokenizers.

    A `UserError` naming the model is raised if the text has fewer than two tokens, the context is too long for the
    model, the tokenizer belongs to another model, or values are not finite.
    """
    head = model.model.get_output_embeddings()
    first = prefix(model.tokenizer)
    _check(model, context, first, name)
    sigma, cap = head_spectrum(head.weight), softcap_in(model.model.config, "config.json", f"others.models: {name}")
    own, before = Sums(head.weight), len(first)
    inputs: list[Tensor] = []
    with watching({head: lambda given, _: inputs.append(given)}):
        for ids in _batches(contexts(model.tokenizer, data, context - before), batch, first):
            if ids.max() >= len(head.weight):
                raise UserError(
                    f"others.models: {name}: its tokenizer has token {ids.max()}, but its head has no such row"
                )
            ids = ids.to(model.model.device)
            with autocast(model.model.device, precision):
                output = model.model(input_ids=ids, output_hidden_states=True, use_cache=False)
            entered = inputs.pop()
            for layer, states in enumerate(_after_blocks(output.hidden_states, entered), 1):
                own.leave(layer, vectors(states[:, before:-1]))
            own.entered.add(vectors(entered[:, before:-1]))
            for logits, text in zip(output.logits, ids, strict=True):  # one text at a time, to bound memory
                predicting, targets = logits[before:-1].float(), text[before + 1 :]
                own.nats += float(cross_entropy(predicting, targets, reduction="none").double().sum())
                own.gradient.add(predicting, targets, cap)
            own.count += ids[:, before + 1 :].numel()
    if not own.count:
        raise UserError(f"others.bytes: {len(data)} bytes of text are fewer than two tokens for {name}; raise it")
    if not np.isfinite(own.nats):
        raise UserError(DAMAGED.format(name))
    predicted = len(data) - first_token_bytes(model.tokenizer, data)
    vocabulary, width = head.weight.shape
    sizes = {"parameters": count_parameters(model.model)}
    sizes |= {"parameters_without_embeddings": count_parameters(model.model, embeddings=False)}
    sizes |= {"vocabulary": vocabulary, "width": width}
    rows = [row(size, number, 1) for size, number in sizes.items()]
    return [*rows, *own.rows(sigma), row("loss_per_byte", own.nats / predicted, predicted)], sigma


def count_parameters(model: Any, embeddings: bool = True) -> int:
    """Return the number of weights, shared ones counted once; without `embeddings`, these and the head are excluded."""
    left_out: set[int] = set()
    if not embeddings:
        modules = [module for module in model.modules() if isinstance(module, nn.Embedding)]
        modules.append(model.get_output_embeddings())
        left_out = {id(weights) for module in modules for weights in module.parameters()}
    return sum(weights.numel() for weights in model.parameters() if id(weights) not in left_out)


def _check(model: LanguageModel, context: int, first: list[int], name: str) -> None:
    """Reject models that cannot be measured, such as those that see future tokens: the Auto classes also load BERT."""
    if model.context is not None and context > model.context:
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


def _batches(stretches: Iterator[list[int]], batch: int, first: list[int]) -> Iterator[Tensor]:
    """Yield ids, int64 (at most `batch`, length), of stretches of equal length, each preceded by `first`."""
    for _, alike in groupby(stretches, key=len):
        while rows := list(islice(alike, batch)):
            yield torch.tensor([first + row for row in rows])


def _after_blocks(hidden: tuple[Tensor, ...], entered: Tensor) -> tuple[Tensor, ...]:
    """Return the outputs of the blocks as far as transformers provides them.

    The first of its hidden states is the embedding. For most models, GPT-NeoX among them, the last one is not the
    output of the last block but the head's input, after another LayerNorm.
    """
    return hidden[1:-1] if torch.equal(hidden[-1], entered) else hidden[1:]


PIECE = 1 << 16  # bytes tokenised at once


def beginning(data: np.ndarray, most: int) -> np.ndarray:
    """Return the first bytes of a UTF-8 text, uint8 (at most `most`,), without a partial character."""
    return np.frombuffer(_whole(data[:most].tobytes()), np.uint8)


def prefix(tokenizer: Any) -> list[int]:
    """Return the tokens that a tokenizer puts before every text: its beginning-of-sentence token, or none."""
    marked = tokenizer("", add_special_tokens=True)["input_ids"]
    return marked[:1] if marked and marked[0] == tokenizer.bos_token_id else []


def contexts(tokenizer: Any, data: np.ndarray, length: int) -> Iterator[list[int]]:
    """Yield consecutive stretches of `length` tokens, at least 2, of a UTF-8 text; the last one may be shorter.

    Each stretch begins with the last token of the previous one, so every token except the text's first is predicted
    exactly once. The text is tokenised in pieces that end before a space, where byte-pair tokens end anyway.
    """
    kept: list[int] = []
    for piece in _pieces(data):
        kept += _encode(tokenizer, piece)["input_ids"]
        while len(kept) >= length:
            yield kept[:length]
            kept = kept[length - 1 :]
    if len(kept) > 1:
        yield kept


def first_token_bytes(tokenizer: Any, data: np.ndarray) -> int:
    """Return the number of bytes in the first token of a text, which is never predicted."""
    text = next(_pieces(data))
    offsets: Sequence[tuple[int, int]] = _encode(tokenizer, text, return_offsets_mapping=True)["offset_mapping"]
    return len(text[: offsets[0][1]].encode())


def _encode(tokenizer: Any, text: str, **options: bool) -> Any:
    """Tokenise a text without a beginning-of-sentence token, and without special tokens where the text spells one."""
    return tokenizer(text, add_special_tokens=False, split_special_tokens=True, verbose=False, **options)


def _pieces(data: np.ndarray) -> Iterator[str]:
    """Split a text before spaces, or between characters if there are none."""
    start = 0
    while start < len(data):
        piece = data[start : start + PIECE].tobytes()
        if start + PIECE < len(data):
            space = piece.rfind(b" ")
            piece = piece[:space] if space > 0 else _whole(piece) or piece
        yield piece.decode("utf-8", errors="ignore")
        start += len(piece)


def _whole(text: bytes) -> bytes:
    """Leave out a partial character at the end."""
    return text.decode("utf-8", errors="ignore").encode()


if __name__ == "__main__":
    run(main)
