"""Two folders of results side by side."""

import json
from hashlib import sha256

import pandas as pd
import pyarrow as pa
import pytest

from oversmoothing.commands import main
from oversmoothing.compare import compare, compare_tables, settings_differences
from oversmoothing.corpus.splits import SPLITS
from oversmoothing.jobs import UserError
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance


def row(model, metric, mean, low, high, truth="truth"):
    return {"truth": truth, "metric": metric, "decoding": "pure", "model": model, "rank": 4} | {
        "mean": mean,
        "low": low,
        "high": high,
    }


A = [row("bn4", "tto", 0.5, 0.4, 0.6), row("bn4", "tbat", 0.2, 0.1, 0.3, None), row("bn8", "tto", 0.3, 0.2, 0.4)]
B = [row("bn16", "tto", 0.1, 0, 0.2), row("bn4", "tbat", 0.4, 0.35, 0.5, None), row("bn4", "tto", 0.6, 0.55, 0.7)]


@pytest.fixture
def folders(tmp_path):
    for name, rows, tau, text in (("a", A, 0.9, "x"), ("b", B, 0.8, "y")):
        folder = tmp_path / name
        (folder / "tables").mkdir(parents=True)
        pd.DataFrame(rows).to_csv(folder / "tables/oversmoothing.csv", index=False)
        pd.DataFrame({"window": [0], "model": ["bn4"], "text": ["abc"]}).to_csv(folder / "tables/samples.csv")
        for model in ("bn4", "bn8"):
            made_by = provenance({"tau": tau, "truths": ["truth"]}, model=model)
            write_table(folder / f"scores/tto/{model}.parquet", pa.table({"value": [1.0]}), made_by)
        (folder / "corpus").mkdir()
        manifest = {
            "settings": {"source": "files"},
            "splits": {split: {"bytes": 1, "sha256": sha256(text.encode()).hexdigest()} for split in SPLITS},
        }
        (folder / "corpus/manifest.json").write_text(json.dumps(manifest))
    return tmp_path / "a", tmp_path / "b"


def test_rows_are_joined_on_their_keys():
    table = compare_tables(pd.DataFrame(A), pd.DataFrame(B))
    assert list(zip(table.model, table.metric, strict=True)) == [
        ("bn4", "tto"),
        ("bn4", "tbat"),
        ("bn8", "tto"),
        ("bn16", "tto"),
    ]
    assert table.difference[:2].tolist() == pytest.approx([0.1, 0.2])
    assert table.overlap[:2].tolist() == [True, False]
    assert table.overlap[2:].isna().all()
    assert table.only_in.fillna("both").tolist() == ["both", "both", "a", "b"]


def test_intervals_that_touch_overlap_whichever_is_first():
    touching = pd.DataFrame([row("bn4", "tto", 0.65, 0.6, 0.7)])
    for one, other in ((pd.DataFrame(A[:1]), touching), (touching, pd.DataFrame(A[:1]))):
        assert compare_tables(one, other).overlap.tolist() == [True]


def test_a_table_compared_with_itself_has_no_difference():
    table = compare_tables(pd.DataFrame(A), pd.DataFrame(A))
    assert (table.difference == 0).all()
    assert table.overlap.all()
    assert table.only_in.isna().all()


def test_tables_of_other_numbers_and_without_intervals():
    one = pd.DataFrame({"model": ["bn4"], "condition": ["free"], "unargmaxable": [3]})
    table = compare_tables(one, one.assign(unargmaxable=5))
    assert table.difference.tolist() == [2]
    assert table.overlap.isna().all()


def test_rows_of_one_name_are_refused():
    with pytest.raises(UserError, match="two rows are called"):
        compare_tables(pd.DataFrame([*A, A[0]]), pd.DataFrame(B))


def test_settings_come_from_the_files_themselves(folders):
    assert settings_differences(*folders) == ["scores/tto: tau is 0.9 in a, 0.8 in b", "corpus: the text is another"]
    assert settings_differences(folders[0], folders[0]) == []


def test_the_command_prints_and_writes(folders, capsys, tmp_path):
    assert main(["compare", *map(str, folders), "--csv", str(tmp_path / "c.csv")]) == 0
    text = capsys.readouterr().out
    assert "- scores/tto: tau is 0.9 in a, 0.8 in b" in text
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    assert rows[1] == ["truth", "tto", "pure", "bn4", "0.500 [0.400, 0.600]", "0.600 [0.550, 0.700]", "+0.100", "yes"]
    assert f"Only in {folders[0]}: truth tto pure bn8." in text
    assert f"Only in {folders[1]}: truth tto pure bn16." in text
    assert "samples" not in text
    table = pd.read_csv(tmp_path / "c.csv")
    assert set(table.table) == {"oversmoothing"}
    assert len(table) == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a, b: (a, b / "none"), "none: no such folder"),
        (lambda a, b: (a, b / "corpus"), "corpus: no tables in it"),
        (lambda a, b: (a, b, "--table", "tbat"), "a/tables: no tbat.csv (it has: oversmoothing, samples)"),
        (lambda a, b: (a, b, "--table", "samples"), "samples: not a table of numbers by model"),
    ],
)
def test_mistakes_are_named(folders, capsys, change, message):
    assert main(["compare", *map(str, change(*folders))]) == 1
    assert message in capsys.readouterr().err


def test_nothing_in_common(folders):
    (folders[1] / "tables/oversmoothing.csv").rename(folders[1] / "tables/other.csv")
    with pytest.raises(UserError, match="no table in common"):
        compare(*folders)
