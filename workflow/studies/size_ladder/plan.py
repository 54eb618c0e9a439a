"""The sizes of a ladder, the models that are trained at each, and what is measured of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oversmoothing.models.gpt_shape import block_matrices
from oversmoothing.run.needs import trained_bytes, training_flops
from oversmoothing.training.schedule import decay_begins
from plan import branches, tokens
from plan.model_types import Trained
from plan.models import trained_member
from plan.run import Run
from plan.settings import settings
from plan.studies import Study
from plan.table import Shown, Table
from plan.texts import Text

Config = Mapping[str, Any]
Rows = list[dict[str, Any]]
LATER = "later"  # in place of True: held out, predicted, and measured in another run


@dataclass(frozen=True)
class Size:
    """One size of the ladder."""

    width: int
    layers: int
    heads: int
    seeds: Sequence[int]
    ranks: Sequence[int]
    held_out: bool | str = False

    @property
    def name(self) -> str:
        """Its name in paths and tables."""
        return f"w{self.width}x{self.layers}"

    @property
    def folder(self) -> str:
        """Its folder in the results, as of a text that its models learn: that of the run."""
        return f"ladder/{self.name}/"


def listed(config: Config) -> list[Size]:
    """Return the sizes, in the config's order."""
    return [Size(**entry) for entry in config["size_ladder"]["sizes"]]


def sizes(config: Config) -> list[Size]:
    """Return the sizes that this run measures; those held out alone, if the ladder of the others was made before."""
    before = config["size_ladder"]["ladder"]
    return [size for size in listed(config) if size.held_out != LATER and (size.held_out or not before)]


def member(config: Config, size: Size, rank: int, steps: int, seed: int) -> Trained:
    """Return the model of a size, rank and number of steps, at the learning rate of `training`."""
    shape = {**config["model"], "width": size.width, "layers": size.layers, "heads": size.heads}
    one_rate = {**config["learning_rates"], "tried": []}
    known = {**config, "model": shape, "learning_rates": one_rate}
    return trained_member(known, {"rank": rank, "max_steps": steps}, seed)


def own_truth(config: Config, size: Size, steps: int) -> Trained:
    """Return the own truth of a size and number of steps: a full head with a seed of its own."""
    return member(config, size, size.width, steps, config["size_ladder"]["truth_seed"])


def judged(config: Config, size: Size) -> list[Trained]:
    """Return the models of a size that are held against truths: of each rank, then controls."""
    section = config["size_ladder"]
    ranks, all_steps = [*size.ranks, size.width], section["steps"]
    rungs = [(rank, steps) for steps in all_steps for rank in ranks]
    controls = [(size.width, steps) for steps in section["controls"]]
    return [member(config, size, *of, seed) for of in [*rungs, *controls] for seed in size.seeds]


def learners(config: Config, size: Size) -> dict[str, Trained]:
    """Return all models of a size that are trained, by name."""
    truths = [own_truth(config, size, steps) for steps in config["size_ladder"]["steps"]]
    return {model.name: model for model in (*judged(config, size), *truths)}


def steps_of(model: Trained) -> int:
    """Return the number of steps of a model."""
    return int(model.settings["training"]["max_steps"])


def truths_of(config: Config, size: Size, model: Trained) -> list[str]:
    """Return names of the own truths that a model is held against: a full head against all, as it is a control of all.

    The truth that stays is not among them.
    """
    all_steps = config["size_ladder"]["steps"]
    chosen = all_steps if model.rank == size.width else [steps_of(model)]
    return [own_truth(config, size, steps).name for steps in chosen]


def rows(config: Config, held_out: bool) -> Rows:
    """Return facts of the judged models of the sizes in the law, or of those held out of it."""
    return [
        {
            **model.facts,
            "size": size.name,
            "width": size.width,
            "weights": block_matrices(model.shape),
            "steps": steps_of(model),
            "bytes": trained_bytes(model.settings),
            "truths": truths_of(config, size, model),
        }
        for size in sizes(config)
        if size.held_out == held_out
        for model in judged(config, size)
    ]


def rungs(config: Config, held_out: bool) -> Rows:
    """Return sizes and numbers of steps at which ranks are compared, each with the name of its own truth."""
    return [
        {"size": size.name, "steps": steps, "own": own_truth(config, size, steps).name}
        for size in sizes(config)
        if size.held_out == held_out
        for steps in config["size_ladder"]["steps"]
    ]


def texts_read(run: Run) -> Iterator[Text]:
    """Yield the run's own text once for each size, as the text that its models learn."""
    for size in sizes(run.config):
        yield Text(
            size.folder,
            windows=run.windows,
            weights=run.on_any_text(run.weights).replace("{text}", size.folder),
            models=learners(run.config, size),
            splits=run.read,
        )


def measure_settings(config: Config, size: Size, model: Trained) -> dict[str, Any]:
    """Return settings on which depends what is measured of a model."""
    section = config["size_ladder"]
    return settings(
        truths=[*truths_of(config, size, model), section["truth"]],
        batch=tokens.inference(config)["batch"],
        tau=config["metrics"]["tau"],
        parts=section["per_window"] if steps_of(model) in section["steps"] else None,
        ranks=config["ranks"]["positions"],
    )


def measured(run: Run) -> str:
    """Return the file of what is measured of a model, by ``{text}`` and ``{model}``."""
    return run.on_any_text(f"{run.results}/ladder/{{model}}.parquet")


def best(run: Run) -> str:
    """Return the file of what the best head of a rank forces, by ``{text}``, ``{model}`` (a truth) and ``{rank}``."""
    return run.on_any_text(f"{run.results}/ladder_best/{{model}}-rank{{rank}}.parquet")


def best_heads(config: Config) -> Rows:
    """Return truths and ranks for which a best head is fitted, each with its ``start``: text and name of a model.

    ``size`` is None for the truth that stays, whose best heads serve all sizes.
    """
    section = config["size_ladder"]
    found: Rows = []
    for size in sizes(config):
        for steps in section["steps"]:
            for rank in size.ranks:
                start = member(config, size, rank, steps, size.seeds[0]).name
                truth = own_truth(config, size, steps).name
                of = {"text": size.folder, "size": size.name, "truth": truth, "rank": rank}
                found.append({**of, "start": (size.folder, start)})
    for rank in dict.fromkeys(rank for size in sizes(config) for rank in size.ranks):
        having = [size for size in sizes(config) if rank in size.ranks]
        size = next((size for size in reversed(having) if not size.held_out), having[-1])
        start = member(config, size, rank, max(section["steps"]), size.seeds[0]).name
        of = {"text": "", "size": None, "truth": section["truth"], "rank": rank}
        found.append({**of, "start": (size.folder, start)})
    return found


def predictions(run: Run) -> str:
    """Return the file of predictions that this run makes."""
    return f"{run.results}/scale_predictions.parquet"


def held_out_places(config: Config) -> Rows:
    """Return of each size held out and number of steps what it is called, its ranks, weights and bytes of text."""
    held = [size for size in listed(config) if size.held_out]
    full = [(size, own_truth(config, size, steps)) for size in held for steps in config["size_ladder"]["steps"]]
    return [
        {
            "place": f"{size.name}-{steps_of(model)}steps",
            "ranks": list(size.ranks),
            "weights": block_matrices(model.shape),
            "bytes": trained_bytes(model.settings),
        }
        for size, model in full
    ]


def law_settings(config: Config) -> dict[str, Any]:
    """Return settings on which the law and its predictions depend."""
    return settings(
        places=held_out_places(config),
        truth=config["size_ladder"]["truth"],
        resamples=config["size_ladder"]["resamples"],
        seed=config["statistics"]["seed"],
    )


def tables(run: Run) -> Iterator[Table]:
    """Yield the table of the ladder, that of the sizes held out, and predictions beside what came, with the figure."""
    section = run.config["size_ladder"]
    if not sizes(run.config):
        return
    by_seed = {"scale": section["ladder"]} if section["ladder"] else {}
    folders = {size.name: size.folder for size in sizes(run.config)}
    for held_out, name, words in ((False, "scale", "the ladder"), (True, "scale_held_out", "the sizes held out")):
        models, of_sizes = rows(run.config, held_out), rungs(run.config, held_out)
        if not models:
            continue
        made = [{"text": folders[row["size"]], "model": row["model"]} for row in models]
        texts = {"", *(folders[rung["size"]] for rung in of_sizes)}
        ranks = {row["rank"] for row in models}
        fitted = [of for of in best_heads(run.config) if of["text"] in texts and of["rank"] in ranks]
        by_seed[name] = run.table(f"{name}_by_seed")
        yield Table(
            f"{name}_table",
            "show.py",
            {
                "measured": [measured(run).format(**of) for of in made],
                "histories": [run.on_any_text(run.history).format(**of) for of in made],
                "best": [best(run).format(text=of["text"], model=of["truth"], rank=of["rank"]) for of in fitted],
            },
            settings(
                models=models,
                rungs=of_sizes,
                truth=section["truth"],
                best=[{"size": of["size"], "truth": of["truth"], "rank": of["rank"]} for of in fitted],
                unit=run.unit,
            ),
            table=Shown(name, "0 Findings", f"What a rank costs as models grow: {words}"),
            files={"seeds": by_seed[name]},
        )
    if section["predictions"] or held_out_places(run.config):
        yield Table(
            "scale_predictions_table",
            "outcomes.py",
            {
                "predictions": section["predictions"] or predictions(run),
                "ladder": by_seed["scale"],
                "held_out": [by_seed["scale_held_out"]] if "scale_held_out" in by_seed else [],
                "workstation": run.kept_table("workstation", "forced"),
                "losses": run.published_file("table_3_1"),
                "leaks": run.published_file("table_4_1"),
            },
            settings(**law_settings(run.config), unit=run.unit),
            table=Shown("scale_predictions", "0 Findings", "What a rank costs larger models: predicted, and what came"),
            figure=Shown("scale", "0 Findings", "What a rank costs as models grow"),
        )


def mistakes(config: Config) -> Iterator[str]:
    """Yield messages about sizes, steps and a truth that cannot be."""
    section = config["size_ladder"]
    if not section["sizes"]:
        return
    if not tokens.over_bytes(config):
        yield "size_ladder.sizes: sizes are of models over bytes, and this config reads tokens; write []"
        return
    names = [entry["name"] for entry in config["truths"]]
    if section["truth"] not in names:
        yield f"size_ladder.truth: no truth is called {section['truth']!r}; use one of {', '.join(names)}"
        return
    if not section["steps"]:
        yield "size_ladder.steps: [], but sizes are compared after some steps; name one or more numbers"
        return
    if again := sorted(set(section["steps"]) & set(section["controls"])):
        yield f"size_ladder.controls: {again[0]} is one of size_ladder.steps; leave it out"
    called = [size.name for size in listed(config)]
    for size in listed(config):
        if called.count(size.name) > 1:
            yield f"size_ladder.sizes: two have a width of {size.width} and {size.layers} layers; keep one"
            return
        if section["truth_seed"] in size.seeds:
            yield f"size_ladder.truth_seed: {section['truth_seed']} is a seed of {size.name}; choose another"
            return
        if size.width % size.heads:
            yield f"size_ladder.sizes: {size.heads} heads do not divide the width {size.width}"
        if max(size.ranks) >= size.width:
            yield f"size_ladder.sizes: rank {max(size.ranks)} is no lower than the width {size.width}; leave it out"
            return
        yield from branches.mistakes(learners(config, size).values())
    if section["ladder"] and not section["predictions"]:
        yield "size_ladder.ladder: predictions come from the run that made it; name them in size_ladder.predictions too"
    if section["ladder"] and not sizes(config):
        yield "size_ladder.ladder: beside a ladder made before only sizes of held_out: true are measured; write it"
    if all(size.held_out for size in listed(config)) and not section["ladder"]:
        yield "size_ladder.sizes: all are held_out, and the law is fitted to the others; add one"


def files(config: Config) -> dict[str, str]:
    """Return the files of predictions and of the ladder that were made before, if the config names them."""
    section = config["size_ladder"]
    return {f"size_ladder.{name}": section[name] for name in ("predictions", "ladder") if section[name]}


def work(config: Config) -> list[dict[str, Any]]:
    """Return the number of trainings of the ladder, and the operations that they take."""
    operations, count = 0, 0
    for size in sizes(config):
        models = learners(config, size)
        trunks = branches.trunks(models.values())
        for name, model in models.items():
            taken = decay_begins(model.settings["training"]) if name in trunks else 0
            operations += training_flops(model.settings, taken)
        of_size = {trunk.name: trunk for trunk in trunks.values()}
        operations += sum(training_flops(trunk.settings) for trunk in of_size.values())
        count += len(models) + len(of_size)
    return [{"what": "trainings of the ladder", "count": count, "operations": operations}] if count else []


STUDY = Study(
    mistakes=mistakes,
    files=files,
    texts_read=texts_read,
    tables=tables,
    work=work,
    needs=("forced_part", "leak_at_equal_loss"),
)
