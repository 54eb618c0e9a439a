"""Mean scores by window of models that several seeds trained, for intervals over seeds and text."""

import pandas as pd
import pyarrow as pa

from oversmoothing.jobs import Job, run
from oversmoothing.scores.sums import pure_windows
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance

NAME = pa.dictionary(pa.int16(), pa.string())
SCHEMA = pa.schema(
    [
        *((name, NAME) for name in ("model", "kind", "arm")),
        ("rank", pa.int32()),
        ("seed", pa.int32()),
        *((name, NAME) for name in ("truth", "measure")),  # no truth of TBAT
        ("window", pa.int32()),
        ("n", pa.int32()),  # positions
        ("value", pa.float64()),  # their mean
    ]
)


def main(job: Job) -> None:
    """Read the scores under pure sampling; write their means by window, with what each model is."""
    settings = job.params.settings
    means = pure_windows([*job.input.scores, *job.input.tbat]).merge(pd.DataFrame(settings["models"]), on="model")
    write_table(job.output[0], pa.Table.from_pandas(means, SCHEMA, preserve_index=False), provenance(settings))


if __name__ == "__main__":
    run(main)
