"""Whether revisions of one repository on the hub hold the weights of the training steps in their names.

Branches of training steps have been uploaded with the weights of other steps, in whole or in some of their files. The
hub lists the checksum of each file, so this is known before anything is downloaded.
"""

import logging
from collections.abc import Mapping

from oversmoothing.hub.listing import MissingRevisionError, Repository, list_files
from oversmoothing.jobs import UserError

logger = logging.getLogger(__name__)

WEIGHTS = "model*.safetensors"
KNOWN = "known of Pythia: github.com/EleutherAI/pythia/issues/205, 206; of OLMo 2: github.com/allenai/OLMo/issues/915"


def check_revisions(name: str, steps: Mapping[str, int | None], otherwise: Mapping[str, str]) -> None:
    """Check that revisions, by name their training step or None, have no weight file of another step on the hub.

    Of one that the hub does not have, `otherwise` may name another to read. Nothing is compared if the hub cannot be
    asked: fetching names the reason.
    """
    files = {}
    try:
        for revision in steps:
            listed = _weight_files(name, revision)
            if listed is None and revision in otherwise:
                listed = _weight_files(name, otherwise[revision])
            files[revision] = listed or {}
    except UserError as error:
        logger.warning("%s; the weights of its revisions are not compared", error)
        return
    for path, revisions in shared(files, steps):
        raise UserError(
            f"model {name}: {' and '.join(revisions)} have the same {path} on the hub, so not all of them hold the "
            f"weights of their steps ({KNOWN}); remove all but one of them from the config"
        )


def shared(files: Mapping[str, Mapping[str, str]], steps: Mapping[str, int | None]) -> list[tuple[str, list[str]]]:
    """Return files, given by revision, path and checksum, that revisions of different steps have in common.

    A revision without a step, such as `main`, may be equal to the last step, since it mostly is the end of a training.
    """
    last = max((step for step in steps.values() if step is not None), default=None)
    holders: dict[str, dict[str, str]] = {}
    for revision, weights in files.items():
        for path, checksum in weights.items():
            holders.setdefault(checksum, {})[revision] = path
    first: dict[tuple[str, ...], str] = {}
    for paths in holders.values():
        if len({last if steps[revision] is None else steps[revision] for revision in paths}) > 1:
            first.setdefault(tuple(paths), next(iter(paths.values())))
    return [(path, list(revisions)) for revisions, path in first.items()]


def _weight_files(name: str, revision: str) -> dict[str, str] | None:
    """Return path and checksum of a revision's weight files; None if the hub has no such revision."""
    try:
        return list_files(Repository(name, revision), revision, [WEIGHTS])
    except MissingRevisionError:
        return None
