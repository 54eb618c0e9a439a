"""Figure 2.1: the boxes and sizes are those of the model itself."""

from dataclasses import asdict
from itertools import pairwise

import pytest

from architecture_figure import draw, layers
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT


def shape(**changes):
    return asdict(GPTConfig(**{"layers": 2, "heads": 2, "width": 12, "block": 16, **changes}))


def model(name, kind, shape):
    return {"model": name, "kind": kind, "shape": shape}


def words(figure):
    return [text.get_text() for text in figure.axes[0].texts] + [text.get_text() for text in figure.texts]


@pytest.mark.parametrize(
    ("norm", "order"),
    [("after", ["Bottleneck", "LayerNorm", "LM head"]), ("before", ["LayerNorm", "Bottleneck", "LM head"])],
)
def test_boxes_stand_in_the_order_of_the_model(norm, order):
    bottlenecked = shape(rank=4, bottleneck_norm=norm)
    stack = layers(bottlenecked, "4")
    assert [layer.text.split(",")[0] for layer in stack[2:]] == order
    built = GPT(GPTConfig.from_dict(bottlenecked))
    sizes = {
        "Bottleneck": (built.bottleneck.in_features, built.bottleneck.out_features),
        "LayerNorm": built.norm.normalized_shape * 2,
        "LM head": (built.head.in_features, built.head.out_features),
    }
    for layer in stack[2:]:
        assert (int(layer.into), int(layer.out)) == sizes[layer.text.split(",")[0]]
    assert all(below.out == above.into for below, above in pairwise(stack))


def test_without_a_bottleneck():
    stack = layers(shape(layers=1), None)
    assert [layer.text for layer in stack[1:]] == ["1 transformer block", "LayerNorm", "LM head, Linear"]
    assert "Embedding\n+ learned positions, 16" in stack[0].text
    assert layers(shape(positions="rotary"), None)[0].text == "Embedding"


def test_family_and_truth_side_by_side_or_one_alone():
    models = [model(f"bn{rank}", "family", shape(rank=rank)) for rank in (8, 4)]
    models += [model("big", "truth", shape(width=16)), model("evabyte", "truth", None), model("mine", "family", None)]
    found = words(draw(models))
    assert "The family\nrank r = 4 or 8" in found
    assert "The truth: big\nno bottleneck" in found
    assert found.count("LayerNorm") == 4  # one in each model, two in the block
    assert found.count("Bottleneck, Linear") == 1
    assert "Causal self-attention,\n2 heads of 6" in found
    assert "Not drawn: evabyte, mine" in found
    assert any("rank r = 4" in word for word in words(draw([model("bn4", "family", shape(rank=4))])))
    found = words(draw([model("t", "truth", shape(rank=4, positions="rotary"))]))
    assert "The truth: t\nrank 4" in found
    assert "Causal self-attention,\n2 heads of 6, rotary" in found


def test_nothing_overlaps():
    """Words stand inside the figure and apart from each other."""
    models = [model("bn4", "family", shape(rank=4)), model("a-truth-of-a-long-name", "truth", shape(width=16))]
    figure = draw(models)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text()]
    for i, one in enumerate(boxes):
        assert one.x0 >= 0
        assert one.x1 <= figure.bbox.x1
        assert not any(one.overlaps(other) for other in boxes[:i])
