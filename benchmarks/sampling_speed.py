"""Throughput of `oversmoothing.samples` against transformers' `generate` and against a loop without a cache.

Run from anywhere: ``python benchmarks/sampling_speed.py [--layers 2] [--width 288] [--threads 1] [--all]``. A hundred
prompts of 100 bytes are extended by 500 bytes under pure sampling, in one process, in alternation, measured in
processor time; all models have random weights, learned positions and the same size. Ours receives the hundred prompts
as one batch and may split it, as in the workflow (`samples.generate.CACHE_BYTES`). The loop without a cache runs the
whole context again for each byte; it is timed at lengths 50 bytes apart and integrated by the trapezoidal rule, or with
``--all`` at every length (half an hour). Exits with status 1 if a target is missed: 4 times the speed of transformers,
10 times that of the loop.
"""

import argparse
import sys
from collections.abc import Callable

import measuring
import numpy as np
import torch
import transformers
from transformers import GPT2Config, GPT2LMHeadModel

from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT
from oversmoothing.samples.generate import generate

TEXTS, PROMPT, NEW, HEADS, BLOCK = 100, 100, 500, 6, 1024
SPACING = 50
ASKED = {"transformers": 4, "no cache": 10}


def main(options: argparse.Namespace) -> int:
    """Print the speeds; return the exit status."""
    torch.set_num_threads(options.threads)
    layers, width, texts, new = options.layers, options.width, options.texts, options.bytes
    ours = GPT(GPTConfig(layers, HEADS, width, BLOCK), seed=1).eval()
    theirs = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=256, n_positions=BLOCK, n_embd=width, n_layer=layers, n_head=HEADS,
            tie_word_embeddings=False, bos_token_id=None, eos_token_id=None,
        )
    ).eval()  # fmt: skip
    prompts = [np.random.default_rng(i).bytes(PROMPT) for i in range(texts)]
    tokens = torch.from_numpy(np.stack([np.frombuffer(prompt, np.uint8) for prompt in prompts])).long()
    print(
        f"{layers} layers of width {width}, {texts} prompts of {PROMPT} bytes, {new} new bytes each, float32, "
        f"{options.threads} thread{'s' * (options.threads > 1)}, PyTorch {torch.__version__}, "
        f"transformers {transformers.__version__}"
    )
    cached(ours, prompts, 5)
    with_transformers(theirs, tokens, 5)
    seconds: dict[str, list[float]] = {"ours": [], "transformers": []}
    for turn in range(options.repeats):
        seconds["ours"].append(timed(lambda: cached(ours, prompts, new)))
        seconds["transformers"].append(timed(lambda: with_transformers(theirs, tokens, new)))
        print(f"turn {turn + 1}: ours {seconds['ours'][-1]:.1f} s, transformers {seconds['transformers'][-1]:.1f} s")
    seconds["no cache"] = [without_cache(ours, tokens, new, 1 if options.all else SPACING)]
    speed = {name: texts * new / float(np.median(times)) for name, times in seconds.items()}
    passed = True
    print(f"{'':14s} {'bytes/s':>9s} {'seconds':>9s} {'we are':>8s}  asked")
    for name, value in speed.items():
        ratio, asked = speed["ours"] / value, ASKED.get(name, 1)
        passed &= ratio >= asked
        print(
            f"{name:14s} {value:9,.0f} {texts * new / value:9.1f} {ratio:7.1f}x  "
            + (f"{asked}x: {'met' if ratio >= asked else 'MISSED'}" if name in ASKED else "")
        )
    return 0 if passed else 1


def cached(model: GPT, prompts: list[bytes], new: int) -> None:
    """Sample as the workflow does."""
    for _ in generate(model, range(len(prompts)), prompts, new, {"name": "pure"}, seed=1337, batch=len(prompts)):
        pass


@torch.inference_mode()
def with_transformers(model: GPT2LMHeadModel, tokens: torch.Tensor, new: int) -> None:
    """Sample as with plain transformers: all prompts at once, with its key-value cache."""
    mask = torch.ones_like(tokens)
    model.generate(  # type: ignore[misc]
        tokens, attention_mask=mask, max_new_tokens=new, do_sample=True, top_k=0, use_cache=True, pad_token_id=0
    )


@torch.inference_mode()
def without_cache(model: GPT, tokens: torch.Tensor, new: int, spacing: int) -> float:
    """Return the seconds of a loop that runs the whole context again for each byte."""
    lengths = np.unique(np.append(np.arange(PROMPT, PROMPT + new, spacing), PROMPT + new - 1))
    context = tokens.repeat(1, -(-(PROMPT + new) // PROMPT))

    def one_byte(length: int) -> None:
        logits = model.logits(model.hidden(context[:, :length])[1][:, -1])
        torch.multinomial(logits.softmax(dim=-1), 1)

    seconds = [timed(lambda length=length: one_byte(length)) for length in lengths.tolist()]  # type: ignore[misc]
    return float(np.interp(np.arange(PROMPT, PROMPT + new), lengths, seconds).sum())


def timed(function: Callable[[], object]) -> float:
    """Return the processor seconds per thread of a call."""
    return measuring.timed(function, threads=torch.get_num_threads())[1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=288)
    parser.add_argument("--texts", type=int, default=TEXTS)
    parser.add_argument("--bytes", type=int, default=NEW, help="new ones of each text")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--all", action="store_true", help="time the loop without a cache at every length")
    sys.exit(main(parser.parse_args()))
