"""Two folders of results side by side."""

import json
import re
from hashlib import sha256

import pandas as pd
import pyarrow as pa
import pytest

from oversmoothing.commands import main
from oversmoothing.data.splits import SPLITS
from oversmoothing.jobs import UserError
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from oversmoothing.tables.compare import compare_tables, settings_differences
from oversmoothing.tables.record import record


def row(model, measure, value, low, high, truth="truth"):
    names = {"truth": truth, "measure": measure, "decoding": "pure", "model": model, "rank": 4}
    return names | {"value": value, "low": low, "high": high}


A = [row("bn4", "tto", 0.5, 0.4, 0.6), row("bn4", "tbat", 0.2, 0.1, 0.3, None), row("bn8", "tto", 0.3, 0.2, 0.4)]
B = [row("bn16", "tto", 0.1, 0, 0.2), row("bn4", "tbat", 0.4, 0.35, 0.5, None), row("bn4", "tto", 0.6, 0.55, 0.7)]


@pytest.fixture
def folders(tmp_path):
    for name, rows, tau, text in (("a", A, 0.9, "x"), ("b", B, 0.8, "y")):
        folder = tmp_path / name
        (folder / "tables").mkdir(parents=True)
        record(rows).to_csv(folder / "tables/oversmoothing.csv", index=False)
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
    joined = compare_tables(record(A), record(B))[["model", "measure", "difference", "overlap", "only_in"]]
    expected = [
        ("bn4", "tto", 0.1, True, None),
        ("bn4", "tbat", 0.2, False, None),
        ("bn8", "tto", None, None, "a"),
        ("bn16", "tto", None, None, "b"),
    ]
    expected = pd.DataFrame(expected, columns=joined.columns).astype({"overlap": "boolean"})
    pd.testing.assert_frame_equal(joined, expected, check_dtype=False)


def test_what_is_known_of_a_model_on_one_side_does_not_part_its_rows():
    joined = compare_tables(record(A), record({**row, "kind": "family", "arm": row["model"]} for row in A))
    assert joined.only_in.isna().all()
    assert "kind" not in joined


def test_rows_of_no_model_are_joined_on_kind_and_rank():
    rows = [
        {"kind": kind, "rank": rank, "measure": "loss", "value": rank} for kind in ("svd", "plain") for rank in (4, 8)
    ]
    joined = compare_tables(record(rows), record(rows[::-1]))
    assert joined["rank"].tolist() == ["4", "8", "4", "8"]
    assert (joined.difference == 0).all()


def test_intervals_that_touch_overlap_and_rows_of_one_name_are_refused():
    touching = record([row("bn4", "tto", 0.65, 0.6, 0.7)])
    for one, other in ((record(A[:1]), touching), (touching, record(A[:1]))):
        assert compare_tables(one, other).overlap.tolist() == [True]
    with pytest.raises(UserError, match="two rows are called bn4 truth pure tto"):
        compare_tables(record([*A, A[0]]), record(B))


def test_settings_come_from_the_files_themselves(folders):
    assert settings_differences(*folders) == ["scores/tto: tau is 0.9 in a, 0.8 in b", "corpus: the text is another"]
    assert settings_differences(folders[0], folders[0]) == []


def test_the_command_prints_and_writes(folders, capsys, tmp_path):
    assert main(["compare", *map(str, folders), "--csv", str(tmp_path / "c.csv")]) == 0
    text = capsys.readouterr().out
    assert "- scores/tto: tau is 0.9 in a, 0.8 in b" in text
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    assert rows[1] == ["bn4", "truth", "pure", "tto", "0.500 [0.400, 0.600]", "0.600 [0.550, 0.700]", "+0.100", "yes"]
    assert f"Only in {folders[0]}: bn8 truth pure tto." in text
    assert f"Only in {folders[1]}: bn16 truth pure tto." in text
    assert "samples" not in text
    written = pd.read_csv(tmp_path / "c.csv")
    assert set(written.table) == {"oversmoothing"}
    assert len(written) == 4


def test_mistakes_are_named(folders, refused):
    a, b = folders
    for message, *given in (
        ("none: no such folder", a, b / "none"),
        ("corpus: no tables in it", a, b / "corpus"),
        ("a/tables: no tbat.csv (it has: oversmoothing, samples)", a, b, "--table", "tbat"),
        ("a/tables/samples.csv: no table of numbers, or one", a, b, "--table", "samples"),
    ):
        assert message in refused("compare", *given)
    file = b / "tables/oversmoothing.csv"
    record(A).drop(columns="table").to_csv(file, index=False)  # as of an earlier version
    assert re.search(r"b/tables/oversmoothing\.csv: no table of numbers, .*: make it again", refused("compare", a, b))
    file.rename(b / "tables/other.csv")
    assert "no table of numbers in common" in refused("compare", a, b)
