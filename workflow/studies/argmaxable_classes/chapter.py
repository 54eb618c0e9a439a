"""The chapter of the story page."""

from oversmoothing.claims.story.answers import at_ends
from oversmoothing.claims.story.chapters import Chapter

CHAPTER = Chapter(
    "Bytes that can never be predicted",
    ("With a head of low rank some bytes are never the most probable, whatever the context.",),
    answers={
        "argmaxability": at_ends(
            "Of 256 bytes, those proved never to be the most probable, whatever enters the head, number {}.",
            decimals=0,
            measure="unargmaxable",
            condition="free",
        )
    },
    claims=("B",),
    terms={"unargmaxable": "Of a byte: no hidden state makes it the most probable."},
    tables=("argmaxability",),
    after="Oversmoothing",
)
