"""What the study needs: laws, and positions at which what a head forces is computed."""

from plan.studies import Study

STUDY = Study(tested={"bat_premise": ()}, needs=("forced_part", "known_law"))
