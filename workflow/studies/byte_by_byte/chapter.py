"""The chapter of the story page."""

from oversmoothing.story.chapters import Chapter

CHAPTER = Chapter(
    "Byte by byte",
    ("Is the byte that comes next a rare one? The thesis found that rare bytes are oversmoothed more.",),
    tables=("bytes",),
    figures=("byte_oversmoothing", "argmax_frequency", "utf8_bytes"),
)
