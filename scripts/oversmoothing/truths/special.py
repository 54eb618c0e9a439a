"""What a truth gives to ids that are no byte, position by position, before they are left out (thesis 3.2)."""

import numpy as np
import pyarrow as pa

from oversmoothing.logits import logits_schema

COLUMN = "special_mass"


def special_schema(vocabulary: int) -> pa.Schema:
    """Return the columns of a logits file with ``special_mass``: float32, the probability left out at a position."""
    return logits_schema(vocabulary).append(pa.field(COLUMN, pa.float32()))


def with_special_mass(batch: pa.RecordBatch, mass: np.ndarray) -> pa.RecordBatch:
    """Put the mass (rows,) beside the rows of a logits file."""
    schema = special_schema(batch.schema.field("logits").type.list_size)
    return pa.record_batch([*batch.columns, pa.array(mass, pa.float32())], schema=schema)


class SpecialMass:
    """Mean and maximum of the mass over all positions seen."""

    def __init__(self) -> None:
        self.sum, self.n, self.highest = 0.0, 0, 0.0

    def add(self, mass: np.ndarray) -> str:
        """Take in the positions of a window; say in words what they have."""
        self.sum += float(mass.sum(dtype=np.float64))
        self.n += len(mass)
        self.highest = max(self.highest, float(mass.max()))
        return _words(float(mass.mean(dtype=np.float64)), float(mass.max()))

    def facts(self) -> dict[str, str]:
        """Return what the logits file says of it in its metadata."""
        return {f"{COLUMN}_mean": f"{self.sum / self.n:.6g}", f"{COLUMN}_max": f"{self.highest:.6g}"}

    def __str__(self) -> str:
        return _words(self.sum / self.n, self.highest)


def _words(mean: float, highest: float) -> str:
    return f"ids that are no byte have a mass of {mean:.3g} on average, {highest:.3g} at most"
