"""What enters the head, mapped to logits or log-probabilities: the functions that `output_kinds.KINDS` names.

A function takes what enters, h, shape (..., r), or (..., n r) where n vectors enter, the head's matrix W, shape (v, r)
unless it says otherwise, and the other weights of its kind by name. It returns values (..., v) whose softmax is the
model's distribution: logits, or where the kind is a mixture the logarithms of probabilities, so that all that reads
logits reads these.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from oversmoothing.models.output_kinds import KINDS, PARTITIONS

CAP = 30.0  # of softcapped logits, as of Gemma 2
REACH = 10.0  # the pieces of the monotone map lie between -REACH and REACH


class OutputLayer(nn.Module):
    """A kind of output layer with its weights beside the head's matrix, all 0; `GPT` draws the matrices."""

    def __init__(self, kind: str, width: int) -> None:
        super().__init__()
        for name, shape in KINDS[kind].weights(width).items():
            self.register_parameter(name, nn.Parameter(torch.zeros(shape)))
        self.function = function_of(kind)

    def forward(self, hidden: Tensor, head: Tensor) -> Tensor:
        """Map what enters, (..., n r), through the head's matrix to float32 values (..., v)."""
        weights = {name: weight.float() for name, weight in self.named_parameters()}
        return self.function(hidden.float(), head.float(), **weights)


def function_of(kind: str) -> Callable[..., Tensor]:
    """Return the function of a kind of output layer."""
    return globals()[KINDS[kind].function]


def softcap(hidden: Tensor, head: Tensor, cap: float = CAP) -> Tensor:
    """Return logits c tanh(z / c) of z = W h, which lie between -c and c (Gemma Team 2024, section 2).

    A monotone map of each logit: their order is that of the linear head, but their differences from each other are not.
    """
    return cap * torch.tanh(F.linear(hidden, head) / cap)


def sigsoftmax(hidden: Tensor, head: Tensor) -> Tensor:
    """Return z + log sigmoid(z) of z = W h: p is proportional to exp(z) sigmoid(z) (Kanai et al. 2018, sigsoftmax).

    Sekitoshi Kanai, Yasuhiro Fujiwara, Yuki Yamanaka and Shuichi Adachi, "Sigsoftmax: reanalysis of the softmax
    bottleneck", NeurIPS 2018.
    """
    z = F.linear(hidden, head)
    return z + F.logsigmoid(z)


def mixture(hidden: Tensor, head: Tensor, prior: Tensor) -> Tensor:
    """Return log-probabilities of a mixture of K softmaxes with one W (Yang et al. 2018, section 2.4).

    ``p = sum_k pi_k softmax(W h_k)`` with ``pi = softmax(P h)``, P being `prior` (K, K r). As in the paper each context
    h_k, a vector of width r, is computed from the trunk's whole state. There it is ``tanh(C_k g)`` and the prior reads
    g; here it is behind the bottleneck and the LayerNorm that linear heads have, and the prior reads all contexts. So
    with K = 1 it is the log-softmax of the linear head.

    Z. Yang, Z. Dai, R. Salakhutdinov and W. W. Cohen, "Breaking the softmax bottleneck: a high-rank RNN language
    model", ICLR 2018.
    """
    contexts = hidden.unflatten(-1, (len(prior), -1))
    return _mixed(F.linear(contexts, head), F.linear(hidden, prior))


def multi_facet(hidden: Tensor, head: Tensor, prior: Tensor) -> Tensor:
    """Return log-probabilities of a multi-facet softmax of one state (Chang & McCallum 2022).

    A mixture of K softmaxes of J + K - 1 vectors of width r, the facets. In the first softmax class i reads facet
    i mod J, in the others all classes read one facet. The paper's facets are linear maps of several hidden states; here
    each is behind a bottleneck and the LayerNorm that linear heads have, of the trunk's last state. The mixture is
    weighted as in `mixture`.

    H.-S. Chang and A. McCallum, "Softmax bottleneck makes language models unable to represent multi-mode word
    distributions", ACL 2022.
    """
    facets = hidden.unflatten(-1, (PARTITIONS + len(prior) - 1, -1))
    parts = [F.linear(facets[..., j, :], head[j::PARTITIONS]) for j in range(PARTITIONS)]
    order = torch.cat([torch.arange(j, len(head), PARTITIONS, device=head.device) for j in range(PARTITIONS)]).argsort()
    first = torch.cat(parts, dim=-1)[..., order]
    return _mixed(
        torch.cat((first[..., None, :], F.linear(facets[..., PARTITIONS:, :], head)), dim=-2), F.linear(hidden, prior)
    )


def _mixed(z: Tensor, prior: Tensor) -> Tensor:
    """Return log-probabilities (..., v) of softmaxes of logits (..., K, v), mixed by a softmax of (..., K)."""
    return (z.log_softmax(dim=-1) + prior.log_softmax(dim=-1)[..., None]).logsumexp(dim=-2)


def monotone(hidden: Tensor, head: Tensor, slopes: Tensor) -> Tensor:
    """Return f(z) of z = W h, with f increasing and linear on each piece, its slopes learned (Ganea et al. 2019).

    The pieces are of equal width between -10 and 10, the first and the last go on to infinity, and f(-10) = -10. The
    slope of a piece is softplus(s + log(e - 1)) of its s in `slopes`, which is 1 for s = 0: f starts as the identity.

    O.-E. Ganea, S. Gelly, G. Bécigneul and A. Severyn, "Breaking the softmax bottleneck via learnable monotonic
    pointwise non-linearities", ICML 2019.
    """
    z = F.linear(hidden, head) + REACH
    slope = F.softplus(slopes + math.log(math.e - 1))
    step = 2 * REACH / len(slope)
    f = slope[0] * z
    for i in range(1, len(slope)):  # a gather would add up its gradient in any order
        f = f + (slope[i] - slope[i - 1]) * F.relu(z - i * step)
    return f - REACH


def two_layer(hidden: Tensor, head: Tensor, into: Tensor) -> Tensor:
    """Return logits W gelu(U h), a head with a hidden layer; W has shape (v, m) and U, `into`, (m, r)."""
    return F.linear(F.gelu(F.linear(hidden, into)), head)
