"""One training per folder, on one machine or on the many that share a file system.

Within a machine `flock` decides: the kernel frees it when a process dies, however it dies. Between machines nobody
can rely on it: some file systems have none, and on others (Lustre with `localflock`, BeeGFS by default) it holds on
one machine alone and does not say so. There a file decides that names its owner and that the owner touches every few
seconds: an owner that stays silent is dead, and one that finds another's name there saves no more.
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

BEAT = 10.0  # seconds between two signs of life
SILENCE = 60.0  # seconds after which an owner on another machine counts as dead

logger = logging.getLogger(__name__)


class Lock:
    """A folder held by this process.

    Parameters
    ----------
    folder : Path
        It exists.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._owner = folder / "owner"
        self._name = f"{socket.gethostname()} process {os.getpid()}{_slurm_job()} {uuid.uuid4().hex}"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder for the length of a block, and leave nothing in it.

        Raises
        ------
        UserError
            If another process trains in it: after a kill of Snakemake an orphan may live on.
        """
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
                    path.unlink(missing_ok=True)  # while it is held: who opened it before finds it gone (see `_flock`)

    def verify(self) -> None:
        """Check that the folder is still ours, as it is not when this process was suspended and replaced.

        Raises
        ------
        UserError
            If another process has taken over.
        """
        if not self._is_ours():
            raise UserError(f"{self.folder}: {_who(self._read()[0])} has taken this training over; this one stops")

    def _flock(self, file: TextIO) -> bool:
        """Take the machine's own lock; return False where the file system has none."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise self._taken() from None
        except OSError as error:
            logger.warning("%s: no file locks here (%s); going by signs of life", self.folder, error)
            return False
        if os.fstat(file.fileno()).st_nlink == 0:  # its holder has just removed it, and a third may have made another
            raise self._taken()
        return True

    def _claim(self, alone_here: bool) -> None:
        """Write our name, once no living process has its own there."""
        try:
            self._create()
            return
        except FileExistsError:
            before = self._read()
        ours_to_judge = (
            alone_here and before[0].split(" ")[0] == socket.gethostname()
        )  # then its lock was free: it is dead
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
        """Write our name into a file that is not there yet, as only one process can."""
        with self._owner.open("x", encoding="utf-8") as file:
            try:
                file.write(self._name)
                file.flush()
            except BaseException:
                self._owner.unlink(missing_ok=True)  # an owner without a name keeps everybody waiting
                raise

    def _beat(self, ended: threading.Event) -> None:
        """Give signs of life until the end, or until another has taken over. A touch needs no room on a full disk."""
        while not ended.wait(BEAT):
            with suppress(OSError):  # of a file system that does not answer; it may when the next one is due
                if not self._is_ours():
                    return
                os.utime(self._owner)

    def _read(self) -> tuple[str, int]:
        """Return the owner's name and the time of its last sign of life; of a missing owner neither."""
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
    """Turn an owner's entry into words: machine, process, SLURM job; without what makes it unique."""
    name = " ".join(owner.split(" ")[:-1])
    return f"another process ({name})" if name else "another process"


def _slurm_job() -> str:
    job = os.environ.get("SLURM_JOB_ID")
    return f" (SLURM job {job})" if job else ""
