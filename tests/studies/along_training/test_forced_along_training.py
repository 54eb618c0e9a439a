"""What heads force along training: the sentence says no more than all seeds allow, and the figure has every line."""

import pandas as pd

from oversmoothing.store.layout import write_csv
from studies.along_training.forced_figure import draw, over_at, which_ends_first


def along(forced, rest, rank=4, seed=1, truth="truth", steps=(0, 1, 2, 4)):
    facts = {"model": f"bn{rank}-s{seed}", "rank": rank, "seed": seed, "unit": "nats", "layer": None, "truth": truth}
    return pd.DataFrame(
        [
            facts | {"measure": part, "step": step, "value": value, "n": 5}
            for part, own in (("forced", forced), ("rest", rest))
            for step, value in zip(steps, own, strict=True)
        ]
    )


EARLY, LATE, FLAT = (3, 1.1, 1, 1), (3, 2.9, 2, 1), (0, 0, 0, 0)


def test_a_fall_is_over_at_the_first_step_that_has_lost_nine_tenths_of_it():
    steps = [0, 1, 2, 4]
    assert over_at(pd.Series([3, 1.21, 1.2, 1], steps)) == 2
    assert over_at(pd.Series([1.2, 3, 1], [2, 0, 4])) == 2  # in the order of steps
    assert over_at(pd.Series([1, 2], [0, 1])) is None
    assert over_at(pd.Series([2, 1.5, 1], [0, 1, 2])) is None  # half of it stays
    assert over_at(pd.Series(FLAT, steps)) is None


def test_the_order_of_the_falls_is_stated_where_all_seeds_agree():
    before = "The fall of the forced part is over before that of the rest at rank 4"
    assert which_ends_first(along(EARLY, LATE)) == before
    assert which_ends_first(pd.concat([along(EARLY, LATE), along(LATE, EARLY, rank=8)])) == (
        f"{before}, after that of the rest at rank 8"
    )
    nothing = "The forced part and the rest along training"
    assert which_ends_first(along(EARLY, EARLY)) == nothing
    assert which_ends_first(along(FLAT, LATE)) == nothing
    assert which_ends_first(along(LATE[::-1], LATE)) == nothing
    assert which_ends_first(pd.concat([along(EARLY, LATE), along(LATE, EARLY, seed=2)])) == nothing
    assert which_ends_first(pd.concat([along(EARLY, LATE), along(EARLY, EARLY, truth="other")])) == nothing
    assert which_ends_first(pd.concat([along(EARLY, LATE), along(EARLY, LATE, seed=2)])) == before


def test_along_training_every_rank_has_a_panel_and_every_seed_a_line(tmp_path):
    own = pd.concat([along(EARLY, LATE), along(EARLY, LATE, seed=2), along(FLAT, LATE, rank=288)])
    write_csv(pd.concat([own, own.assign(measure="loss", truth=None)]), tmp_path / "t.csv")
    figure = draw(pd.read_csv(tmp_path / "t.csv"))
    assert [axes.get_title("left") for axes in figure.axes] == ["rank 4", "rank 288: nothing forced"]
    lines = [line for line in figure.axes[0].lines if line.get_marker() == "D"]
    assert [list(line.get_ydata()) for line in lines] == [list(EARLY)] * 2
    rings = [line.get_xdata()[0] for line in figure.axes[0].lines if line.get_markersize() == 13]
    assert rings == [1, 4] * 2
    assert (
        " ".join(figure.get_suptitle().split())
        == "The fall of the forced part is over before that of the rest at rank 4"
    )
