"""The chapter of the story page."""

from oversmoothing.claims.story.chapters import Chapter

CHAPTER = Chapter(
    "Bytes that can never be predicted",
    ("With a head of low rank some bytes are never the most probable, whatever the context.",),
    claims=("B",),
    terms={"unargmaxable": "Of a byte: no hidden state makes it the most probable."},
    tables=("argmaxability",),
    after="Oversmoothing",
)
