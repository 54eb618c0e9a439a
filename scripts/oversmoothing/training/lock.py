"""A lock that allows one training per folder, on one machine or on several that share a file system.

Within a machine it relies on `flock`, which the kernel releases whenever a process dies. Between machines `flock` is
not reliable: some file systems do not support it, and on others (Lustre with `localflock`, BeeGFS by default) it
silently applies to one machine only. There, a file names the owner, who touches it every few seconds. An owner that
stops doing so counts as dead, and an owner that finds another name in the file no longer saves.
"""

import fcntl
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from oversmoothing.jobs import UserError
from oversmoothing.store.atomic import atomic_path

BEAT = 10.0  # seconds between two heartbeats
SILENCE = 60.0  # seconds without a heartbeat after which an owner on another machine counts as dead

logger = logging.getLogger(__name__)


class Lock:
    """Lock of an existing folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._owner = folder / "owner"
        job = f" (SLURM job {os.environ['SLURM_JOB_ID']})" if "SLURM_JOB_ID" in os.environ else ""
        self._name = f"{socket.gethostname()} process {os.getpid()}{job} {uuid.uuid4().hex}"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder for this process; a `UserError` if another trains in it, as one that outlived Snakemake."""
        path = self.folder / "lock"
        with path.open("w") as file:
            alone_here = self._flock(file)
            self._claim(alone_here)
            ended = threading.Event()
            beat = threading.Thread(target=self._beat, args=(ended,), daemon=True)
            beat.start()
            try:
                yield
            finally:
                ended.set()
                beat.join()
                if self._is_ours():
                    self._owner.unlink(missing_ok=True)
                    path.unlink(missing_ok=True)  # while held: a process with the file open notices (see `_flock`)

    def verify(self) -> None:
        """Check that no other process has taken over the folder, for instance while this one was suspended."""
        if not self._is_ours():
            raise UserError(f"{self.folder}: {_who(self._read()[0])} has taken this training over; this one stops")

    def _flock(self, file: TextIO) -> bool:
        """Acquire the `flock`; return False if the file system has none."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise self._taken() from None
        except OSError as error:
            logger.warning("%s: no file locks here (%s); going by signs of life", self.folder, error)
            return False
        if os.fstat(file.fileno()).st_nlink == 0:  # its holder has just removed it; a third process may have a new one
            raise self._taken()
        return True

    def _claim(self, alone_here: bool) -> None:
        """Write this process's name once no living process owns the folder."""
        try:
            self._create()
            return
        except FileExistsError:
            before = self._read()
        # An owner on this machine whose `flock` was free is dead.
        ours_to_judge = alone_here and before[0].split(" ")[0] == socket.gethostname()
        limit = time.monotonic() + (0 if ours_to_judge else SILENCE)
        if not ours_to_judge:
            logger.info("%s: last held by %s; waiting %.0f s for a sign of life", self.folder, _who(before[0]), SILENCE)
        while time.monotonic() < limit:
            time.sleep(min(1.0, SILENCE / 10))
            if self._read() != before:
                raise self._taken()
        with atomic_path(self._owner) as temporary:
            temporary.write_text(self._name, encoding="utf-8")

    def _create(self) -> None:
        """Write this process's name into a new file, which only one process can create."""
        with self._owner.open("x", encoding="utf-8") as file:
            try:
                file.write(self._name)
                file.flush()
            except BaseException:
                self._owner.unlink(missing_ok=True)  # a file without a name would make every process wait
                raise

    def _beat(self, ended: threading.Event) -> None:
        """Send heartbeats until the end or until another process has taken over. A touch works on a full disk."""
        while not ended.wait(BEAT):
            with suppress(OSError):  # the file system may answer again at the next heartbeat
                if not self._is_ours():
                    return
                os.utime(self._owner)

    def _read(self) -> tuple[str, int]:
        """Return the owner's name and the time of its last heartbeat; empty if there is no owner."""
        try:
            with self._owner.open(encoding="utf-8", errors="replace") as file:
                return file.read(), os.fstat(file.fileno()).st_mtime_ns
        except FileNotFoundError:
            return "", 0

    def _is_ours(self) -> bool:
        return self._read()[0] == self._name

    def _taken(self) -> UserError:
        return UserError(f"{self.folder}: {_who(self._read()[0])} is training this model; wait for it or end it")


def _who(owner: str) -> str:
    """Return the readable form of an owner's entry: machine, process and SLURM job, without the unique part."""
    name = " ".join(owner.split(" ")[:-1])
    return f"another process ({name})" if name else "another process"
