"""From histories and a config to the table and the figure that people read; and the mistakes of both."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from default_config import ROOT, default
from safetensors.numpy import save_file

import plan
from checks.config import check
from checks.paths import check_paths
from oversmoothing.commands import main
from oversmoothing.jobs import UserError
from oversmoothing.tables.formats import latex, markdown, write_record
from studies.saturation.figure import draw
from studies.saturation.histories import read_history, study_history
from studies.saturation.law import leaves
from studies.saturation.measure import LAW, POINTS, fit_and_extrapolate
from studies.saturation.plan import fitted_names, models_in_table, trained_models
from studies.saturation.table import saturation_page, saturation_table


def history(name, parameters, points=14, above=0.0, unit="bytes"):
    seen = np.geomspace(1e6, 1e8, points)
    noise = np.random.default_rng(parameters).normal(0, 0.003, points)
    late = np.linspace(0, above, points) if above else 0
    losses = (400 / parameters**0.34 + 100 / seen**0.3 + 1) * np.exp(noise + late)
    return pd.DataFrame({"model": name, "parameters": parameters, "unit": unit, "seen": seen, "loss": losses})


MODELS = [{"model": name, "rank": rank, "seed": 1} for name, rank in (("large", None), ("full", 16), ("low", 4))]


def measured(histories, fitted=("large", "full"), skip=0.02):
    law, points = fit_and_extrapolate(histories, fitted, skip, 40, 0)
    assert (law.schema, points.schema) == (LAW, POINTS)
    return law.to_pandas(), points.to_pandas()


@pytest.fixture(scope="module")
def fitted():
    return measured([history("large", 10**8), history("full", 10**7), history("low", 10**7, above=0.2)])


def test_a_model_leaves_the_law_where_its_losses_rise_above_it(fitted):
    law, points = fitted
    assert (points.compared == (points.seen >= 2e6)).all()  # the early part is left out
    assert (points.extrapolated.notna() == points.compared).all()
    table = saturation_table(law, points, MODELS)
    ends = table[table.model.notna()].pivot(index="model", columns="measure", values="value")
    assert 0.15 < np.log1p(ends.above_last["low"] / 100) < 0.25
    assert abs(ends.above_last["full"]) < 3
    assert 1e6 < ends.leaves_at["low"] < 1e8
    assert ends.leaves_at[["full", "large"]].isna().all()
    assert ends.above_best["low"] <= ends.above_last["low"]
    of_full = table[table.model == "full"].set_index("measure")
    assert of_full.note["leaves_at"] == "never"
    band = of_full.loc["extrapolated"]
    assert band.low < band.value < band.high


def test_what_one_size_or_two_cannot_tell_has_no_number(fitted):
    law = fitted[0].set_index("parameter")
    assert law.value[["A", "alpha", "E"]].isna().all()
    assert law.note[["A", "alpha", "E"]].str.contains("two sizes").all()
    assert law.low["beta"] < 0.3 < law.high["beta"]
    law = measured([history("full", 10**7), history("low", 10**7)], ["full"])[0].set_index("parameter")
    assert law.value[["A", "alpha"]].isna().all()
    assert "in one" in law.note["E"]
    assert law.value[["B", "beta", "E"]].notna().all()


@pytest.mark.parametrize(("names", "why"), [(["large"], "no fit: 2 losses are too few, it takes 5"), ([], "no fit:")])
def test_without_enough_losses_the_table_says_so(names, why):
    law, points = measured([history(model["model"], 10**7, 2) for model in MODELS], names, 0)
    table = saturation_table(law, points, MODELS)
    assert law.value.isna().all()
    assert table[table.measure == "above_last"].value.isna().all()
    assert table[table.measure == "above_last"].note.str.startswith(why).all()
    assert table[table.measure == "loss_last"].value.notna().all()
    page = markdown(saturation_page(table, "Title."))
    assert why in page
    assert "nan" not in page + latex(saturation_page(table, "Title."))
    figure = draw(law, points, MODELS, ["large"])
    assert "No fit" in figure.get_label()


@pytest.mark.parametrize(
    ("losses", "first"), [([1, 1, 1], None), ([3, 3, 3], 0), ([1, 3, 1, 3, 3], 3), ([3, 3, 1], None)]
)
def test_leaving_is_for_good(losses, first):
    assert leaves(np.array(losses), np.full(len(losses), 2)) == first


def test_pages_and_figure(fitted):
    table = saturation_table(*fitted, MODELS)
    page = markdown(saturation_page(table, "Title."))
    assert "| rank 4 " in page
    assert "never" in page
    assert "alphas of 0.1 to 1" in page
    assert "nan" not in page + latex(saturation_page(table, "Title."))
    figure = draw(*fitted, MODELS, ["large"])
    rings = [line for line in figure.axes[0].lines if line.get_markersize() == 13]
    assert len(rings) == 1
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names[:3] == ["large (fitted)", "rank 4", "rank 16 (fitted)"]


def test_our_history_begins_after_step_0(tmp_path):
    save_file({"head.weight": np.zeros(3), "blocks.0.a": np.zeros(5)}, tmp_path / "w.safetensors")
    table = pd.DataFrame({"step": [0, 8, 16], "bytes": [0, 80, 160], "validation_loss": [5.0, 3, 2]})
    table.to_parquet(tmp_path / "h.parquet")
    ours = study_history("m", tmp_path / "h.parquet", tmp_path / "w.safetensors")
    assert ours[["parameters", "seen", "loss"]].to_numpy().tolist() == [[5, 80, 3], [5, 160, 2]]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_history_of_somebody_else_s(tmp_path, suffix):
    table = pd.DataFrame({"step": [2, 1, 0], "tokens": [200, 100, 0], "loss": [2.5, 3, 9]})
    path = tmp_path / f"history.{suffix}"
    table.to_csv(path, index=False) if suffix == "csv" else table.to_parquet(path)
    other = read_history("pythia", path, 7)
    assert other[["unit", "seen", "loss"]].to_numpy().tolist() == [["tokens", 100, 3], ["tokens", 200, 2.5]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("step,loss\n1,2\n", "either 'bytes' or 'tokens' .it has: step, loss"),
        ("bytes\n1\n2\n", "no column 'loss'"),
        ("bytes,loss\n1,2\n2,\n", "row 2: loss nan is not a finite number"),
        ("bytes,loss\n1,2\n2,0\n", "row 2: loss 0 is not above 0"),
        ("bytes,loss\n-1,2\n2,3\n", "row 1: bytes -1 is negative"),
        ("bytes,loss\n5,2\n5,3\n", "bytes 5 occurs twice"),
        ("bytes,loss\n0,9\n5,2\n", "has 1 loss with bytes above 0; a history needs at least two"),
        ("bytes,loss\n1,two\n2,3\n", "row 1: loss two is not a finite number"),
        ("", "not a CSV file"),
        ("bytes,loss\n1,3,9\n2,2,9\n", "not a CSV file"),
    ],
)
def test_mistakes_in_a_history_are_named(tmp_path, text, message):
    path = tmp_path / "history.csv"
    path.write_text(text)
    with pytest.raises(UserError, match=message) as error:
        read_history("other", path, 7)
    assert str(path) in str(error.value)


def test_bytes_and_tokens_make_no_one_fit():
    with pytest.raises(UserError, match=r"b counts tokens, a bytes.*saturation\.study: false"):
        fit_and_extrapolate([history("a", 10**7), history("b", 10**7, unit="tokens")], ["a"], 0.1, 5, 0)


def test_the_page_of_what_there_is_has_its_chapter(tmp_path, fitted):
    """`oversmoothing page` reads no config, and finds the chapters of all studies."""
    (tmp_path / "tables").mkdir()
    output = SimpleNamespace(csv=tmp_path / "tables/saturation.csv", markdown=tmp_path / "tables/saturation.md")
    table = saturation_table(*fitted, MODELS)
    write_record(output, table, saturation_page(table, "How far above the law."))
    assert main(["page", str(tmp_path)]) == 0
    page = (tmp_path / "index.html").read_text()
    assert "<dt>law of losses</dt>" in page[page.index("<h2>Saturation</h2>") :]


HISTORY = {"name": "a", "path": "no.csv", "parameters": 1}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"saturation": {"skip": 1.0}}, "saturation.skip: 1.0 is greater than or equal to"),
        ({"saturation": {"study": False}}, "saturation.study: false leaves nothing to fit"),
        ({"saturation": {"fitted": ["bn5-s1337"]}}, "saturation.fitted: there is no history of 'bn5-s1337'; there"),
        ({"saturation": {"histories": [HISTORY | {"name": "truth"}]}}, "truth is listed twice, or is a model of the"),
        ({"saturation": {"histories": [HISTORY | {"path": "a.txt"}]}}, "histories.0.path: 'a.txt' does not match"),
    ],
)  # fmt: skip
def test_mistakes_name_their_key(changes, message):
    with pytest.raises(plan.ConfigError, match=message):
        check(default(**changes))


def test_a_history_that_is_not_there_is_named_with_its_key():
    config = default(saturation={"histories": [HISTORY]})
    with pytest.raises(plan.ConfigError, match=r"saturation\.histories\.0\.path: no file no\.csv"):
        check_paths(config)
    check_paths(config | {"studies": []})


def test_the_study_of_godey_extrapolates_to_models_smaller_than_all_that_the_law_is_fitted_to():
    config = default(**yaml.safe_load((ROOT / "config/godey.yaml").read_text()))
    models = plan.models.by_name(config)
    shapes = {model.name: model.settings["model"] for model in trained_models(config, models)}
    sizes = {name: shape["layers"] * shape["width"] ** 2 for name, shape in shapes.items()}
    fitted = fitted_names(config, models)
    assert len({sizes[name] for name in fitted}) >= 3  # else alpha cannot be told
    assert {"w16-s1", "w32-s5"} <= {name for name in sizes if sizes[name] < min(sizes[name] for name in fitted)}


def test_arms_are_not_compared_with_the_law():
    family = [{"width": 288, "heads": 6}, {"rank": 16}]
    more = [{"rank": 4, "head": "plain"}, {"backward_rank": 8}]
    without, arms = default(family=family), default(family=[*family, *more])
    assert models_in_table(arms, plan.models.by_name(arms)) == models_in_table(without, plan.models.by_name(without))


def test_a_config_that_says_little_has_the_defaults():
    given = {"saturation": {"skip": 0.5}}
    plan.studies.fill_in(given)
    assert given["saturation"].items() >= {"skip": 0.5, "seed": 1337}.items()


def test_a_study_that_is_no_list_is_named():
    with pytest.raises(plan.ConfigError, match=r"studies: 'saturation' is text, not a list: write \[saturation\]"):
        check(default(studies="saturation"))
