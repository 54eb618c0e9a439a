"""Long texts cut into documents: by hand, and nothing is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oversmoothing.data.documents import Cut, Document, paragraphs, stretches
from oversmoothing.data.files import read_beginning
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
    assert list(paragraphs(PLAY.replace("\n", "\r\n"))) == [part.replace("\n", "\r\n") for part in paragraphs(PLAY)]
    assert list(paragraphs("\r\na\r\n\r\nb")) == ["a", "b"]
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


def build(folder, pattern, **settings):
    """Build the splits of files in a folder; return the manifest."""
    source = open_source({"source": "files", "paths": [str(folder / pattern)], **settings})
    paths = {split: folder / "built" / split for split in SPLITS}
    return build_splits(source, paths, folder / "built/manifest.json", shares=SHARES)


@pytest.mark.parametrize("cut", ["paragraphs", 500])
def test_one_big_text_makes_all_three_splits(tmp_path, cut):
    lines = (f"Speaker {i}:\nLine {i} of a play, with words that no other line has: {i * i}." for i in range(600))
    (tmp_path / "input.txt").write_text("\n\n".join(lines))
    contents = build(tmp_path, "input.txt", cut=cut)
    assert all(part["bytes"] > 1000 for part in contents["splits"].values())
    assert contents["source"]["cut"] == cut


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("play.txt", "is one document, which cannot be split: cut it, with corpus cut: paragraphs"),
        ("[en]*", r"empty\.txt, none\.jsonl hold no text"),
        ("empty.txt", r"empty\.txt holds no text"),
    ],
)
def test_what_cannot_be_split_is_named_with_the_remedy(tmp_path, pattern, message):
    (tmp_path / "play.txt").write_text(PLAY)
    (tmp_path / "empty.txt").touch()
    (tmp_path / "none.jsonl").touch()
    with pytest.raises(UserError, match=message):
        build(tmp_path, pattern)


def test_documents_are_named_after_their_place():
    documents = Cut([Document("a.txt", "x\n\ny", "a.txt")], "paragraphs")
    assert list(documents) == [Document("a.txt#0", "x", "a.txt"), Document("a.txt#1", "y", "a.txt")]


def test_a_text_between_documents(tmp_path):
    """As in TinyStories."""
    (tmp_path / "a.txt").write_text("Once.\n<|endoftext|>\nTwice\n\nmore.\n<|endoftext|>\n<|endoftext|>")
    source = open_source({"source": "files", "paths": [str(tmp_path / "a.txt")], "cut": {"text": "<|endoftext|>"}})
    assert [document.text for document in source] == ["Once.", "Twice\n\nmore."]
    assert source.facts()["cut"] == {"text": "<|endoftext|>"}
    assert read_beginning(tmp_path / "a.txt", split_on="<|endoftext|>") == "Once.\n\nTwice\n\nmore."
    with pytest.raises(UserError, match=r"'<\|eot\|>' stands nowhere in the text: name what stands .* or --split-on"):
        read_beginning(tmp_path / "a.txt", split_on="<|eot|>")
