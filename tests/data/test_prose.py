"""What stays of a docstring and what goes."""

import pytest

from oversmoothing.data.markup import plain
from oversmoothing.data.prose import paragraphs

NUMPY_STYLE = """Return the inverse of an array.

    The inverse is computed with the method that `algorithm` names, and the
    result has the type of the input.

    Parameters
    ----------
    a : array_like
        The array that is to be inverted.
    algorithm : {'lu', 'qr'}
        lower case, not a sentence

    See Also
    --------
    This line is in a section that is always dropped here.

    Notes
    -----
    .. versionadded:: 1.2
       The text under this directive is dropped with it.

    .. note:: The text of a note is prose and it stays.

    The equation interrupts the sentence that stands before it and reads

    .. math:: x = \\frac{1}{a}

    It is used as in this example, which is followed by code::

        This is the body of a literal block, and it must not stay.

    +------+------+
    | This | is a table and it must not stay. |
    +------+------+

    Examples
    --------
    >>> invert(2)
    This line is output of the code and must not stay.

    A sentence between two examples may stay as it is.

    References
    ----------
    .. [1] This reference is dropped with the section that it stands in.

    This paragraph stands below the references and goes with them.
    """

GOOGLE_STYLE = """Load the weights of a model.

    Args:
        path (`str`, *optional*, defaults to `"x"`):
            The folder in which the weights of the model are.
        strict (bool): Whether to fail if a weight is missing. The
            default is to fail.

    Returns:
        Tensor: The weights as they are in the file.

    Example::

        This block belongs to the example and must not stay.

    ```python
    This line is in a fence and it must not stay.
    ```

    - The first item of the list is a sentence that
      goes on in a second line.
    - x, y, z
    """


def test_numpy_style_keeps_sentences_only():
    assert paragraphs(NUMPY_STYLE) == [
        "Return the inverse of an array.",
        "The inverse is computed with the method that algorithm names, and the result has the type of the input.",
        "The array that is to be inverted.",
        "The text of a note is prose and it stays.",
        "A sentence between two examples may stay as it is.",
    ]


def test_google_style_keeps_sentences_only():
    assert paragraphs(GOOGLE_STYLE) == [
        "Load the weights of a model.",
        "The folder in which the weights of the model are.",
        "Whether to fail if a weight is missing. The default is to fail.",
        "The weights as they are in the file.",
        "The first item of the list is a sentence that goes on in a second line.",
    ]


@pytest.mark.parametrize(
    ("marked", "read"),
    [
        ("Call :func:`~numpy.fft.fft` on the array.", "Call fft on the array."),
        ("Call :func:`numpy.fft.fft` on the array.", "Call numpy.fft.fft on the array."),
        ("A :term:`thing <other thing>` of :class:`.Figure`.", "A thing of Figure."),
        ("See `the guide <https://example.org>`_ for more.", "See the guide for more."),
        ("See [the guide](https://example.org) for more.", "See the guide for more."),
        ("Uses [`Trainer`] and **bold** and *plain* words.", "Uses Trainer and bold and plain words."),
        ("The ``coef_`` and ``n_samples`` of a fit.", "The coef_ and n_samples of a fit."),
        ("The set :math:`A` has $n$ members.", "The set A has n members."),
        ("This is known [1]_ since long.", "This is known since long."),
        ("Prüfer's naïve\u00a0method\u200b.", "Prüfer's naïve method."),
    ],
)
def test_markup_is_taken_off(marked, read):
    assert plain(marked) == read


UNSPEAKABLE = """\
The set :math:`A \\cup B` is larger.
As is shown in [1]_.
Call ``f(x, y)[0] + 1`` on it.
See https://example.org for more.
The value {placeholder} is put here.
It holds that a == b.
The name `is not closed here.
Broken \ufffd text."""
NO_SENTENCES = """\
alpha, beta, gamma, delta, epsilon and zeta are
this has no capital letter at its start.
This sentence has no end to it
Alpha Beta Gamma Delta Epsilon Zeta Eta.
Too short.
This opens a bracket (and does not close it.
TODO: think about what this is to do.
It takes 1 2 3 4 5 6 and 7 of them."""


def test_what_cannot_be_read_aloud_or_is_no_sentence_is_refused():
    assert [plain(text) for text in UNSPEAKABLE.split("\n")] == [None] * 8
    assert [text for text in NO_SENTENCES.split("\n") if paragraphs(text)] == []


def test_a_last_sentence_that_announces_code_goes():
    stays = "This is the sentence that stays."
    assert paragraphs(f"{stays} Here is how to call it:") == [stays]
