"""Headers of GGUF files: every number within bounds, tensors that fill the file, and what is no model for here."""

import re
import struct
import subprocess
import sys

import numpy as np
import pytest
from gguf_models import write_parts, write_small_gguf

from oversmoothing.commands import main
from oversmoothing.hub.gguf_header import read_header
from oversmoothing.hub.gguf_model import check_gguf
from oversmoothing.hub.gguf_parts import digest, parts_of
from oversmoothing.hub.gguf_tokens import DIVISIONS
from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained.from_gguf import write_folder
from oversmoothing.models.pretrained.gguf_tokenizer import PRE_TOKENIZERS

U32, F32, TEXT, ARRAY = 4, 6, 8, 9
TENSORS, KEYS = 8, 16  # where the counts stand
DAMAGED = "the file is damaged or not complete; fetch it again"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the bytes of a small Llama with divided frequencies."""
    path = tmp_path_factory.mktemp("gguf") / "small.gguf"

    def more(writer):
        writer.add_tensor("rope_freqs.weight", np.array([1, 1, 2, 8], np.float32))
        writer.add_bool("tokenizer.ggml.add_bos_token", True)

    write_small_gguf(path, more=more)
    return path.read_bytes()


@pytest.fixture
def write(tmp_path):
    def written(content, name="small.gguf"):
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    return written


def refusal(path):
    with pytest.raises(UserError) as caught:
        check_gguf(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert len(message.replace(str(path.parent), "")) < 400
    return message


def at(place, value):
    """Put bytes in the place of those that stand somewhere."""
    return lambda content: content[:place] + value + content[place + len(value) :]


def behind(name, value, skip=0):
    """Put bytes in the place of those behind a name; `skip` is how many stand between."""

    def change(content):
        return at(content.index(name) + len(name) + skip, value)(content)

    return change


def number(key, value, kind="I"):
    """Change the value of a key, behind the code of its type."""
    return behind(b"llama." + key, struct.pack(f"<{kind}", value), skip=4)


def offset(name, change):
    """Change where a matrix begins, which stands behind the number and the sizes of its dimensions, and its type."""

    def changed(content):
        place = content.index(name) + len(name) + 4 + 2 * 8 + 4
        return at(place, struct.pack("<Q", struct.unpack_from("<Q", content, place)[0] + change))(content)

    return changed


def with_key(name, kind, value):
    """Add a key to the first ones, and another, of so many bytes that all behind them moves by a multiple of 32."""

    def changed(content):
        (keys,) = struct.unpack_from("<Q", content, KEYS)
        filling = b"\n%d" % keys
        key = struct.pack("<Q", len(name)) + name + struct.pack("<I", kind) + value
        length = -(len(key) + 8 + len(filling) + 4 + 8) % 32
        filling = struct.pack("<Q", len(filling)) + filling + struct.pack("<IQ", TEXT, length) + bytes(length)
        return content[:KEYS] + struct.pack("<Q", keys + 2) + key + filling + content[KEYS + 8 :]

    return changed


def with_other(name, kind, value):
    """Add a key in the place of one of that name."""
    return lambda content: with_key(name, kind, value)(content.replace(name, name[:-1] + b"_"))


def without_last_name(content):
    return content.replace(b"rope_freqs.weight", b"token_embd.weight")


NESTED = struct.pack("<IQ", ARRAY, 1) * 1000 + struct.pack("<IQ", U32, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: b"", "no GGUF file, which begins with the letters GGUF"),
        (lambda content: b"GGUF\x03\0\0\0", "tensor_count, for which its header has no room"),
        (at(4, b"\0\0\0\3"), "GGUF of version 50331648, and only 2 and 3, little-endian, are read"),
        (at(TENSORS, b"\x15"), "its tensors end at byte .*, and the file at"),
        (at(TENSORS, b"\x17"), DAMAGED),
        (at(TENSORS + 7, b"\x80"), "tensor_count is 9223372036854775830, for which its header has no room"),
        (at(KEYS + 7, b"\x80"), "kv_count is 9223372036854775827, for which its header has no room"),
        (lambda content: content + b"\0", "its tensors end at byte .*, and the file at"),
        (lambda content: content[:-40], "its tensors end at byte .*, and the file at"),
        (offset(b"blk.0.attn_q.weight", 32), "its tensor 'blk.0.attn_q.weight' begins at byte .*, and should at"),
        (offset(b"blk.0.attn_q.weight", -1024), "its tensor '.*' begins at byte .*, and should at"),
        (offset(b"blk.0.attn_q.weight", 1 << 63), "its tensor '.*' begins at byte .*, and should at"),
        (without_last_name, "it has the tensor 'token_embd.weight' twice"),
        (behind(b"token_embd.weight", b"\0"), "its tensor 'token_embd.weight' has 0 dimensions, and at most 4"),
        (behind(b"token_embd.weight", b"\xff\xff"), "its tensor 'token_embd.weight' has 65535 dimensions"),
        (behind(b"token_embd.weight", bytes(8), 4), r"has the shape \(301, 0\), impossible in F32"),
        (behind(b"token_embd.weight", b"\xff" * 8, 12), "takes 1180591620717411303360 bytes, and the file has"),
        (behind(b"token_embd.weight", b"\x63", 20), "its tensor 'token_embd.weight' is of the unknown type 99"),
        (behind(b"token_embd.weight", b"\x18", 20), DAMAGED),  # of one byte each, so that a hole follows
        (behind(b"rope_freqs.weight", b"\1", 4 + 8), "ends at byte .*, and more follows"),
        (with_key(b"nested", ARRAY, NESTED), "nested is an array of arrays"),
        (with_key(b"long", ARRAY, struct.pack("<IQ", U32, 1 << 61)), "long has 2305843009213693952 numbers, for which"),
        (with_key(b"long", ARRAY, struct.pack("<IQ", 8, 1 << 61)), "long has 2305843009213693952 texts, for which"),
        (with_key(b"long", 8, struct.pack("<Q", 1 << 63)), "long has a text of 9223372036854775808 bytes, for which"),
        (with_key(b"odd", 8, struct.pack("<Q", 1) + b"\xff"), "odd is no UTF-8"),
        (with_key(b"odd", 13, b""), "odd is of the unknown type 13"),
        (with_key(b"\x1b[2K", 13, b""), r"\\x1b\[2K is of the unknown type 13"),
        (with_key(b"k" * 300, U32, bytes(4)), "the name of a key has 300 letters, and at most 256 are read"),
        (with_key(b"flag", 7, b"\2"), "flag is 2, neither true nor false"),
        (with_key(b"general.alignment", U32, struct.pack("<I", 48)), "general.alignment is 48, no power of two up to"),
        (with_key(b"general.alignment", U32, struct.pack("<I", 1 << 31)), "general.alignment is 2147483648, no power"),
        (with_key(b"general.alignment", F32, struct.pack("<f", 32)), "general.alignment is 32.0, no power of two"),
        (with_key(b"llama.block_count", U32, struct.pack("<I", 2)), "it has the key 'llama.block_count' twice"),
        (number(b"block_count", 1 << 31), "llama.block_count is 2147483648, no whole number from 1 to 4096"),
        (number(b"block_count", 0), "llama.block_count is 0, no whole number from 1 to 4096"),
        (number(b"block_count", 3), "it lacks the tensors of layer 2, and has 3 layers"),
        (number(b"block_count", 1), "it has tensors of layer 1, unknown in a llama of 1 layers"),
        (with_other(b"llama.block_count", F32, struct.pack("<f", 2)), "llama.block_count is 2.0, no whole number"),
        (
            with_other(b"llama.block_count", ARRAY, struct.pack("<IQII", U32, 2, 2, 2)),
            r"block_count is \(2, 2\), no whole",
        ),
        (with_other(b"split.count", ARRAY, struct.pack("<IQ", U32, 0)), r"part 1 of \(\) of a model, and not named so"),
        (number(b"context_length", 0), "llama.context_length is 0, no whole number from 1"),
        (number(b"embedding_length", 48), "llama.rope.dimension_count is 8, where heads have 24 numbers"),
        (number(b"attention.head_count_kv", 3), "llama.attention.head_count_kv is 3, no divisor of the head_count, 2"),
        (number(b"rope.dimension_count", 4), "llama.rope.dimension_count is 4, where heads have 8 numbers"),
        (number(b"vocab_size", 300), "llama.vocab_size is 300, and there are 301 tokens"),
        *(
            (number(b"attention.layer_norm_rms_epsilon", value, "f"), "rms_epsilon is .*, no number from 1e-12 to 0.01")
            for value in (np.nan, np.inf, -1e-6, 0.0, 1.0)
        ),
        *(
            (number(b"rope.freq_base", value, "f"), r"llama.rope.freq_base is .*, no number from 1 to 1e\+12")
            for value in (np.nan, np.inf, -np.inf, -1e4, 0.0, 1e30)
        ),
        (behind(b"tokenizer.ggml.bos_token_id", b"\x2d\1", 4), "bos_token_id is 301, and there are 301 tokens"),
        (behind(b"tokenizer.ggml.token_type", b"\x4d", 12 + 4), "token_type is no list of the types of 301 tokens"),
        (behind(b"tokenizer.ggml.token_type", b"\6", 16), "token_type is no list of the types of 301 tokens"),
        (
            behind(b"tokenizer.ggml.token_type", b"\3", 16 + 4 * 40),
            "token_type says that '.', a part of words, is a con",
        ),
        (behind(b"tokenizer.ggml.token_type", b"\3", 16 + 4 * 290), "token_type says that '.*', a part of words, is a"),
        (lambda content: content.replace(b"ggml.merges", b"ggml.merged"), "tokenizer.ggml.merges is absent, no list"),
        (lambda content: content.replace(b"bos_token_id", b"box_token_id"), "bos_token_id is absent, and it stands"),
    ],
)
def test_a_number_out_of_bounds_or_a_tensor_out_of_place(whole, write, change, message):
    check_gguf(write(whole))
    assert re.search(message, refusal(write(change(whole))))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            behind(b"general.architecture", b"gemmo", 12),
            "general.architecture is 'gemmo', and only llama, qwen2, qwen3",
        ),
        (behind(b"tokenizer.ggml.model", b"bert", 12), "tokenizer.ggml.model is 'bert', neither 'gpt2', byte-level"),
        (behind(b"tokenizer.ggml.pre", b"gpt-3", 12), "tokenizer.ggml.pre is 'gpt-3', of which only gpt-2, phi-2"),
        (with_key(b"llama.expert_count", U32, struct.pack("<I", 8)), "llama.expert_count is 8, which is not converted"),
        (with_key(b"llama.rope.scaling.factor", F32, struct.pack("<f", 2)), "llama.rope.scaling.factor is 2.0, which"),
        (with_key(b"llama.rope.scale_linear", F32, struct.pack("<f", 2)), "llama.rope.scale_linear is 2.0, which"),
        (with_key(b"llama.rope.scaling.type", 8, struct.pack("<Q", 4) + b"yarn"), "llama.rope.scaling.type is 'yarn'"),
        (with_key(b"llama.attention.causal", 7, b"\0"), "llama.attention.causal is False, which is not converted"),
        (with_key(b"llama.attention.key_length", U32, struct.pack("<I", 16)), "where heads have 16 numbers"),
        (
            lambda content: content.replace(b"rope_freqs.weight", b"rope_freqz.weight"),
            "it has the tensor 'rope_freqz.weight', unknown in a llama",
        ),
    ],
)
def test_another_model_is_refused_with_advice_that_works(whole, write, change, message):
    refused = refusal(write(change(whole)))
    assert message in refused
    assert refused.endswith("; name the model that it was made from, a folder of safetensors or a name on the hub")


def test_parts_are_read_as_one_model(whole, write, tmp_path):
    """The writer of `gguf` parts a model itself; what is made of the parts is what is made of the whole."""
    path = write(whole)
    first = write_parts(path, 9)
    parts = parts_of(first)
    assert len(parts) == 3
    tensors = [set(read_header(part).tensors) for part in parts]
    assert set.union(*tensors) == set(read_header(path).tensors)
    for name, source in (("one", path), ("more", parts[0]), ("last", parts[-1])):
        (folder := tmp_path / name).mkdir()
        write_folder(source, folder)
        assert (folder / "model.safetensors").read_bytes() == (tmp_path / "one/model.safetensors").read_bytes()
    sums = {digest(part) for part in parts}
    assert len(sums) == 1
    parts[1].write_bytes(parts[1].read_bytes() + bytes(32))
    assert digest(first) not in sums
    with pytest.raises(UserError, match=rf"^{parts[1]}: its tensors end at byte"):
        check_gguf(first)
    parts[1].unlink()
    with pytest.raises(UserError, match=rf"^{first}: part 1 of 3 of a model, and {parts[1].name} is not beside it"):
        check_gguf(first)
    parts[2].rename(parts[1])
    with pytest.raises(UserError, match=rf"^{parts[1]}: part 3 of 3 of a model, and not named so; name its parts"):
        check_gguf(parts[1])


def test_a_merged_file_and_keys_that_change_nothing(whole, write):
    for key in (
        with_key(b"split.count", 2, struct.pack("<H", 0)),
        with_key(b"llama.rope.scaling.type", 8, struct.pack("<Q", 4) + b"none"),
        with_key(b"llama.rope.scaling.factor", F32, struct.pack("<f", 1)),
        with_key(b"llama.expert_count", U32, struct.pack("<I", 0)),
        with_key(b"general.alignment", U32, struct.pack("<I", 32)),
        with_key(b"general.tags", ARRAY, struct.pack("<IQQ", 8, 1, 1) + b"t"),
    ):
        whole = key(whole)
    check_gguf(write(whole))


def test_what_is_absent_or_left_out_is_noted(whole, write):
    assert check_gguf(write(whole)).notes == ()
    noted = check_gguf(write(whole.replace(b"rope.freq_base", b"rope.freq_bass"))).notes
    assert noted == (
        "llama.rope.freq_base is absent, and taken as 10000, as llama.cpp does",
        "left out, for nothing here reads it: llama.rope.freq_bass",
    )
    noted = check_gguf(write(whole.replace(b"eos_token_id", b"eon_token_id"))).notes
    assert noted == ("left out, for nothing here reads it: tokenizer.ggml.eon_token_id",)


FREE = {"rms_norm_eps", "rope_theta", "rope_parameters", "max_position_embeddings", "bos_token_id", "eos_token_id"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (number(b"feed_forward_length", 25), "has the shape .*, and its keys make it"),
        (number(b"attention.head_count_kv", 2), "has the shape .*, and its keys make it"),
        (
            lambda content: content.replace(b"rope_freqs.weight", b"rope_freqs.wright"),
            "it has the tensor 'rope_freqs.wright', unknown in a llama; name the model",
        ),
        (
            lambda content: content.replace(b"blk.1.ffn_up.weight", b"blk.1.ffn_uq.weight"),
            "it has the tensor 'blk.1.ffn_uq.weight', unknown",
        ),
    ],
)
def test_tensors_that_are_not_those_of_the_model_are_refused_before_it_is_written(
    whole, write, tmp_path, change, message
):
    path = write(change(whole))
    (folder := tmp_path / "made").mkdir()
    with pytest.raises(UserError, match=message):
        write_folder(path, folder)
    assert not list(folder.iterdir())


def test_a_flipped_bit_moves_no_tensor_and_changes_no_size(whole, write, tmp_path):
    path = write(whole)
    right = check_gguf(path)
    data = min(tensor.start for tensor in right.header.tensors.values())
    refused = 0
    bits = [*range(TENSORS * 8, (KEYS + 8) * 8), *range((KEYS + 8) * 8, data * 8, 101)]
    for byte, bit in (divmod(bit, 8) for bit in bits):
        path.write_bytes(at(byte, bytes([whole[byte] ^ 1 << bit]))(whole))
        try:
            read = check_gguf(path)
        except UserError:
            refused += 1
            continue
        assert byte >= KEYS + 8
        changed = {key for key, value in right.config.items() if read.config[key] != value} - FREE
        if changed or read.header.tensors != right.header.tensors:
            with pytest.raises(UserError):
                write_folder(path, tmp_path)
    assert refused > len(bits) / 4


def test_kinds_of_words_are_those_that_tokenizers_are_made_for():
    assert set(PRE_TOKENIZERS) == set(DIVISIONS.values())


def test_the_header_is_read_without_pytorch(whole, write):
    path = write(behind(b"general.architecture", b"gemmo", 12)(whole))
    code = "import sys; sys.modules |= dict.fromkeys(['torch', 'transformers'])\n"
    code += f"from oversmoothing.hub.gguf_model import check_gguf; check_gguf({str(path)!r})"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr
    assert "general.architecture is 'gemmo'" in told


@pytest.mark.parametrize(
    "words", [["head"], ["size", "--text", "t", "--truth"], ["compare-models", "--text", "t", "o/n"]]
)
def test_commands_refuse_it_at_once(whole, write, capsys, words):
    path = write(behind(b"general.architecture", b"gemmo", 12)(whole))
    assert main([*words, str(path)]) == 1
    assert capsys.readouterr().err == f"Error: {refusal(path)}\n"
