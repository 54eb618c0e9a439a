"""What enters the head of a model in use at the tokens of documents, after a long and after a short context."""

import logging
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import torch
from tokenizers import Tokenizer
from torch import Tensor
from tqdm import tqdm

from oversmoothing.data.files import Files
from oversmoothing.data.tokens.text import encode
from oversmoothing.data.tokens.vocabulary import AUTO, FAST, Vocabulary, load_tokenizer, vocabulary_of
from oversmoothing.hub.manifest import asset_folder
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.device import autocast, setup
from oversmoothing.models.final_norm import norm_before_head
from oversmoothing.models.logit_files import save_head
from oversmoothing.models.spectra import ALONE
from oversmoothing.models.truths.load import load_token_lm
from oversmoothing.models.truths.token_model import TokenModel
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.store.parquet import open_writer, vector_array
from oversmoothing.store.provenance import provenance
from oversmoothing.store.sealed_json import write_sealed
from studies.real_head.documents import schema

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read a text and the model's files; write the states of its documents, a row group each, the head and its norm."""
    settings, text = job.params.settings, job.params.settings["text"]
    compute, folder = setup(job.params.device, settings), asset_folder(job.input.asset)
    tokenizer = load_tokenizer(folder / FAST)
    vocabulary = vocabulary_of(tokenizer, folder / FAST)
    chosen = documents(text, tokenizer, vocabulary, settings["documents"], settings["tokens"])
    model = load_token_lm(folder, settings["model"], vocabulary, AUTO, *compute)
    if model.cap is not None:
        raise UserError(f"real_head.model: {settings['model']} caps its logits; name one whose head is a linear map")
    made_by = provenance(settings, model=settings["model"], **compute.facts)
    weight = model.head.weight.float().cpu().numpy()
    bias = None if model.head.bias is None else model.head.bias.float().cpu().numpy()
    save_head(job.output.head, weight, bias, {**made_by, "head": ALONE}, None)
    norm = norm_before_head(model)
    parts = {"centres": norm.centres, "gain": norm.gain.tolist(), "bias": norm.bias.tolist()} if norm else {}
    write_sealed(job.output.norm, parts)
    with open_writer(job.output.states, schema(model.config.width), made_by) as writer:
        for number, tokens in enumerate(tqdm(chosen, desc=text["name"], unit="document", disable=None)):
            places = pa.array(np.arange(len(tokens)), pa.int32())
            of = [pa.array(np.full(len(tokens), number), pa.int32()), places, pa.array(tokens, pa.int32())]
            states = [vector_array(own) for own in states_of(model, tokens, settings["short"], compute.precision)]
            writer.write_batch(pa.RecordBatch.from_arrays([*of, *states], schema=schema(model.config.width)))


def documents(text: dict, tokenizer: Tokenizer, vocabulary: Vocabulary, count: int, tokens: int) -> list[np.ndarray]:
    """Return the first tokens, int (tokens,), of evenly spaced ones of the documents that have so many."""
    long = []
    for document in Files(text["paths"], text["column"]):
        if len(document.text.encode()) >= tokens:  # a token has a byte at least
            read = encode(tokenizer, vocabulary, document.text, document.name)[:tokens]
            long += [read] if len(read) == tokens else []
    if len(long) < count:
        raise UserError(
            f"real_head.texts: {text['name']} has {len(long)} documents of {tokens} tokens or more, and "
            f"real_head.documents asks for {count}; name more text, or lower either"
        )
    logger.info("%s: %d of %d documents of %d tokens or more", text["name"], count, len(long), tokens)
    return [long[i] for i in positions_of(len(long), count)]


@torch.inference_mode()
def states_of(model: TokenModel, tokens: np.ndarray, short: int, precision: str) -> Iterator[np.ndarray]:
    """Yield what enters the head at each token, float32 (n, d): after all text, and after at most `short` tokens."""
    read = torch.from_numpy(tokens).to(model.head.weight.device)[None]

    def entered(part: Tensor) -> Tensor:
        with autocast(read.device, precision):
            return model.hidden(part)[1][0].float()

    yield entered(read).cpu().numpy()
    half = short // 2
    parts = [entered(read[:, :short])]
    for begin in range(half, len(tokens) - half, half):
        parts.append(entered(read[:, begin : begin + short])[half:])
    yield torch.cat(parts).cpu().numpy()[: len(tokens)]


if __name__ == "__main__":
    run(main)
