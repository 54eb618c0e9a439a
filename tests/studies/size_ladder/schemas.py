"""Files that a run of one seed lacks, with their schemas."""

from studies.size_ladder.best import BEST
from studies.size_ladder.measure import MEASURED
from studies.size_ladder.predict import PREDICTIONS

SCHEMAS = {
    "{text}ladder/{model}.parquet": MEASURED,
    "{text}ladder_best/{model}-rank{rank}.parquet": BEST,
    "scale_predictions.parquet": PREDICTIONS,
}
