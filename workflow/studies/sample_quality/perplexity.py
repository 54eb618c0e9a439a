"""Perplexity of samples under an external language model, and the features that MAUVE compares."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from oversmoothing.jobs import UserError
from oversmoothing.models.device import autocast
from oversmoothing.models.pretrained.auto import LanguageModel

KEY = "quality.language_model"  # of the config, for messages


class Readings(NamedTuple):
    """Perplexity and features of n texts under a language model."""

    perplexity: np.ndarray  # float64 (n,): exp of the mean loss in nats per token; NaN below two tokens
    features: np.ndarray  # float32 (n, d): the last hidden state at the last token; NaN without a token


def is_gpt2_large(model: LanguageModel) -> bool:
    """Return whether the model has the shape of the thesis's language model."""
    config = model.model.config
    return config.model_type == "gpt2" and (config.n_layer, config.n_embd) == (36, 1280)


@torch.inference_mode()
def read(model: LanguageModel, texts: Sequence[str], batch: int, precision: str = "float32") -> Readings:
    """Return the perplexity and features of each text, from one forward pass (thesis 5.2).

    The first token has no context and is not scored. Padding follows the last token, where a causal model does not see
    it, so any token serves. The blocks are computed in `precision`, the head in float32. A `UserError` is raised if a
    text has more tokens than the model's context, or an unknown one.
    """
    tokens = [tokens_of(model.tokenizer, text) for text in texts]
    longest = max(map(len, tokens), default=0)
    if longest > model.context:
        raise UserError(
            f"{KEY}: it reads at most {model.context} tokens, but a sample has {longest}: "
            "choose another language model, or lower windows.scored"
        )
    known = len(model.model.get_output_embeddings().weight)
    highest = max((max(ids) for ids in tokens if ids), default=0)
    if highest >= known:
        raise UserError(f"{KEY}: its tokenizer has token {highest}, but its head {known} rows; it is another model's")
    perplexity = np.full(len(texts), math.nan)
    features = np.full((len(texts), model.model.config.get_text_config().hidden_size), math.nan, np.float32)
    longest_first = sorted((row for row, ids in enumerate(tokens) if ids), key=lambda row: -len(tokens[row]))
    for start in range(0, len(longest_first), batch):
        rows = longest_first[start : start + batch]
        ids = pad_sequence([torch.tensor(tokens[row]) for row in rows], batch_first=True).to(model.model.device)
        lengths = torch.tensor([len(tokens[row]) for row in rows], device=ids.device)
        mask = (torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]).long()
        # The loss of each text, where transformers would return the batch's.
        with autocast(model.model.device, precision):
            output = model.model(input_ids=ids, attention_mask=mask, output_hidden_states=True, use_cache=False)
        if not output.logits[mask.bool()].isfinite().all():
            raise UserError(f"{KEY}: its logits are not all finite numbers; its weights are damaged")
        losses = cross_entropy(output.logits[:, :-1].float().transpose(1, 2), ids[:, 1:], reduction="none")
        scored = mask[:, 1:].sum(dim=1)
        means = (losses * mask[:, 1:]).sum(dim=1).double() / scored  # 0 / 0 is the NaN of a single token
        perplexity[rows] = means.exp().cpu().numpy()
        last = output.hidden_states[-1][torch.arange(len(rows)), scored]
        features[rows] = last.float().cpu().numpy()
    return Readings(perplexity, features)


def tokens_of(tokenizer: Any, text: str) -> list[int]:
    """Return tokens of a text, without special tokens even if the text contains the name of one."""
    if not text:
        return []
    return tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
