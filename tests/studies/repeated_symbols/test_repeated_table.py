"""Table and figure of what it takes to learn to repeat a symbol, from losses that were made up."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from default_config import default
from step_jobs import job, outputs

from oversmoothing.store.parquet import read_table
from oversmoothing.tables.formats import markdown
from oversmoothing.tables.record import read_record
from studies.repeated_symbols import measure, show
from studies.repeated_symbols.arms import ARMS, batch, vocabularies
from studies.repeated_symbols.figure import bound
from studies.repeated_symbols.plan import training_settings
from studies.repeated_symbols.table import ABOVE, APART, OCTAVES, repeated_page, repeated_table

SETTINGS = training_settings(default(repeated_symbols={"vocabularies": [256, 1024], "seeds": [1, 2, 3]}))
NEEDED = {256: 4.0, 1024: 8.0}


def runs(factor=lambda name: 1.0, apart=0.0):
    """Losses that fall in a straight line, to a tenth of log v at as many draws as an arm needs, more by seed."""
    rows = []
    for name in ARMS:
        for v in vocabularies(name, SETTINGS):
            for seed in (0, 1, 2, 3):
                needed = NEEDED[v] * factor(name) * 2 ** (0.1 * (seed - 2))
                for draws in np.linspace(0, 10, 161):
                    share = 1 - 0.9 * draws / needed
                    loss = max(share, 0.01) * math.log(v) + (apart if name == "long" else 0)
                    step = round(draws * v / batch(name, v, SETTINGS))
                    row = {"arm": name, "vocabulary": v, "seed": seed, "learning_rate": 0.1, "trial": seed == 0}
                    rows.append({**row, "step": step, "draws": draws, "loss": loss})
    return pd.DataFrame(rows)


def test_draws_steps_and_octaves_over_seeds():
    made = runs(lambda name: 0.5 if name == "alone" else 1.0, apart=3e-6)
    table = repeated_table(made, SETTINGS).set_index(["kind", "vocabulary", "measure"])
    assert table.value["full", 256, "draws"] == pytest.approx(4 * np.mean([2**-0.1, 1, 2**0.1]), rel=1e-3)
    assert table.value["full", 1024, "steps"] == pytest.approx(16 * table.value["full", 1024, "draws"])
    assert table.value["full_fixed", 1024, "steps"] == pytest.approx(16 * table.value["full", 1024, "draws"], rel=1e-6)
    assert table.value["full", 1024, OCTAVES] == pytest.approx(1, abs=1e-3)
    assert table.high["full", 1024, OCTAVES] - 1 < 0.01  # paired: the seeds differ alike
    assert table.value["alone", 256, ABOVE] == pytest.approx(-1, abs=1e-3)
    assert table.value["long", 256, APART] == pytest.approx(3e-6)
    assert table.n["full", 256, "draws"] == 3
    assert ("full", 256, OCTAVES) not in table.index


def test_a_seed_that_does_not_come_to_the_threshold_leaves_no_mean():
    slow = runs(lambda name: 2.0 if name == "plain" else 1.0)
    table = repeated_table(slow, SETTINGS).set_index(["kind", "vocabulary", "measure"])
    assert np.isfinite(table.value["plain", 256, "draws"])
    assert np.isnan(table.value["plain", 1024, "draws"])
    assert table.note["plain", 1024, "draws"] == "3 of 3 seeds have not come to it"
    assert np.isfinite(table.value["plain", 1024, "loss"])
    page = markdown(repeated_page(table.reset_index(), SETTINGS))
    assert "nan" not in page.lower()


def test_the_bound_is_that_of_a_guess_among_symbols_not_yet_drawn():
    generator = np.random.default_rng(0)
    v, n = 65536, 2
    unseen = v - len(np.unique(generator.integers(v, size=n * v)))
    assert bound(np.array([n]), v)[0] == pytest.approx(unseen / v * math.log(unseen) / math.log(v), rel=0.05)
    assert bound(np.array([0.0]), v)[0] == 1


def test_the_steps_train_an_arm_and_write_table_and_figure(tmp_path):
    tiny = {"vocabularies": [16, 32], "width": 8, "rank": 2, "steps_per_draw": 4, "batch": 4, "length": 4}
    short = {"draws": 4, "steps": 64, "rates": [0.1, 1e-6], "seeds": [1, 2], "largest_table": 16}
    settings = training_settings(default(repeated_symbols=tiny | short))
    paths = {name: tmp_path / f"{name}.parquet" for name in ARMS}
    for name, path in paths.items():
        measure.main(job({}, path, settings, arm=name))
    full = read_table(paths["full"]).to_pandas()
    assert set(full.learning_rate[full.trial]) == {0.1, 1e-6}
    assert set(full.learning_rate[~full.trial]) == {0.1}
    assert set(full.seed[~full.trial]) == {1, 2}
    out = outputs(tmp_path)
    show.main(
        SimpleNamespace(
            input=[str(path) for path in paths.values()], output=out, params=SimpleNamespace(settings=settings)
        )
    )
    table = read_record(out.csv)
    assert set(table.kind) == set(ARMS)
    assert table.value[table.measure == APART].iloc[0] < 1e-5
    assert out.png.stat().st_size > 10_000
