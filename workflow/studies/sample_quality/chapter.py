"""The chapter of the story page."""

from oversmoothing.claims.story.answers import at_ends
from oversmoothing.claims.story.chapters import Chapter, Chart

CHAPTER = Chapter(
    "How close samples are to people's texts",
    ("How far the samples are from people's text is measured against a second set of human texts.",),
    answers={
        "sample_quality": at_ends(
            "The share of written words that are English words is {}.",
            also={"in people's texts": {"kind": "human", "model": "human", "decoding": None}},
            measure="valid_words",
            kind="family",
            decoding="pure",
        )
    },
    claims=("5",),
    terms={
        "MAUVE": "Closeness of two sets of texts, from 0 to 1, in the eyes of a language model.",
        "byte TV": "Total variation between the frequencies of bytes in the samples and in human text.",
    },
    charts=(
        Chart(
            "sample_quality",
            "Quality of samples by rank",
            {"measure": "measure", "decoding": "decoding"},
            only={"kind": ("family",), "better": ("human", "higher", "lower")},
        ),
    ),
    tables=("sample_quality",),
    figures=("byte_frequency",),
    after="What the models write",
)
