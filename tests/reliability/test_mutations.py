"""Faults put into a copy of the code, each of which some test must notice.

The list began with a campaign of random edits: those that no test noticed got a test of their own, and stand here with
it. Whoever mends a fault that no test noticed adds a line.
"""

import shutil
import signal
import subprocess
import sys
from functools import partial

import pytest
import yaml
from study import ROOT

LIBRARY = "scripts/oversmoothing"
SIGNALS = "for number in (signal.SIGTERM, signal.SIGINT)"
# What goes wrong: file, old text, new text, the test that must fail.
MUTATIONS = {
    "nothing is forced to the disk": (
        f"{LIBRARY}/store/atomic.py",
        "        _flush_to_disk(temporary)\n",
        "",
        "training/test_training_end.py::test_a_file_is_on_the_disk_before_it_takes_the_old_ones_place",
    ),
    "a process that was replaced saves": (
        f"{LIBRARY}/training/checkpoint.py",
        "        self._lock.verify()\n",
        "",
        "training/test_training.py::test_a_process_that_was_replaced_saves_nothing",
    ),
    "Ctrl-C is not caught": (
        f"{LIBRARY}/training/loop.py",
        SIGNALS,
        "for number in (signal.SIGTERM,)",
        "training/test_training.py::test_a_killed_training_resumes_to_the_same_bits",
    ),
    "Ctrl-C does not reach every process": (
        f"{LIBRARY}/training/launch.py",
        SIGNALS,
        "for number in (signal.SIGTERM,)",
        "training/test_training_together.py::test_a_signal_reaches_every_process",
    ),
    "a seed is an offset of the steps": (
        f"{LIBRARY}/training/batches.py",
        "default_rng([TRAINING, seed, step])",
        "default_rng([TRAINING, seed + step])",
        "training/test_training.py::test_a_batch_is_a_function_of_seed_and_step",
    ),
    "nothing is saved when a training is stopped": (
        f"{LIBRARY}/training/loop.py",
        "if stopped or progress",
        "if progress",
        "training/test_training.py::test_what_is_saved_when_it_is_stopped_is_the_step_it_was_stopped_at",
    ),
    "nothing is saved at the end": (
        f"{LIBRARY}/training/loop.py",
        "            checkpoints.finish(progress)\n",
        "            pass\n",
        "training/test_training.py::test_a_training_that_has_ended_takes_no_step_again",
    ),
    "the lock file is left": (
        f"{LIBRARY}/training/lock.py",
        "                    path.unlink(missing_ok=True)",
        "                    pass",
        "training/test_lock.py::test_nothing_is_left",
    ),
    "a heartbeat ends at an error": (
        f"{LIBRARY}/training/lock.py",
        "with suppress(OSError)",
        "with suppress(KeyError)",
        "training/test_lock.py::test_signs_of_life_go_on_after_one_that_failed",
    ),
    "other processes live on": (
        f"{LIBRARY}/training/launch.py",
        "                process.kill()\n",
        "                pass\n",
        "training/test_training_together.py::test_when_one_fails_the_others_are_ended",
    ),
    "checkpoints are deleted before Snakemake knows": (
        f"{LIBRARY}/training/task.py",
        "task.weights, task.history, task.snapshots)\n",
        "task.weights, task.history, task.snapshots)\n            checkpoints.folder.clear()\n",
        "training/test_training_end.py::test_outputs_that_are_lost_are_written_again_without_a_step",
    ),
    "checkpoints of a training under way are deleted": (
        f"{LIBRARY}/training/accepted.py",
        'json.loads(state["progress"])["finished"]',
        "True",
        "training/test_training_end.py::test_a_training_under_way_stays",
    ),
    "training reads a corpus that nobody checked": (
        f"{LIBRARY}/training/task.py",
        'task.manifest, "train", check=group.leads)',
        'task.manifest, "train", check=False)',
        "data/test_scripts.py::test_a_split_is_read_only_as_its_manifest_has_it",
    ),
    "equal weights are other files": (
        f"{LIBRARY}/store/tensors.py",
        "json.dumps(header, sort_keys=True, ",
        "json.dumps(header, ",
        "models/test_weights.py::test_equal_weights_are_equal_files",
    ),
    "a title is markup": (
        f"{LIBRARY}/tables/web_page.html",
        "<title>{{ title }}</title>",
        "<title>{{ title | safe }}</title>",
        "tables/test_pages.py",
    ),
    "a heading is markup": (
        f"{LIBRARY}/tables/samples.html",
        "{{ sample.label }}",
        "{{ sample.label | safe }}",
        "tables/test_pages.py",
    ),
    "Markdown in a cell is markup": (
        f"{LIBRARY}/tables/formats.py",
        "return MARKUP.sub(",
        "return (lambda _, text: text)(",
        "tables/test_pages.py",
    ),
    "imports in handlers do not count": (f"{LIBRARY}/fingerprint.py", ', "handlers"', "", "run/test_fingerprint.py"),
    "a rule has no fingerprint": (
        "workflow/tracking/complete.py",
        "rule.set_params(code=fingerprint(relative(_folder(rule).joinpath(rule.script).resolve())))",
        "pass",
        "test_complete.py",
    ),
    "a damaged file is not noticed": (
        f"{LIBRARY}/store/seal.py",
        "        if file.read(_DIGITS) == _checksum(file, place):\n",
        "        if True:\n",
        "store/test_store.py::test_a_flipped_bit_is_named",
    ),
    "damaged JSON is not noticed": (
        f"{LIBRARY}/store/sealed_json.py",
        """    check(path, f'; if you changed it yourself, write null as its "{KEY}"')\n""",
        "",
        "training/test_learning_rates.py::test_a_flipped_digit_of_a_choice_is_named",
    ),
    "a rate that nobody tried is taken": (
        f"{LIBRARY}/training/chosen_rate.py",
        'if f"{rate:g}" not in tried:',
        "if not tried:",
        "training/test_learning_rates.py::test_a_choice_that_is_damaged_of_another_arm_or_was_not_tried_is_named",
    ),
    "an edited page of a table is shown": (
        f"{LIBRARY}/store/sums.py",
        "    check_sum(path)\n    try:",
        "    try:",
        "claims/test_story_page.py::test_an_edited_result_is_not_shown",
    ),
    "a study's tokenizer is not checked": (
        f"{LIBRARY}/data/tokens/vocabulary.py",
        "    check_sum(path)\n",
        "",
        "data/tokens/test_vocabulary.py::test_a_tokenizer_that_changed_since_it_was_written_is_named",
    ),
    "BAT decoding keeps undecided tokens": (
        f"{LIBRARY}/samples/bat.py",
        "~(sets.rejected | sets.undecided)",
        "~sets.rejected",
        "samples/test_bat_sampling.py::test_what_is_undecided_is_not_kept",
    ),
    "a token is accepted for its size where the others can hold all": (
        f"{LIBRARY}/bat/large/solve.py",
        "p * bound > rise",
        "p * bound**2 > rise",
        "bat/test_by_hand.py::test_a_head_that_says_nothing_leaves_only_the_sum",
    ),
    "the dense solver accepts it": (
        f"{LIBRARY}/bat/simplex.py",
        "p[token] * bound > bound - 1",
        "p[token] * bound**2 > bound - 1",
        "bat/test_by_hand.py::test_a_head_that_says_nothing_leaves_only_the_sum",
    ),
    "slices of the tail are zeroed without the constraints that the working set drops": (
        f"{LIBRARY}/bat/large/position.py",
        "        if not metric.complete:\n            return np.zeros(len(slices), bool)\n",
        "",
        "bat/test_large_dependent.py::test_a_working_set_that_lacks_a_direction_proves_nothing_of_the_tail",
    ),
    "code may change in mid-run": (
        f"{LIBRARY}/jobs.py",
        "        if fingerprint(file) != code:\n",
        "        if False:\n",
        "run/test_jobs.py",
    ),
    "one of many comparisons decides alone": (
        f"{LIBRARY}/numerics/statistics.py",
        "    return expanded(float(ndtr(-np.nanquantile(largest, 1 - level))), windows)\n",
        "    return expanded(level, windows)\n",
        "claims/test_together.py",
    ),
}


for listed in sorted(ROOT.glob("tests/studies/*/faults.yaml")):  # of the code of a study
    MUTATIONS |= yaml.safe_load(listed.read_text())


@pytest.mark.slow
@pytest.mark.parametrize("fault", MUTATIONS)
def test_a_fault_is_noticed(tmp_path, fault):
    path, old, new, test = MUTATIONS[fault]
    for name in ("workflow", "scripts", "config", "resources", "envs", "slurm", "docs", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", ".snakemake"))
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile"):
        shutil.copy(ROOT / name, tmp_path)
    text = (tmp_path / path).read_text()
    assert old in text, f"{path} no longer holds {old!r}"
    (tmp_path / path).write_text(text.replace(old, new))
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"tests/{test}"]
    default = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a shell ignores it in the background
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, preexec_fn=default)
    assert "FAILED" in done.stdout or "KeyboardInterrupt" in done.stdout, done.stdout
