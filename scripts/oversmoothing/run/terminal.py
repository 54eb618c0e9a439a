"""What a person sees of a run of Snakemake: one line on a terminal, and the cause of each failure at the end.

A terminal gets Snakemake's warnings and errors above a line that is kept up to date; its other messages are in the
file that it writes to .snakemake/log. Elsewhere, such as in a file, Snakemake's messages are left as they are.
"""

import atexit
import logging
import shutil
import sys
import threading
from collections.abc import Iterable
from typing import TextIO

from oversmoothing.printable import printable
from oversmoothing.run.follow import Follower

INTERVAL = 1.0  # seconds between two lines


def follow(logger: logging.Logger, rules: Iterable[str], cores: int | None, news: str = "") -> None:
    """Follow a run through Snakemake's logger until the process ends; `news` is for the end of one that went well."""
    follower, stream = Follower(rules, cores), sys.stderr
    handlers = [handler for handler in logger.handlers if getattr(handler, "stream", None) is stream]
    live = stream.isatty() and logger.level > logging.DEBUG and bool(handlers)
    report = Report(follower, stream, handlers[0] if live else None, news)
    logger.addHandler(report)
    if live:
        logger.removeHandler(handlers[0])
    atexit.register(report.end)


class Report(logging.Handler):
    """Handler that keeps a line up to date above which `shown` prints warnings and errors, if it is given."""

    def __init__(self, follower: Follower, stream: TextIO, shown: logging.Handler | None, news: str = "") -> None:
        super().__init__()
        self.follower = follower
        self.stream = stream
        self.shown = shown
        self.news = news
        self._ended = threading.Event()
        self._writing = threading.RLock()
        if shown:
            threading.Thread(target=self._keep, daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record in; on a terminal show it if it is a warning or an error, and bring the line up to date."""
        self.follower.read(record)
        if self.shown is None or self._ended.is_set():
            return
        with self._writing:
            if record.levelno >= logging.WARNING:
                self.stream.write("\r\x1b[K")
                self.shown.handle(record)
            self._write()

    def end(self) -> None:
        """Finish the line; print the causes of failures, so that they stand last, or what is new."""
        with self._writing:
            self._ended.set()
            if self.shown:
                self._write()
                self.stream.write("\n")
                if self.news and self.follower.done == self.follower.total:
                    print(self.news, file=self.stream)
            for cause in self.follower.causes():
                print(f"Failed: {printable(cause)}", file=self.stream)
            self.stream.flush()

    def _keep(self) -> None:
        while not self._ended.wait(INTERVAL):
            with self._writing:
                if not self._ended.is_set():
                    self._write()

    def _write(self) -> None:
        """Replace the terminal's last line."""
        width = shutil.get_terminal_size().columns - 1
        text = self.follower.line()
        self.stream.write("\r\x1b[K" + (text if len(text) <= width else f"{text[: width - 1]}…"))
        self.stream.flush()
