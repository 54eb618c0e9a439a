"""What a person sees of a run: one line on a terminal, a line a minute elsewhere, the cause of a failure last."""

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


def test_a_terminal_gets_one_line(copy):
    (copy.folder / TABLE).unlink()
    status, text = on_a_terminal(copy.command(TABLE), copy.folder)
    assert status == 0
    after = text.partition("Job stats:")[2]
    assert "\r\x1b[K0 of 1 steps · oversmoothing table" in after
    assert after.endswith("\r\x1b[K1 of 1 steps\r\n")
    assert "localrule oversmoothing_table" not in text
    (log,) = sorted((copy.folder / ".snakemake/log").glob("*.log"))[-1:]
    assert "localrule oversmoothing_table" in log.read_text()


def test_the_cause_of_a_failure_stands_last(copy):
    path = copy.folder / "results/logits/bn4-s1337.parquet"
    path.write_bytes(path.read_bytes()[:-500])
    command = copy.command(TABLE)
    cause = (
        "results/logits/bn4-s1337.parquet: changed or damaged since it was written (its checksum differs); delete it "
        "and run again"
    )
    status, text = on_a_terminal(command, copy.folder)
    assert status == 1
    last = re.sub(r"\x1b\[\w+|\r", "", text).strip().splitlines()[-1]
    assert last.startswith("Failed: ")
    assert cause in last
    assert "Error in rule" in text
    done = subprocess.run(command, cwd=copy.folder, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1].startswith("Failed: ")
    assert cause in done.stderr.strip().splitlines()[-1]
    assert "\x1b[K" not in done.stderr
    assert "Error in rule" in done.stderr
    assert "rule tbat:\n" not in done.stderr
    after = done.stderr.partition("Job stats:")[2]
    assert len(re.findall(r"^\d\d:\d\d \d of \d steps", after, flags=re.MULTILINE)) == 1, "within a minute"
