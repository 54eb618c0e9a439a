"""Train the small language model that judges samples unless the config names another.

It reads byte-pair tokens and is saved in the Hugging Face format, so it can replace GPT-2 Large.
"""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from tqdm import tqdm
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from transformers.utils.logging import disable_progress_bar

from oversmoothing.data.reader import read_split
from oversmoothing.data.tokens.learn import END, tokenise, train_tokenizer
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.device import autocast, setup
from oversmoothing.store.atomic import atomic_folder
from oversmoothing.store.sums import write_folder_sums
from oversmoothing.training.optimiser import build_optimiser, set_learning_rate

logger = logging.getLogger(__name__)

MOST_BYTES = 1 << 24  # of text that are read, more than a small model's few steps use
OPTIMISER = {"weight_decay": 0.1, "betas": (0.9, 0.95), "decay": "cosine"}
CLIP = 1.0


def main(job: Job) -> None:
    """Read the training split; write a model folder in the Hugging Face format."""
    settings = job.params.settings
    device, precision = setup(job.params.device, settings)
    data = read_split(job.input.training, job.input.manifest, "train")
    model, tokenizer, loss = train_language_model(data, settings, settings["seed"], device, precision)
    save_language_model(job.output[0], model, tokenizer)
    logger.info("%.1f million weights, loss %.3f nats per token", model.num_parameters() / 1e6, loss)


def train_language_model(
    data: np.ndarray, settings: Mapping[str, Any], seed: int, device: torch.device, precision: str
) -> tuple[GPT2LMHeadModel, PreTrainedTokenizerFast, float]:
    """Train a byte-pair tokenizer and a small GPT-2 on a split, uint8 (bytes,); return model, tokenizer and loss.

    The batch of a step is a function of (seed, step). The loss is the mean over the last tenth of the steps, in nats
    per token. A `UserError` is raised if the text has fewer tokens than one sequence.
    """
    text = data[:MOST_BYTES].tobytes().decode("utf-8", errors="ignore")
    pairs = train_tokenizer(text, settings["vocabulary"])
    tokens, block = tokenise(pairs, text).astype(np.int64), settings["block"]
    if len(tokens) <= block:
        raise UserError(
            f"language_model.block: the training split has {len(tokens)} tokens, too few for one sequence of {block}: "
            "lower it, or give a larger corpus"
        )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=pairs, bos_token=END, eos_token=END)
    torch.manual_seed(seed)
    shape: dict[str, Any] = {"n_layer": settings["layers"], "n_head": settings["heads"], "n_embd": settings["width"]}
    ids = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    shape |= dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)  # in one pass nothing is overfitted
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=block, **shape, **ids)
    model = GPT2LMHeadModel(config).train()
    torch.nn.Module.to(model, device)
    schedule = OPTIMISER | dict(settings) | {"minimum_learning_rate": settings["learning_rate"] / 10}
    optimiser = build_optimiser(model, schedule)
    losses = []
    for step in tqdm(range(settings["max_steps"]), desc="language model", unit="step", disable=None):
        set_learning_rate(optimiser, step, schedule)
        starts = np.random.default_rng([seed, step]).integers(0, len(tokens) - block, settings["batch"])
        rows = torch.from_numpy(tokens[starts[:, None] + np.arange(block + 1)]).to(device)
        with autocast(device, precision):
            logits = model(input_ids=rows[:, :-1], use_cache=False).logits
        loss = cross_entropy(logits.float().flatten(0, 1), rows[:, 1:].flatten())
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimiser.step()
        losses.append(loss.item())
    return model.eval(), tokenizer, float(np.mean(losses[-max(1, len(losses) // 10) :]))


def save_language_model(path: str | Path, model: GPT2LMHeadModel, tokenizer: PreTrainedTokenizerFast) -> None:
    """Save model and tokenizer in the Hugging Face format; the folder appears when it is complete."""
    disable_progress_bar()
    with atomic_folder(Path(path)) as temporary:
        model.save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)
        write_folder_sums(temporary)


if __name__ == "__main__":
    run(main)
