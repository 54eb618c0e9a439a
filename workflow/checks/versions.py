"""Check of the installed packages against the lock, whose versions the fingerprints of all rules state."""

from oversmoothing.fingerprint import unlike_lock


def other_versions() -> list[str]:
    """Message about the packages that results depend on and that are installed in another version than the lock's."""
    unlike = [f"{name} {there} is installed and {locked} locked" for name, (there, locked) in unlike_lock().items()]
    if not unlike:
        return []
    return [
        f"{', '.join(unlike)}: results may differ, and Snakemake does not notice the change; "
        "run `make env` or `pip install -r envs/lock.txt`"
    ]
