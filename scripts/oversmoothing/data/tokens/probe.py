"""A child that builds the tokenizer of a file and reads trial texts with it, in little memory and time.

Others wrote the file. The library can abort the process (an id of 4e9), use up the memory (a normalizer that makes a
letter ten, again and again) or take an expression that backtracks for hours; a child alone can be ended then. It writes
in a line to its standard output what is wrong, or nothing.
"""

import re
import resource
import sys
from contextlib import suppress
from pathlib import Path

from tokenizers import Tokenizer

IDS = 1 << 24  # a limit on ids, sixty times the largest vocabularies; what is indexed by id must fit into memory
RUN = 64  # characters of a trial text
RUNS = " \na1!\N{LATIN SMALL LETTER E WITH ACUTE}\N{CJK UNIFIED IDEOGRAPH-6C34}"
PATTERN = re.compile(r'"Regex":\s*"((?:[^"\\]|\\.)*)"')


def main(path: str, memory: int, seconds: int) -> None:
    """Print what is wrong with a file, within so many bytes and seconds of processor."""
    for kind, limit in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        with suppress(ValueError):  # a system may not know a limit
            resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
    print(_fault(path))


def _fault(path: str) -> str:
    try:
        tokenizer = Tokenizer.from_file(path)
    except BaseException as error:  # the library raises nothing more specific, and what is no `Exception`
        return f"not a complete tokenizer ({_line(error)})"
    names = tokenizer.get_vocab(with_added_tokens=True)
    last = max(names, key=lambda name: names[name], default="")
    if names and names[last] >= IDS:
        return f"{last!r} has the id {names[last]:,}; ids from {IDS:,} on are of no model's head"
    tokenizer.no_truncation()
    tokenizer.no_padding()
    for text in _texts(path):
        try:
            tokenizer.encode(text)
        except Exception:  # it has no token for the text
            continue
        except BaseException as error:
            return f"it cannot read a run of {text[0]!r} ({_line(error)})"
    return ""


def _texts(path: str) -> list[str]:
    """Return runs of a character, those of the file's expressions too: where an expression backtracks most."""
    written = Path(path).read_text(encoding="utf-8")
    found = {character for pattern in PATTERN.findall(written) for character in pattern}
    return [end for each in sorted({*RUNS, *found}) for end in (each * RUN, each * RUN + "!")]


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
