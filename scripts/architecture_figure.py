"""Figure 2.1: the configured architecture of the family and of a truth."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from oversmoothing.jobs import Job, run
from oversmoothing.models.gpt_shape import VOCABULARY, parameters, vocabulary
from oversmoothing.tables.figures.style import PALETTE, style, titled, write_figure

WIDE, NARROW = 3.4, 1.9  # widths of the drawing, in inches
INNER = 2.9
HEIGHT, STEP, FIRST = 0.7, 1.3, 1.3
APART = 9.2  # between the two models, with a block drawn in the gap
BLOCK_BOTTOM, RADIUS = 0.0, 0.2
ARROW: dict[str, Any] = {"arrowstyle": "-|>", "color": "0.25", "shrinkA": 0, "shrinkB": 0}
LINE: dict[str, Any] = {"color": "0.25", "linewidth": 1}
LOOKS: dict[str, dict[str, Any]] = {
    "plain": {"facecolor": "0.94", "edgecolor": "0.35"},
    "blocks": {"facecolor": "#cfe5f7", "edgecolor": "0.35"},
    "bottleneck": {"facecolor": "#f7c9a8", "edgecolor": PALETTE[3], "linewidth": 2},
}

Shape = Mapping[str, Any]


def main(job: Job) -> None:
    """Write the figure."""
    write_figure(draw(job.params.settings["models"]), job.output)


class Layer(NamedTuple):
    """A box of the figure, with the sizes of its input and output vectors and a key of `LOOKS`."""

    text: str
    into: str
    out: str
    look: str = "plain"


def layers(shape: Shape, bottleneck: str | None) -> list[Layer]:
    """Return the layers from input to logits; `bottleneck` is a symbol for its rank, such as "r", None without one."""
    width, v = str(shape["width"]), f"{vocabulary(shape):,}"
    learned = f"\n+ learned positions, {shape['block']}" if shape["positions"] == "learned" else ""
    blocks = "transformer block" if shape["layers"] == 1 else "transformer blocks"
    trunk = [
        Layer(f"Embedding{learned}", _unit(shape), width),
        Layer(f"{shape['layers']} {blocks}", width, width, "blocks"),
    ]
    if bottleneck is None:
        return [*trunk, Layer("LayerNorm", width, width), Layer("LM head, Linear", width, v)]
    squeeze = Layer("Bottleneck, Linear", width, bottleneck, "bottleneck")
    head = Layer("LM head, Linear", bottleneck, v)
    if shape["bottleneck_norm"] == "before":
        return [*trunk, Layer("LayerNorm", width, width), squeeze, head]
    return [*trunk, squeeze, Layer("LayerNorm", bottleneck, bottleneck), head]


def draw(models: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw a member of the family and the first truth side by side, with the inside of a block between them.

    Of each model: ``model``, ``kind`` ("family" or "truth") and ``shape`` (as in `gpt_config.GPTConfig`; None for an
    external checkpoint). The family's shapes differ only in ``rank``. Models that are not drawn are named.
    """
    family = [model for model in models if model["kind"] == "family" and model["shape"]]
    truths = [model for model in models if model["kind"] == "truth" and model["shape"]][:1]
    others = [model["model"] for model in models if not any(model is drawn for drawn in (*family, *truths))]
    columns: list[tuple[str, Shape, str | None, list[int]]] = []
    if family:
        ranks, shape = sorted({model["shape"]["rank"] for model in family}), family[0]["shape"]
        sizes = sorted({parameters({**shape, "rank": rank}) for rank in ranks})
        columns.append((f"The family\n{_ranks(ranks)}", shape, "r", sizes))
    for truth in truths:
        shape, rank = truth["shape"], truth["shape"]["rank"]
        title = f"The truth: {truth['model']}\n{'no bottleneck' if rank is None else f'rank {rank}'}"
        columns.append((title, shape, None if rank is None else str(rank), [parameters(shape)]))
    with style():
        right = APART * (len(columns) - 1) + WIDE / 2 if len(columns) > 1 else APART / 2 + INNER
        figure = Figure(figsize=(0.85 * (right + WIDE / 2), 9.9))
        axes = figure.add_subplot()
        for i, (title, shape, bottleneck, sizes) in enumerate(columns):
            _column(axes, APART * i, title, layers(shape, bottleneck), shape, sizes)
        _block(axes, APART / 2, columns[0][1])
        axes.set_aspect("equal")
        axes.set_xlim(-WIDE / 2 - 0.1, right + 0.1)
        axes.set_ylim(-0.9, 10.5)
        axes.axis("off")
        titled(
            figure,
            f"What does a {_unit(columns[0][1])} pass on its way to the probabilities of the next one?",
            "Numbers are sizes of vectors. The study varies r, what the bottleneck leaves for the LM head to see.",
        )
        if others:
            figure.text(0.01, 0.01, f"Not drawn: {', '.join(others)}", fontsize="small")
    return figure


def _unit(shape: Shape) -> str:
    """Return what a model reads and predicts; a shape states a vocabulary only for tokens."""
    return "byte" if shape.get("vocabulary", VOCABULARY) == VOCABULARY else "token"


def _ranks(ranks: Sequence[int]) -> str:
    return "rank r = " + " or ".join(filter(None, [", ".join(map(str, ranks[:-1])), str(ranks[-1])]))


def _column(axes: Axes, x: float, title: str, stack: Sequence[Layer], shape: Shape, sizes: Sequence[int]) -> None:
    """Draw a model from the bytes at the bottom to the probabilities; LayerNorms and heads align across models."""
    slots = [layer.text for layer in layers(shape, "r")]
    axes.text(x, 0, f"{_unit(shape)}s so far, at most {shape['block']:,}", ha="center", va="center", fontsize="small")
    top, narrow = 0.2, False
    for layer in stack:
        y = STEP * slots.index(layer.text) + FIRST
        _arrow(axes, x, top, y - HEIGHT / 2, layer.into)
        squeezed = layer.look == "bottleneck" or (narrow and layer.text == "LayerNorm")
        bottom_width, top_width = NARROW if narrow else WIDE, NARROW if squeezed else WIDE
        _box(axes, x, y, bottom_width, top_width, layer.text, LOOKS[layer.look])
        top, narrow = y + HEIGHT / 2, squeezed
    y = STEP * len(slots) + FIRST
    _arrow(axes, x, top, y - HEIGHT / 2, f"{vocabulary(shape):,} logits")
    _box(axes, x, y, WIDE, WIDE, "softmax", LOOKS["plain"])
    _arrow(axes, x, y + HEIGHT / 2, y + 0.85, f"{vocabulary(shape):,}")
    axes.text(x, y + 1.0, f"probabilities of the next {_unit(shape)}", ha="center", va="center", fontsize="small")
    axes.text(x, y + 1.75, title, ha="center", va="center", weight="bold")
    counts = " to ".join(f"{size / 1e6:,.2f}" for size in dict.fromkeys((sizes[0], sizes[-1])))
    axes.text(x, -0.55, f"{counts} million parameters", ha="center", va="center", fontsize="small")


def _block(axes: Axes, x: float, shape: Shape) -> None:
    """Draw a transformer block: two residual branches, each preceded by a LayerNorm."""
    width, heads = shape["width"], shape["heads"]
    rotary = ", rotary" if shape["positions"] == "rotary" else ""
    attention = f"Causal self-attention,\n{heads} {'head' if heads == 1 else 'heads'} of {width // heads}{rotary}"
    feed_forward = f"Linear {width} → {4 * width}, GELU,\nLinear {4 * width} → {width}"
    bottom = BLOCK_BOTTOM
    for inner in (attention, feed_forward):
        norm, branch, add = bottom + 1.0, bottom + 2.05, bottom + 2.95
        _arrow(axes, x, bottom, norm - HEIGHT / 2, "")
        _box(axes, x, norm, INNER, INNER, "LayerNorm", LOOKS["plain"])
        _arrow(axes, x, norm + HEIGHT / 2, branch - HEIGHT / 2, "")
        _box(axes, x, branch, INNER, INNER, inner, LOOKS["plain"])
        _arrow(axes, x, branch + HEIGHT / 2, add - RADIUS, "")
        past = x - INNER / 2 - 0.22
        axes.plot([x, past, past], [bottom + 0.3, bottom + 0.3, add], **LINE)
        axes.annotate("", (x - RADIUS, add), (past, add), arrowprops=ARROW)
        axes.text(x, add, "+", ha="center", va="center", bbox={"boxstyle": "circle,pad=0.15", **LOOKS["plain"]})
        bottom = add + RADIUS
    _arrow(axes, x, bottom, bottom + 0.45, str(width))
    axes.text(x + 0.12, BLOCK_BOTTOM + 0.1, str(width), va="center", fontsize="small")
    low, high = BLOCK_BOTTOM + 0.2, bottom + 0.1
    half = INNER / 2 + 0.4
    corners = [(x - half, low), (x + half, low), (x + half, high), (x - half, high)]
    axes.add_patch(Polygon(corners, **{**LOOKS["blocks"], "alpha": 0.45, "zorder": 0}))
    axes.text(x, bottom + 0.8, f"One transformer block of width {width}", ha="center", weight="bold")
    left = STEP + FIRST
    for edge, y in ((low, left - HEIGHT / 2), (high, left + HEIGHT / 2)):
        axes.plot([WIDE / 2, x - half], [y, edge], color="0.6", linewidth=1, linestyle=":")


def _box(axes: Axes, x: float, y: float, below: float, above: float, text: str, look: Mapping[str, Any]) -> None:
    """Draw a layer, `below` wide at its bottom and `above` at its top."""
    low, high = y - HEIGHT / 2, y + HEIGHT / 2
    corners = [(x - below / 2, low), (x + below / 2, low), (x + above / 2, high), (x - above / 2, high)]
    axes.add_patch(Polygon(corners, **look))
    axes.text(x, y, text, ha="center", va="center", fontsize="small")


def _arrow(axes: Axes, x: float, low: float, high: float, size: str) -> None:
    axes.annotate("", (x, high), (x, low), arrowprops=ARROW)
    axes.text(x + 0.12, (low + high) / 2, size, va="center", fontsize="small")


if __name__ == "__main__":
    run(main)
