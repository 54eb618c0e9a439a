"""Time of a language model read byte by byte, against a plain pass over its tokens, and against genlm-bytes.

    python benchmarks/byte_view.py FOLDER
    python benchmarks/byte_view.py FOLDER --bytes 2000 --genlm 200 --beam 5

FOLDER holds a causal language model over byte-level tokens, such as SmolLM2-135M; without one, a toy is made. The text
is Python's own manual, or `--text`. Windows of `--scored` bytes follow each other, and each also reads the `--context`
bytes before it; both passes read the same windows, in one process, in alternation, in processor time. The pass over
tokens takes one encoding of the context and one of the window, where the view sums over all. The peak of memory is the
process's, which holds the model twice.

`--genlm N` also runs genlm-bytes over the first N bytes, without context, on the same model. It is on PyPI and not in
this project's lock: install it, with accelerate and bitsandbytes, into an environment of its own that has this one's
packages. It sums over token sequences in a beam, even over those that no text is encoded to, so its loss may lie on
either side of ours.
"""

import argparse
import asyncio
import pydoc_data.topics
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import measuring
import numpy as np
import torch
from keeping import keep
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from oversmoothing.models.truths.byte_view import ByteView, load_byte_view

END = "<|endoftext|>"


def main(options: argparse.Namespace) -> None:
    """Print losses, times and their ratio, and the peak of memory."""
    torch.set_num_threads(options.threads)
    torch.set_grad_enabled(False)
    text = options.text.read_bytes() if options.text else manual()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or toy(Path(temporary), text.decode())
        view = load_byte_view(folder, folder.name, {}, torch.device("cpu"), "float32")
        plain = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        first = int(view.model.bos[0])
        if options.genlm:
            against_genlm(folder, view, text[: options.genlm], options)
        warm = text[:50]
        view.next_bytes(warm, 0)
        token_losses(plain, tokenizer, first, warm, 0)
        seconds, nats, counts = np.zeros(2), np.zeros(2), np.zeros(2, int)
        dropped = []
        for before, window in windows(text[: options.bytes], options.scored, options.context):
            read = before + window, len(before)
            found, taken = measuring.timed(partial(view.next_bytes, *read))
            losses, plainly = measuring.timed(partial(token_losses, plain, tokenizer, first, *read))
            seconds += taken, plainly
            nats += found.losses.sum(), losses.sum()
            counts += len(window), len(losses)
            dropped.append(found.dropped)
    scored, tokens = counts
    bits = nats / np.log(2) / scored
    print(
        f"{scored:,} bytes, {tokens:,} tokens, {scored / tokens:.2f} bytes a token; windows of {options.scored} behind"
    )
    print(f"{options.context} bytes of context, float32, {options.threads} thread(s), PyTorch {torch.__version__}")
    print(f"tokens: {bits[1]:.4f} bits a byte, {1e3 * seconds[1] / scored:8.2f} ms a byte, {seconds[1]:.1f} s")
    print(f"bytes:  {bits[0]:.4f} bits a byte, {1e3 * seconds[0] / scored:8.2f} ms a byte, {seconds[0]:.1f} s")
    print(f"dropped: mean {np.concatenate(dropped).mean():.2e}, largest {np.concatenate(dropped).max():.2e}")
    print(f"bytes take {seconds[0] / seconds[1]:.2f} times as long as tokens; peak memory {measuring.peak():,.0f} MB")
    if options.keep and not options.genlm:  # a third model would raise the peak of memory
        times = {"view": (seconds[0], "s"), "tokens": (seconds[1], "s"), "memory": (measuring.peak(), "MB")}
        times["ratio"] = (seconds[0] / seconds[1], "times")
        bits_lost = {"view_loss": (bits[0], "bits a byte"), "tokens_loss": (bits[1], "bits a byte")}
        case = f"{(options.folder or Path('toy')).name}, {options.bytes} bytes"
        keep("byte_view", case, times | bits_lost | {"bytes_a_token": (scored / tokens, "bytes")})


def windows(text: bytes, scored: int, context: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield each window and the bytes before it, all cut between characters."""
    start = 0
    while start < len(text):
        before, end = boundary(text, max(start - context, 0)), boundary(text, start + scored)
        yield text[before:start], text[start:end]
        start = end


def boundary(text: bytes, at: int) -> int:
    """Return the first place from `at` on where a character begins, or the end."""
    return next((place for place in range(at, len(text)) if text[place] >> 6 != 2), len(text))


def token_losses(model: LlamaForCausalLM, tokenizer: Tokenizer, first: int, text: bytes, start: int) -> np.ndarray:
    """Return the losses of the tokens behind `start`, in nats, of an encoding of what is before it and of the rest."""
    before, rest = (
        tokenizer.encode(part.decode(), add_special_tokens=False).ids for part in (text[:start], text[start:])
    )
    ids = torch.tensor([[first, *before, *rest]])
    logits = model(ids, use_cache=False).logits[0, len(before) : -1].float()
    return torch.nn.functional.cross_entropy(logits, ids[0, len(before) + 1 :], reduction="none").double().numpy()


def against_genlm(folder: Path, view: ByteView, text: bytes, options: argparse.Namespace) -> None:
    """Print, and keep, the loss and the time of genlm-bytes, and of our view, over a text."""
    try:
        from genlm.backend import load_model_by_name
        from genlm.bytes import BeamParams, ByteBeamState
    except ImportError as error:
        print(f"genlm-bytes: not installed ({error})")
        return
    model = load_model_by_name(str(folder), backend="hf")

    async def losses() -> list[float]:
        beam, found = await ByteBeamState.initial(model, BeamParams(K=options.beam)), []
        for byte in text:
            found.append(-float((await beam.logp_next()).ps[byte]))
            beam = await (beam.prune() << byte)
        await beam.cleanup()
        return found

    theirs, taken = measuring.timed(lambda: asyncio.run(losses()))
    ours, mine = measuring.timed(lambda: view.next_bytes(text, 0).losses)
    for name, nats, seconds in ((f"genlm-bytes, beam {options.beam}", theirs, taken), ("ours", ours, mine)):
        bits, time_each = float(np.sum(nats)) / np.log(2) / len(text), 1e3 * seconds / len(text)
        print(f"{name}: {bits:.4f} bits a byte, {time_each:.2f} ms a byte, first {len(text)} bytes")
        if options.keep:
            measured = {"loss": (bits, "bits a byte"), "time": (time_each, "ms a byte")}
            keep("byte_view", f"{name}, {len(text)} bytes", measured)


def manual() -> bytes:
    """Return Python's manual as a text."""
    topics = pydoc_data.topics.topics
    return "\n\n".join(topics[name] for name in sorted(topics)).encode()


def toy(folder: Path, text: str) -> Path:
    """Write a small random Llama and a tokenizer of 400 tokens into a folder; return it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=[END], initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([text[:50_000]], trainer)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=END, eos_token=END).save_pretrained(folder)
    shape = LlamaConfig(
        vocab_size=400,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=2048,
        bos_token_id=0,
        eos_token_id=0,
    )
    torch.manual_seed(0)
    LlamaForCausalLM(shape).save_pretrained(folder)
    return folder


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="model.safetensors, config.json and tokenizer.json")
    parser.add_argument("--text", type=Path, help="UTF-8")
    parser.add_argument("--bytes", type=int, default=20_000)
    parser.add_argument("--scored", type=int, default=500)
    parser.add_argument("--context", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--genlm", type=int, default=0, help="bytes that genlm-bytes also reads")
    parser.add_argument("--beam", type=int, default=5, help="width of its beam")
    parser.add_argument("--keep", action="store_true", help="in resources/benchmarks")
    main(parser.parse_args())
