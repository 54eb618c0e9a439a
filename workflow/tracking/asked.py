"""What each input of a job should say of itself: the settings of the rule that makes it.

Snakemake compares these with its own records. Results that were copied without their records, or whose records are
lost, pass for what the config asks for; but they state what they were made with, and their readers check it.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any


def asked_of_inputs(rules: Iterable[Any]) -> Callable[[Any, Iterable[str]], dict[str, dict[str, Any]]]:
    """Parameter `asked` of all rules: what a job's inputs should have been made with.

    It holds, by the input's path, ``rule``, the name of what makes it, and ``settings``, if that rule has such a
    parameter. Because it is a function of the inputs, Snakemake does not compare it.
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
