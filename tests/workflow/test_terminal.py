"""What a person sees of a run: bars on a terminal, Snakemake's log elsewhere, the cause of a failure at the end."""

import os
import pty
import re
import subprocess

TABLE = "results/tables/oversmoothing.csv"


def on_a_terminal(command, folder):
    """Return the exit status and what a terminal gets."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, cwd=folder)
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 1 << 16):
            text += part
    except OSError:  # the end, on Linux
        pass
    os.close(ours)
    return process.wait(), text.decode()


def test_a_terminal_gets_bars_and_no_job_draws_over_them(copy):
    (copy.folder / TABLE).unlink()
    copy.edit(
        "scripts/score_table.py", "if __name__", "import sys\n\nprint('drawn over', file=sys.stderr)\nif __name__"
    )
    status, text = on_a_terminal(copy.command(TABLE), copy.folder)
    assert status == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert "0/1 Total Progress" in plain
    assert re.search(r"0:00:\d\d, \d+ s left", plain)
    assert "oversmoothing table" in text
    assert "localrule oversmoothing_table" not in text
    assert "drawn over" not in text
    (log,) = sorted((copy.folder / ".snakemake/log").glob("*.log"))[-1:]
    assert "localrule oversmoothing_table" in log.read_text()
    assert "drawn over" in log.read_text()


def test_a_run_ends_with_the_main_table_if_it_made_that_alone_or_has_no_targets(copy):
    """`make` names further targets, and prints the table with the page."""
    (copy.folder / "wanted.yaml").write_text("wanted: [oversmoothing]\n")
    configs = [copy.config, "wanted.yaml"]
    beside = (TABLE, "results/models.parquet")
    for targets, made, ends in (
        (("",), True, True),
        ((TABLE,), True, True),
        ((TABLE,), False, False),
        (beside, True, False),
    ):
        if made:
            (copy.folder / TABLE).unlink()
        assert ("Oversmoothing by rank, against truth" in copy.snakemake(*targets, config=configs)) == ends


def test_the_cause_of_a_failure_stands_at_the_end(copy):
    path = copy.folder / "results/logits/bn4-s1337.parquet"
    path.write_bytes(path.read_bytes()[:-500])
    cause = (
        "results/logits/bn4-s1337.parquet: changed or damaged since it was written (its checksum differs); delete it "
        "and run again (log: results/logs/"
    )
    status, text = on_a_terminal(copy.command(TABLE), copy.folder)
    assert status == 1
    assert cause in " ".join(re.sub(r"\x1b\[\w+|\r", "", text).rpartition("Failed: ")[2].split())
    output = copy.snakemake(TABLE, check=False)
    assert cause in output.rpartition("Failed: ")[2]
    assert len(output.rpartition("Failed: ")[2].splitlines()) < 7
    assert "\x1b" not in output
    assert "RuleException" not in text + output
    assert "Error in rule" in output
