"""Long texts cut into documents: by hand, and nothing is lost."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oversmoothing.data.documents import Cut, paragraphs, stretches
from oversmoothing.data.files import Files
from oversmoothing.data.sources import open_source
from oversmoothing.data.splits import SPLITS, build_splits
from oversmoothing.jobs import UserError

PLAY = (
    "First Citizen:\nBefore we proceed, hear me speak.\n\nAll:\nSpeak, speak.\n \n\nFirst Citizen:\nYou are resolved.\n"
)
SHARES = {"train": 0.8, "validation": 0.1, "evaluation": 0.1}


def test_paragraphs_by_hand():
    assert list(paragraphs(PLAY)) == [
        "First Citizen:\nBefore we proceed, hear me speak.",
        "All:\nSpeak, speak.",
        "First Citizen:\nYou are resolved.",
    ]
    assert list(paragraphs("\r\na\r\n\r\nb")) == ["\r\na\r", "b"]
    assert list(paragraphs("\n\n")) == []


def test_stretches_end_at_lines_then_at_words():
    assert list(stretches("one two\nthree four five", 10)) == ["one two\n", "three ", "four five"]
    assert list(stretches("abcdefghijkl", 5)) == ["abcde", "fghij", "kl"]
    assert list(stretches("", 5)) == []


@given(st.text(alphabet="ab \n", max_size=300), st.integers(1, 40))
def test_stretches_are_the_text_and_no_longer_than_asked(text, length):
    parts = list(stretches(text, length))
    assert "".join(parts) == text
    assert all(0 < len(part) <= length for part in parts)


@given(st.text(alphabet="ab \n\t", max_size=200))
def test_paragraphs_lose_only_blank_lines(text):
    parts = list(paragraphs(text))
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert not any("\n\n" in part for part in parts)


@pytest.mark.parametrize("cut", ["paragraphs", 500])
def test_one_big_text_makes_all_three_splits(tmp_path, cut):
    text = "\n\n".join(
        f"Speaker {i}:\nLine {i} of a play, with words that no other line has: {i * i}." for i in range(600)
    )
    (tmp_path / "input.txt").write_text(text)
    (tmp_path / "input.jsonl").write_text(json.dumps({"text": text}) + "\n")
    made = {}
    for name in ("input.txt", "input.jsonl"):
        settings = {"source": "files", "paths": [str(tmp_path / name)], "cut": cut}
        paths = {split: tmp_path / f"{name}.{split}" for split in SPLITS}
        contents = build_splits(
            open_source(settings), paths, tmp_path / "manifest.json", shares=SHARES, separator="\n\n"
        )
        assert all(part["bytes"] > 1000 for part in contents["splits"].values())
        assert contents["source"]["cut"] == cut
        made[name] = [paths[split].read_bytes() for split in SPLITS]
    assert made["input.txt"] == made["input.jsonl"]


def test_a_text_that_is_one_document_says_how_to_cut_it(tmp_path):
    (tmp_path / "input.txt").write_text(PLAY)
    paths = {split: tmp_path / split for split in SPLITS}
    with pytest.raises(UserError, match="is one document, which cannot be split: cut it, with corpus cut: paragraphs"):
        build_splits(
            Files([str(tmp_path / "input.txt")]), paths, tmp_path / "manifest.json", shares=SHARES, separator="\n\n"
        )


def test_files_without_text_are_named(tmp_path):
    (tmp_path / "empty.txt").touch()
    (tmp_path / "none.jsonl").touch()
    paths = {split: tmp_path / split for split in SPLITS}
    for pattern, named in (("*", r"empty\.txt, none\.jsonl hold no text"), ("empty.txt", r"empty\.txt holds no text")):
        with pytest.raises(UserError, match=named):
            build_splits(
                Files([str(tmp_path / pattern)]), paths, tmp_path / "manifest.json", shares=SHARES, separator="\n\n"
            )


def test_documents_are_named_after_their_place():
    class One:
        def __iter__(self):
            yield from [("a.txt", "x\n\ny")]

        def facts(self):
            return {"source": "one"}

    assert [document.name for document in Cut(One(), "paragraphs")] == ["a.txt#0", "a.txt#1"]
