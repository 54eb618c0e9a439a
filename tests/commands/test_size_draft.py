"""How often a truth accepts small drafts: masses worked by hand, sampling, the printed table and the picture."""

import json

import numpy as np
import pytest

from oversmoothing.commands import main
from oversmoothing.commands.one_head import draft
from oversmoothing.commands.one_head.size import Sizes
from oversmoothing.commands.one_head.text import Passage
from oversmoothing.forced.projection import project

pytestmark = pytest.mark.usefixtures("no_network")


def test_masses_worked_by_hand():
    """Of tokens counted 1, 4, 0, 4 the commonest are 1, 3 and 0; nothing is known of token 2."""
    order = draft.order_of(np.array([1, 4, 0, 4]))
    assert order.tolist() == [1, 3, 0]
    p = np.array([[0.1, 0.2, 0.3, 0.4], [0.25, 0.5, 0.25, 0.0]])
    found = draft.by_kept(p, np.array([0, 1]), order, [1, 2, 3, 4, 5])
    assert [(row.size, row.acceptance) for row in found] == [
        (1, 0.35),
        (2, pytest.approx(0.55)),
        (3, pytest.approx(0.725)),
    ]
    assert draft.course(p, order) == pytest.approx([0.35, 0.55, 0.725])
    assert [row.size for row in draft.by_kept(p[:, :2], np.array([0, 1]), order[:1], [1, 2])] == [1]


def test_the_passages_where_it_is_measured_are_not_counted():
    tokens = np.array([0, 0, 1, 2, 2, 2])
    counts = draft.counted(tokens, [Passage(tokens[1:4], np.array([1]))], 4)
    assert counts.tolist() == [1, 0, 2, 0]
    assert draft.counted(tokens, [], 4).tolist() == [2, 1, 3, 0]


def test_no_draft_that_keeps_these_tokens_is_accepted_more_often():
    """Speculative sampling as in Algorithm 1 of Leviathan et al.: the truth cut to the tokens reaches the mass."""
    rng = np.random.default_rng(0)
    p, kept = rng.dirichlet(np.ones(8)), np.arange(3)
    (ceiling,) = draft.by_kept(p[None], np.zeros(1, int), kept, [3])
    best = np.where(np.arange(8) < 3, p, 0) / p[:3].sum()
    x = rng.choice(8, size=40_000, p=best)
    assert (rng.random(len(x)) < np.minimum(1, p[x] / best[x])).mean() == pytest.approx(ceiling.acceptance, abs=0.01)
    for _ in range(20):
        q = np.concatenate([rng.dirichlet(np.ones(3)), np.zeros(5)])
        assert np.minimum(p, q).sum() <= ceiling.acceptance + 1e-12


def test_a_head_accepts_one_less_tv_on_the_held_half():
    rng = np.random.default_rng(1)
    p = np.exp(rng.normal(size=(200, 12)) * 2)
    p /= p.sum(axis=1, keepdims=True)
    passage = np.arange(200) // 10
    sizes = Sizes(p, passage, 12, 4e9)
    sizes.of(2)
    q = np.exp(project(sizes.heads[2], sizes.held).log_q)
    found = sizes.accepted[2]
    assert found.acceptance == pytest.approx(1 - np.abs(sizes.held - q).sum(axis=1).mean() / 2, abs=1e-9)
    assert found.low < found.acceptance < found.high
    assert sizes.accepted[sizes.full].acceptance == 1


def size(folder, *arguments):
    given = ["--truth", str(folder), "--text", str(folder / "book.txt"), "--positions", "120", "--ranks", "1,2,400"]
    return ["size", *given, "--precision", "float32", *map(str, arguments)]


def test_one_table_and_one_picture(llama, tmp_path, capsys):
    out, picture = tmp_path / "out.json", tmp_path / "draft.svg"
    assert main(size(llama, "--json", out, "--draft", picture, "--kept", "4,16,280")) == 0
    found = json.loads(out.read_text())
    part = found["draft"]
    assert "course" not in found
    assert [row["size"] for row in part["kept"]] == [4, 16, part["seen"]]
    assert part["beyond"] == [280]
    assert [row["size"] for row in part["ranks"]] == [1, 2, 16]
    for rows in part["kept"], part["ranks"]:
        rates = [row["acceptance"] for row in rows]
        assert rates == sorted(rates)
        assert all(row["low"] <= row["acceptance"] <= row["high"] for row in rows)
    assert part["ranks"][-1]["acceptance"] == 1
    printed = capsys.readouterr().out
    assert f"       4 tokens kept   at most {part['kept'][0]['acceptance']:.4f} [" in printed
    assert f"       2 columns               {part['ranks'][1]['acceptance']:.4f} [" in printed
    table = [line for line in printed.partition("How often")[2].splitlines() if str(picture.parent) not in line]
    assert [line for line in table if len(line) > 80] == []
    assert "too few different tokens for 280 tokens kept: give a longer one." in " ".join(printed.split())
    drawn = picture.read_text()
    assert draft.TITLE in drawn
    assert "columns of the head" in drawn
    assert main(size(llama, "--draft", picture, "--kept", "4")) == 0  # an earlier one is replaced
    assert "too few different tokens" not in capsys.readouterr().out


def test_a_table_alone_and_none_unless_asked(llama, tmp_path, capsys):
    assert main(size(llama, "--draft")) == 0
    assert "tokens kept" in capsys.readouterr().out
    assert main(size(llama, "--json", tmp_path / "out.json")) == 0
    assert "accepts a draft" not in capsys.readouterr().out
    assert "draft" not in json.loads((tmp_path / "out.json").read_text())


def test_mistakes_are_one_line(llama, tmp_path, refused):
    (tmp_path / "mine.png").write_bytes(b"\x89PNG of mine")
    for message, *options in (
        ("--draft book.txt: no picture; end its name in .png, .svg, .pdf", "--draft", "book.txt"),
        ("mine.png: no earlier output of this command, so it is not replaced", "--draft", tmp_path / "mine.png"),
        ("none/a.png: not a file in an existing folder", "--draft", tmp_path / "none/a.png"),
        ("--kept: it is of drafts; add --draft", "--kept", "4,8"),
    ):
        assert message in refused(*size(llama, *options))
