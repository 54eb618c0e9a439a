"""Figure A.1: the role of each byte value in UTF-8, and its frequency in the training text."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from oversmoothing.data.byte_names import byte_kind, byte_name
from oversmoothing.tables.figures.style import legend, style, titled

BYTES, SIDE = 256, 16
KINDS: dict[str, tuple[str, dict[str, Any]]] = {  # label and look; hatches distinguish similar greys
    "letter": ("ASCII letter", {"facecolor": "#cfe5f7"}),
    "digit": ("ASCII digit", {"facecolor": "#9fd0c0"}),
    "punctuation": ("ASCII space (SP) or punctuation", {"facecolor": "#fdf3c4"}),
    "control": ("control character", {"facecolor": "#e4e4e4"}),
    "continuation": ("later byte of a character (continuation)", {"facecolor": "#ffffff", "hatch": "...."}),
    "first of 2": ("first byte of a character of 2 bytes", {"facecolor": "#f3d9c1", "hatch": "//"}),
    "first of 3": ("first byte of a character of 3 bytes", {"facecolor": "#f3d9c1", "hatch": "xx"}),
    "first of 4": ("first byte of a character of 4 bytes", {"facecolor": "#f3d9c1", "hatch": "||"}),
    "never": ("never in UTF-8", {"facecolor": "#8a8a8a"}),
}
EDGE = "0.7"
DOT = "#1f3b73"
SMALLEST, LARGEST = 4.0, 150.0  # area of the dots, in points squared


def count_bytes(data: np.ndarray, block: int = 1 << 24) -> np.ndarray:
    """Count each byte value (256,) of uint8 data, in blocks so that a mapped file is never wholly in memory."""
    counts = np.zeros(BYTES, np.int64)
    for start in range(0, len(data), block):
        counts += np.bincount(data[start : start + block], minlength=BYTES)
    return counts


def draw(counts: np.ndarray) -> Figure:
    """Draw the 256 byte values by their role in UTF-8, with dots that grow with the logarithm of their counts."""
    with style():
        figure = Figure(figsize=(10, 11.4))
        axes = figure.add_subplot()
        for b in range(BYTES):
            row, column = divmod(b, SIDE)
            axes.add_patch(Rectangle((column, row), 1, 1, edgecolor=EDGE, linewidth=0.6, **KINDS[byte_kind(b)][1]))
            colour = "white" if byte_kind(b) == "never" else "black"
            axes.text(column + 0.07, row + 0.08, byte_name(b), va="top", fontsize=9, color=colour)
        seen = np.flatnonzero(counts)
        rows, columns = np.divmod(seen, SIDE)
        axes.scatter(columns + 0.7, rows + 0.68, s=_area(counts[seen], counts.max()), color=DOT, linewidths=0)
        axes.set_xlim(0, SIDE)
        axes.set_ylim(SIDE, 0)
        axes.set_aspect("equal")
        digits = [f"{i:X}" for i in range(SIDE)]
        axes.set_xticks(np.arange(SIDE) + 0.5, [f"…{digit}" for digit in digits])
        axes.set_yticks(np.arange(SIDE) + 0.5, [f"{digit}…" for digit in digits])
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        total = int(counts.sum())
        text = f"which has {len(seen)} of the 256 among its {total:,} bytes."
        titled(
            figure,
            "What is each of the 256 byte values in UTF-8, and how often does it occur?",
            "A row has the first hexadecimal digit, a column the second. "
            f"Dots: occurrences in the training text, {text}",
        )
        _legends(figure, axes, counts)
    return figure


def _area(counts: np.ndarray, most: int) -> np.ndarray:
    share = np.log(counts) / max(np.log(most), 1.0)
    return SMALLEST + (LARGEST - SMALLEST) * share**2


def _legends(figure: Figure, axes: Axes, counts: np.ndarray) -> None:
    patches = [Patch(edgecolor=EDGE, label=words, **look) for words, look in KINDS.values()]
    legend(figure, patches, loc="outside lower left", ncols=2)
    most = int(counts.max())
    dots = [
        axes.scatter([], [], s=_area(np.array([count]), most)[0], color=DOT, linewidths=0, label=f"{count:,}")
        for count in (10**exponent for exponent in range(len(str(most))))
    ]
    legend(figure, dots, loc="outside lower right", ncols=2, title="occurrences of a byte")
