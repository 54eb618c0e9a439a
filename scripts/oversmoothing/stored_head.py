"""Logits from hidden states and an output head that stays in its safetensors file.

A position has 50,304 logits but only 2,560 hidden values, so a study of many tokens stores hidden states and rebuilds a
window's logits when it scores them. The file is mapped into memory and read a block of rows at a time, which is
converted to float32; in float32 the whole head would take 515 MB.
"""

import math
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from oversmoothing.jobs import UserError

_BLOCK = 1 << 23  # weights: 32 MiB in float32; larger blocks are no faster
_DTYPES = ("F32", "F16", "BF16")


class StoredHead:
    """An output head, possibly with a bias and a softcap, whose weight stays in its file.

    Parameters
    ----------
    path : str or Path
        A safetensors file.
    weight : str
        Name of the weight in the file, shape (v, d), in float32, float16 or bfloat16.
    bias : tensor, shape (v,), optional
    softcap : float, optional
        Bound c of the logits, which become c tanh(x / c), as in Gemma 2; above 0.

    Attributes
    ----------
    vocabulary, width : int
        v and d.

    Raises
    ------
    UserError
        If the file is missing or damaged or holds no such weight, or the weight has another shape or type.
    ValueError
        If the bias or the softcap does not fit.
    """

    def __init__(self, path: str | Path, weight: str, bias: Tensor | None = None, softcap: float | None = None) -> None:
        try:
            self._file = safe_open(path, "pt")
            names = list(self._file.keys())
        except FileNotFoundError:
            raise UserError(f"{path}: no such file") from None
        except (SafetensorError, OSError) as error:
            raise UserError(f"{path}: not a complete safetensors file ({error})") from error
        if weight not in names:
            raise UserError(f"{path}: no tensor {weight}; it holds {', '.join(sorted(names))}")
        self._rows = self._file.get_slice(weight)
        shape, dtype = self._rows.get_shape(), self._rows.get_dtype()
        if len(shape) != 2 or dtype not in _DTYPES:
            raise UserError(
                f"{path}: {weight} has shape {tuple(shape)} and type {dtype}; a head has two dimensions and type "
                f"{' or '.join(_DTYPES)}"
            )
        self.vocabulary, self.width = shape
        if bias is not None and tuple(bias.shape) != (self.vocabulary,):
            raise ValueError(f"a bias of shape {tuple(bias.shape)} for a vocabulary of {self.vocabulary}")
        if softcap is not None and not 0 < softcap < math.inf:
            raise ValueError(f"softcap: {softcap} is not a positive finite number")
        self._bias, self._softcap = bias, softcap

    @torch.inference_mode()
    def logits(self, states: Tensor, block: int = _BLOCK) -> Tensor:
        """Return the logits of hidden states, computed in float32 on their device.

        Parameters
        ----------
        states : float32 tensor, shape (n, d)
            What the head multiplies: after the last norm, and after a bottleneck.
        block : int
            Weights to convert at a time; beside the result, this is all the memory that is used.

        Returns
        -------
        float32 tensor, shape (n, v)

        Raises
        ------
        ValueError
            If the shape or the type of `states` is another.
        """
        if states.ndim != 2 or states.shape[1] != self.width or states.dtype != torch.float32:
            raise ValueError(
                f"states {tuple(states.shape)} of {states.dtype}: a head of width {self.width} takes float32 "
                f"(n, {self.width})"
            )
        logits = torch.empty((len(states), self.vocabulary), device=states.device)
        rows = max(block // self.width, 1)
        for start in range(0, self.vocabulary, rows):
            end = min(start + rows, self.vocabulary)
            weight = self._rows[start:end].to(states.device).float()
            torch.mm(states, weight.T, out=logits[:, start:end])
        if self._bias is not None:
            logits += self._bias.to(states.device, torch.float32)
        if self._softcap is not None:
            logits.div_(self._softcap).tanh_().mul_(self._softcap)
        return logits
