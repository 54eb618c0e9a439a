"""Figures: looks of models, ticks, and equal files of equal figures."""

import pytest
from matplotlib.figure import Figure

from oversmoothing.tables.figures.style import model_looks, rank_axis, rank_look, step_axis, style, write_figure


def drawn():
    with style():
        figure = Figure()
        figure.add_subplot().plot([4, 8], [0.2, 0.1])
    return figure


@pytest.mark.parametrize("ranks", [(4, 8, 16, 32, 288), (4, 8, 12, 16, 32, 128, 512)])
def test_a_rank_has_one_look_in_every_figure(ranks):
    models = [{"model": f"bn{rank}", "kind": "family", "rank": rank} for rank in ranks]
    truths = [{"model": name, "kind": "truth", "rank": None} for name in ("one", "other")]
    looks = model_looks([*reversed(models), *truths, {"model": "mine", "rank": None}], ["one", "other"])
    assert list(looks) == ["one", "other", *(f"rank {rank}" for rank in ranks), "mine"]
    assert all(looks[f"rank {rank}"] == rank_look(rank) for rank in ranks)
    for key in ("color", "marker"):
        assert len({look[key] for name, look in looks.items() if name.startswith("rank")}) == len(ranks)
    assert {looks[name]["color"] for name in ("one", "other")} == {"black"}
    assert looks["one"]["linestyle"] != looks["other"]["linestyle"]
    assert model_looks(truths[1:], ["one", "other"]) == {"other": looks["other"]}  # in a figure of its own


@pytest.mark.parametrize(
    ("ranks", "ticks"),
    [
        ((4, 8, 16, 32, 64, 128, 256, 288), [4, 8, 16, 32, 64, 128, 288]),
        ((4, 8, 12, 16, 32, 512), [4, 8, 16, 32, 64, 128, 256, 512]),
        ((6, 7), [6]),
        ((1, 4, 288, 2048), [1, 4, 16, 64, 288, 2048]),
    ],
)
def test_ticks_of_ranks_keep_apart(ranks, ticks):
    axes = Figure().add_subplot()
    rank_axis(axes, ranks)
    assert axes.get_xticks().tolist() == ticks
    assert axes.get_xlabel() == "rank of what enters the LM head"


@pytest.mark.parametrize(
    ("last", "options", "labels"),
    [
        (900, {}, ["0", "1", "4", "16", "64", "256"]),
        (900, {"narrow": True}, ["0", "1", "16", "256"]),
        (100_000, {}, ["0", "1", "10", "100", "1k", "10k", "100k"]),
        (100_000, {"narrow": True}, ["0", "1", "100", "10k"]),
        (0, {"beyond": 12}, ["no step"]),
    ],
)
def test_ticks_of_steps(last, options, labels):
    axes = Figure().add_subplot()
    step_axis(axes, last, **options)
    assert [tick.get_text() for tick in axes.get_xticklabels()] == labels


@pytest.mark.parametrize(("name", "start"), [("f.png", b"\x89PNG"), ("f.svg", b"<?xml")])
def test_equal_figures_give_equal_files(tmp_path, name, start):
    first, second = tmp_path / "a" / name, tmp_path / "b" / name
    for path in (first, second):
        write_figure(drawn(), [path])
    assert first.read_bytes().startswith(start)
    assert first.read_bytes() == second.read_bytes()
    assert b"dc:date" not in first.read_bytes()
