"""What a rank costs by where it is imposed, in a sentence."""

from studies.imposed_rank.finding import by_way

__all__ = ["by_way"]
