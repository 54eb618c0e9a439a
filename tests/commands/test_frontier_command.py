"""What the command `oversmoothing frontier` asks of the workflow, and what it prints."""

import pytest
import yaml

from oversmoothing.commands import two_models
from oversmoothing.commands.frontier import parser, report, settings
from oversmoothing.tables.record import record


def test_the_options_are_in_the_config(tmp_path):
    asked = parser().parse_args(["small", "large", "--text", "t.txt", "--temperatures", "1", "2", "--positions", "4"])
    assert settings(asked) == {"temperatures": [1.0, 2.0], "per_window": 4, "deltas": []}
    assert yaml.safe_dump(two_models.study(asked, "small", "large", tmp_path))


def test_a_text_that_is_not_there_is_one_line(refused, monkeypatch, tmp_path):
    (tmp_path / "workflow").mkdir()
    (tmp_path / "workflow/Snakefile").touch()
    monkeypatch.chdir(tmp_path)
    assert refused("frontier", "a", "b", "--text", "none.txt") == "Error: --text none.txt: no such file\n"


@pytest.fixture
def table():
    keys = {"model": "small", "temperature": 1.0, "order": "temperature first"}
    areas = {"min-p": 0.7, "top-k": 0.6, "oracle": 0.9}
    rows = [{**keys, "decoding": name, "measure": "area", "value": value, "n": 64} for name, value in areas.items()]
    gain = {"decoding": "top-k", "measure": "area", "less": "min-p", "value": -0.1, "p": 0.004}
    rows.append({**keys, **gain, "low": -0.12, "high": -0.08})
    return record(rows)


def test_gains_stand_beside_areas_in_80_columns(table):
    text = report(table, "small", "large")
    assert "top-k     0.6000  -0.1000 [-0.1200, -0.0800]  0.004" in text
    assert "beyond min-p" in text
    assert "64 positions" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    assert "nan" not in report(table.assign(low=float("nan"), high=float("nan")), "small", "large")
