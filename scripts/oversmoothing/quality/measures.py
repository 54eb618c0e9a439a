"""The metrics of sample quality: their units, and where better lies (thesis 5.2 and 6.2)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """A row of `MEASURES`.

    Attributes
    ----------
    label : str
        In tables.
    unit : str
    better : {"human", "higher", "lower"}
        "human": the closer to the human value, the better; no direction is good by itself.
    of_set : bool
        Of a whole set of samples and not of each.
    reads : bool
        Depends on the language model.
    completed : bool
        The thesis's script puts the partial word at the end of the prompt before the continuation; else this metric is
        of the continuation alone.
    published_factor : float
        What the thesis prints is this times what its definition says.
    """

    label: str
    unit: str
    better: str = "human"
    of_set: bool = False
    reads: bool = False
    completed: bool = False
    published_factor: float = 1.0


MEASURES = {
    "perplexity": Measure("Perplexity", "perplexity per token", reads=True, completed=True),
    "bigram": Measure("Repetition", "share of word bigrams"),
    "loop": Measure("Loops", "share of samples"),  # the definition that the thesis cites, but does not use
    "mauve": Measure("MAUVE", "score, 0 to 1", "higher", of_set=True, reads=True, completed=True),
    # The thesis's script counts both sets in one counter, which halves the distance.
    "byte_tv": Measure("Byte TV", "probability", "lower", of_set=True, published_factor=0.5),
    "valid_words": Measure("Valid words", "share of words", completed=True),
    "word_length": Measure("Word length", "characters"),
}
