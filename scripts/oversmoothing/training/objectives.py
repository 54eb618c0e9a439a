"""Training objectives other than cross-entropy: the loss of each token in nats (n,), with its gradient.

Each takes logits (n, v), targets, int64 (n,), and its parameter in [0, 1], at one value of which it is the
cross-entropy. Validation, and with it the stopping rule and the choice of weights and learning rates, is always in
cross-entropy. PyTorch is not imported, so that a plan may read `OBJECTIVES`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oversmoothing.jobs import UserError

if TYPE_CHECKING:
    from torch import Tensor

CROSS_ENTROPY = "cross-entropy"
LEAST_WEIGHT = 0.2  # of a token under TaiLr


def tailr(logits: "Tensor", targets: "Tensor", gamma: float) -> "Tensor":
    r"""Return the losses of TaiLr, which weighs tokens that the model finds improbable down (Ji et al. 2023).

    .. math:: -\max\left(0.2, \frac{p_y}{\gamma + (1 - \gamma)\,p_y}\right) \log p_y

    with :math:`p_y` the probability of the target and its factor a constant in the gradient. Where the fraction is the
    larger, that is the gradient of :math:`-\log(\gamma + (1 - \gamma)\,p_y) / (1 - \gamma)`: of the cross-entropy at 0
    and at 1 of :math:`-p_y`, whose mean is, up to a constant, the total variation distance from the one-hot
    distributions of the targets. Without the bound a model that knows nothing yet hardly learns. It is that of the
    authors' experiments on language, but for translation, where it is 0.3.

    H. Ji, P. Ke, Z. Hu, R. Zhang and M. Huang, "Tailoring language generation models under total variation distance",
    ICLR 2023: the objective L_TaiLr, section 3.4 for the bound, and their scripts for its value.
    """
    losses = cross_entropies(logits, targets)
    # p / (gamma + (1 - gamma) p), divided by p: finite where p is not, in float32, above 0.
    weights = 1 / (1 - gamma + gamma * losses.detach().exp())
    return weights.clamp(min=LEAST_WEIGHT) * losses


def mixce(logits: "Tensor", targets: "Tensor", eta: float) -> "Tensor":
    r"""Return the losses of MixCE, a mixture of forward and reverse cross-entropy (Zhang et al. 2023).

    .. math:: -\eta \log q_y - (1 - \eta)\,q_y \log q_y

    with :math:`q_y` the probability of the target, a constant in the gradient where it is a factor. The second term is
    the self-reinforced approximation of the reverse cross-entropy; its gradient is that of :math:`-q_y`.

    S. Zhang, S. Wu, O. Irsoy, S. Lu, M. Bansal, M. Dredze and D. Rosenberg, "MixCE: Training autoregressive language
    models by mixing forward and reverse cross-entropies", ACL 2023: the self-reinforced objective, as in their code.
    """
    losses = cross_entropies(logits, targets)
    return (eta + (1 - eta) * (-losses.detach()).exp()) * losses


def label_smoothing(logits: "Tensor", targets: "Tensor", smoothing: float) -> "Tensor":
    r"""Return the cross-entropies with targets that are mixed with the uniform distribution (Szegedy et al. 2016).

    .. math:: -(1 - \epsilon) \log p_y - \frac{\epsilon}{v} \sum_i \log p_i

    Its minimum gives every token at least :math:`\epsilon / v`: a control, which must leak more.

    C. Szegedy, V. Vanhoucke, S. Ioffe, J. Shlens and Z. Wojna, "Rethinking the Inception architecture for computer
    vision", CVPR 2016, section 7.
    """
    logs = logits.log_softmax(dim=-1)
    of_targets = logs.gather(-1, targets[:, None]).squeeze(-1)
    return -(1 - smoothing) * of_targets - smoothing * logs.mean(dim=-1)


def filtered(logits: "Tensor", targets: "Tensor", threshold: float) -> "Tensor":
    r"""Return the cross-entropies, with a gradient whose small elements are dropped (Wijmans et al. 2025).

    Of the gradient of a token's loss with respect to its logits, :math:`g = p - e_y`, the elements with
    :math:`|g_i| <` `threshold` are 0, and all others as they are: a token of less probability is not pushed down. This
    is the gradient filter of memory-saving cross-entropies, element by element; their kernels drop a block of tokens
    and classes only if all its elements are small, and so less.

    E. Wijmans, B. Huval, A. Hertzberg, V. Koltun and P. Krähenbühl, "Cut your losses in large-vocabulary language
    models", ICLR 2025, on gradient filtering; the paper's threshold is 2 ** -12, below the resolution of bf16.
    """
    constant = logits.detach()
    sizes = constant.softmax(dim=-1)
    of_targets = targets[:, None]
    sizes = sizes.scatter(-1, of_targets, 1 - sizes.gather(-1, of_targets))
    return cross_entropies(logits.where(sizes >= threshold, constant), targets)


@dataclass(frozen=True)
class Objective:
    """An objective with a parameter in [0, 1]."""

    losses: Callable[["Tensor", "Tensor", float], "Tensor"]  # (n,) from logits (n, v), targets (n,) and the parameter
    title: str  # in tables and figures: what a model is learned under
    key: str  # of the parameter in a config
    meaning: str  # of the parameter
    ordinary: float = 0.0  # the value at which it is the cross-entropy, which a config calls by its name


OBJECTIVES = {
    "tailr": Objective(tailr, "TaiLr", "gamma", "how much less an improbable token counts"),
    "mixce": Objective(mixce, "MixCE", "eta", "share of the forward cross-entropy", ordinary=1.0),
    "label-smoothing": Objective(label_smoothing, "label smoothing", "smoothing", "share of the uniform distribution"),
    "filtered": Objective(
        filtered, "a filtered gradient", "threshold", "size below which elements of a logit gradient are dropped"
    ),
}


def cross_entropies(logits: "Tensor", targets: "Tensor") -> "Tensor":
    """Return the cross-entropy of each token in nats (n,), from logits (n, v) and targets (n,)."""
    return -logits.log_softmax(dim=-1).gather(-1, targets[:, None]).squeeze(-1)


def losses_under(entry: Mapping[str, Any]) -> Callable[["Tensor", "Tensor"], "Tensor"] | None:
    """Return the function of logits and targets of a config's entry, such as ``{name: tailr, gamma: 0.1}``.

    It is None for ``{name: cross-entropy}``. A `UserError` says what is wrong with an entry that the schema passes.
    """
    name = entry["name"]
    known = None if name == CROSS_ENTROPY else OBJECTIVES[name]
    keys, wanted = set(entry) - {"name"}, {known.key} if known else set()
    if keys != wanted:
        have = ", ".join(sorted(keys)) or "none"
        raise UserError(f"objective {name}: takes {', '.join(wanted) or 'no setting'}, not {have}")
    if known is None:
        return None
    value = entry[known.key]
    if value == known.ordinary:
        raise UserError(
            f"objective {name}: {known.key} = {value!r} is ordinary training; write {{name: {CROSS_ENTROPY}}}"
        )
    losses = known.losses
    return lambda logits, targets: losses(logits, targets, value)
