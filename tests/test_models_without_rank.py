"""The main figure of models whose rank the config does not tell, such as those from the hub."""

import numpy as np
import pytest

from oversmoothing.claims.headline import finding
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.record import record
from oversmoothing_figure import draw


def table(ranks):
    rows = [
        {"truth": truth, "measure": metric, "model": model, "rank": rank}
        | {"value": mean, "low": mean / 2, "high": 2 * mean}
        for metric, truth in (("tto", "truth"), ("tbat", None))
        for (model, rank), mean in zip(ranks.items(), (0.1, 0.3, 0.2), strict=True)
    ]
    return record(rows)


def words(figure):
    (beside,) = (axes.get_legend() for axes in figure.axes if axes.get_legend())
    return [text.get_text() for text in beside.get_texts()]


def test_they_stand_side_by_side_by_name(tmp_path):
    figure = draw(table({"small": None, "bn8-s1": 8, "large": None}))
    assert words(figure) == ["small", "bn8-s1", "large"]
    for axes in figure.axes[:2]:
        found = [bars.lines[0].get_xydata()[0].tolist() for bars in axes.containers]
        np.testing.assert_allclose(found, [[0, 0.1], [1, 0.3], [2, 0.2]])
        assert len({bars.lines[0].get_color() for bars in axes.containers}) == 3
    assert "by rank" not in figure.get_label()
    write_figure(figure, [tmp_path / "f.png"])
    assert (tmp_path / "f.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("ranks", "told"),
    [
        ({"small": None, "large": None, "third": None}, "TTO is 0.300 in large, 0.200 in third, 0.100 in small"),
        ({"a": 2, "b": 8, "c": 4}, "TTO is 0.100 at rank 2, 0.300 at rank 8"),
        ({"a": 2, "b": None, "c": None}, "TTO is 0.100 at rank 2"),
    ],
)
def test_without_an_order_the_finding_names_models_or_ranks_and_no_more(ranks, told):
    assert finding(table(ranks)) == told
