"""What a person sees of a run of Snakemake: how far it is, warnings, errors, and the cause of each failure at the end.

On a terminal that is one line, kept up to date, with all else above it; elsewhere, such as in a file, it is a line a
minute. Snakemake's other messages are in the file that it writes to .snakemake/log; ``--verbose`` leaves them all,
and ``--quiet all`` none. Jobs write to a pipe in place of standard error, so that they draw no bars over the line.
"""

import atexit
import logging
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterable
from types import FrameType
from typing import TextIO

from oversmoothing.printable import printable
from oversmoothing.run.follow import Follower

ON_TERMINAL, ELSEWHERE = 1.0, 60.0  # seconds between two lines
BLOCK = 1 << 16  # bytes
MOMENT = 0.05  # seconds in which Ctrl-C reaches all processes


def follow(logger: logging.Logger, rules: Iterable[str], cores: int | None, news: str = "") -> None:
    """Follow a run through Snakemake's logger until the process ends; `news` is for the end of one that went well."""
    streams = (handler for handler in logger.handlers if isinstance(handler, logging.StreamHandler))
    own = [handler for handler in streams if handler.stream is sys.stderr]
    follower = Follower(rules, cores)
    message = logging.makeLogRecord({"levelno": logging.INFO, "levelname": "INFO"})
    if not own or not own[0].filter(message) or logger.level <= logging.DEBUG:
        report = Report(follower, sys.stderr, None, news)
    else:
        logger.removeHandler(own[0])
        report = Report(follower, os.fdopen(os.dup(2), "w", buffering=1), own[0], news)
        report.begin()
    logger.addHandler(report)
    atexit.register(report.end)


class Report(logging.Handler):
    """Handler that says how far a run is; `shown`, if it is given, prints warnings and errors between."""

    def __init__(self, follower: Follower, stream: TextIO, shown: logging.StreamHandler | None, news: str = "") -> None:
        super().__init__()
        self.follower = follower
        self.stream = stream
        self.shown = shown
        self.news = news
        self.live = shown is not None and stream.isatty()
        self.interrupted = False
        self._ended = threading.Event()
        self._writing = threading.RLock()
        if shown:
            shown.setStream(stream)

    def begin(self) -> None:
        """Begin to print lines, to take what jobs write to standard error, and to notice Ctrl-C."""
        before = signal.getsignal(signal.SIGINT)
        if callable(before):  # a background job ignores it

            def interrupt(number: int, frame: FrameType | None) -> None:
                self.interrupted = True
                before(number, frame)

            signal.signal(signal.SIGINT, interrupt)
        source, sink = os.pipe()
        os.dup2(sink, 2)
        os.close(sink)
        self._jobs = threading.Thread(target=self._pass_on, args=(source,), daemon=True)
        self._jobs.start()
        threading.Thread(target=self._keep, daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record in; show it if it is a warning or an error, and on a terminal bring the line up to date."""
        self.follower.read(record)
        if self.shown is None or self._ended.is_set() or self.interrupted:
            return
        with self._writing:
            if record.levelno >= logging.WARNING:
                self._clear()
                self.shown.handle(record)
            if self.live:
                self._write()

    def end(self) -> None:
        """Write the last line; print the causes of failures, so that they stand last, or what is new."""
        if self.shown:
            sys.stderr.flush()
            os.dup2(self.stream.fileno(), 2)  # ends the pipe, unless a job outlives the run
            self._jobs.join(timeout=1)
        with self._writing:
            self._ended.set()
            done = self.follower.done, self.follower.total
            if self.interrupted:
                self._clear()
                print(f"Interrupted after {done[0]} of {done[1]} steps; the same command goes on.", file=self.stream)
                return
            if self.shown:
                self._write(last=True)
                if self.news and done[0] == done[1]:
                    print(self.news, file=self.stream)
            for cause in self.follower.causes():
                print(f"Failed: {printable(cause)}", file=self.stream)
            self.stream.flush()

    def _keep(self) -> None:
        while not self._ended.wait(ON_TERMINAL if self.live else ELSEWHERE):
            with self._writing:
                if not self._ended.is_set() and not self.interrupted:
                    self._write()

    def _pass_on(self, source: int) -> None:
        """Print whole lines that come through the pipe; nothing once the user has interrupted the jobs."""
        rest = b""
        while data := os.read(source, BLOCK):
            time.sleep(MOMENT)
            lines, end, rest = (rest + data).rpartition(b"\n")
            self._print(lines + end)
        if rest:
            self._print(rest + b"\n")

    def _print(self, data: bytes) -> None:
        with self._writing:
            if data and not self.interrupted:
                self._clear()
                self.stream.write(data.decode(errors="replace"))
                self.stream.flush()

    def _clear(self) -> None:
        if self.live:
            self.stream.write("\r\x1b[K")

    def _write(self, last: bool = False) -> None:
        """Replace the terminal's last line, or write another one."""
        text = self.follower.line(last)
        if self.live:
            width = shutil.get_terminal_size().columns - 3  # and room for ^C
            self._clear()
            self.stream.write((text if len(text) <= width else f"{text[: width - 1]}…") + "\n" * last)
        else:
            self.stream.write(f"{time.strftime('%H:%M')} {text}\n")
        self.stream.flush()
