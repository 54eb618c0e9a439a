"""A comparison as one web page: its tables, pictures, and the text itself, each token shaded by its KL."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nlargest

import numpy as np
import pyarrow as pa
from markupsafe import Markup

from oversmoothing.comparison.compare import Columns, Compared
from oversmoothing.comparison.pair import Pair
from oversmoothing.comparison.report import (
    SIDE,
    by_table,
    clipping,
    main_rows,
    noise,
    note,
    side_by_side,
    side_by_side_note,
)
from oversmoothing.comparison.settings import PAGE_MARK
from oversmoothing.comparison.stream import OfBytes, OfTokens, Seen
from oversmoothing.printable import printable
from oversmoothing.scores.catalogue.metrics import TAU
from oversmoothing.tables.visible_bytes import html, visible
from oversmoothing.tables.web_page import web_page

TEMPLATE = "comparison/page.html"
SHOWN = 100  # passages whose text stands on the page
WORST, BEFORE = 10, 160  # places with the largest KL, and bytes of the text before each
LIKELIEST = 3  # alternatives of each model
SHADES = 9


@dataclass(frozen=True)
class Place:
    """A scored position: the token that came next, and what both models made of it."""

    text: bytes
    kl: float  # nats
    dp: float  # probability
    expected: tuple[str, str]  # the likeliest tokens of model and truth, with their probabilities, in words
    before: bytes = b""  # text before it, of one of the worst places
    passage: int = 0


@dataclass
class Page:
    """Collects what the page shows while a comparison is made: a few words a position, and two numbers."""

    names: tuple[str, str] = ("", "")
    passages: list[tuple[bytes, list[Place]]] = field(default_factory=list)  # the prompt, and the positions after it
    worst: list[Place] = field(default_factory=list)
    kl: list[np.ndarray] = field(default_factory=list)
    dp: list[np.ndarray] = field(default_factory=list)

    def begin(self, pair: Pair, windows: pa.Table, stream: OfTokens | OfBytes) -> None:
        """Take the names of both models, the texts of tokens, and the prompts."""
        self.names = pair.settings.names
        self.texts: Sequence[bytes] = [bytes([i]) for i in range(256)] if pair.why else pair.tokens[1].texts
        self.prompts = windows["prompt"]

    def add(self, seen: Seen, columns: Mapping[str, Columns]) -> None:
        """Take a window that was measured."""
        window, beside = seen.window, columns["side_by_side"]
        kl, dp = beside["kl"], beside["dp"]
        self.kl.append(kl)
        self.dp.append(dp)
        own, others = self._likeliest(window.q), self._likeliest(window.p)
        texts = [self.texts[token] for token in window.targets.tolist()]
        numbers = zip(texts, kl.tolist(), dp.tolist(), zip(own, others, strict=True), strict=True)
        places = [Place(*each, passage=window.number) for each in numbers]
        prompt = self.prompts[window.number].as_py()
        if len(self.passages) < SHOWN:
            self.passages.append((prompt, places))
        sizes = np.array([len(text) for text in texts])
        passage = prompt + b"".join(texts)
        found = (
            replace(place, before=_last(passage[: len(prompt) + end]))
            for place, end in zip(places, (np.cumsum(sizes) - sizes).tolist(), strict=True)
        )
        self.worst = nlargest(WORST, [*self.worst, *found], key=lambda place: place.kl)

    def text(self, compared: Compared) -> str:
        """Return the page of a comparison that was made."""
        from oversmoothing.comparison.pictures import pictures  # with matplotlib, which takes seconds

        top = max(float(np.quantile(np.concatenate(self.kl), 0.99)), 1e-12)
        table, unit = by_table(compared.table)[SIDE], compared.pair.unit
        above, heads, quantiles = side_by_side(table, unit)
        drawn = pictures(self.kl, self.dp, compared.noise, unit)
        return web_page(
            TEMPLATE,
            title=printable(f"{self.names[0]} beside {self.names[1]}"),
            mark=Markup(PAGE_MARK),
            names=[printable(name) for name in self.names],
            unit=unit,
            tau=f"{100 * TAU:g} %",
            rows=main_rows(compared),
            note=printable(note(compared)),
            above=above,
            heads=heads,
            quantiles=quantiles,
            below=printable(side_by_side_note(table, unit)),
            last=printable(" ".join(filter(None, [noise(compared), clipping(compared)]))),
            pictures={title: base64.b64encode(svg).decode() for title, svg in drawn.items()},
            worst=[(self._shown(place, top), place, html(place.before)) for place in self.worst],
            passages=[(html(prompt), [self._shown(each, top) for each in places]) for prompt, places in self.passages],
            more=len(self.kl) - len(self.passages),
            top=f"{top:.3g}",
        )

    def _shown(self, place: Place, top: float) -> dict[str, object]:
        """Return what the template shows of a place: its text, its shade and the words above it."""
        lines = [f"KL {place.kl:.3g} nats; dp {place.dp:+.3g}"]
        lines += [f"{printable(name)}: {words}" for name, words in zip(self.names, place.expected, strict=True)]
        shade = min(SHADES, int(SHADES * max(place.kl, 0) / top))
        return {"text": html(place.text), "shade": shade, "words": "\n".join(lines), "kl": f"{place.kl:.3g}"}

    def _likeliest(self, p: np.ndarray) -> list[str]:
        """Return the likeliest tokens of each distribution (n, v) in words."""
        k = min(LIKELIEST, p.shape[1])
        some = np.argpartition(-p, k - 1, axis=1)[:, :k]
        lines = []
        for row, tokens in zip(p, some, strict=True):
            ordered = tokens[np.argsort(-row[tokens], kind="stable")]
            lines.append(", ".join(f"{visible(self.texts[i])!r} {row[i]:.3g}" for i in ordered.tolist()))
        return lines


def _last(text: bytes) -> bytes:
    """Return the end of a text, from the start of a character on."""
    return text[-BEFORE:].lstrip(bytes(range(0x80, 0xC0)))
