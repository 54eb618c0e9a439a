"""What a step imports of the library, for the tests that keep it small."""

from oversmoothing.fingerprint import SCRIPTS, closure

BY_MODULE = ("models", "numerics", "scores", "tables")  # rooms of which a step imports some modules alone


def imported(*files):
    """Rooms of the library that files import; of those in `BY_MODULE` their modules or packages."""
    paths = {path.relative_to(SCRIPTS).with_suffix("") for file in files for path in closure(file) if _of_library(path)}
    inner = {path.parts[1:] for path in paths if path.stem != "__init__"}
    return {"/".join(parts[: _depth(parts)]) for parts in inner}


def _depth(parts):
    return (3 if parts[1] == "catalogue" else 2) if parts[0] in BY_MODULE else 1


def _of_library(path):
    return path.is_relative_to(SCRIPTS / "oversmoothing")
