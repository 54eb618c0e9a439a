"""The command `oversmoothing`: its subcommands, their help, and mistakes in one line."""

import tomllib
from importlib import import_module
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from oversmoothing.commands import COMMANDS, main
from oversmoothing.commands import study as calls

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("arguments", [[], *([name] for name in COMMANDS)])
def test_help(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(" ".join(["usage: oversmoothing", *arguments]))


@pytest.mark.parametrize("name", ["needs", "progress"])
def test_mistakes_are_one_line(name, tmp_path, monkeypatch, refused):
    monkeypatch.chdir(ROOT)
    assert refused(name, "--configfile", "none.yaml") == "Error: --configfile none.yaml: no such file\n"
    monkeypatch.chdir(tmp_path)
    assert f"run `oversmoothing {name}` in the folder of the project" in refused(name)
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(calls.os, "access", lambda *_: False)  # as for root on a read-only file system
    assert f"Error: {ROOT}: not writable, and Snakemake writes its records there; change its mode" in refused(name)


def test_snakemake_is_called_with_the_configs(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    called = []
    monkeypatch.setattr(calls.subprocess, "run", lambda command: called.append(command) or CompletedProcess(command, 3))
    assert main(["needs", "--configfile", "config/smoke.yaml", "config/widths.yaml"]) == 3
    assert called[0][1:4] == ["-m", "snakemake", "--cores"]
    assert called[0][-3:] == ["--configfile", "config/smoke.yaml", "config/widths.yaml"]
    why = "snakemake --cores 1 --nolock needs --configfile config/smoke.yaml config/widths.yaml"
    assert capsys.readouterr().err == f"Error: no result; to see why: {why}\n"


@pytest.mark.parametrize(
    ("typed", "hint"), [("promt", "did you mean 'prompt'?"), ("compare-model", "did you mean 'compare-models'?")]
)
def test_a_mistyped_command_is_guessed(typed, hint, capsys):
    with pytest.raises(SystemExit) as ended:
        main([typed])
    assert ended.value.code == 2
    assert f"no command {typed!r}; {hint}\n" in capsys.readouterr().err


def test_it_is_what_an_installation_calls_and_of_its_version(capsys):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, function = project["scripts"]["oversmoothing"].partition(":")
    assert getattr(import_module(module), function) is main
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"oversmoothing {project['version']}\n"


def test_ctrl_c_is_one_line(monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(calls.subprocess, "run", interrupt)
    monkeypatch.chdir(ROOT)
    assert main(["needs"]) == 130
    assert capsys.readouterr().err == "\nInterrupted.\n"
