"""Chains of decoding methods: one behind another, in the order written."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from made_scores import DECODINGS, distributions

from oversmoothing.jobs import UserError
from oversmoothing.scores.catalogue.decoders import Method, Parameter, files, maps
from oversmoothing.scores.decoding import decoder, decoding_name, links
from oversmoothing.scores.decodings import min_p

HOT = {"chain": [{"temperature": 2}, {"min-p": 0.2}]}
COLD = {"chain": [{"min-p": 0.2}, {"temperature": 2}]}


def as_link(settings):
    return {settings["name"]: {key: value for key, value in settings.items() if key != "name"}}


def test_the_order_matters():
    """Of the third token min-p sees 1/16 of the largest probability, or behind the temperature its root, 1/4."""
    p = np.array([[0.64, 0.32, 0.04]])
    roots = np.sqrt(p)
    np.testing.assert_allclose(decoder(HOT)(p), roots / roots.sum())
    roots[0, 2] = 0
    np.testing.assert_allclose(decoder(COLD)(p), roots / roots.sum())


@pytest.mark.parametrize("settings", DECODINGS, ids=lambda s: s["name"])
@given(p=distributions())
def test_a_chain_of_one_is_its_method(settings, p):
    settings = {**settings, "k": 1} if "k" in settings else settings
    alone = decoder(settings)(p)
    np.testing.assert_array_equal(decoder({"chain": [as_link(settings)]})(p), alone)


def test_a_link_is_a_method_a_value_or_keys():
    chain = {"chain": ["p-less", {"greedy": {}}, {"top-p": 0.5}, {"top-k": {"k": 3}}]}
    assert links(chain) == [
        {"name": "p-less"},
        {"name": "greedy"},
        {"name": "top-p", "p": 0.5},
        {"name": "top-k", "k": 3},
    ]
    assert links({"name": "top-k", "k": 3}) == [{"name": "top-k", "k": 3}]


@pytest.mark.parametrize(("first", "second"), list(itertools.product(DECODINGS, repeat=2)), ids=lambda s: s["name"])
def test_every_method_takes_what_every_other_leaves(first, second):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(40, 0.1), 30).astype(np.float32)
    p[0], p[1] = 1 / 40, np.eye(40)[7]
    chain = {"chain": [as_link(first), as_link(second)]}
    for given_p in (p, torch.from_numpy(p)):
        between = decoder(first)(given_p)
        q = np.asarray(decoder(chain)(given_p))
        np.testing.assert_array_equal(q, np.asarray(decoder(second)(between)))
        np.testing.assert_allclose(q.sum(axis=1), 1, atol=1e-5)
        assert not q[np.asarray(between) == 0].any()
        if second["name"] != "typical":  # which alone may drop the most probable token
            assert (q[np.arange(30), np.asarray(between).argmax(axis=1)] > 0).all()


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ({"name": "top-p", "p": 0.9}, "top-p"),
        ({"chain": [{"temperature": 1.5}, {"min-p": 0.05}]}, "temperature-1.5+min-p-0.05"),
        ({"chain": [{"top-k": 5}, "greedy"]}, "top-k-5+greedy"),
        ({"chain": [{"top-p": 0.50}]}, "top-p-0.5"),
    ],
)
def test_its_name(entry, name):
    assert decoding_name(entry) == name


def test_its_code_is_that_of_all_links():
    folder = "oversmoothing/scores/decodings"
    assert files(links(HOT)) == [f"{folder}/min_p.py", f"{folder}/temperature.py"]


def test_a_method_of_two_parameters_is_given_keys(monkeypatch):
    two = Method(lambda p, share, more: p * share * more, (Parameter("min_p", 0.05), Parameter("more", 2.0)))
    monkeypatch.setattr(min_p, "METHOD", two)
    chain = {"chain": [{"min-p": {"more": 3, "min_p": 0.5}}]}
    assert decoder(chain)(np.ones((1, 2))).tolist() == [[1.5, 1.5]]
    assert decoding_name(chain) == "min-p-0.5-3"
    with pytest.raises(UserError, match="decoding min-p: takes min_p, more, not min_p"):
        decoder({"chain": [{"min-p": 0.5}]})


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"chain": []}, r"chain: \[\] is no list of links; write \[{temperature: 1.5}, {min-p: 0.05}\]"),
        ({"chain": "top-p"}, "'top-p' is no list of links"),
        ({"chain": [{"top-p": 0.9}], "p": 0.5}, "p stands beside it; leave it out"),
        ({"chain": [{"top-p": 0.9}], "name": "hot"}, "name stands beside it"),
        ({"chain": [{"top-p": 0.9, "min-p": 0.1}]}, r"is no link; write {METHOD: VALUE}, or METHOD if it takes none"),
        ({"chain": [0.9]}, "0.9 is no link"),
        ({"chain": [{"top-q": 0.9}]}, f"top-q is an unknown method; use one of {', '.join(maps())}"),
        ({"chain": [{"temperature": 2}, {"bat": 0.2}]}, "bat maps no distributions and can be no link; use one of"),
        ({"chain": [{"greedy": 1}]}, "greedy takes no value; write greedy alone"),
        ({"chain": ["top-p"]}, "decoding top-p: takes p, not none"),
        ({"chain": [{"top-p": None}]}, "decoding top-p: p = None is not a number in"),
        ({"chain": [{"top-p": 1.5}]}, "decoding top-p: p = 1.5 is not a number in"),
        ({"chain": [{"top-p": {"q": 0.5}}]}, "decoding top-p: takes p, not q"),
        ({"chain": [{"temperature": 2}, {"top-k": 257}]}, "k = 257 is above 256"),
    ],
)
def test_mistakes_are_named(entry, says):
    with pytest.raises(UserError, match=says):
        decoder(entry, 256)


def test_an_entry_is_a_method_or_a_chain():
    with pytest.raises(UserError, match=r"write `name: METHOD` with its parameter, or `chain: \[...\]`"):
        links({"p": 0.9})
