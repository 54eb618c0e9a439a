"""Build the corpus: split the documents of the configured source into training, validation and evaluation bytes."""

from pathlib import Path

from oversmoothing.data.shards import build_from_shards, open_shards, read_fetched, shard_facts
from oversmoothing.data.sources import open_source
from oversmoothing.data.splits import SPLITS, build_splits
from oversmoothing.jobs import Job, run


def main(job: Job) -> None:
    """Read `params.settings`; write the splits and their manifest."""
    settings = job.params.settings
    paths = {split: Path(getattr(job.output, split)) for split in SPLITS}
    manifest = Path(job.output.manifest)
    both = {"separator": settings["separator"], "at_least": job.params.at_least}
    if settings["source"] == "fineweb":
        fetched = read_fetched(job.input.files[0])
        shards, facts = open_shards(fetched, settings["column"]), shard_facts(fetched)
        texts = shards["train"], shards["evaluation"]
        build_from_shards(*texts, paths, manifest, validation=settings["validation"], facts=facts, **both)
    else:
        source = open_source(settings, processes=getattr(job, "threads", 1))
        divided = {"shares": settings["splits"], "overlap_words": settings["overlap_words"]}
        build_splits(source, paths, manifest, **divided, **both)


if __name__ == "__main__":
    run(main)
