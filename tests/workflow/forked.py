"""Snakemake's command line, each time in a new process: a copy of one that has imported Snakemake and what it imports.

That takes a third of the processor time of `python -m snakemake`, and nothing of a project is imported before.
"""

import atexit
import gc
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path


def call(arguments, folder, environment):
    """Run Snakemake in a folder; return its exit status and what it and its jobs print, standard error last."""
    process = _server(os.environ.get("PYTHONPATH", ""))
    with tempfile.TemporaryDirectory() as place:
        written = [Path(place) / name for name in ("out", "err")]
        request = {"arguments": arguments, "folder": str(folder), "environment": dict(environment)}
        print(json.dumps(request | {"written": list(map(str, written))}), file=process.stdin, flush=True)
        status = int(process.stdout.readline())
        return status, "".join(path.read_text() for path in written)


@cache
def _server(path):
    """Start the process that is copied; packages in `path`, the PYTHONPATH, are found before those installed."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, __file__], env={**os.environ, "PYTHONPATH": path}, **pipes)
    atexit.register(process.communicate)
    return process


def serve():
    """Answer each request, a line of JSON, with the exit status of a copy of this process."""
    further = ("snakemake_logger_plugin_rich", "jsonschema", "numpy", "smart_open", "tqdm")
    for module in ("snakemake.cli", "snakemake.report.html_reporter", *further):
        import_module(module)
    gc.freeze()  # so that collections in a copy touch, and so copy, none of this

    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        if not (child := os.fork()):
            _become(**json.loads(line))
            return
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=answers, flush=True)


def _become(arguments, folder, environment, written):
    """Be `python -m snakemake` of the arguments."""
    from snakemake.cli import main

    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in enumerate(written, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[0] = folder
    sys.argv[1:] = arguments
    main(arguments)


if __name__ == "__main__":
    serve()
