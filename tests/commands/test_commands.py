"""The command `oversmoothing`: its subcommands, their help, and mistakes in one line."""

import logging
import os
import signal
import subprocess
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


def test_the_help_says_which_commands_need_a_clone(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    anywhere, cloned = capsys.readouterr().out.split("commands for a clone of the project (`git clone`)")
    assert all(f"\n  {name} " in anywhere for name in ("head", "size", "compare-models", "frontier"))
    assert all(f"\n  {name} " in cloned for name in ("prompt", "page", "needs", "progress"))


def test_mistakes_are_one_line(tmp_path, monkeypatch, refused):
    name = "progress"
    monkeypatch.chdir(ROOT)
    assert refused(name, "--configfile", "none.yaml") == "Error: --configfile none.yaml: no such file\n"
    monkeypatch.chdir(tmp_path)
    assert f"`oversmoothing {name}` works in the folder of the project alone; `git clone` it" in refused(name)
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

    def run(command, env):
        assert "SNAKEMAKE_PROFILE" not in env
        called.append(command)
        return CompletedProcess(command, 3)

    monkeypatch.setenv("SNAKEMAKE_PROFILE", "cluster")
    monkeypatch.setattr(calls.subprocess, "run", run)
    assert main(["needs", "--configfile", "config/smoke.yaml", "config/godey.yaml"]) == 3
    assert called[0][1:4] == ["-m", "snakemake", "--snakefile"]
    assert called[0][-3:] == ["--configfile", "config/smoke.yaml", "config/godey.yaml"]
    why = f"snakemake {' '.join(calls.OWN)} --cores 1 --nolock needs --configfile config/smoke.yaml config/godey.yaml"
    assert capsys.readouterr().err == f"Error: no result; to see why: {why}\n"


OF_TWO = ("large", "truth", "--text", "t.txt")
WRONG = {  # one line for each, before anything that takes seconds to import
    "--windows 0 must be at least 1": ("compare-models", *OF_TWO, "--windows", "0"),
    "--scored 0 must be at least 1": ("frontier", *OF_TWO, "--scored", "0"),
    "--cores 0 must be at least 1": ("compare-models", *OF_TWO, "--cores", "0"),
    "--forced -1 must be at least 1": ("compare-models", *OF_TWO, "--forced", "-1"),
    "--top-p 1.1 must be more than 0 and at most 1": ("compare-models", *OF_TWO, "--top-p", "1.1"),
    "--temperature nan must be at least 0.01 and at most 100": ("compare-models", *OF_TWO, "--temperature", "nan"),
    "--temperatures 0 must be more than 0 and at most 100": ("frontier", *OF_TWO, "--temperatures", "1", "0"),
    "--temperatures: add 1, at which the leak": ("frontier", *OF_TWO, "--temperatures", "2"),
    "--positions 0 must be at least 1": ("head", "large", "--positions", "0"),
    "--memory inf must be more than 0": ("size", "--truth", "large", "--text", "t.txt", "--memory", "inf"),
    "--text empty.txt: an empty file": ("compare-models", "large", "truth", "--text", "empty.txt"),
    "--text none.txt: no such file": ("frontier", "large", "truth", "--text", "none.txt"),
    "--text empty.txt: an empty": ("head", "large", "--text", "empty.txt"),
    "--text none.txt: no such": ("size", "--truth", "large", "--text", "none.txt"),
    "--windows: invalid int value: 'x'; see `oversmoothing frontier --help`": ("frontier", *OF_TWO, "--windows", "x"),
}
SLOW = {"torch", "transformers", "pandas", "scipy", "numba", "matplotlib"}


def test_arguments_are_checked_before_anything_slow_is_imported(tmp_path):
    (tmp_path / "t.txt").write_text("the water of the river")
    (tmp_path / "empty.txt").touch()
    program = f"""
import sys
from oversmoothing.commands import main
for words in {list(WRONG.values())}:
    try:
        assert main(words) == 1
    except SystemExit as error:
        assert error.code == 2
assert not {SLOW} & set(sys.modules), {SLOW} & set(sys.modules)
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "scripts")}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    said = done.stderr.splitlines()
    assert len(said) == len(WRONG)
    for line, message in zip(said, WRONG, strict=True):
        assert line.startswith(f"Error: {message}")
    assert {path.name for path in tmp_path.iterdir()} == {"t.txt", "empty.txt"}


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


def test_who_reads_the_output_may_stop_reading():
    """As `| head` does: nothing is written on standard error, and the status is that of other programs."""
    code = (
        "import sys, types; command = types.ModuleType('oversmoothing.commands.page'); "
        "command.main = lambda words: print('line', flush=True); sys.modules[command.__name__] = command; "
        "from oversmoothing.commands import main; sys.exit(main(['page']))"
    )
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([sys.executable, "-c", code], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")
