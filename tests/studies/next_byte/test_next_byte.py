"""The byte after a prompt: windows of prompts, the table and the figures show what logits and scores hold."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from made_scores import write_scores
from matplotlib.colors import to_rgba
from step_jobs import job, outputs, write_logits

from oversmoothing.data.windows import SCHEMA
from oversmoothing.jobs import UserError
from oversmoothing.store.parquet import read_table, write_table
from oversmoothing.tables.figures.style import RIGHT
from oversmoothing.tables.record import read_record, record
from studies.next_byte import figure, illustrated, prompts
from studies.next_byte import table as step
from studies.next_byte.figure import NAMED, named_bytes
from studies.next_byte.illustrated import OTHERS, extremes
from studies.next_byte.prompts import read_prompts, showcase_windows, typical_prompt
from studies.next_byte.table import by_model, completion, read_distributions

OVER_BYTES = {"tokenizer": [], "vocabulary": []}
ENTRIES = [{"prompt": "wate", "next": "r"}, {"prompt": "A cost of $5 and é, or $", "next": "6"}]
MODELS = [
    {"model": "truth", "kind": "truth", "rank": None, "seed": 1},
    {"model": "bn4-s1", "kind": "family", "rank": 4, "seed": 1},
    {"model": "bn8-s1", "kind": "family", "rank": 8, "seed": 1},
    {"model": "svd4-s1", "kind": "svd", "rank": 4, "seed": 1},
]
METRICS = ("tto", "nsmd", "tv", "kl")
TARGETS = [ord("r"), ord("6")]


def drawn(model):
    """Logits of a model, one row per prompt, that none shares."""
    return np.random.default_rng(len(model) + MODELS[0]["seed"]).normal(0, 3, (2, 256)).astype(np.float32)


def logits_file(folder, model, targets=TARGETS):
    logits = dict(enumerate(drawn(model)[:, None]))
    write_logits(folder / "logits" / f"{model}.parquet", logits, [[target] for target in targets])


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("study")
    prompts.main(job(OVER_BYTES, tmp_path / "windows.parquet", {"prompts": ENTRIES}))
    for model in MODELS:
        logits_file(tmp_path, model["model"])
    for metric in (*METRICS, "tbat"):
        for model in MODELS[1 : 3 if metric == "tbat" else None]:
            truths = [None] if metric == "tbat" else ["one", "other"]
            rows = [
                (window, truth, decoding, [window + 0.25 * i + (9 if decoding == "greedy" else 0)])
                for i, truth in enumerate(truths)
                for decoding in ("pure", "greedy")
                for window in (0, 1)
            ]
            write_scores(tmp_path / metric / f"{model['model']}.parquet", rows)
    return tmp_path


@pytest.fixture(scope="module")
def table(study):
    scores = [path for metric in (*METRICS, "tbat") for path in sorted((study / metric).glob("*.parquet"))]
    inputs = OVER_BYTES | {"windows": study / "windows.parquet", "logits": logits_paths(study), "scores": scores}
    drawn = [{"title": "T", "models": MODELS[:3]}, {"title": "T", "models": MODELS}]
    settings, output = {"names": ["water", "money"], "models": MODELS, "figures": drawn}, outputs(study)
    for name in ("family", "truncated"):
        paths = [study / f"{name}_{prompt}_{i}.png" for prompt in settings["names"] for i in range(3)]
        setattr(output, name, paths)
    step.main(job(inputs, output, settings))
    return read_record(output.csv)


def logits_paths(study):
    return [study / "logits" / f"{model['model']}.parquet" for model in MODELS]


def test_a_prompt_is_a_window_that_scores_the_next_byte(study):
    assert read_table(study / "windows.parquet").schema.remove_metadata().equals(SCHEMA)
    prompts = [(entry["prompt"].encode(), ord(entry["next"])) for entry in ENTRIES]
    assert read_prompts(study / "windows.parquet") == prompts


@pytest.fixture
def scored(tmp_path):
    """Two windows and their logits, by the probability of each following byte; the rest is spread over all others."""
    texts = [(b"Th", b"e water is"), (b"12 ", b"wat\xc3\xa9rs")]
    write_table(tmp_path / "windows.parquet", showcase_windows(texts), {})
    targets = [list(text) for _, text in texts]

    def write(name, given):
        """Give some bytes, by window and position, another probability than .5; return the file."""
        logits = {window: np.zeros((len(bytes_), 256)) for window, bytes_ in enumerate(targets)}
        for window, bytes_ in enumerate(targets):
            p = np.array([given.get((window, position), 0.5) for position in range(len(bytes_))])
            logits[window][range(len(bytes_)), bytes_] = np.log(p / (1 - p) * 255)
        return write_logits(tmp_path / f"{name}.parquet", logits, targets)

    return SimpleNamespace(windows=tmp_path / "windows.parquet", write=write)


def chosen(*files):
    prompt, following = typical_prompt(*files)
    return bytes(prompt.tolist()), bytes(following.tolist())


def test_the_typical_prompt_by_hand(scored):
    """Of "e", "t", "s" and "a", of which the truth is sure, "t" is what both models give about their mean."""
    sure = {(0, 0): 0.95, (0, 4): 0.9, (0, 9): 0.99, (1, 1): 0.92, (0, 1): 0.99, (1, 3): 0.99}  # the last: " " and 0xc3
    truth = scored.write("truth", sure)
    low = scored.write("low", {(0, 0): 0.1, (0, 4): 0.31, (0, 9): 0.5, (1, 1): 0.3})  # mean .3025
    high = scored.write("high", {(0, 0): 0.9, (0, 4): 0.72, (0, 9): 0.6, (1, 1): 0.6})  # mean .705
    assert chosen(scored.windows, truth, [low, high]) == (b"The wa", b"t")
    assert chosen(scored.windows, truth, [low]) == (b"12 w", b"a")
    unsure = scored.write("unsure", {(0, 5): 0.7})
    assert chosen(scored.windows, unsure, [low]) == (b"The wat", b"e")


def test_a_prompt_that_is_null_is_chosen(scored, tmp_path):
    truth, low = scored.write("truth", {(0, 4): 0.95}), scored.write("low", {})
    inputs = OVER_BYTES | {"windows": scored.windows, "truth": truth, "family": [low]}
    entries = [ENTRIES[0], {"prompt": None, "next": None}]
    prompts.main(job(inputs, tmp_path / "shown.parquet", {"prompts": entries}))
    assert read_prompts(tmp_path / "shown.parquet") == [(b"wate", ord("r")), (b"The wa", ord("t"))]


def test_a_text_without_words_has_its_prompt_anywhere(scored, tmp_path):
    write_table(tmp_path / "w.parquet", showcase_windows([(b"12", "\u6c34 456".encode()), (b"3", b"789")]), {})
    truth = scored.write("truth", {(0, 1): 0.95})
    assert chosen(tmp_path / "w.parquet", truth, [truth]) == (b"12\xe6", b"\xb0")


def test_other_windows_are_no_prompts(tmp_path):
    write_table(tmp_path / "w.parquet", pa.table({"window": [0], "prompt": [b"a"], "scored": [b"bc"]}), {})
    with pytest.raises(UserError, match=r"w\.parquet: a window of more than one scored byte"):
        read_prompts(tmp_path / "w.parquet")


def test_logits_of_other_prompts_are_named(study, tmp_path):
    logits_file(tmp_path, "bn8-s1", [ord("r"), ord("7")])
    paths = [*logits_paths(study)[:1], tmp_path / "logits/bn8-s1.parquet"]
    with pytest.raises(UserError, match=r"bn8-s1\.parquet: of other prompts than .*truth\.parquet"):
        read_distributions({path.stem: path for path in paths})


def test_the_table_says_what_each_model_makes_of_each_prompt(study, table):
    assert len(table.drop_duplicates(["prompt", "model"])) == 2 * len(MODELS)
    for window, (name, target) in enumerate(zip(("water", "money"), TARGETS, strict=True)):
        for model in MODELS:
            rows = table[(table.prompt == name) & (table.model == model["model"])].set_index("measure")
            row = rows.value.reindex(table.measure.unique())
            p = np.exp(drawn(model["model"])[window].astype(float))
            p /= p.sum()
            assert rows.note["p_next"] == chr(target)
            assert row.p_next == pytest.approx(p[target], rel=1e-4)
            assert row.p_top == pytest.approx(p.max(), rel=1e-4)
            assert row.place == sorted(p, reverse=True).index(p[target]) + 1
            tv = np.nan if model["kind"] == "truth" else window + 0.125
            tbat = window if model["kind"] == "family" else np.nan
            assert (row.tv, row.tbat) == pytest.approx((tv, tbat), nan_ok=True)
    assert set(table.decoding) == {"pure"}


def falling(values):
    """A distribution from a few bytes' probabilities; the rest is spread over all others."""
    p = np.full(256, (1 - sum(values.values())) / (256 - len(values)))
    for byte, value in values.items():
        p[ord(byte)] = value
    return p


def test_named_bytes_are_those_that_matter_in_the_truths_order():
    truth, a = falling({"r": 0.5, "n": 0.3, "s": 0.1}), falling({"x": 0.6, "y": 0.2, "z": 0.1})
    p = pd.DataFrame({"truth": truth, "a": a, "b": falling({"n": 0.4, "r": 0.3, "q": 0.2})})
    named = named_bytes(p, p.truth, ord("é"))
    assert len(named) == len(set(named)) == NAMED
    assert named[:3] == [ord(byte) for byte in "rns"]
    assert {ord(byte) for byte in "éxyzq"} < set(named)
    assert (np.diff(truth[named]) <= 0).all()


def test_every_panel_shows_the_same_bytes_on_the_same_scale(study, table):
    p = read_distributions({path.stem: path for path in logits_paths(study)})[0]
    scores = by_model(table[table.prompt == "water"])[[*METRICS, "tbat"]]
    panels = figure.draw(p, MODELS, scores, b"wate", ord("r"), "Title").axes
    assert len(panels) == len(MODELS)
    names = {tuple(tick.get_text() for tick in axes.get_xticklabels()) for axes in panels}
    assert len(names) == 1
    named = named_bytes(p, p["truth"], ord("r"))
    at = named.index(ord("r"))
    assert len({axes.get_ylim() for axes in panels}) == 1
    for axes, model in zip(panels, MODELS, strict=True):
        heights = [bar.get_height() for bar in axes.patches]
        np.testing.assert_allclose(heights, [*p[model["model"]][named], p[model["model"]].drop(named).sum()], rtol=1e-5)
        assert sum(heights) == pytest.approx(1, abs=1e-5)
        marked = [i for i, bar in enumerate(axes.patches) if bar.get_hatch()]  # for black and white
        red = [i for i, bar in enumerate(axes.patches) if bar.get_facecolor() == to_rgba(RIGHT["facecolor"])]
        assert marked == red == [at]
        lines = [segment[0, 1] for lines in axes.collections for segment in lines.get_segments()]
        expected = [] if model["kind"] == "truth" else [*p["truth"][named], p["truth"].drop(named).sum()]
        np.testing.assert_allclose(lines, expected, rtol=1e-5)
        shown = [text.get_text() for text in axes.texts]
        assert f"r: {p.loc[ord('r'), model['model']]:.3f}" in shown
        assert ("TTO 0.12  NSMD 0.12  TV 0.12  KL 0.12" in shown) == (model["kind"] != "truth")
    titles = [axes.get_title(loc="left") for axes in panels]
    assert titles == ["truth", "rank 4, not truncated", "rank 8, not truncated", "SVD rank 4"]


@pytest.mark.parametrize(
    ("prompt", "byte", "shown"),
    [
        (b"wate", ord("r"), "water"), (b"the wate", ord(" "), "wate␣"), (b"wate ", ord("r"), "r"),
        (b"wate", 0xC3, "wate⟨C3⟩"), (b"wate", 10, "wate↵"),
    ],
)  # fmt: skip
def test_completions_can_be_seen(prompt, byte, shown):
    assert completion(prompt, bytes([byte])) == shown


def oversmoothing(means):
    rows = [{"model": model, "measure": "tto", "value": mean} for model, own in means.items() for mean in own]
    return record([*rows, {"model": "bn4-s1", "measure": "kl", "value": -9.0}])


def test_the_extremes_are_by_mean_tto_over_the_truths():
    table = oversmoothing({"bn4-s1": [0.1, 0.2], "bn8-s1": [0.0, 0.4], "other": [0.9, 0.9], "bn9-s1": [0.1, 0.1]})
    assert extremes(table, ["bn4-s1", "bn8-s1", "bn9-s1"]) == ["bn8-s1", "bn9-s1"]
    assert extremes(table, ["bn4-s1"]) == ["bn4-s1"]


def test_the_illustration_shows_both_models_whole():
    p = pd.DataFrame({"bn4-s1": falling({"h": 0.4, "o": 0.2}), "bn8-s1": falling({"r": 0.9})})
    panels = illustrated.draw(p, MODELS[1:3], b"wate", ord("r")).axes
    titles = [axes.get_title(loc="left") for axes in panels]
    assert titles[0].startswith("Model A, rank 4: ")
    assert titles[1] == "Model B, rank 8: 10 % of its probability on other bytes"
    for axes, model in zip(panels, ("bn4-s1", "bn8-s1"), strict=True):
        names = [tick.get_text() for tick in axes.get_yticklabels()]
        assert names[0] == "water"
        assert {"wateh", "wateo"} < set(names)
        assert names[-1] == OTHERS
        widths = [bar.get_width() for bar in axes.patches]
        assert widths[0] == pytest.approx(p.loc[ord("r"), model])
        assert sum(widths) == pytest.approx(1)


def test_one_model_alone_is_not_called_two():
    p = pd.DataFrame({"bn4-s1": falling({"r": 0.4, "o": 0.2})})
    figure = illustrated.draw(p, MODELS[1:2], b"wate", ord("r"))
    assert figure.axes[0].get_title(loc="left").startswith("rank 4:")
    assert "What does the model predict?" in figure.get_label()
