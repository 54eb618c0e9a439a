"""The chapter of the story page."""

from oversmoothing.claims.story.chapters import Chapter
from studies.byte_by_byte.claims import CLAIMS

CHAPTER = Chapter(
    "Byte by byte",
    ("Is the byte that comes next a rare one? The thesis found that rare bytes are oversmoothed more.",),
    claims=tuple(claim.id for claim in CLAIMS),
    tables=("bytes",),
    figures=("byte_oversmoothing", "argmax_frequency", "utf8_bytes"),
)
