"""The command `oversmoothing`: its subcommands, their help, and mistakes in one line."""

import logging
import os
import signal
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from tqdm import tqdm

from oversmoothing import commands
from oversmoothing.commands import COMMANDS, main, minutes, needs
from oversmoothing.commands import study as calls

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("arguments", [[], *([name] for name in COMMANDS)])
def test_help(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(" ".join(["usage: oversmoothing", *arguments]))


def test_mistakes_are_one_line(tmp_path, monkeypatch, refused):
    name = "progress"
    monkeypatch.chdir(ROOT)
    assert refused(name, "--configfile", "none.yaml") == "Error: --configfile none.yaml: no such file\n"
    monkeypatch.chdir(tmp_path)
    assert f"run `oversmoothing {name}` in the folder of the project" in refused(name)
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(calls.os, "access", lambda *_: False)  # as for root on a read-only file system
    assert f"Error: {ROOT}: not writable, and Snakemake writes its records there; change its mode" in refused(name)


def test_what_a_warning_quotes_of_a_file_is_printable(monkeypatch, capsys):
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # those of pytest
    monkeypatch.setattr(
        needs, "main", lambda given: logging.getLogger("oversmoothing").warning("a\x1b[2J%s", "\nb") or 0
    )
    assert main(["needs"]) == 0
    assert capsys.readouterr().err == "a\\x1b[2J\\nb\n"


def test_names_that_no_file_can_have_are_one_line(tmp_path, refused):
    name = "n" * 300
    odd = r"Error: 'caf\udce9' is not UTF-8: rename the file or folder"
    assert refused("compare", tmp_path, "caf\udce9") == f"{odd}\n"
    for command in (["head", name], ["size", "--truth", name, "--text", __file__], ["page", name]):
        assert f"{name}" in (line := refused(*command))
        assert "name is too long" in line


def test_snakemake_is_called_with_the_configs(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    called = []
    monkeypatch.setattr(calls.subprocess, "run", lambda command: called.append(command) or CompletedProcess(command, 3))
    assert main(["needs", "--configfile", "config/smoke.yaml", "config/widths.yaml"]) == 3
    assert called[0][1:4] == ["-m", "snakemake", "--cores"]
    assert called[0][-3:] == ["--configfile", "config/smoke.yaml", "config/widths.yaml"]
    why = "snakemake --cores 1 --nolock needs --configfile config/smoke.yaml config/widths.yaml"
    assert capsys.readouterr().err == f"Error: no result; to see why: {why}\n"


def test_a_mistyped_command_is_guessed(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["promt"])
    assert ended.value.code == 2
    assert "no command 'promt'; did you mean 'prompt'?\n" in capsys.readouterr().err


def test_it_is_what_an_installation_calls_and_of_its_version(capsys):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, function = project["scripts"]["oversmoothing"].partition(":")
    assert getattr(import_module(module), function) is main
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"oversmoothing {project['version']}\n"


def test_ctrl_c_during_imports_is_one_line_whatever_they_make_of_it(monkeypatch, capfd):
    def importing(name):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            raise ImportError("initialisation failed") from error

    monkeypatch.setattr(commands, "import_module", importing)
    monkeypatch.setattr(os, "_exit", sys.exit)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background
    try:
        with pytest.raises(SystemExit) as ended:
            main(["needs"])
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.value.code == 130
    assert capfd.readouterr().err == "\nInterrupted.\n"


def test_where_there_is_no_terminal_a_bar_is_a_line_a_minute(monkeypatch, capsys):
    def run(_):
        with tqdm(total=180, desc="steps", leave=False, disable=None, bar_format="{desc}: {n_fmt}") as outer:
            for _ in tqdm(range(180), desc="TBAT", leave=False, disable=None, bar_format="{desc} {n_fmt}"):
                now[0] += 1
                outer.update()
                outer.refresh()
        print("Warning: as it is\nand whole", file=sys.stderr)
        return 0

    now = [0.0]
    monkeypatch.setattr(minutes.Minutes.__init__, "__defaults__", (lambda: now[0],))
    monkeypatch.setattr(needs, "main", run)
    assert main(["needs"]) == 0
    *lines, first, second = capsys.readouterr().err.splitlines()
    assert lines == ["steps: 60", "steps: 120", "steps: 180"]
    assert (first, second) == ("Warning: as it is", "and whole")
