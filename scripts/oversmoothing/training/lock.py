"""One training per folder, on one machine or on the many that share a file system.

Within a machine `flock` decides: the kernel frees it when a process dies, however it dies. Between machines nobody
can rely on it: some file systems have none, and on others (Lustre with `localflock`, BeeGFS by default) it holds on
one machine alone and does not say so. There a file decides that names its owner and that the owner rewrites every few
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
from contextlib import contextmanager
from pathlib import Path

from oversmoothing.jobs import UserError

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
        """Hold the folder for the length of a block.

        Raises
        ------
        UserError
            If another process trains in it: after a kill of Snakemake an orphan may live on.
        """
        path = self.folder / "lock"
        with path.open("w") as file:
            alone_here = self._flock(file.fileno())
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
                    self._owner.unlink()

    def verify(self) -> None:
        """Check that the folder is still ours, as it is not when this process was suspended and replaced.

        Raises
        ------
        UserError
            If another process has taken over.
        """
        if not self._is_ours():
            raise UserError(f"{self.folder}: {_who(self._read())} has taken this training over; this one stops")

    def _flock(self, descriptor: int) -> bool:
        """Take the machine's own lock; return False where the file system has none."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise self._taken(self._read()) from None
        except OSError as error:
            logger.warning("%s: no file locks here (%s); going by signs of life", self.folder, error)
            return False
        return True

    def _claim(self, alone_here: bool) -> None:
        """Write our name, once no living process has its own there."""
        try:
            with self._owner.open("x") as file:  # only one process can create it
                file.write(f"{self._name} 0")
            return
        except FileExistsError:
            before = self._read()
        ours_to_judge = (
            alone_here and before.split(" ")[0] == socket.gethostname()
        )  # then its lock was free: it is dead
        limit = time.monotonic() + (0 if ours_to_judge else SILENCE)
        if not ours_to_judge:
            logger.info("%s: last held by %s; waiting %.0f s for a sign of life", self.folder, _who(before), SILENCE)
        while time.monotonic() < limit:
            time.sleep(min(1.0, SILENCE / 10))
            if self._read() != before:
                raise self._taken(self._read())
        self._write(0)

    def _beat(self, ended: threading.Event) -> None:
        """Give signs of life until the end, or until another has taken over."""
        beats = 0
        while not ended.wait(BEAT) and self._is_ours():
            beats += 1
            self._write(beats)

    def _write(self, beats: int) -> None:
        temporary = self._owner.with_name(f".owner.{os.getpid()}")
        temporary.write_text(f"{self._name} {beats}", encoding="utf-8")
        temporary.replace(self._owner)

    def _read(self) -> str:
        try:
            return self._owner.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""

    def _is_ours(self) -> bool:
        return self._read().startswith(self._name)

    def _taken(self, owner: str) -> UserError:
        return UserError(f"{self.folder}: {_who(owner)} is training this model; wait for it or end it")


def _who(owner: str) -> str:
    """Turn an owner's entry into words: machine, process, SLURM job."""
    name = " ".join(owner.split(" ")[:-2])
    return f"another process ({name})" if name else "another process"


def _slurm_job() -> str:
    job = os.environ.get("SLURM_JOB_ID")
    return f" (SLURM job {job})" if job else ""
