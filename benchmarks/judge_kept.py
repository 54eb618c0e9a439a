"""Judge the claims again on the tables of a kept run, and write its verdicts in today's columns.

python benchmarks/judge_kept.py default

A kept table is never edited by hand: where the columns of verdicts change, this writes them from the kept numbers.
"""

import argparse
import sys
from pathlib import Path

import pandas as pd
import yaml
from snakemake.utils import update_config

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "workflow")]

from oversmoothing.claims.catalogue import in_order  # noqa: E402
from oversmoothing.claims.measured import WINDOWS, of_run, of_thesis  # noqa: E402
from oversmoothing.claims.table import claims_table  # noqa: E402
from oversmoothing.jobs import import_by_name  # noqa: E402
from oversmoothing.store.layout import csv_text  # noqa: E402
from oversmoothing.tables.record import read_tables  # noqa: E402
from plan import models, studies, thesis  # noqa: E402


def main() -> None:
    """Write claims.csv of the runs that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", help="folders of resources/studies")
    for name in parser.parse_args().runs:
        run = ROOT / "resources/studies" / name
        path = run / "tables/claims.csv"
        path.write_text(csv_text(judged(run)), encoding="utf-8")


def judged(run: Path) -> pd.DataFrame:
    """Return the verdicts on all claims of the run's studies, from its kept tables."""
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    studies.fill_in(config)
    update_config(config, yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8")))
    config["studies"] = [name for name in config["studies"] if name in studies.there()]
    tables = read_tables([*(run / "tables").glob("*.csv"), *(run / "tables").glob(f"{WINDOWS}.parquet")])
    printed = {
        name: [ROOT / f"resources/published/table_{number}.csv" for number in numbers]
        for name, numbers in thesis.claimed(config).items()
    }
    claims, _ = in_order(import_by_name(f"studies.{name}.claims") for name in studies.with_part(config, "claims.py"))
    return claims_table(claims, of_run(tables, models.compared_models(config)), of_thesis(printed))


if __name__ == "__main__":
    main()
