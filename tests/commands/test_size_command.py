"""The columns that a head needs for a text: values against the library, planted ranks, and mistakes in one line."""

import json

import numpy as np
import pytest
import torch
from hub_models import TEXT, write_gemma2
from jsonschema import Draft202012Validator

from oversmoothing.commands import main
from oversmoothing.commands import size as command
from oversmoothing.commands.one_head.size import Sizes, by_kept, of_nearest_vocabulary, order_of
from oversmoothing.commands.one_head.text import Passage
from oversmoothing.commands.schemas.size import SCHEMA
from oversmoothing.commands.size import needed, report
from oversmoothing.forced.projection import project
from oversmoothing.measures import best_head as library
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT
from oversmoothing.models.weights import save_model

FEW = "--positions", 3, "--advice", 1
pytestmark = pytest.mark.usefixtures("no_network")


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    """A model as a study keeps it, with a head of 6 columns."""
    folder = tmp_path_factory.mktemp("study")
    model = GPT(GPTConfig(layers=1, heads=2, width=12, block=64, rank=6))
    with torch.no_grad():
        model.head.weight.mul_(8)
    save_model(folder / "weights.safetensors", model.config, model.state_dict(), {})
    (folder / "book.txt").write_text(TEXT, encoding="utf-8")
    return folder


def size(folder, *arguments):
    """Run the command; return what its JSON holds."""
    path = folder / "out.json"
    given = ["--truth", str(folder), "--text", str(folder / "book.txt"), "--json", str(path)]
    assert main(["size", *given, "--precision", "float32", *arguments]) == 0
    found = json.loads(path.read_text())
    Draft202012Validator(SCHEMA).validate(found)
    return found


def truths(v, n, seed=0):
    rng = np.random.default_rng(seed)
    p = np.exp(rng.normal(size=(n, v)) @ rng.normal(size=(v, v)) * np.sqrt(4 / v))
    return p / p.sum(axis=1, keepdims=True), np.arange(n) // 10


def test_a_model_of_the_hub(llama, capsys):
    found = size(llama, "--positions", "120", "--ranks", "1,2,400")
    truth, text = found["truth"], found["text"]
    assert (truth["tokens"], truth["width"], truth["bias"]) == (299, 16, False)
    assert text["fitted"] + text["held"] == 120
    assert [row["rank"] for row in found["ranks"]] == [1, 2, 16]  # its own head has 16 columns
    one, two, own = found["ranks"]
    assert one["forced"] > two["forced"] > own["forced"] == own["fitted"] == 0
    assert one["low"] < one["forced"] < one["high"]
    for row in found["smallest"]:  # no other rank is fitted for these
        assert row["above"] in (0, 1, 2)
        assert row["rank"] == next(size["rank"] for size in found["ranks"] if size["forced"] <= row["nats"])
    assert [row["nats"] for row in found["smallest"]] == [0.1, 0.01, 0.001]
    printed, told = capsys.readouterr()
    assert [line.partition(": ")[0] for line in told.splitlines() if "so far" in line] == ["rank 1", "rank 2"]
    assert "at most 0.001 nats: rank 3 to 16\n" in printed
    assert "No other rank was fitted; --search finds the smallest." in printed
    assert f"     1  {one['forced']:.3g} [{one['low']:.3g}, {one['high']:.3g}]" in printed
    assert "299 tokens; the truth's own head has 16 columns" in printed
    assert "These are upper bounds" in " ".join(printed.split())
    assert "accepts a draft" not in printed
    assert "draft" not in found
    searched = size(llama, "--positions", "120", "--ranks", "1,2,400", "--search", "--draft", "--kept", "4,16,280")
    assert searched["ranks"] == found["ranks"]
    for row, known in zip(searched["smallest"], found["smallest"], strict=True):
        assert row["rank"] == row["above"] + 1
        assert known["above"] < row["rank"] <= known["rank"]
    printed, told = capsys.readouterr()
    assert told.count("so far") > 2
    assert f"at most 0.001 nats: rank {searched['smallest'][-1]['rank']}\n" in printed
    assert "--search" not in printed
    part = searched["draft"]
    assert [row["size"] for row in part["kept"]] == [4, 16, part["seen"]]
    assert part["beyond"] == [280]
    assert [row["size"] for row in part["ranks"]] == [1, 2, 16]
    for rows in part["kept"], part["ranks"]:
        rates = [row["acceptance"] for row in rows]
        assert rates == sorted(rates)
        assert all(row["low"] <= row["acceptance"] <= row["high"] for row in rows)
    assert f"       4 tokens kept   at most {part['kept'][0]['acceptance']:.4f} [" in printed
    assert f"       2 columns               {part['ranks'][1]['acceptance']:.4f} [" in printed
    assert "too few different tokens for 280 tokens kept: give a longer one." in " ".join(printed.split())


def test_the_mass_on_the_commonest_tokens_by_hand():
    """Outside the held passage tokens are counted 1, 4, 0, 4: the commonest are 1, 3, 0, and of 2 nothing is known."""
    tokens = np.array([0, 1, 1, 1, 1, 3, 3, 3, 3, 2, 2, 3])
    order = order_of(tokens, [Passage(tokens[9:], np.array([1]))])
    assert order.tolist() == [1, 3, 0]
    p = np.array([[0.1, 0.2, 0.3, 0.4], [0.25, 0.5, 0.25, 0.0]])
    found = by_kept(p, np.array([0, 1]), order, [1, 2, 3, 4, 5])
    assert [row.size for row in found] == [1, 2, 3]
    assert [row.acceptance for row in found] == pytest.approx([0.35, 0.55, 0.725])


def test_advice_is_one_sentence_with_both_intervals(llama, capsys):
    found = size(llama, "--positions", "120", "--advice", "2")
    two, four = found["ranks"]
    assert [row["rank"] for row in found["ranks"]] == [2, 4]
    told = [f"at most {row['forced']:.3g} [{row['low']:.3g}, {row['high']:.3g}] nats" for row in (two, four)]
    said = f"A head of 2 dimensions over 299 tokens forces {told[0]} a token of this truth; 4 would force {told[1]}."
    assert found["advice"] == said
    assert said in " ".join(capsys.readouterr().out.split())
    of_all = size(llama, "--positions", "120", "--ranks", "1", "--advice", "20")  # the truth's own head has 16 columns
    said = "A head of 16 dimensions over 299 tokens forces nothing, 0 nats a token of this truth."
    assert of_all["advice"] == said
    assert "advice" not in size(llama, "--positions", "120", "--ranks", "1")


def test_the_kept_study_stands_beside_if_there_is_one(llama, tmp_path, monkeypatch, capsys):
    table = tmp_path / "vocabularies.csv"
    assert of_nearest_vocabulary(299, table) == []
    table.write_text(
        'vocabulary,truth,nats,rank\n256,truth,0.1,"8 [7, 9]"\n256,truth,0.001,more than 256\n8192,truth,0.1,99\n'
    )
    near, far = of_nearest_vocabulary(299, table), of_nearest_vocabulary(1500, table)
    assert [row["rank"] for row in near] == ["8 [7, 9]", "more than 256"]
    assert [row["rank"] for row in far] == ["99"]  # 1,500 is nearer to 8,192, as a ratio
    monkeypatch.setattr(command, "of_nearest_vocabulary", lambda tokens: of_nearest_vocabulary(tokens, table))
    assert size(llama, "--positions", "120", "--ranks", "1")["vocabularies"] == near
    printed = capsys.readouterr().out
    assert "on another text, over 256 tokens:\n  at most 0.1 nats: rank 8 [7, 9], if truth is the truth\n" in printed
    assert "  at most 0.001 nats: rank more than 256, if truth is the truth" in printed


def test_a_truth_that_caps_its_logits_is_no_head_of_its_width(tmp_path, capsys):
    """Its log-probabilities span more dimensions than its head has columns, so a head of that rank forces something."""
    write_gemma2(tmp_path, 301, 2.0)
    (tmp_path / "book.txt").write_text(TEXT, encoding="utf-8")
    found = size(tmp_path, "--positions", "160", "--ranks", "32")
    assert (found["truth"]["cap"], found["truth"]["width"]) == (2.0, 32)
    (row,) = found["ranks"]
    assert row["rank"] == 32
    assert row["forced"] > 1e-3
    assert "the truth's own head has 32 columns, and its logits are capped" in capsys.readouterr().out


def test_a_model_of_a_study(studied):
    found = size(studied, "--positions", "200", "--ranks", "2,6")
    assert found["truth"]["tokens"] == 256
    assert found["ranks"][0]["forced"] > 0
    assert found["ranks"][1]["forced"] == 0
    assert all(2 >= row["above"] < row["rank"] <= 6 for row in found["smallest"])
    (studied / "book.json").write_text(json.dumps([{"body": TEXT}]))
    more = ("--text", str(studied / "book.json"), "--column", "body")
    assert size(studied, "--positions", "200", "--ranks", "2,6", *more)["ranks"] == found["ranks"]


def test_halves_are_passages_and_the_other_half_is_only_evaluated(monkeypatch):
    p, passage = truths(12, 200)
    sizes = Sizes(p, passage, 12, 4e9)
    heads = {}
    fit = library.best_head
    monkeypatch.setattr(
        library, "best_head", lambda p, rank, *others, **more: heads.setdefault(rank, fit(p, rank, *others, **more))
    )
    found = sizes.of(2)
    even = passage % 2 == 0
    assert found.fitted == pytest.approx(project(heads[2].weights, p[even]).forced.mean(), abs=1e-8)
    forced = project(heads[2].weights, p[~even]).forced
    assert found.forced == pytest.approx(forced.mean(), abs=1e-8)
    by_passage = forced.reshape(-1, 10).mean(axis=1)
    half = 1.96 * by_passage.std(ddof=1) / np.sqrt(len(by_passage))
    assert found.high - found.low == pytest.approx(2 * half, rel=0.3)
    tv = np.abs(p[~even] - np.exp(project(heads[2].weights, p[~even]).log_q)).sum(axis=1) / 2
    assert sizes.accepted[2].acceptance == pytest.approx(1 - tv.mean(), abs=1e-8)
    changed = p.copy()
    changed[~even] = changed[~even][:, ::-1]
    assert Sizes(changed, passage, 12, 4e9).of(2).fitted == found.fitted


def test_a_worse_minimum_is_replaced_by_the_extended_lower_one(monkeypatch):
    p, passage = truths(12, 200)
    fit = library.best_head

    def poor(p, rank, start=None, **more):
        if rank == 4 and start is None:
            return fit(p, rank, np.random.default_rng(0).normal(size=(12, 4)), rounds=0)
        return fit(p, rank, start, **more)

    monkeypatch.setattr(library, "best_head", poor)
    sizes = Sizes(p, passage, 12, 4e9)
    assert sizes.of(4).fitted > (three := Sizes(p, passage, 12, 4e9).of(3).fitted)
    sizes = Sizes(p, passage, 12, 4e9)
    assert sizes.of(3).fitted == three
    assert sizes.of(4).fitted <= three


def test_the_smallest_rank_is_that_of_fitting_all():
    p, passage = truths(24, 200, seed=3)
    every = Sizes(p, passage, 24, 4e9)
    two, nine = every.of(2).forced, every.of(9).forced
    assert [every.bracket(nats) for nats in (two, nine, nine / 2)] == [(0, 2), (2, 9), (9, 23)]
    for nats in (0.5, 0.1, 1e-2, 1e-4):
        few = Sizes(p, passage, 24, 4e9)
        assert few.smallest(nats) == next(rank for rank in range(1, 24) if every.of(rank).forced <= nats)
        assert len(few.by_rank) <= 10


def test_too_few_positions_to_tell():
    p, passage = truths(30, 20)  # ten that heads are fitted to
    sizes = Sizes(p, passage, 30, 4e9)
    assert sizes.smallest(1e-6) is None
    assert max(rank for rank in sizes.by_rank if rank < 29) <= 5
    row = needed(sizes, 1e-6, search=True)
    assert row == {"nats": 1e-6, "above": sizes.bracket(1e-6)[0], "rank": None}
    truth = {"name": "m", "tokens": 30, "width": 30, "cap": None}
    text = {"file": "f", "fitted": 10, "held": 10}
    loose = [{"rank": 1, "forced": 1.0, "low": None, "high": None, "fitted": 1.0, "gap": 0.3}]
    printed = report({"truth": truth, "text": text, "ranks": loose, "smallest": [row], "searched": True})
    assert "At one position or more the value may be too high by up to 0.3 nats." in " ".join(printed.split())
    assert "more columns than could be fitted" in printed


def test_mistakes_are_one_line(llama, studied, tmp_path, refused, capsys):
    (tmp_path / "short.txt").write_text("the")
    (tmp_path / "one.txt").write_text("the people of the town")
    model = GPT(GPTConfig(layers=0, heads=2, width=12, block=64, vocabulary=300))
    save_model(tmp_path / "tokens/weights.safetensors", model.config, model.state_dict(), {})
    book = llama / "book.txt"
    for message, truth, text, *options in (
        ("none.txt: no such file", llama, tmp_path / "none.txt"),
        ("none: no such folder", tmp_path / "none", book),
        ("--positions 1 must be", llama, book, "--positions", 1),
        ("--memory 0 must be", llama, book, "--memory", 0),
        ("--ranks 0 must be at least 1", llama, book, "--ranks", "0,4"),
        ("--kept: it is of drafts; add --draft", llama, book, "--kept", "4,8"),
        ("--ranks 8: 8 columns need at least 16 positions", llama, book, "--positions", 20),
        ("GiB, and --memory is 0.0001", llama, book, "--positions", 100, "--memory", 1e-4),
        ("at least 2 tokens", llama, tmp_path / "short.txt"),
        ("one passage alone cannot be divided", llama, tmp_path / "one.txt", "--positions", 4),
        ("--advice names no number without its interval, which needs 4 passages", llama, book, *FEW),
        ("is a model over bytes of a study, with no id", studied, book, "--bos", 3),
        ("bos 400 is none of its 301 ids", llama, book, "--bos", 400),
        ("only models over bytes", tmp_path / "tokens", studied / "book.txt"),
    ):
        assert message in refused("size", "--truth", truth, "--text", text, *options)
    with pytest.raises(SystemExit):
        main(["size", "--truth", str(llama), "--text", str(book), "--ranks", "4,x"])
    assert capsys.readouterr().err.startswith("Error: --ranks: '4,x' is no list of numbers such as 4,8,16; see ")
