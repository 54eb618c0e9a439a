"""Metrics of sample quality, with their units and directions (thesis 5.2 and 6.2)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """A metric of sample quality."""

    label: str  # in tables
    unit: str
    better: str = "human"  # the closer to the human value, neither direction being better; or "higher", "lower"
    of_set: bool = False  # whether it applies to a whole set of samples rather than to each sample
    reads: bool = False  # whether it depends on the language model
    completed: bool = False  # whether the thesis's script puts the partial word of the prompt before the continuation
    published_factor: float = 1.0  # ratio of the value printed in the thesis to the value by definition


MEASURES = {
    "perplexity": Measure("Perplexity", "perplexity per token", reads=True, completed=True),
    "bigram": Measure("Repetition", "share of word bigrams"),
    "loop": Measure("Loops", "share of samples"),  # the definition that the thesis cites but does not use
    "mauve": Measure("MAUVE", "score, 0 to 1", "higher", of_set=True, reads=True, completed=True),
    # The thesis's script counts both sets in one counter, which halves the distance.
    "byte_tv": Measure("Byte TV", "probability", "lower", of_set=True, published_factor=0.5),
    "valid_words": Measure("Valid words", "share of words", completed=True),
    "word_length": Measure("Word length", "characters"),
}
