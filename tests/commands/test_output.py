"""Files that options name: what is no earlier output stays, devices are written to, and no report is lost."""

import json
import os
from pathlib import Path

import pytest

from oversmoothing.commands import head, prompt, size
from oversmoothing.commands.one_model import check_json, tell
from oversmoothing.jobs import UserError

MEASURED = {"source": {}, "model": 1, "spectrum": {}}


def test_the_commands_ask_before_they_compute(tmp_path, monkeypatch, refused):
    text = tmp_path / "t.txt"
    text.write_text("the water")
    for module in (head, size):
        monkeypatch.setattr(module, "find_model", lambda *given: pytest.fail("it began"))
    monkeypatch.setattr(prompt, "ask", lambda *given: pytest.fail("it began"))
    for command, option in (
        (("head", "none", "--text", text), "--json"),
        (("size", "--truth", "none", "--text", text), "--json"),
        (("prompt", "the"), "--html"),
        (("compare", tmp_path, tmp_path), "--csv"),
    ):
        assert f"{option} {text}: no earlier output" in refused(*command, option, text)
    assert text.read_text() == "the water"
    for name, data in (("config.json", b'{"model_type": "llama"}'), ("w", b"\xff\x00")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(UserError, match=f"{name}: no earlier output of this command, so it is not replaced"):
            check_json(str(tmp_path / name), *MEASURED)


def test_an_earlier_output_and_an_empty_file_are_replaced(tmp_path, capsys):
    path = tmp_path / "out.json"
    path.touch()
    (tmp_path / "link.json").symlink_to(path)
    for name in ("out.json", "out.json", "link.json"):
        check_json(str(tmp_path / name), *MEASURED)
        tell("report", MEASURED, str(tmp_path / name))
        assert json.loads(path.read_text()) == MEASURED
    assert (tmp_path / "link.json").is_symlink()
    assert f"report\n\nWrote {path}\n" in capsys.readouterr().out


def test_a_device_is_written_to(tmp_path, capfd):
    check_json("/dev/full", *MEASURED)
    with pytest.raises(UserError, match="--json /dev/full: no space left on the disk"):
        tell("the report", MEASURED, "/dev/full")
    assert capfd.readouterr().out == "the report\n"
    assert Path("/dev/full").is_char_device()
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    check_json(str(tmp_path / "pipe"), *MEASURED)
    tell("the report", MEASURED, str(tmp_path / "pipe"))
    assert json.loads(os.read(reader, 1 << 16)) == MEASURED
    os.close(reader)
    capfd.readouterr()
    tell("the\x1b[2J report", MEASURED, "/dev/stdout")
    out, err = capfd.readouterr()
    assert json.loads(out) == MEASURED
    assert err == "the\\x1b[2J report\n"


def test_what_a_user_typed_reaches_no_terminal(refused, tmp_path):
    assert "a\\x1b]0;x\\x07\\n\\u202eb" in refused("head", f"{tmp_path}/a\x1b]0;x\x07\n\u202eb")
