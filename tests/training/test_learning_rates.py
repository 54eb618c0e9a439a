"""The learning rate of each arm: the lowest loss decides, and the training takes what the file says."""

import pyarrow as pa
import pytest
from step_jobs import job, outputs

import choose_learning_rate
import learning_rates_table
from oversmoothing.jobs import UserError
from oversmoothing.store.parquet import write_table
from oversmoothing.store.sealed_json import write_sealed
from oversmoothing.tables.learning_rates import rates_page, rates_table
from oversmoothing.tables.record import read_record
from oversmoothing.training.chosen_rate import with_rate

SETTINGS = {"model": {"width": 8}, "training": {"batch": 2}, "seed": 1}


def test_how_flat_the_choice_was():
    table = rates_table(
        [
            {"arm": "bn4", "losses": {"0.1": 2.0, "0.2": 1.5, "0.4": 1.5}},  # of equals the lower
            {"arm": "w32", "losses": {"0.1": 2.0, "0.2": 1.9}},
        ]
    )
    assert table[table.note == "chosen"].learning_rate.tolist() == [0.2, 0.2]
    assert table.value[table.measure == "above"].tolist() == pytest.approx([0.5, 0, 0, 0.1, 0])
    assert [row["at the edge"] for row in rates_page(table, "T").sections[0].rows] == ["no", "yes"]


def test_from_histories_to_the_table(tmp_path):
    paths = []
    for i, losses in enumerate(([4.0, 2.0], [4.0, 1.5, 1.6], [4.0, 1.7])):
        paths.append(tmp_path / f"{i}.parquet")
        write_table(paths[-1], pa.table({"validation_loss": losses}), {})
    trials = [{"model": str(i), "learning_rate": rate} for i, rate in enumerate((0.001, 0.002, 0.004))]
    chosen = tmp_path / "bn4.json"
    choose_learning_rate.main(job(paths, chosen, {"trials": trials}, arm="bn4"))
    assert with_rate(SETTINGS, chosen) == {**SETTINGS, "training": {"learning_rate": 0.002, "batch": 2}}
    assert SETTINGS["training"] == {"batch": 2}
    output = outputs(tmp_path)
    learning_rates_table.main(job([chosen], output))
    table = read_record(output.csv)
    assert table.value[table.measure == "validation_loss"].tolist() == [2.0, 1.5, 1.7]
    assert "| bn4 | 2.000 | **1.500** | 1.700 | 0.200 | no |" in " ".join(output.markdown.read_text().split())


@pytest.mark.parametrize("choice", ["", '{"learning_rate": null}', "[1]"])
def test_a_choice_that_is_damaged_is_named(tmp_path, choice):
    path = tmp_path / "bn4.json"
    path.write_text(choice)
    with pytest.raises(UserError, match=r"bn4.json: no learning rate in it.*; delete it and run again"):
        with_rate(SETTINGS, path)
    write_sealed(path, {"arm": "bn4", "learning_rate": 0.005, "losses": {"0.003": 1.5}})
    with pytest.raises(UserError, match=r"bn4.json: no learning rate in it \('0.005'\)"):
        with_rate(SETTINGS, path)
    write_sealed(path, {"arm": "bn4", "learning_rate": 0.003, "losses": {"0.003": 1.5, "0.006": 1.7}})
    path.write_text(path.read_text().replace('rate": 0.003', 'rate": 8.003'))
    with pytest.raises(UserError, match=r"bn4.json: changed or damaged since it was written"):
        learning_rates_table.main(job([path], None))
