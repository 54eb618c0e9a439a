"""What each split holds of each of the user's files, in words."""

from collections import Counter
from collections.abc import Mapping
from itertools import chain

FEW = 50  # files, up to which each is named, and expected in every split
NAMED = 5  # of those that are in one split alone

Held = Mapping[str, Counter[str]]  # by split: bytes of each file


def held_lines(held: Held, cutting: str) -> list[str]:
    """Return a line for each split, and one for files that are in one split alone; none without files.

    `held` has the splits that may have text. `cutting` says how the documents can be cut smaller.
    """
    files = set(chain.from_iterable(held.values()))
    if not files:
        return []
    lines = [f"{split}: {_listed(of_split)}" for split, of_split in held.items()]
    homes = {file: [split for split, of_split in held.items() if file in of_split] for file in sorted(files)}
    alone = [file for file, splits in homes.items() if len(splits) == 1]
    if alone and len(held) > 1 and 1 < len(files) <= FEW:
        where = {splits[0] for splits in homes.values() if len(splits) == 1}
        of_many = f"{where.pop()} alone" if len(where) == 1 else "one split alone"
        verb = "is" if len(alone) == 1 else "are"
        lines.append(
            f"Note: {_named(alone)} {verb} in {of_many}, so the splits hold different texts; give more text, or cut it "
            f"{cutting}"
        )
    return lines


def _listed(of_split: Counter[str]) -> str:
    if len(of_split) > FEW:
        return f"{sum(of_split.values()):,} bytes of {len(of_split):,} files"
    return ", ".join(f"{size:,} bytes of {file}" for file, size in sorted(of_split.items())) or "nothing"


def _named(files: list[str]) -> str:
    return ", ".join(files[:NAMED]) + (f" and {len(files) - NAMED:,} more" if len(files) > NAMED else "")
