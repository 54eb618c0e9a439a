"""Other heads and objectives, each beside what it is compared with, as two pages quote them."""

from oversmoothing.tables.quantities import Table
from pages.kept import kept


class Compared:
    """One run's heads and objectives: a call of a comparison takes a measure, a rank and a kind."""

    def __init__(self, table: Table) -> None:
        table = table.by("measure", "rank", "kind")
        self.level = table.where(less=None)
        self.less_linear = table.where(less="family")  # of the same rank
        self.less_full = table.where(less="full")
        self.less_neighbours = table.where(less="neighbours")  # than a line between the ranks beside it
        self.beyond_full_rank = table.where(less="gain at full rank")
        self.at_equal_loss = table.where(less="equal loss")
        self.at_equal_operations = table.where(less="equal operations")
        self.at_equal_parameters = table.where(less="equal parameters")
        self.at_equal_tto = table.where(less="equal TTO")  # cross-entropy at another temperature


PLAIN = ["plain"]
NARROWER = ["softcap", "sigsoftmax", "monotone"]  # as many multiplications as a linear head
COSTLY = ["mos2", "mos4", "mfs3", "two_layer"]
LAYERS = PLAIN + NARROWER + COSTLY

after_400_steps = Compared(kept("explanations").explanations.where(law=None))
after_1600_steps = Compared(kept("explanations_long").explanations)
at_width_288 = Compared(kept("explanations_wide").explanations)
under_full, under_rank8, under_zeros = (
    Compared(kept("explanations").explanations.where(law=law)) for law in ("full", "rank8", "zeros")
)
chosen_rates, chosen_rates_after_1600_steps, chosen_larger_rates = (
    kept(run).learning_rates.where("validation_loss", note="chosen").by("arm")
    for run in ("explanations", "explanations_long", "explanations_rates")
)
lowest_rate_after_1600_steps = min(chosen_rates_after_1600_steps.column("learning_rate"))
highest_rate_after_1600_steps = max(chosen_rates_after_1600_steps.column("learning_rate"))
highest_of_larger_rates = max(chosen_larger_rates.column("learning_rate"))
highest_rate_tried = max(kept("explanations_rates").learning_rates.column("learning_rate", measure="validation_loss"))
