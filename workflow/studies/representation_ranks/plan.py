"""The tables that its claims read."""

from plan.studies import Study

STUDY = Study(tested={"effective_rank": ("7_3",)})
