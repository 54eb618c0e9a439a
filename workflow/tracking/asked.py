"""Settings that each input of a job should have been made with: those of the rule that makes it.

Snakemake compares settings with its own records. Results whose records were lost, or not copied with them, would pass
as up to date; but each file states the settings that it was made with, and its readers check them.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any


def asked_of_inputs(rules: Iterable[Any]) -> Callable[[Any, Iterable[str]], dict[str, dict[str, Any]]]:
    """Parameter `asked` of all rules: the settings that a job's inputs should have been made with.

    By the input's path, it holds ``rule`` (the name of the rule that makes it) and ``settings`` (if that rule has such
    a parameter). Because it is a function of the inputs, Snakemake does not compare it.
    """
    makers = [rule for rule in rules if "settings" in rule.params.keys()]  # noqa: SIM118 (it iterates over values)

    @cache
    def made_by(path: str) -> dict[str, Any] | None:
        for rule in makers:
            if rule.is_producer(path):
                settings = rule.params.settings
                if callable(settings):
                    settings = settings(Wildcards(rule, path))
                return {"rule": rule.name, "settings": settings}
        return None

    return lambda wildcards, input: {path: maker for path in input if (maker := made_by(str(path)))}


class Wildcards:
    """The wildcards of the job that makes a path, as attributes."""

    def __init__(self, rule: Any, path: str) -> None:
        vars(self).update(rule.get_wildcards(path))
