"""One lock, in two forms."""

from pathlib import Path

import yaml

ENVS = Path(__file__).resolve().parent.parent / "envs"


def lines(name):
    return [line.split("#")[0].strip() for line in (ENVS / name).read_text().splitlines() if line.split("#")[0].strip()]


def test_conda_installs_the_same_pins():
    pip = yaml.safe_load((ENVS / "environment.yaml").read_text())["dependencies"][-1]["pip"]
    assert pip == lines("lock.txt")


def test_every_pin_is_exact_and_free_of_local_builds_and_addresses():
    for line in lines("lock.txt") + lines("lock-dev.txt"):
        name, version = line.split("==")
        assert name
        assert "+" not in version
        assert "@" not in line
        assert "/" not in line


def test_what_is_asked_for_by_name_is_locked():
    for asked, locked in (("requirements.in", "lock.txt"), ("requirements-dev.in", "lock-dev.txt")):
        names = {line.split("==")[0].lower().replace("_", "-") for line in lines(locked)}
        for line in lines(asked):
            assert line.split(">")[0].split("=")[0].lower() in names, line
