"""Continue a text with every trained model: its next byte as bars and a sample, side by side."""

import argparse
import difflib
import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.cells import chop_cells, set_cell_size
from tqdm import tqdm

from oversmoothing.commands.output import beside, check_output, write_output
from oversmoothing.data.byte_names import byte_name
from oversmoothing.jobs import UserError
from oversmoothing.models.gpt_shape import VOCABULARY
from oversmoothing.models.model import GPT
from oversmoothing.models.weights import load_model
from oversmoothing.printable import printable
from oversmoothing.samples.draws import draws_for
from oversmoothing.samples.generate import decoder_of, sample
from oversmoothing.scores.catalogue.decoders import maps, methods
from oversmoothing.scores.probabilities import Decoder
from oversmoothing.tables.visible_bytes import LEGEND, html, last_word, visible
from oversmoothing.tables.web_page import web_page

MODELS = "results/models/*/weights.safetensors"
OF_TOKENS = "../../tokens/vocabulary.parquet"  # beside the folder of a model over tokens
DECODINGS = [*maps(), "bat"]  # those that decode each byte alone; bat needs the model's head
BARS = 10  # most probable bytes shown
BYTES = 200  # of a sample, or as many as the smallest block leaves room for
COLUMN, GAP = 24, 3  # characters; three models fit into a terminal of 80
BLOCKS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True)
class Answer:
    """A model's continuation of the prompt: ``p`` (v,), the decoded distribution of the next byte, and a sample."""

    name: str
    p: np.ndarray
    sample: bytes

    def top(self) -> list[tuple[str, float]]:
        """The most probable bytes by name, the lowest value first among equals."""
        order = np.argsort(-self.p, kind="stable")[:BARS]
        return [(byte_name(int(b)), float(self.p[b])) for b in order if self.p[b] > 0]


def parser() -> argparse.ArgumentParser:
    """Parser of the command's arguments."""
    known = ", ".join(
        "=".join([name, *(f"{parameter.default:.3g}" for parameter in methods()[name].parameters[:1])])
        for name in DECODINGS
    )
    example = 'example: oversmoothing prompt "The capital of" --decoding top-p=0.8 --html answer.html'
    command = argparse.ArgumentParser(prog="oversmoothing prompt", description=__doc__, epilog=example)
    command.add_argument("prompt", help="text to continue; the models read its UTF-8 bytes")
    what = "weights of the models, in quotes (default: %(default)s)"
    command.add_argument("--models", default=MODELS, metavar="GLOB", help=what)
    what = f'{known}; several, in quotes, one behind another: "temperature=1.5 min-p=0.05" (default: %(default)s)'
    command.add_argument("--decoding", default="pure", metavar="NAME[=VALUE]", help=what)
    what = f"bytes to sample (default: {BYTES}, or as many as the models can hold)"
    command.add_argument("--bytes", type=int, metavar="N", help=what)
    what = "seed of the sample, the same for all models (default: %(default)s)"
    command.add_argument("--seed", type=int, default=1337, help=what)
    command.add_argument("--html", metavar="FILE", help="also write a self-contained web page")
    return command


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit status."""
    options = parser().parse_args(arguments)
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    prompt = os.fsencode(options.prompt)
    check_output("--html", options.html, lambda text: "<html" in text[:200])
    answers = ask(prompt, options.models, options.decoding, options.bytes, options.seed)
    text = page(prompt, answers, options.decoding, shutil.get_terminal_size((80, 24)).columns)
    with beside(options.html):
        print(text, flush=True)
    if options.html:
        write_output("--html", options.html, html_page(prompt, answers, options.decoding))
    return 0


def ask(prompt: bytes, models: str, decoding: str, length: int | None, seed: int) -> list[Answer]:
    """Answers of the models that the glob matches, sampling `length` bytes (None: as many as fit, up to 200)."""
    if not prompt:
        raise UserError("the prompt is empty; it needs at least one character")
    if not 0 <= seed < 2**32:
        raise UserError(f"--seed {seed} lies outside 0 to {2**32 - 1}")
    chosen = entry_of(decoding)
    paths = sorted(glob(models, recursive=True), key=_natural)  # noqa: PTH207 (Path.glob takes no absolute pattern)
    if not paths:
        raise UserError(
            f"no trained model at {models!r}; train them with `make` in a `git clone` of the project, or name others "
            "with --models"
        )
    names = _names(paths)
    loaded = [load_model(path) for path in paths]
    if over_tokens := [
        path
        for path, model in zip(paths, loaded, strict=True)
        if model.config.vocabulary != VOCABULARY or (Path(path).parent / OF_TOKENS).is_file()
    ]:
        raise UserError(
            f"{over_tokens[0]}: a model over tokens; only models over bytes can be asked here, and what this one "
            "writes is in the table `samples` of its results"
        )
    room = {name: model.config.block - len(prompt) for name, model in zip(names, loaded, strict=True)}
    tightest = min(room, key=room.__getitem__)
    wanted = min(BYTES, room[tightest]) if length is None else length
    if room[tightest] < 1:
        raise UserError(
            f"the prompt has {len(prompt)} bytes and the block of {tightest} {room[tightest] + len(prompt)}; shorten it"
        )
    if not 1 <= wanted <= room[tightest]:
        raise UserError(
            f"--bytes {wanted} does not fit: after a prompt of {len(prompt)} bytes, {tightest} has room for "
            f"1 to {room[tightest]}"
        )
    steps = tqdm(zip(names, paths, loaded, strict=True), total=len(paths), unit="model", leave=False, disable=None)
    answers = []
    for name, path, model in steps:
        try:
            decode = decoder_of(chosen, model)
        except UserError as error:
            raise UserError(f"{path}: {error}") from error
        answers.append(answer(name, model, prompt, wanted, decode, seed))
    return answers


def entry_of(text: str) -> dict[str, Any]:
    """Return ``name`` or ``name=value`` as an entry of the config's lists; several, with spaces between, as a chain."""
    entries = [_entry(part) for part in text.split() or [text]]
    return entries[0] if len(entries) == 1 else {"chain": [{entry.pop("name"): entry} for entry in entries]}


def _entry(text: str) -> dict[str, Any]:
    """Return the entry of a method, whose first parameter has the value, and each other one its default."""
    name, equals, number = text.partition("=")
    if name not in DECODINGS:
        near = difflib.get_close_matches(name, DECODINGS, n=1)
        raise UserError(
            f"--decoding: unknown name {name!r}; "
            + (f"did you mean {near[0]}?" if near else f"use {', '.join(DECODINGS)}")
        )
    settings: dict[str, Any] = {"name": name, **{p.key: p.default for p in methods()[name].parameters}}
    if equals and len(settings) == 1:
        raise UserError(f"--decoding {name} takes no value")
    if equals:
        try:
            settings[methods()[name].parameters[0].key] = json.loads(number)
        except json.JSONDecodeError:
            raise UserError(f"--decoding {name}: {number!r} is not a number") from None
    return settings


@torch.inference_mode()
def answer(name: str, model: GPT, prompt: bytes, length: int, decode: Decoder, seed: int) -> Answer:
    """Continuation of the prompt by a model; models, decodings and lengths share their random numbers."""
    tokens = torch.tensor([list(prompt)], device=model.head.weight.device)
    p = decode(model(tokens)[:, -1].softmax(dim=-1))[0].cpu().numpy()
    grown = sample(model, tokens, draws_for(seed, [0], length, tokens.device), decode)
    return Answer(name, p, bytes(grown[0].tolist()))


def page(prompt: bytes, answers: Sequence[Answer], decoding: str, width: int) -> str:
    """The answers as text for a terminal of `width` columns, as many side by side as fit."""
    highest = max(answer.p.max() for answer in answers)
    columns = [_column(answer, prompt, highest) for answer in answers]
    across = max(1, (width + GAP) // (COLUMN + GAP))
    lines = [f"Prompt: {visible(prompt)}", f"Next byte and a sample, {decoding} decoding"]
    for start in range(0, len(columns), across):
        lines.append("")
        for row in zip_longest(*columns[start : start + across], fillvalue=""):
            lines.append((" " * GAP).join(set_cell_size(cell, COLUMN) for cell in row).rstrip())
    return "\n".join(lines)


def html_page(prompt: bytes, answers: Sequence[Answer], decoding: str) -> str:
    """Return the answers as a self-contained web page."""
    return web_page(
        "commands/prompt.html",
        title="How each model continues",
        prompt=prompt,
        last_word=last_word(prompt),
        answers=answers,
        highest=max(answer.p.max() for answer in answers),
        decoding=decoding,
        legend=LEGEND,
        shown=html,
    )


def _column(answer: Answer, prompt: bytes, highest: float) -> list[str]:
    lines = [printable(answer.name)[:COLUMN], "─" * COLUMN]
    for name, p in answer.top():
        lines.append(f"{name:<7}{_bar(p / highest, COLUMN - 15)} {100 * p:5.1f} %")
    lines += [""] * (BARS - len(answer.top()) + 1)
    text = visible(last_word(prompt) + answer.sample).replace("↵", "↵\n")
    return [*lines, *(line for paragraph in text.split("\n") for line in chop_cells(paragraph, COLUMN) or [""])]


def _bar(share: float, width: int) -> str:
    whole, part = divmod(round(share * width * 8), 8)
    return (BLOCKS[-1] * whole + (BLOCKS[part] if part else "")).ljust(width)


def _names(paths: Sequence[str]) -> list[str]:
    """Names that tell the models apart: their folders, or else their whole paths."""
    folders = [os.path.basename(os.path.dirname(path)) or path for path in paths]  # noqa: PTH119, PTH120
    return folders if len(set(folders)) == len(paths) else list(paths)


def _natural(path: str) -> list[tuple[int, int | str]]:
    """Sort key that puts bn8 before bn16."""
    return [(0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d+)", path)]
