"""Standard error that is no terminal, such as a file: of the bars that a command draws, a line a minute."""

import time
from collections.abc import Callable
from typing import Any, TextIO

MINUTE = 60.0  # seconds between two lines
MOVES = frozenset("\n\r\x1b[A ")  # what tqdm writes between bars


class Minutes:
    """A stream that claims to be a terminal, so that bars are drawn, and writes the latest of them once a minute."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self.stream = stream
        self.clock = clock
        self._last = clock()
        self._within = False  # a line that is no bar

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def isatty(self) -> bool:
        """Say that it is one; tqdm asks."""
        return True

    def write(self, text: str) -> int:
        """Write text that is no bar at once, and a bar if the last one was written a minute ago."""
        if self._within or not (text.startswith("\r") or MOVES.issuperset(text)):
            self.stream.write(text)
            self._within = not text.endswith("\n")
        elif (bar := text.strip()) and not MOVES.issuperset(bar) and self.clock() - self._last >= MINUTE:
            self._last = self.clock()
            self.stream.write(f"{bar}\n")
            self.stream.flush()
        return len(text)
