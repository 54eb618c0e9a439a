"""Tables as CSV, Markdown, HTML and LaTeX, beside the thesis's numbers, and figures: of the core and of the studies.

Needs: what each declares: those of the core in `plan/tables.py`, those of a study in its plan.
Makes: tables/{table}.{csv,md,html,tex}, figures/{figure}.{png,svg,pdf}.
"""

TABLES = plan.tables.all_tables(RUN)
TABLES_AND_FIGURES = [path for table in TABLES for path in table.made(RUN.results)]  # inputs of `rule all`
STORIES = [*map(story.read_story, plan.studies.stories(config))]  # of the library and of the studies


def caption(kind, name):
    """File of the caption of a table or figure in the report, written anew if its story tells something else."""
    path = Path(f".snakemake/captions/{kind}_{name}.rst").resolve()
    if workflow.is_main_process:
        text = story.caption(kind, name, STORIES, unit=RUN.unit)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return str(path)


def reported(path, kind, shown):
    """Output that the report shows."""
    captions = {"caption": caption(kind, shown.name), "category": shown.chapter, "labels": {"result": shown.label}}
    return report(f"{RUN.results}/{path}", **captions)


def files_of_table(shown, latex):
    """Files of a table, by format."""
    path = f"tables/{shown.name}"
    of_formats = {"csv": f"{RUN.results}/{path}.csv", "markdown": f"{RUN.results}/{path}.md"}
    of_formats["html"] = reported(f"{path}.html", "Table", shown)
    return of_formats | ({"latex": f"{RUN.results}/{path}.tex"} if latex else {})


def files_of_figure(shown):
    """Files of a figure, by format."""
    path = f"figures/{shown.name}"
    of_formats = {kind: f"{RUN.results}/{path}.{kind}" for kind in ("png", "pdf")}
    return of_formats | {"svg": reported(f"{path}.svg", "Figure", shown)}


def rule_of(table):
    """The rule of a table or figures; a function, because in a loop all rules would see the last table."""

    rule:
        name:
            table.rule
        input:
            **table.inputs,
        output:
            **(files_of_table(table.table, table.latex) if table.table else {}),
            **(files_of_figure(table.figure) if table.figure else {}),
            **{
                name: [path for one in some for path in files_of_figure(one).values()]
                for name, some in table.figures.items()
            },
            **table.files,
        params:
            **({} if table.settings is None else {"settings": table.settings}),
            **({"by_name": fingerprints(*table.by_name)} if table.by_name else {}),
        script:
            step(table.step)


for table in TABLES:
    rule_of(table)
