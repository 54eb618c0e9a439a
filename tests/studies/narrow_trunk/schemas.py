"""Files that a run of one seed lacks, with their schemas."""

from studies.narrow_trunk.measure import LEARNED_ON

SCHEMAS = {"narrow_trunk/{model}.parquet": LEARNED_ON}
