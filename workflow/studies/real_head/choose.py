"""How much of each memory a truth takes: chosen on half of the documents of a text, judged on the others."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from oversmoothing.store.sealed_json import write_sealed
from studies.real_head.documents import Documents
from studies.real_head.files import cells
from studies.real_head.memories import (
    Passage,
    Weighted,
    nearest,
    neighbours,
    neural,
    ngram,
    probability,
    spread,
    squared_distances,
)
from studies.real_head.names import ALL, FLATTER, LONGER, MEMORIES, MODEL, SHORT, SHUFFLED
from studies.real_head.truths import TEMPERATURE, Choice, Head, cell, filled, memories_of, shares

BLOCK = 64  # positions whose distributions are held at once
LOSSES = pa.schema([("document", pa.int32()), ("position", pa.int32()), ("truth", pa.string()), ("loss", pa.float64())])


def main(job: Job) -> None:
    """Read states and the head; write what was chosen, and the losses of every truth on the documents held out."""
    settings, documents, head = job.params.settings, Documents(job.input.states), Head.read(job.input.head)
    choice = choose(documents, head, settings["sharpness"], settings["neighbours"])
    write_sealed(job.output.choice, {**choice.__dict__, "settings": settings})
    rows = [row for number in documents.held_out for row in losses(documents, number, head, choice)]
    write_table(job.output.losses, pa.Table.from_pylist(rows, LOSSES), provenance(settings))


def choose(documents: Documents, head: Head, sharpness: Sequence[float], count: int) -> Choice:
    """Return what gives the documents that choose the lowest loss: the sharpness of each memory, then the parts."""
    numbers = documents.chosen_with
    passages = [documents.passage(number) for number in numbers]
    scale = spread(np.concatenate([passage.states for passage in passages]))
    model = np.exp(np.concatenate([given(head, passage) for passage in passages]))
    distances = [squared_distances(passage.states, passage.states, scale) for passage in passages]
    near = [nearest(own, documents.others(at), scale, count) for at, own in zip(numbers, passages, strict=True)]

    def best(made: Callable[[float], list[Iterable[Weighted]]]) -> tuple[float, Remembered]:
        known = {sharp: remembered(passages, made(sharp)) for sharp in sharpness}

        def loss(sharp: float) -> float:
            return -float(np.log(mixture(model, [known[sharp]], fitted(model, [known[sharp]]))).mean())

        sharp = min(known, key=loss)
        return sharp, known[sharp]

    chosen = {
        "neural": best(lambda s: [neural(*own, s) for own in zip(passages, distances, strict=True)]),
        "ngram": (1.0, remembered(passages, [ngram(own) for own in passages])),
        "neighbours": best(lambda s: [neighbours(*own, s) for own in near]),
    }
    named = {name: found for name, (_, found) in chosen.items()}
    mixed = {name: {name: named[name]} for name in MEMORIES} | {ALL: named}
    parts = {
        truth: [dict(zip(of, part.tolist(), strict=True)) for part in fitted(model, list(of.values()))]
        for truth, of in mixed.items()
    }
    return Choice({name: sharp for name, (sharp, _) in chosen.items()}, parts, scale, count)


def losses(documents: Documents, number: int, head: Head, choice: Choice) -> Iterator[dict[str, Any]]:
    """Yield rows of `LOSSES` of a document: of the model and of every truth at all its positions."""
    passage, short = documents.passage(number), documents.passage(number, "short_state")
    log_q = given(head, passage)
    found = {MODEL: log_q, LONGER: log_q, SHORT: given(head, short), FLATTER: given(head, passage, TEMPERATURE)}
    past = documents.passage(documents.after(number))
    for truths, made in (
        ((*MEMORIES, ALL), memories_of(documents, number, choice)),
        ((SHUFFLED,), memories_of(documents, number, choice, past)),
    ):
        known = {name: remembered([passage], [memory]) for name, memory in made.items()}
        for truth in truths:
            parts = choice.parts[ALL if truth == SHUFFLED else truth]
            shares_of = np.array([list(own.values()) for own in parts])
            found[truth] = np.log(mixture(np.exp(log_q), [known[name] for name in parts[0]], shares_of))
    for truth, of_truth in found.items():
        for position, value in enumerate(of_truth):
            yield {"document": number, "position": position, "truth": truth, "loss": -float(value)}


def given(head: Head, passage: Passage, temperature: float = 1.0) -> np.ndarray:
    """Return the log-probability (n,) that a model gives each next token."""
    weights, bias, found = head.weights.astype(np.float32), head.bias.astype(np.float32), []
    for some in np.array_split(np.arange(len(passage.next)), -(-len(passage.next) // BLOCK)):
        logits = (passage.states[some] @ weights.T + bias) / np.float32(temperature)
        highest = logits.max(axis=1)  # in float32 a log-probability errs by 1e-5
        normaliser = highest + np.log(np.exp(logits - highest[:, None]).sum(axis=1, dtype=np.float64))
        found.append(logits[range(len(some)), passage.next[some]] - normaliser)
    return np.concatenate(found)


class Remembered(NamedTuple):
    """Of a memory at n positions: the probability of the next token, NaN where it has none, and the highest of any."""

    of_next: np.ndarray
    highest: np.ndarray


def remembered(passages: Sequence[Passage], memories: Sequence[Iterable[Weighted]]) -> Remembered:
    """Return what a memory gives the next tokens of passages."""
    of_next, highest = [], []
    for passage, memory in zip(passages, memories, strict=True):
        for own, token in zip(memory, passage.next, strict=True):
            of_next.append(probability(own, token))
            highest.append(own[1].max(initial=0.0))
    return Remembered(np.array(of_next), np.array(highest))


def fitted(model: np.ndarray, memories: Sequence[Remembered]) -> np.ndarray:
    """Return the parts of memories (cells, k) that give next tokens the highest likelihood, cell by cell."""
    table, place = filled(model, [own.of_next for own in memories]), cell([own.highest for own in memories])
    parts = np.zeros((cells(len(memories)), len(memories)))
    for number in np.unique(place):
        parts[number] = shares(table[place == number])[1:]
    return parts


def mixture(model: np.ndarray, memories: Sequence[Remembered], parts: np.ndarray) -> np.ndarray:
    """Return probabilities (n,) of the next tokens under a model mixed with memories, whose parts are (cells, k)."""
    here = parts[cell([own.highest for own in memories])]
    table = filled(model, [own.of_next for own in memories])
    return table[:, 0] * (1 - here.sum(axis=1)) + (table[:, 1:] * here).sum(axis=1)


if __name__ == "__main__":
    run(main)
