"""What a config makes, looked up once: models by what is known of them, texts, and paths of results."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from oversmoothing.scores.decoding import decoding_name
from plan import branches, corpus, models, resources, samples, studies, thesis, tokens
from plan.model_types import Checkpoint, Hub, Model, Trained, of_type
from plan.texts import Text

PUBLISHED, KEPT = (Path(__file__).resolve().parents[2] / "resources" / name for name in ("published", "studies"))


class Run:
    """Models and files of a config: in paths, ``{model}`` stands for the name of a model.

    Chapters of the workflow and the tables of studies take both from here.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config
        self.results = results = config["results"].rstrip("/")
        self.over_bytes = tokens.over_bytes(config)
        self.unit = tokens.unit(config)
        self._files(results)

        self.models = models.by_name(config)
        self.of_studies = studies.models(config)
        self.trials = models.trials(config)
        self.tried = models.tried(self.trials)
        self.known: dict[str, Model] = self.models | self.of_studies | self.trials
        self.replicated = models.replicated(config)
        self.predictors = [model for model in self.models.values() if model.kind in ("family", "truth")]
        self.trained = [model for model in self.predictors if isinstance(model, Trained)]
        self.own = [model.name for model in self.models.values() if isinstance(model, Trained | Checkpoint)]
        self.from_hub = [model.name for model in of_type(Hub, self.models)]
        self.byte_views = models.byte_views(config, "truth", "family")
        self.capped = models.capped(config)
        self.truths = models.names(self.models, "truth")
        self.family = models.names(self.models, "family")
        self.truncated = models.names(self.models, "svd")
        # Members of the family with heads, hidden states and samples; of these, those whose heads give their logits.
        self.known_inside = [name for name in self.family if name not in self.byte_views]
        self.linear = [name for name in self.known_inside if name not in self.capped]
        self.fetched = [name for name in self.family if name in (*self.from_hub, *self.byte_views)]

        self.decoded = [decoding_name(entry) for entry in config["decodings"]]
        self.judged = samples.judged_decodings(config)
        self.gpus = resources.gpus(config)

        main = Text(
            "",
            self.windows,
            self.weights,
            truths={truth: self.logits.format(model=truth) for truth in self.truths},
            splits=self.read,
        )
        self.texts = {text.folder: text for text in (main, *studies.texts_read(self))}
        learners = {folder: (text.models or self.models).values() for folder, text in self.texts.items() if text.splits}
        self.trunks = {folder: branches.trunks(models) for folder, models in learners.items()}

    def _files(self, results: str) -> None:
        self.corpus = {split: f"{results}/corpus/{split}.bin" for split in ("train", "validation", "evaluation")}
        self.manifest = f"{results}/corpus/manifest.json"
        self.fetched_corpus = f"{results}/fetched/corpus.json"  # the shards themselves are shared by the configs
        self.user_text = corpus.user_files(self.config)
        self.tokens = tokens.files(self.config, results)
        self.vocabulary = self.tokens["vocabulary"]
        self.read = tokens.read_by_models(self.config, results)  # splits, as models read them
        self.windows = f"{results}/windows.parquet"
        self.weights = f"{results}/models/{{model}}/weights.safetensors"
        self.history = f"{results}/models/{{model}}/history.parquet"
        self.trunk = f"{results}/trunks/{{model}}"  # folder of what trainings branch off
        self.heads = f"{results}/heads/{{model}}/weights.safetensors"  # of models that studies add
        self.logits = f"{results}/logits/{{model}}.parquet"
        self.hidden = f"{results}/hidden/{{model}}.parquet"
        self.samples = f"{results}/samples/{{model}}/{{decoding}}.parquet"
        self.window_means = f"{results}/tables/window_means.parquet"
        self.assets = self.config["assets"].rstrip("/")
        self.manifest_of = f"{self.assets}/{{asset}}.json"

    def on_any_text(self, path: str) -> str:
        """Return the path of a result on the main text with the wildcard ``{text}``, which makes it that of any."""
        return path.replace(f"{self.results}/", f"{self.results}/{{text}}", 1)

    def of(self, path: str, names: Iterable[str], text: str = "") -> list[str]:
        """Return files of models, by a path with ``{model}`` and the folder of a text."""
        return [self.on_any_text(path).format(text=text, model=name) for name in names]

    def scores(self, metrics: Iterable[str], names: Iterable[str], text: str = "") -> list[str]:
        """Return files of the scores of models; capped ones and byte views have no TBAT."""
        without_tbat = (*self.capped, *self.byte_views)
        chosen = list(names)
        return [
            f"{self.results}/{text}scores/{metric}/{name}.parquet"
            for metric in metrics
            for name in chosen
            if metric != "tbat" or name not in without_tbat
        ]

    def table(self, name: str) -> str:
        """Return the file of a table's numbers."""
        return f"{self.results}/tables/{name}.csv"

    def published(self, *tables: str) -> list[str]:
        """Return files of the thesis's tables with the given numbers; none for tokens, as its models read bytes."""
        return [self.published_file(f"table_{table}") for table in tables if self.over_bytes]

    def published_file(self, name: str) -> str:
        """Return a file of published numbers."""
        return os.path.relpath(PUBLISHED / f"{name}.csv")

    def kept_table(self, run: str, name: str) -> str:
        """Return the numbers of a table of a kept run."""
        return os.path.relpath(KEPT / f"{run}/tables/{name}.csv")

    def compared_inside(self, kind: str) -> list[dict[str, Any]]:
        """Return rows of a table of the models of a kind that have heads, hidden states and samples."""
        return [row for row in thesis.compared(self.config, kind) if row["model"] not in self.byte_views]

    def truths_of(self, model: str, text: str = "") -> dict[str, str]:
        """Return files of the logits of the truths that a model is held against, by their names."""
        held = self.texts[text]
        return {name: path for name, path in held.truths.items() if name != model or held.against_themselves}
