"""The headline: it states an order of ranks only as far as verdicts allow."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from oversmoothing.claims.comparison import Chance, Value
from oversmoothing.claims.rank_order import finding, order_of_ranks, rank_order, rank_order_page
from oversmoothing.numerics.statistics import WindowSums
from oversmoothing.tables.formats import markdown
from oversmoothing.tables.record import record
from oversmoothing_figure import draw

CHANCE = Chance(200, 0, {"tto": 0.12})
UNCLEAR = "How much probability leaks does not clearly follow rank"


def measured(means, spread=0.01, windows=20):
    """Return the TTO of a rank: one mean per seed, over windows that differ alike in every model."""
    parts = []
    for mean in means:
        sums, windows_of = WindowSums(), np.repeat(np.arange(windows), 2)
        sums.add(windows_of, mean + spread * np.tile([-1.0, 1.0], windows) * (1 + windows_of / windows))
        parts.append(sums)
    names = tuple(f"{mean}-{i}" for i, mean in enumerate(means))
    return Value(tuple(means), names, "tto", tuple(parts))


def order(means_by_rank, **options):
    return rank_order({rank: measured(means, **options) for rank, means in means_by_rank.items()}, CHANCE)


def one_seed(*means):
    return {rank: (mean,) for rank, mean in zip((4, 8, 16, 32, 288), means, strict=False)}


DEFAULT = one_seed(0.347, 0.193, 0.129, 0.115, 0.103)  # one seed of the quick default
SEEDS = {  # three seeds of it
    4: (0.351, 0.345, 0.341),
    8: (0.204, 0.196, 0.194),
    16: (0.131, 0.135, 0.128),
    32: (0.118, 0.119, 0.111),
    288: (0.106, 0.110, 0.099),
}


@pytest.mark.parametrize(
    ("means", "says"),
    [
        (one_seed(0.5, 0.4, 0.3), "The lower the rank, the more probability leaks"),
        (SEEDS, "The lower the rank, the more probability leaks"),
        (DEFAULT, "Ranks 4 and 8 leak more than each higher rank; the order of ranks 16, 32 and 288 is not clear"),
        (one_seed(0.4, 0.1, 0.1), "Rank 4 leaks more than each higher rank; the order of ranks 8 and 16 is not clear"),
        (
            one_seed(0.4, 0.39, 0.2, 0.1, 0.1),
            "Ranks 4 and 8 leak more than rank 16, rank 16 more than ranks 32 and 288; the order of ranks 4 and 8 and "
            "of ranks 32 and 288 is not clear",
        ),
        (one_seed(0.4, 0.1, 0.2), "Rank 4 leaks more than each higher rank; the order of ranks 8 and 16 is not clear"),
        (one_seed(0.2, 0.4, 0.1), "Ranks 4 and 8 leak more than rank 16; the order of ranks 4 and 8 is not clear"),
        (one_seed(0.105, 0.102, 0.1), UNCLEAR),
        (one_seed(0.1, 0.1, 0.1, 0.1, 0.1), UNCLEAR),
        (one_seed(0.2, 0.1, 0.2), UNCLEAR),
        ({4: (0.3, 0.1), 8: (0.1, 0.15)}, UNCLEAR),
        (one_seed(0.1, 0.2, 0.3), "The higher the rank, the more probability leaks"),
        (one_seed(0.1, 0.1, 0.2), "Rank 16 leaks more than each lower rank; the order of ranks 4 and 8 is not clear"),
    ],
)
def test_the_headline_states_what_the_verdicts_allow_and_no_more(means, says):
    assert order_of_ranks(order(means)) == says


def test_an_order_that_the_windows_leave_open_is_not_stated():
    means = {4: (0.2,), 8: (0.1,)}
    assert order_of_ranks(order(means)) == "The lower the rank, the more probability leaks"
    assert order_of_ranks(order(means, windows=1)) == UNCLEAR


@pytest.mark.parametrize("seeds", [1, 3, 5])
@pytest.mark.parametrize("ranks", [(16, 32, 288), (4, 8, 16, 32, 288)])
def test_where_all_ranks_leak_alike_an_order_is_stated_in_few_runs(ranks, seeds):
    training = np.random.default_rng(len(ranks) + seeds)
    sd = 0.1 * CHANCE.run_to_run["tto"] / 1.96 / np.sqrt(2)  # so 95 % of pairs of trainings differ by less
    runs, stated = 500, 0
    for _ in range(runs):
        means = {rank: tuple(training.normal(0.1, sd, seeds)) for rank in ranks}
        values = {rank: Value(of_seeds, (f"bn{rank}",), "tto") for rank, of_seeds in means.items()}
        stated += order_of_ranks(rank_order(values, CHANCE)) != UNCLEAR
    assert stated / runs < 0.04


def test_the_finding_has_the_means_of_the_ends():
    rows = [
        {"truth": "truth", "measure": "tto", "rank": r, "value": m, "model": f"bn{r}"} for r, m in ((4, 0.4), (8, 0.1))
    ]
    said = finding(record(rows), order({4: (0.4,), 8: (0.1,)}))
    assert said == "The lower the rank, the more probability leaks: TTO is 0.400 at rank 4, 0.100 at rank 8"


def test_the_table_has_each_pair_and_its_page_the_headline():
    table = order(DEFAULT)
    assert len(table) == 10
    close = table[(table.lower_rank == 16) & (table.higher_rank == 32)].iloc[0]
    assert close.verdict == "cannot tell"
    assert close.effect == pytest.approx(0.014)
    assert close.run_to_run == pytest.approx(0.12 * 0.129)
    text = markdown(rank_order_page(table, "Which ranks leak more."))
    assert "# Which ranks leak more. Ranks 4 and 8 leak more than each higher rank; the order" in text
    assert "| 16 " in text
    assert "± 0.015" in text


def test_the_title_of_the_figure_stays_on_it_and_above_its_panels():
    rows = [
        {"truth": "truth", "measure": metric, "model": f"bn{rank}", "rank": rank}
        | dict.fromkeys(("value", "low", "high"), mean)
        for metric in ("tto", "nsmd", "tv", "kl", "tbat")
        for rank, (mean,) in DEFAULT.items()
    ]
    table = record(rows)
    figure = draw(table, order(DEFAULT))
    FigureCanvasAgg(figure).draw()
    (title,) = figure.findobj(lambda item: isinstance(item, Text) and item.get_text() == figure.get_suptitle())
    assert " ".join(title.get_text().split()) == finding(table, order(DEFAULT))
    box, paper = title.get_window_extent(), figure.bbox
    assert paper.x0 < box.x0 < 0.6 * paper.x1 < box.x1 < paper.x1
    assert max(axes.title.get_window_extent().y1 for axes in figure.axes) < box.y0 < box.y1 < paper.y1
