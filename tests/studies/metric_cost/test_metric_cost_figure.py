"""The figure of what the metrics cost holds what the table says."""

from oversmoothing.tables.record import record
from studies.metric_cost.figure import draw
from studies.metric_cost.timed import RATIO, TIMED

NAMES = ["TV", "KL", "NSMD", "TTO", "TBAT here", "TBAT as published:\none LP per token"]


def costs(ranks=(4, 8, 288), published=("4", "8", "512")):
    rows = []
    for rank, known in zip(ranks, published, strict=True):
        for i, metric in enumerate(TIMED):
            mean = (10.0 ** (i - 5)) * rank
            row = {"model": f"bn{rank}-s1", "rank": rank, "measure": metric, "value": mean, "n": 2}
            rows.append(row | {"published_model": known, "published": 2 * mean if known else None})
        rows.append({"model": f"bn{rank}-s1", "rank": rank, "measure": RATIO, "value": 1234.0})
    return record(rows)


def texts(figure):
    axes = figure.axes[0]
    return [text.get_text() for text in (*axes.texts, *axes.get_legend().get_texts(), *axes.get_xticklabels())]


def test_every_metric_has_a_line_and_a_look_of_its_own():
    figure = draw(costs())
    heights = [line.get_ydata().tolist() for line in figure.axes[0].lines]
    for metric, seconds in costs()[lambda table: table.measure != RATIO].groupby("measure"):
        assert seconds.value.tolist() in heights
        assert (seconds.published.tolist() in heights) == (metric != "tbat")
    measured = [line for line in figure.axes[0].lines if line.get_linewidth() == 1.8 and len(line.get_xdata()) == 3]
    assert len({(line.get_color(), line.get_marker()) for line in measured}) == len(measured) == len(TIMED)
    assert set(NAMES) <= set(texts(figure))


def test_published_times_stand_at_the_thesiss_rank():
    figure = draw(costs())
    assert "512" in texts(figure)
    assert "the thesis, on other hardware" in texts(figure)
    assert texts(figure).count("1,200\N{MULTIPLICATION SIGN}") == 3
