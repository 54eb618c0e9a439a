"""Tables and figures of the core, each declared once; those of studies are in their plans (`Study.tables`)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from plan import models, studies, thesis
from plan.model_types import ByBytes
from plan.run import Run
from plan.settings import settings
from plan.table import Shown, Table

OVERSMOOTHING = [name for name in METRICS if METRICS[name].table == "oversmoothing"]
ENTROPY = [name for name in METRICS if METRICS[name].table == "entropy_difference"]
EACH_TRUTH = ("e_1", "e_2", "e_3", "e_4", "e_5", "e_6")  # the thesis's tables of decodings


def all_tables(run: Run) -> list[Table]:
    """Return all tables and figures that a config makes, in the order of the report."""
    shown = [*_of_models(run), *_of_scores(run), *_of_losses_and_samples(run), *studies.tables(run)]
    return [*shown, _claims(run, shown)] if run.over_bytes else shown


def beside_thesis(
    run: Run, title: str, metrics: Iterable[str], across: str = "metric", kind: str = "family", **more: Any
) -> dict[str, Any]:
    """Return settings of a table of scores: one row per model of a kind, and its columns metrics or decodings."""
    metrics = list(metrics)
    without_heads = models.byte_views(run.config, "family") if "tbat" in metrics else []
    usual = {
        "decodings": ["pure"] if across == "metric" else run.decoded,
        "truths": thesis.compared(run.config, "truth", metrics),
    }
    return settings(
        **run.config["statistics"],
        title=title,
        across=across,
        models=thesis.compared(run.config, kind, metrics),
        **({"byte_views": without_heads} if without_heads else {}),
        **usual | more,
    )


def _of_models(run: Run) -> Iterator[Table]:
    if run.trained:
        yield Table(
            "architecture_figure",
            "architecture_figure.py",
            settings=settings(
                models=[{"model": model.name, "kind": model.kind, "shape": model.shape} for model in run.predictors]
            ),
            figure=Shown("architecture", "2 Background", "Figure 2.1: the models"),
        )
    if run.tried:
        yield Table(
            "learning_rates_table",
            "learning_rates_table.py",
            {"chosen": [f"{run.results}/learning_rates/{arm}.json" for arm in run.tried]},
            table=Shown("learning_rates", "9 Gradient", "Learning rates tried and chosen"),
        )


def _of_scores(run: Run) -> Iterator[Table]:
    def scored(
        shown: Shown, title: str, metrics: Sequence[str], members: list[str], published: Sequence[str], **how: Any
    ):
        return Table(
            f"{shown.name}_table",
            "score_table.py",
            {"scores": run.scores(metrics, members), "published": run.published(*published)},
            beside_thesis(run, title, metrics, **how),
            shown,
        )

    yield scored(
        Shown("oversmoothing", "0 Findings", "1. The main table: oversmoothing by rank (Tables 4.1, 4.2)"),
        "Oversmoothing {by} (Tables 4.1 and 4.2).",
        OVERSMOOTHING,
        run.family,
        ("4_1", "4_2"),
    )
    yield Table(
        "oversmoothing_figure",
        "oversmoothing_figure.py",
        {"table": run.table("oversmoothing"), "windows": [run.window_means] if run.replicated else []},
        figure=Shown("oversmoothing", "0 Findings", "2. The same, drawn"),
    )
    if run.linear:
        yield scored(
            Shown("tbat", "4 Oversmoothing", "Tables E.7, E.8: TBAT by decoding"),
            "Total mass of the BAT-reject set by decoding (Tables E.7 and E.8).",
            ["tbat"],
            run.family,
            ("e_7", "e_8"),
            across="decoding",
            truths=[],
        )
    yield scored(
        Shown("decodings", "6 Decoding", "Tables E.1 to E.6: each truth"),
        "Oversmoothing by rank and decoding (Tables E.1 to E.6).",
        AGAINST_TRUTHS,
        run.family,
        EACH_TRUTH,
        across="decoding",
    )
    yield scored(
        Shown("decodings_pooled", "6 Decoding", "Table 6.1: all truths"),
        "Oversmoothing by rank and decoding, over all truths (Table 6.1).",
        AGAINST_TRUTHS,
        run.family,
        ("6_1",),
        across="decoding",
        truths=[thesis.all_truths(run.config, AGAINST_TRUTHS)],
        pooled="all truths",
    )
    yield scored(
        Shown("entropy_difference", "6 Decoding", "Table F.1: entropy differences"),
        "Entropy of the truth less that of the model (Table F.1).",
        ENTROPY,
        run.family,
        ("f_1",),
    )
    if len(run.truths) > 1:
        yield scored(
            Shown("truths", "4 Oversmoothing", "Beyond the thesis: each truth against the others"),
            "Each truth held against the others.",
            AGAINST_TRUTHS,
            run.truths,
            (),
            kind="truth",
        )
    if run.fetched:
        yield Table(
            "side_by_side_table",
            "side_by_side_table.py",
            {"positions": [f"{run.results}/side_by_side/{name}.parquet" for name in run.fetched]},
            settings(
                **run.config["statistics"],
                unit=run.unit,
                models=[row for row in models.model_rows(run.models, "family") if row["model"] in run.fetched],
            ),
            Shown("side_by_side", "4 Oversmoothing", "As llama.cpp compares: quantiles of KL, same top, dp"),
        )
    if run.truncated:
        yield scored(
            Shown("svd", "7 Rank", "Tables 7.1, 7.2: truncated heads"),
            f"Oversmoothing of {models.truncated_model(run.config)} with its head truncated by SVD, by rank "
            "(Tables 7.1 and 7.2).",
            [*AGAINST_TRUTHS, *ENTROPY],
            run.truncated,
            ("7_1", "7_2"),
            kind="svd",
        )
    if run.config["metrics"]["tbat"]["approximations"] and run.linear:
        yield Table(
            "tbat_approximation_table",
            "tbat_approximation_table.py",
            {"scores": run.scores(["tbat_approximation"], run.linear)},
            settings(
                **run.config["statistics"],
                models=[row for row in thesis.compared(run.config, "family", ["tbat"]) if row["model"] in run.linear],
            ),
            Shown("tbat_approximation", "4 Oversmoothing", "Beyond the thesis: TBAT with approximated heads"),
        )


def _of_losses_and_samples(run: Run) -> Iterator[Table]:
    histories = run.of(run.history, (model.name for model in run.trained))
    yield Table(
        "losses_table",
        "losses_table.py",
        {
            "windows": run.windows,
            "histories": histories,
            "logits": run.of(run.logits, (model.name for model in run.predictors)),
            "published": run.published("3_1"),
        },
        settings(
            **run.config["statistics"],
            unit=run.unit,
            **({"on_windows": True} if run.byte_views else {}),  # which have no loss of a training
            models=thesis.compared(run.config, "family") + thesis.compared(run.config, "truth", itself=True),
        ),
        Shown("losses", "3 Models", "Table 3.1: losses and accuracies"),
    )
    if run.trained:
        yield Table(
            "losses_figure",
            "losses_figure.py",
            {"histories": histories},
            settings(
                unit=run.unit,
                models=[{"model": model.name, "kind": model.kind, "rank": model.rank} for model in run.trained],
                truths=run.truths,
            ),
            figure=Shown("losses", "3 Models", "Figure 3.1: losses along training"),
        )
    if run.judged:
        yield Table(
            "samples_table",
            "samples_table.py",
            {
                "windows": run.windows,
                "samples": [
                    run.samples.format(model=model, decoding=decoding)
                    for model, decodings in run.judged.items()
                    for decoding in decodings
                ],
            },
            settings(
                title="Samples by rank of what enters the LM head, and by decoding (Tables 5.1, 5.2 and G.1 to G.9)",
                show=run.config["samples"]["show"],
                models=[model.facts for model in run.models.values() if not isinstance(model, ByBytes)],
            ),
            Shown("samples", "5 Samples", "Tables 5.1, 5.2, G.1 to G.9: samples"),
            latex=False,
        )


def _claims(run: Run, shown: Sequence[Table]) -> Table:
    claimed = thesis.claimed(run.config)
    made = [path for table in shown for path in table.made(run.results)]
    return Table(
        "claims_table",
        "claims_table.py",
        {
            "tables": [path for path in made if path in map(run.table, claimed)],
            "windows": [run.window_means] if run.replicated else [],
            "published": run.published(*dict.fromkeys(number for numbers in claimed.values() for number in numbers)),
        },
        settings(
            printed=claimed,
            models=models.compared_models(run.config),
            studies=studies.with_part(run.config, "claims.py"),
        ),
        Shown("claims", "0 Findings", "What the thesis says, and whether it holds"),
        by_name=studies.code(run.config, "claims.py"),
    )
