"""The splits: disjoint, without shared runs of words, the same whatever the order of the source."""

import hashlib
import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from oversmoothing.data.documents import Document
from oversmoothing.data.reader import read_split
from oversmoothing.data.runs import run_hashes
from oversmoothing.data.splits import SPLITS, _split_of, build_splits, split_bounds
from oversmoothing.jobs import UserError
from oversmoothing.store.sealed_json import read_sealed

SHARES = {"train": 0.5, "validation": 0.25, "evaluation": 0.25}
BORDER = "\n<border>\n"


class Texts:
    """A source of texts from memory."""

    def __init__(self, texts, **facts):
        self.texts = texts
        self.described = {"source": "texts", "documents": len(texts)} | facts

    def __iter__(self):
        return (Document(str(number), text) for number, text in enumerate(self.texts))

    def facts(self):
        return self.described


def build(folder, source, **options):
    paths = {split: folder / f"{split}.bin" for split in SPLITS}
    source = Texts(source) if isinstance(source, list) else source
    return build_splits(source, paths, folder / "manifest.json", **{"shares": SHARES, "separator": BORDER, **options})


def documents(folder, split):
    return (folder / f"{split}.bin").read_bytes().decode().split(BORDER)


def split_of(text):
    return _split_of(hashlib.blake2b(text.encode(), digest_size=16).digest(), split_bounds(SHARES))


def text_in(split, text="Text"):
    """Return a text that belongs to `split`."""
    return next(made for number in range(1000) if split_of(made := f"{text} {number}.") == split)


def runs(text, length):
    words = text.split()
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}


# One text in each split, so that no split is empty whatever is drawn.
ANCHORS = [text_in(split) for split in SPLITS]
WORDS = st.lists(st.sampled_from(["a", "b", "c", "A,", "b.", "“c”", "é", "-"]), max_size=12).map(" ".join)
TEXTS = st.lists(WORDS | st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=25)


@settings(max_examples=30)
@example(["\x1f", "\u3000"], Random(0), 2)
@given(TEXTS, st.randoms(use_true_random=False), st.integers(2, 4))
def test_splits_of_any_texts(texts, random, length):
    texts = [text for text in texts if BORDER not in text] + ANCHORS
    shuffled = random.sample(texts, len(texts))
    with tempfile.TemporaryDirectory() as name:
        one, two, three = (Path(name) / part for part in ("one", "two", "three"))
        contents = build(one, texts, overlap_words=length)
        assert build(two, texts, overlap_words=length) == contents
        build(three, shuffled, overlap_words=length)
        kept = {split: documents(one, split) for split in SPLITS}
        for split in SPLITS:
            part = contents["splits"][split]
            data = (one / f"{split}.bin").read_bytes()
            # What the manifest says is what is there.
            assert (part["documents"], part["bytes"]) == (len(kept[split]), len(data))
            assert part["sha256"] == hashlib.sha256(data).hexdigest()
            # Each text is where its hash puts it, once, in the order of the source.
            assert all(split_of(text) == split for text in kept[split])
            mine = [text for text in dict.fromkeys(texts) if text.strip() and split_of(text) == split]
            assert kept[split] == [text for text in mine if text in set(kept[split])]
            # Nothing is lost without being counted.
            total = sum(split_of(text) == split for text in texts)
            assert total == part["documents"] + sum(part["dropped"].values())
            empty = [text for text in texts if not text.strip() and split_of(text) == split]
            assert part["dropped"]["empty"] == len(empty)
            assert part["dropped"]["duplicates"] == total - len(mine) - len(empty)
            # The same bytes from the same texts; the same texts from any order of them.
            assert data == (two / f"{split}.bin").read_bytes()
            assert sorted(kept[split]) == sorted(documents(three, split))
        # No run of words stands in two splits.
        found = {split: set().union(*(runs(text, length) for text in kept[split])) for split in SPLITS}
        assert not found["train"] & found["evaluation"]
        assert not found["train"] & found["validation"]
        assert not found["validation"] & found["evaluation"]
        # The evaluation split keeps all of its texts.
        assert contents["splits"]["evaluation"]["dropped"]["overlaps"] == 0


def test_a_text_with_a_shared_run_is_dropped_and_counted(tmp_path):
    shared = " ".join(f"word{number}" for number in range(13))
    held = text_in("evaluation", f"Before {shared} after")
    also = text_in("validation", f"And {shared}")
    near = text_in("train", f"Yes {shared.removesuffix(' word12')} and no more")
    # Case and punctuation do not hide it.
    copied = text_in("train", "So " + shared.upper().replace(" ", ", "))
    # Neither does train share with validation, but a split loses nothing to itself.
    run = " ".join("abcdefghijklmnop")
    validated, again = text_in("validation", f"One {run}"), text_in("train", f"Two {run}")
    first, second = (text_in("train", f"{word} qrst {run[::-1]}") for word in ("Three", "Four"))
    texts = [copied, also, near, held, validated, again, first, second]
    parts = build(tmp_path, texts)["splits"]
    assert [parts[split]["dropped"]["overlaps"] for split in SPLITS] == [0, 1, 2]
    assert [documents(tmp_path, split) for split in SPLITS] == [[held], [validated], [near, first, second]]
    build(tmp_path, texts, overlap_words=None)
    assert documents(tmp_path, "train") == [copied, near, again, first, second]


@pytest.mark.parametrize("separator", ["", "\n\n"])
def test_manifest_and_separator(tmp_path, separator):
    texts = [f"This is text {number}." for number in range(40)]
    contents = build(tmp_path, texts, separator=separator)
    assert read_sealed(tmp_path / "manifest.json") == contents
    assert contents["source"] == {"source": "texts", "documents": 40}
    assert contents["settings"] == {"shares": SHARES, "separator": separator, "overlap_words": 13}
    assert (tmp_path / "train.bin").read_text() == separator.join(text for text in texts if split_of(text) == "train")


def test_assignment_never_changes():
    """A corpus must split alike on every machine and in every release: these were written down once."""
    found = [split_of(f"Text {number}.") for number in range(2000)]
    assert [found.count(split) for split in SPLITS] == [483, 476, 1041]
    assert run_hashes("One two, three.", 2).tolist() == [10228208033956449817, 17272748329256632643]


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ([], {}, "the corpus of source 'texts' is empty"),
        (
            ANCHORS[::2],
            {},
            "and 1 are needed: the corpus has enough text, but in only 2 documents: cut them, with corpus cut: para",
        ),
        (
            Texts(ANCHORS[::2], cut="paragraphs"),
            {},
            r"the validation split has 0 bytes .* cut them, with corpus cut: a number of characters \(now paragraphs\)",
        ),
        (
            Texts(ANCHORS[:1], cut=500),
            {},
            r"is one document.*: cut it, with corpus cut: a smaller number of ch",
        ),
        (
            ANCHORS,
            {"at_least": {"train": 5000}},
            rf"the train split has {len(ANCHORS[2])} bytes .* 5,000 are needed.*now 0\.5",
        ),
        (  # a source that only counts its files
            Texts(ANCHORS, source="docstrings", files=7),
            {"at_least": {"evaluation": 1000}},
            "the evaluation split has .* and 1,000 are needed",
        ),
        (  # of a command that trains nothing
            ANCHORS,
            {"at_least": {"evaluation": 1000}, "shares": dict(zip(SPLITS, (1, 0, 0), strict=True))},
            "the evaluation split has .* and 1,000 are needed: give more text, or lower --windows, --prompt",
        ),
        ([], {"shares": dict(zip(SPLITS, (1, 0, 0), strict=True))}, "the corpus of source 'texts' is empty"),
    ],
)
def test_a_corpus_that_cannot_be_split_is_refused(tmp_path, source, options, message):
    with pytest.raises(UserError, match=message):
        build(tmp_path, source, **options)
    assert not list(tmp_path.iterdir())


class Broken(Texts):
    """A source that breaks while the last split is written."""

    reads = 0

    def __iter__(self):
        self.reads += 1
        yield from super().__iter__()
        if self.reads == len(SPLITS):
            raise UserError("the file is broken")


def test_a_failed_build_leaves_what_was_there(tmp_path):
    build(tmp_path, ANCHORS)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    texts = [*ANCHORS, "More text."]
    with pytest.raises(UserError, match="broken"):
        build(tmp_path, Broken(texts))
    with pytest.raises(UserError, match="are needed"):
        build(tmp_path, texts, at_least={"train": 10**9})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_reader_names_a_file_that_is_not_the_one_described(tmp_path):
    build(tmp_path, ANCHORS)
    path = tmp_path / "train.bin"
    data = path.read_bytes()
    for damaged, message in (
        (data[:-1] + b"?", "its sha256 is not the one in the manifest"),
        (data[:-1], f"{len(data) - 1} bytes, but its manifest says {len(data)}"),
        (None, "no such corpus file: build the corpus first"),
    ):
        path.unlink() if damaged is None else path.write_bytes(damaged)
        with pytest.raises(UserError, match=rf"train\.bin: {message}"):
            read_split(path, tmp_path / "manifest.json", "train")


def listed(count):
    return [{"name": f"{i:05}.txt", "bytes": 7, "documents": 1, "nulls": 0} for i in range(count)]


def test_a_manifest_stays_below_the_size_up_to_which_snakemake_compares_contents(tmp_path):
    assert build(tmp_path, Texts(ANCHORS, files=listed(2000)))["source"]["files"] == listed(2000)
    found = [build(tmp_path, Texts(ANCHORS, files=listed(count)))["source"]["files"] for count in (12_000, 12_001)]
    assert (tmp_path / "manifest.json").stat().st_size < 1_000_000
    assert len({files.pop("sha256") for files in found}) == 2
    assert found[0] == {"count": 12_000, "bytes": 84_000, "documents": 12_000, "nulls": 0}


def test_a_split_without_a_share_is_empty(tmp_path):
    """One document is enough for the other, and nothing of it is lost."""
    text = "One text. " * 50
    contents = build(tmp_path, [text], shares=dict(zip(SPLITS, (1, 0, 0), strict=True)))
    assert documents(tmp_path, "evaluation") == [text]
    assert [contents["splits"][split]["documents"] for split in SPLITS] == [1, 0, 0]
    assert [(tmp_path / f"{split}.bin").stat().st_size for split in SPLITS] == [len(text), 0, 0]


def of_files(places, count=3):
    """Return texts of files in splits: {file: the splits that have some of it}."""
    made = [
        Document(f"{file}:{i}", text_in(split, f"{file} {i}"), file)
        for file, splits in places.items()
        for split in splits
        for i in range(count)
    ]
    return Documents(made)


class Documents(Texts):
    def __iter__(self):
        return iter(self.texts)


EVALUATION, VALIDATION, TRAIN = SPLITS


@pytest.mark.parametrize(
    ("places", "told"),
    [
        (
            {"a": [TRAIN], "b": [TRAIN], "c": [TRAIN], "d": [EVALUATION], "e": [VALIDATION]},
            "Note: a, b, c, d, e are in one split alone, so the splits hold different texts; give more text, or cut it "
            "with corpus cut: paragraphs (at blank lines), a number of characters, or {text: what stands between them}",
        ),
        ({"a": SPLITS, "b": [TRAIN]}, "Note: b is in train alone, so"),
        ({"a": SPLITS, "b": [EVALUATION, TRAIN]}, None),
        ({"a": SPLITS}, None),
        (
            {f"{i:02}": SPLITS if i % 2 else [TRAIN] for i in range(50)},
            "Note: 00, 02, 04, 06, 08 and 20 more are in train",
        ),
        ({f"{i:02}": SPLITS if i % 2 else [TRAIN] for i in range(51)}, None),  # of so many, some may be
    ],
)
def test_the_user_is_told_what_each_split_holds_of_each_file(tmp_path, capsys, places, told):
    contents = build(tmp_path, of_files(places), overlap_words=None)
    *lines, last = capsys.readouterr().err.splitlines()[-4 if told else -3 :]
    if told:
        assert last.startswith(told)
    else:
        lines.append(last)
    for split, line in zip(SPLITS, lines, strict=True):
        sizes = {
            file: sum(len(text_in(split, f"{file} {i}")) for i in range(3)) for file in places if split in places[file]
        }
        listed = ", ".join(f"{size:,} bytes of {file}" for file, size in sorted(sizes.items()))
        assert (
            line == f"{split}: {listed if len(sizes) <= 50 else f'{sum(sizes.values()):,} bytes of {len(sizes)} files'}"
        )
    assert "held" not in contents  # which would train every model again


def test_nobody_is_told_of_files_where_there_are_none(tmp_path, capsys):
    build(tmp_path, ANCHORS)
    assert not [line for line in capsys.readouterr().err.splitlines() if line.startswith((*SPLITS, "Note"))]
