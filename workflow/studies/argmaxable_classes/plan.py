"""The tables that its claims read."""

from plan.studies import Study

STUDY = Study(tested={"argmaxability": ("b",), "bytes": ()})
