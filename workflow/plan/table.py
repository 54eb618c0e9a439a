"""What a rule makes for the reader: a table, figures or both, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Files = str | Sequence[str]


@dataclass(frozen=True)
class Shown:
    """A table or figure in the report: its name in paths, its chapter, and its label there."""

    name: str
    chapter: str
    label: str


@dataclass(frozen=True)
class Table:
    """One rule of `rules/tables.smk`, which makes a table, figures or both of results."""

    rule: str
    step: str  # the script: of the core in scripts/, of a study in its folder
    inputs: Mapping[str, Files] = field(default_factory=dict)
    settings: Mapping[str, Any] | None = None  # plain values (`plan.settings.settings`)
    table: Shown | None = None
    latex: bool = True  # whether the table has this format, too
    figure: Shown | None = None
    figures: Mapping[str, Sequence[Shown]] = field(default_factory=dict)  # by the output that is a list of their files
    files: Mapping[str, str] = field(default_factory=dict)  # further outputs
    by_name: Sequence[str] = ()  # files of code that the step imports by name

    def made(self, results: str) -> list[str]:
        """Return a file of each table and figure, which `rule all` asks for."""
        tables = [self.table] if self.table else []
        figures = [*([self.figure] if self.figure else []), *(one for some in self.figures.values() for one in some)]
        return [f"{results}/tables/{one.name}.csv" for one in tables] + [
            f"{results}/figures/{one.name}.png" for one in figures
        ]
