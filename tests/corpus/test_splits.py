"""The splits: disjoint, without shared runs of words, the same whatever the order of the source."""

import hashlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from oversmoothing.data import splits as module
from oversmoothing.data.documents import Document
from oversmoothing.data.reader import read_split
from oversmoothing.data.runs import collect, run_hashes, shares_run
from oversmoothing.data.splits import SPLITS, _split_of, build_splits, split_bounds
from oversmoothing.jobs import UserError
from oversmoothing.store.sealed_json import read_sealed

SHARES = {"train": 0.5, "validation": 0.25, "evaluation": 0.25}
BORDER = "\n<border>\n"


class Texts:
    """A source of texts from memory."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts

    def __iter__(self) -> Iterator[Document]:
        return (Document(str(number), text) for number, text in enumerate(self.texts))

    def facts(self) -> dict[str, Any]:
        return {"source": "texts", "documents": len(self.texts)}


def build(folder: Path, texts: Sequence[str], **options: Any) -> dict[str, Any]:
    paths = {split: folder / f"{split}.bin" for split in SPLITS}
    options = {"shares": SHARES, "separator": BORDER, **options}
    return build_splits(Texts(texts), paths, folder / "manifest.json", **options)


def documents(folder: Path, split: str, separator: str = BORDER) -> list[str]:
    return (folder / f"{split}.bin").read_bytes().decode().split(separator)


def split_of(text: str, shares: dict[str, float]) -> str:
    return _split_of(hashlib.blake2b(text.encode(), digest_size=16).digest(), split_bounds(shares))


def text_in(split: str, text: str = "Text") -> str:
    """Return a text that belongs to `split`."""
    return next(made for number in range(1000) if split_of(made := f"{text} {number}.", SHARES) == split)


def runs(text: str, length: int) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}


# One text in each split, so that no split is empty whatever is drawn.
ANCHORS = [text_in(split) for split in SPLITS]
WORDS = st.lists(st.sampled_from(["a", "b", "c", "A,", "b.", "“c”", "é", "-"]), max_size=12).map(" ".join)
TEXTS = st.lists(WORDS | st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=25)


@settings(max_examples=30)
@example(["\x1f", "\u3000"], Random(0), 2)
@given(TEXTS, st.randoms(use_true_random=False), st.integers(2, 4))
def test_splits_of_any_texts(texts: list[str], random: Any, length: int) -> None:
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
            assert all(split_of(text, SHARES) == split for text in kept[split])
            mine = [text for text in dict.fromkeys(texts) if text.strip() and split_of(text, SHARES) == split]
            assert kept[split] == [text for text in mine if text in set(kept[split])]
            # Nothing is lost without being counted.
            total = sum(split_of(text, SHARES) == split for text in texts)
            assert total == part["documents"] + sum(part["dropped"].values())
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


def test_a_text_with_a_shared_run_is_dropped_and_counted(tmp_path: Path) -> None:
    shared = " ".join(f"word{number}" for number in range(13))
    almost = " ".join(f"word{number}" for number in range(12))
    held = text_in("evaluation", f"Before {shared} after")
    # Case and punctuation do not hide it.
    copied = text_in("train", "So " + shared.upper().replace(" ", ", "))
    also = text_in("validation", f"And {shared}")
    near = text_in("train", f"Yes {almost} and no more")
    texts = [copied, also, near, held, *ANCHORS]
    contents = build(tmp_path, texts)
    dropped = {split: contents["splits"][split]["dropped"]["overlaps"] for split in SPLITS}
    assert dropped == {"evaluation": 0, "validation": 1, "train": 1}
    assert held in documents(tmp_path, "evaluation")
    assert near in documents(tmp_path, "train")
    assert copied not in documents(tmp_path, "train")
    build(tmp_path, texts, overlap_words=None)
    assert copied in documents(tmp_path, "train")


def test_train_shares_nothing_with_validation_either(tmp_path: Path) -> None:
    run = " ".join("abcdefghijklmnop")
    copied = text_in("train", f"One {run}")
    contents = build(tmp_path, [copied, text_in("validation", f"Two {run}"), *ANCHORS])
    assert contents["splits"]["train"]["dropped"]["overlaps"] == 1
    assert copied not in documents(tmp_path, "train")


def test_a_split_does_not_lose_text_to_itself(tmp_path: Path) -> None:
    run = " ".join("abcdefghijklmnop")
    texts = [text_in("train", f"One {run}"), text_in("train", f"Two {run}"), *ANCHORS]
    assert build(tmp_path, texts)["splits"]["train"]["documents"] == 3


def test_empty_and_repeated_texts_are_counted(tmp_path: Path) -> None:
    contents = build(tmp_path, ["", " \n", *ANCHORS, *ANCHORS, ANCHORS[0]])
    parts = contents["splits"]
    assert {split: parts[split]["dropped"]["duplicates"] for split in SPLITS} == {
        "evaluation": 2,
        "validation": 1,
        "train": 1,
    }
    assert sum(part["dropped"]["empty"] for part in parts.values()) == 2


def test_manifest_and_separator(tmp_path: Path) -> None:
    texts = [f"This is text {number}." for number in range(40)]
    contents = build(tmp_path, texts, separator="")
    assert read_sealed(tmp_path / "manifest.json") == contents
    assert contents["source"] == {"source": "texts", "documents": 40}
    assert contents["settings"] == {"shares": SHARES, "separator": "", "overlap_words": 13}
    mine = [text for text in texts if split_of(text, SHARES) == "train"]
    assert (tmp_path / "train.bin").read_bytes() == "".join(mine).encode()
    build(tmp_path, texts, separator="\n\n")
    assert (tmp_path / "train.bin").read_bytes() == "\n\n".join(mine).encode()


def test_assignment_never_changes() -> None:
    """A corpus must split alike on every machine and in every release: these were written down once."""
    found = {split: sum(split_of(f"Text {number}.", SHARES) == split for number in range(2000)) for split in SPLITS}
    assert found == RECORDED
    assert [int(value) for value in run_hashes("One two, three.", 2)] == RECORDED_RUNS


RECORDED = {"evaluation": 483, "validation": 476, "train": 1041}
RECORDED_RUNS = [10228208033956449817, 17272748329256632643]


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ({"train": 1.0}, r"corpus splits are \['train'\]: give a share to each of evaluation, train, validation"),
        ({**SHARES, "test": 0.0}, r"corpus splits are .*'test'"),
        ({**SHARES, "train": 0.6}, r"the shares sum to 1\.1: make them sum to 1"),
        ({"train": 1.0, "validation": 0.0, "evaluation": 0.0}, r"the share of \w+ is \d\.0: write a number between"),
    ],
)
def test_shares_that_make_no_sense(shares: dict[str, float], message: str) -> None:
    with pytest.raises(UserError, match=message):
        split_bounds(shares)


def test_overlap_words_that_make_no_sense(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"overlap_words is 0: write a number of words \(13\), or null"):
        build(tmp_path, ANCHORS, overlap_words=0)


def test_an_empty_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the corpus is empty: source 'texts' has no document"):
        build(tmp_path, [])


def test_a_small_split_is_named_with_its_size(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"the validation split has 0 bytes in 0 documents, and 1 are needed: raise"):
        build(tmp_path, [ANCHORS[0], ANCHORS[2]])
    size = len(ANCHORS[2])
    with pytest.raises(UserError, match=rf"the train split has {size} bytes .* 5,000 are needed.*now 0\.5"):
        build(tmp_path, ANCHORS, at_least={"train": 5000})
    build(tmp_path, ANCHORS, at_least={"train": size})


def test_a_failed_build_leaves_what_was_there(tmp_path: Path) -> None:
    build(tmp_path, ANCHORS)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    class Broken(Texts):
        reads = 0

        def __iter__(self) -> Iterator[Document]:
            self.reads += 1
            yield from super().__iter__()
            if self.reads == len(SPLITS):
                raise UserError("the file is broken")

    source = Broken([*ANCHORS, "More text."])
    with pytest.raises(UserError, match="broken"):
        build_splits(
            source, {split: tmp_path / f"{split}.bin" for split in SPLITS}, tmp_path / "manifest.json", shares=SHARES
        )
    with suppress(UserError):
        build(tmp_path, [*ANCHORS, "More text."], at_least={"train": 10**9})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_run_hashes_tell_runs_and_their_order_apart() -> None:
    base = run_hashes("a b c d", 3)
    assert len(base) == 2
    assert len(set(base.tolist())) == 2
    assert run_hashes("A (b) c, d!", 3).tolist() == base.tolist()
    assert run_hashes("c b a", 3)[0] != base[0]
    assert len(run_hashes("a b", 3)) == len(run_hashes("", 3)) == 0
    known = collect([base])
    assert shares_run(run_hashes("x y b c d", 3), known)
    assert not shares_run(run_hashes("b c e", 3), known)
    assert not shares_run(base, collect([]))


def test_reader_maps_a_split_read_only(tmp_path: Path) -> None:
    build(tmp_path, ANCHORS)
    data = read_split(tmp_path / "train.bin", tmp_path / "manifest.json", "train")
    assert isinstance(data, np.memmap)
    assert data.dtype == np.uint8
    assert data.tobytes() == (tmp_path / "train.bin").read_bytes()
    with pytest.raises(ValueError, match="read-only"):
        data[0] = 1


def test_reader_names_a_file_that_is_not_the_one_described(tmp_path: Path) -> None:
    build(tmp_path, ANCHORS)
    path, manifest = tmp_path / "train.bin", tmp_path / "manifest.json"
    data = path.read_bytes()
    path.write_bytes(data[:-1] + b"?")
    with pytest.raises(UserError, match=r"train\.bin: its sha256 is not the one in the manifest"):
        read_split(path, manifest, "train")
    path.write_bytes(data[:-1])
    with pytest.raises(UserError, match=rf"train\.bin: {len(data) - 1} bytes, but its manifest says {len(data)}"):
        read_split(path, manifest, "train")
    path.write_bytes(b"")
    with pytest.raises(UserError, match=r"train\.bin: the corpus file is empty"):
        read_split(path, manifest, "train")
    path.unlink()
    with pytest.raises(UserError, match=r"train\.bin: no such corpus file: build the corpus first"):
        read_split(path, manifest, "train")


def test_a_document_that_does_not_fit_into_memory_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "run_hashes", lambda *_: np.zeros(1 << 60, np.uint8))
    with pytest.raises(
        UserError, match=r": out of memory with this document of \d+ characters: cut it, with corpus cut"
    ):
        build(tmp_path, [text_in(split) for split in SPLITS])


class Many(Texts):
    """A source of texts from many files."""

    def __init__(self, texts: Sequence[str], count: int) -> None:
        super().__init__(texts)
        self.count = count

    def facts(self) -> dict[str, Any]:
        files = [{"name": f"{i:05}.txt", "bytes": 7, "documents": 1, "nulls": 0} for i in range(self.count)]
        return {"source": "files", "files": files}


def test_a_source_that_only_counts_its_files_may_be_too_small(tmp_path):
    source = Texts([text_in(split) for split in SPLITS])
    source.facts = lambda: {"source": "docstrings", "files": 7}
    paths = {split: tmp_path / f"{split}.bin" for split in SPLITS}
    with pytest.raises(UserError, match=r"the evaluation split has .* and 1,000 are needed"):
        build_splits(source, paths, tmp_path / "manifest.json", shares=SHARES, at_least={"evaluation": 1000})


@pytest.mark.parametrize(("count", "listed"), [(2, True), (2000, True), (12_000, False)])
def test_a_manifest_stays_below_the_size_up_to_which_snakemake_compares_contents(tmp_path, count, listed):
    paths = {split: tmp_path / f"{split}.bin" for split in SPLITS}
    texts = [text_in(split) for split in SPLITS]
    manifests = []
    for files in (count, count, count + 1):
        build_splits(Many(texts, files), paths, tmp_path / "manifest.json", shares=SHARES)
        manifests.append((tmp_path / "manifest.json").read_bytes())
    assert manifests[0] == manifests[1] != manifests[2]
    assert len(manifests[0]) < 1_000_000
    found = json.loads(manifests[0])["source"]["files"]
    if listed:
        assert found == Many(texts, count).facts()["files"]
    else:
        assert len(found.pop("sha256")) == 64
        assert found == {"count": count, "bytes": 7 * count, "documents": count, "nulls": 0}
