"""Keep a study's results in resources/studies/NAME: its config, tables, figures, and what made them.

python benchmarks/keep_study.py config/gradient.yaml --clock-minutes 41 --processor-hours 1.2
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("torch", "numpy", "scipy", "pandas", "snakemake")
FLAGS = ("amx_bf16", "avx512_bf16", "avx512f", "avx2")


def main() -> None:
    """Copy CSV, Parquet and PNG of everything that the config wants, and write run.json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path)
    parser.add_argument("--clock-minutes", type=float, required=True)
    parser.add_argument("--processor-hours", type=float, required=True)
    parser.add_argument("--remark", default="", help="how it was run, if not in one go on idle cores")
    parser.add_argument("--name", help="of its folder; the config's, if omitted")
    parser.add_argument("--tables", nargs="+", help="names of those to keep, if not all")
    parser.add_argument("--figures", nargs="+", help="names of those to keep, if all are too large together")
    chosen = parser.parse_args()
    config = yaml.safe_load(chosen.config.read_text(encoding="utf-8"))
    results, kept = ROOT / config["results"], ROOT / "resources/studies" / (chosen.name or chosen.config.stem)
    shutil.rmtree(kept, ignore_errors=True)
    for folder, pattern in (("tables", "*.csv"), ("tables", "*.parquet"), ("figures", "*.png")):
        (kept / folder).mkdir(parents=True, exist_ok=True)
        for path in sorted((results / folder).glob(pattern)):
            if path.stem not in (getattr(chosen, folder) or [path.stem]):
                continue
            shutil.copyfile(path, kept / folder / path.name)
    shutil.copyfile(chosen.config, kept / "config.yaml")
    facts = {
        "commit": subprocess.check_output(["git", "rev-parse", "HEAD"], text=True, cwd=ROOT).strip(),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "clock_minutes": chosen.clock_minutes,
        "processor_hours": chosen.processor_hours,
        "remark": chosen.remark,
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
    }
    (kept / "run.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def machine() -> str:
    """Return the processor, its number of cores, and its instructions for matrices."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    flags = [flag for flag in FLAGS if flag in facts["flags"].split()]
    return f"{facts['model name']}, {os.cpu_count()} cores, {' '.join(flags)}"


if __name__ == "__main__":
    main()
