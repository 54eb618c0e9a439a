"""Chains of decoding methods: one behind another, in the order written."""

import numpy as np
import pytest

from oversmoothing.jobs import UserError
from oversmoothing.scores.catalogue.decoders import Method, Parameter, files, maps
from oversmoothing.scores.decoding import decoder, decoding_name, links
from oversmoothing.scores.decodings import min_p

HOT = {"chain": [{"temperature": 2}, {"min-p": 0.2}]}
COLD = {"chain": [{"min-p": 0.2}, {"temperature": 2}]}


def test_the_order_matters():
    """Of the third token min-p sees 1/16 of the largest probability, or behind the temperature its root, 1/4."""
    p = np.array([[0.64, 0.32, 0.04]])
    roots = np.sqrt(p)
    np.testing.assert_allclose(decoder(HOT)(p), roots / roots.sum())
    roots[0, 2] = 0
    np.testing.assert_allclose(decoder(COLD)(p), roots / roots.sum())


def test_a_link_is_a_method_a_value_or_keys():
    chain = {"chain": ["p-less", {"greedy": {}}, {"top-p": 0.5}, {"top-k": {"k": 3}}]}
    assert links(chain) == [
        {"name": "p-less"},
        {"name": "greedy"},
        {"name": "top-p", "p": 0.5},
        {"name": "top-k", "k": 3},
    ]
    assert links({"name": "top-k", "k": 3}) == [{"name": "top-k", "k": 3}]


def test_its_name_and_its_code_are_of_all_links():
    assert decoding_name({"name": "top-p", "p": 0.9}) == "top-p"
    assert decoding_name({"chain": [{"temperature": 1.50}, {"top-k": 5}, "greedy"]}) == "temperature-1.5+top-k-5+greedy"
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
        ({"chain": [{"top-p": 0.9, "min-p": 0.1}]}, r"is no link; write {METHOD: VALUE}, or METHOD if it takes none"),
        ({"chain": [{"top-q": 0.9}]}, f"top-q is an unknown method; use one of {', '.join(maps())}"),
        ({"chain": [{"temperature": 2}, {"bat": 0.2}]}, "bat maps no distributions and can be no link; use one of"),
        ({"chain": [{"greedy": 1}]}, "greedy takes no value; write greedy alone"),
        ({"chain": ["top-p"]}, "decoding top-p: takes p, not none"),
        ({"chain": [{"top-p": 1.5}]}, "decoding top-p: p = 1.5 is not a number in"),
        ({"chain": [{"temperature": 2}, {"top-k": 257}]}, "k = 257 is above 256"),
        ({"p": 0.9}, r"write `name: METHOD` with its parameter, or `chain: \[...\]`"),
    ],
)
def test_mistakes_are_named(entry, says):
    with pytest.raises(UserError, match=says):
        decoder(entry, 256) if "chain" in entry else links(entry)
