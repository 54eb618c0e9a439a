"""One measure of one model, which an entry of `oversmoothing.measures` declares: its values, written as Parquet.

Snakemake says which as to any step. By hand, `python scripts/measure.py --help` says which measures there are, and
`python scripts/measure.py MEASURE --help` which files and settings one takes.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.jobs import Job, UserError, run
from oversmoothing.measures.catalogue import POSITION, Columns, Measure, find, measures
from oversmoothing.measures.files import count_windows, read_hidden, read_windows, write_tables
from oversmoothing.measures.sample import read_sample
from oversmoothing.models.heads import ModelHead, read_model_head
from oversmoothing.scores.decoding import decoding_name
from oversmoothing.scores.files import NAME
from oversmoothing.store.provenance import provenance


def main(job: Job) -> None:
    """Read what the measure needs; write its columns, and in front of those of a window what they are of."""
    settings, measure = job.params.settings, find(job.params.measure)
    if compiled := sys.modules.get("oversmoothing.numerics.compiled"):  # only some measures import it
        compiled.use_threads(job.threads)
    measure = measure.with_settings(**{name: settings[name] for name in measure.settings if name in settings})
    head, source = None, job.input.get("weights")
    if "head" in measure.needs:
        head = read_model_head(source, settings.get("rank"), capped=measure.over != "window")
    logits = job.input.get("logits") or job.input.get("model")
    of = replace(measure, of=partial(named, logits or source, measure.of))
    units = {statistic.unit for statistic in measure.statistics.values()}
    facts = {"unit": units.pop()} if len(units) == 1 else {}
    tables = TABLES[measure.over](of, job, head, logits)
    write_tables(job.output[0], tables, provenance(settings, model=job.wildcards.model, **facts))


def named(source: Any, of: Callable[..., Columns], *given: Any, **settings: Any) -> Columns:
    """Return what a function measures; its errors name the file that it measures."""
    try:
        return of(*given, **settings)
    except (UserError, ValueError) as error:
        raise UserError(f"{source}: {error}") from error


def of_windows(measure: Measure, job: Job, head: ModelHead | None, logits: Any) -> Iterator[pa.Table]:
    """Yield the columns of each window beside each truth, and decoded in each way, if the measure decodes."""
    settings, truths = job.params.settings, {}
    if "truth" in measure.needs:
        truths = dict(zip(settings["truths"], job.input.truths, strict=True))
    decodings = settings.get("decodings", []) if "decoding" in measure.settings else []
    read = read_windows(logits, truths, head, job.input.get("hidden"))
    for number, windows in tqdm(read, job.wildcards.model, count_windows(logits), unit="window", disable=None):
        for truth, window in windows.items():
            if not decodings:
                names = {"truth": truth} if truths else {}
                yield keyed(number, names, measure.of(window, **measure.settings))
            for decoding in decodings:
                columns = measure.of(window, **{**measure.settings, "decoding": decoding})
                yield keyed(number, {"truth": truth, "decoding": decoding_name(decoding)}, columns)


def of_sample(measure: Measure, job: Job, head: ModelHead | None, logits: Any) -> Iterator[pa.Table]:
    """Yield the columns of positions that are drawn over all windows."""
    assert head is not None
    drawn = job.params.settings["positions"], job.params.settings["seed"]
    yield pa.table(arrays(measure.of(read_sample(logits, job.input.hidden, head, *drawn), **measure.settings)))


def of_head(measure: Measure, job: Job, head: ModelHead | None, _: Any) -> Iterator[pa.Table]:
    """Yield the columns of a head; the hidden states help to prove them, if they are given."""
    hidden = read_hidden(job.input.hidden) if job.input.get("hidden") else None
    yield pa.table(arrays(measure.of(head, hidden, **measure.settings)))


TABLES = {"window": of_windows, "sample": of_sample, "head": of_head}


def keyed(number: int, names: dict[str, str | None], columns: Columns) -> pa.Table:
    """Return the columns of a window behind its number, the positions and what they are of."""
    found = arrays({name: values for name, values in columns.items() if name != POSITION})
    n = len(next(iter(found.values())))
    at = columns.get(POSITION, np.arange(n))
    keys = {"window": pa.array(np.full(n, number, np.int32)), POSITION: pa.array(at.astype(np.int32))}
    of = {key: pa.array([name] * n, pa.string()).dictionary_encode().cast(NAME) for key, name in names.items()}
    return pa.table({**keys, **of, **found})


def arrays(columns: Columns) -> dict[str, pa.Array]:
    """Return columns for a table; what is masked or NaN is not known, and null."""
    return {name: pa.array(values, from_pandas=True) for name, values in columns.items()}


def by_hand(arguments: Sequence[str]) -> Job:
    """Return the job that arguments describe."""
    parser = argparse.ArgumentParser(description="Write the values of a measure of a model as Parquet.")
    commands = parser.add_subparsers(dest="measure", required=True, metavar="MEASURE")
    for name, measure in measures().items():
        if measure.over == "window" and {"sizes", "dropped"} & set(measure.needs):
            continue  # of no file
        own = commands.add_parser(
            name, help=(measure.of.__doc__ or "").partition("\n")[0], description=measure.of.__doc__
        )
        own.add_argument("output", type=Path, help="file that is written")
        if {"logits", "truth"} & set(measure.needs):
            own.add_argument("--logits", type=Path, required=True, help="logits/MODEL.parquet")
        if "truth" in measure.needs:
            own.add_argument(
                "--truth", type=_truth, action="append", required=True, help="NAME=logits/TRUTH.parquet; repeatable"
            )
        if "head" in measure.needs:
            own.add_argument("--weights", type=Path, required=True, help="models/MODEL/weights.safetensors or a head")
            own.add_argument("--rank", type=int, help="to which the head is truncated")
            own.add_argument("--hidden", type=Path, required="hidden" in measure.needs, help="hidden/MODEL.parquet")
        more = {"positions": 1024, "seed": 1337} if measure.over == "sample" else {"threads": 1}
        for setting, value in {**measure.settings, **more}.items():
            flag = f"--{setting.replace('_', '-')}"
            own.add_argument(flag, type=_value, default=value, metavar="JSON", help=f"default: {json.dumps(value)}")
    given = vars(parser.parse_args(arguments))
    files = {name: given.pop(name, None) for name in ("logits", "weights", "hidden")}
    beside = dict(given.pop("truth", []))
    measure, output, threads = (given.pop(name, 1) for name in ("measure", "output", "threads"))
    settings = {**given, "truths": list(beside)}
    return SimpleNamespace(
        input=Files(**files, truths=list(beside.values())),
        output=[output],
        params=SimpleNamespace(measure=measure, settings=settings),
        wildcards=SimpleNamespace(model=output.stem),
        threads=threads,
        log=[],
    )


def _truth(text: str) -> tuple[str, str]:
    """Return the name and the file of a truth."""
    name, equals, file = text.partition("=")
    if not (name and equals and file):
        raise argparse.ArgumentTypeError(f"{text!r} has no name; write NAME={name or 'FILE'}")
    return name, file


def _value(text: str) -> Any:
    """Return JSON; a plain word stands for itself."""
    return text if text.isalpha() and text not in ("null", "true", "false") else json.loads(text)


class Files(SimpleNamespace):
    """Input files by name, as Snakemake gives them."""

    def get(self, name: str) -> Any:
        """Return a file; None if there is none of the name."""
        return vars(self).get(name)


if __name__ == "__main__":
    run(main, None if "snakemake" in globals() else by_hand(sys.argv[1:]))
