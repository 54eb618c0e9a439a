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

from oversmoothing.claims.catalogue import CLAIMS  # noqa: E402
from oversmoothing.claims.measured import of_run, of_thesis  # noqa: E402
from oversmoothing.claims.table import claims_table  # noqa: E402
from oversmoothing.jobs import import_by_name  # noqa: E402
from oversmoothing.store.layout import csv_text, read_csv  # noqa: E402
from oversmoothing.tables.record import is_record, read_record  # noqa: E402
from plan import models, studies  # noqa: E402

CORE = {  # as workflow/rules/claims.smk has it
    **{"losses": ("3_1",), "oversmoothing": ("6_1",), "decodings_pooled": ("6_1",), "svd": ("7_1", "7_2")},
    **{"tbat": ("e_7", "e_8"), "entropy_difference": ("f_1",)},
}


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
    paths = (run / "tables").glob("*.csv")
    tables = {path.stem: (read_record if is_record(path) else read_csv)(path) for path in paths}
    printed = {
        name: [ROOT / f"resources/published/table_{number}.csv" for number in numbers]
        for name, numbers in (CORE | studies.tested(config)).items()
    }
    modules = [import_by_name(f"studies.{name}.claims") for name in studies.with_part(config, "claims.py")]
    claims = [*CLAIMS, *(claim for module in modules for claim in module.CLAIMS)]
    headings = {place: words for module in modules for place, words in getattr(module, "HEADINGS", {}).items()}
    ordered = sorted(claims, key=lambda claim: claim.place_of(headings))
    return claims_table(ordered, of_run(tables, models.compared_models(config)), of_thesis(printed))


if __name__ == "__main__":
    main()
