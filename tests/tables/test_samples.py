"""Samples side by side: every byte can be seen, and none can be markup."""

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shown import Shown
from step_jobs import job, outputs

import samples_table as script
from oversmoothing.data.byte_names import byte_name
from oversmoothing.jobs import UserError
from oversmoothing.store.parquet import write_table
from oversmoothing.tables.page import label
from oversmoothing.tables.samples import sample_table
from oversmoothing.tables.visible_bytes import html, last_word, markdown, segments, visible

NASTY = b"<b>|*x*|</b> a_b  `c` [l](http://x.org) &amp; \\ \x00\t\n\xc3(\xe2\x80\xae\xc3\xa9\xff "
MODELS = [
    {"model": "bn4-s1", "rank": 4, "seed": 1, "kind": "family"},
    {"model": "svd4-s1", "rank": 4, "seed": 1, "kind": "svd"},
    {"model": "truth", "rank": 64, "seed": 1, "kind": "truth"},
]


def write(path, **columns):
    windows = pa.array(range(3), pa.int32())
    write_table(path, pa.table({"window": windows[: len(next(iter(columns.values())))], **columns}), {})


@pytest.fixture
def study(tmp_path):
    """Three windows, and samples of three models under two decodings."""
    prompts, texts = [b"It is. I", b"One two ", b"\xc3"], [b"t was.", NASTY, b"\xa9 end"]
    write(tmp_path / "windows.parquet", prompt=prompts, scored=texts)
    for path in paths(tmp_path):
        sampled = [f"{path.parent.name} {path.stem} {window} ".encode() + NASTY for window in range(3)]
        write(path, prompt=prompts, continuation=sampled)
    return tmp_path


def paths(study):
    return [study / model["model"] / f"{decoding}.parquet" for decoding in ("pure", "top-k") for model in MODELS]


def test_bytes_without_a_shape_are_named():
    assert visible(b"a\xc3\xa9 \xc3(\xff") == "aé ⟨C3⟩(⟨FF⟩"
    assert visible(b"\x00\t\x0c\x7f\r\n") == "⟨NUL⟩⟨HT⟩⟨FF(0C)⟩⟨DEL⟩⟨CR⟩↵"
    assert visible("\u202e\u200b\u0085\ue000".encode()) == "⟨U+202E⟩⟨U+200B⟩⟨U+0085⟩⟨U+E000⟩"
    assert visible("\ud800".encode("utf-8", "surrogatepass")) == "⟨ED⟩⟨A0⟩⟨80⟩"
    assert visible(b"") == ""


@given(st.binary())
def test_every_byte_is_there(data):
    """Text and badges give the bytes back."""
    restored = b""
    for part, badge in segments(data):
        assert part
        if not badge:
            assert part.isprintable() or part.isspace() or not part.isascii()
            restored += part.encode()
        elif part == "↵":
            restored += b"\n"
        elif part.startswith("U+"):
            restored += chr(int(part[2:], 16)).encode()
        else:
            restored += bytes([next(b for b in range(256) if byte_name(b) == part)])
    assert restored == data


@given(st.binary() | st.text().map(str.encode) | st.just(NASTY))
def test_a_page_shows_the_text_and_takes_no_tag_from_it(data):
    page = Shown(html(data))
    assert page.open == []
    assert set(page.tags) <= {"i"}
    assert page.text == "".join(part + "\n" * (badge and part == "↵") for part, badge in segments(data))


@given(st.binary() | st.text(alphabet="|*_`[]<>&~$\\:@ \nw.").map(str.encode) | st.just(NASTY))
def test_markdown_keeps_cells_whole(data):
    text = markdown(data).replace("<br>", "").replace("&nbsp;", "")
    assert "\n" not in text
    assert "  " not in text
    bare = text.replace("\\\\", "")
    for character in "|*_`[]<>&~$:@":
        assert bare.count(character) == bare.count("\\" + character)


def test_last_word():
    assert last_word(b"This concentrat") == b"concentrat"
    assert last_word(b"This ") == last_word(b"") == last_word(b"x" * 25) == b""


def test_labels():
    assert [label(model) for model in MODELS] == ["rank 4", "SVD rank 4", "truth"]
    assert label(MODELS[0], several_seeds=True) == "rank 4, seed 1"
    assert label({"model": "mine", "rank": None, "seed": None, "kind": "family"}) == "mine"


def test_table_has_the_windows_and_models_in_the_order_asked_for(study):
    table = sample_table(study / "windows.parquet", paths(study), MODELS, [2, 0])
    of_window = [("human", "human")] + [(d, model["model"]) for d in ("pure", "top-k") for model in MODELS]
    expected = [(window, *names) for window in (2, 0) for names in of_window]
    assert list(table[["window", "decoding", "model"]].itertuples(index=False, name=None)) == expected
    assert table.continuation[0] == b"\xa9 end"
    assert table.continuation[8].startswith(b"bn4-s1 pure 0 ")


def test_a_window_that_is_not_there_is_named(study):
    with pytest.raises(UserError, match=r"no window 7 \(it has 0 to 2\); change `samples.show`"):
        sample_table(study / "windows.parquet", paths(study), MODELS, [7])
    write(study / "bn4-s1" / "pure.parquet", prompt=[b"x"], continuation=[b"y"])
    with pytest.raises(UserError, match=r"pure.parquet: no window 2"):
        sample_table(study / "windows.parquet", paths(study), MODELS, [2])


def test_script_writes_all_three(study):
    output = outputs(study)
    inputs = {"windows": study / "windows.parquet", "samples": paths(study)}
    script.main(job(inputs, output, {"models": MODELS, "show": [0, 1], "title": "Samples <1>"}))
    table = pd.read_csv(output.csv)
    assert len(table) == 14
    assert table.continuation[1] == "bn4-s1 pure 0 " + visible(NASTY)
    page = output.html.read_text(encoding="utf-8")
    parsed = Shown(page)
    assert not {"script", "link", "img"} & set(parsed.tags)
    assert "Samples <1>" in parsed.text
    assert "SVD rank 4" in parsed.text
    assert "<b>I</b>t was.</p>" in page
    lines = output.markdown.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 8
    assert rows[0] == "| decoding | rank 4 | SVD rank 4 | truth |"
    assert all(line.replace("\\|", "").count("|") == 5 for line in rows)
    assert "<b>It is. I</b>" in lines
