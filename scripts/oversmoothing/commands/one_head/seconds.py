"""Seconds of processor that each part of a command takes."""

import time
from collections.abc import Callable


class Seconds:
    """Counts them, in all threads of this process; the first part is all that went before."""

    def __init__(self, clock: Callable[[], float] = time.process_time) -> None:
        self._clock, self._part, self._since = clock, "start", 0.0
        self._spent: dict[str, float] = {}

    def begin(self, part: str) -> None:
        """End the part before, and begin another one, or the same once more."""
        now = self._clock()
        self._spent[self._part] = self._spent.get(self._part, 0.0) + now - self._since
        self._part, self._since = part, now

    def line(self) -> str:
        """End the last part; return what all took."""
        self.begin(self._part)
        parts = ", ".join(f"{part} {spent:.1f}" for part, spent in self._spent.items())
        return f"Seconds of processor: {parts}; {sum(self._spent.values()):.1f} in all"
