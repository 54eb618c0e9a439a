"""What a config makes: the texts that models read, what they are held against there, and tables as data."""

from default_config import default

import plan

TWO = [{"name": name, "model": {}} for name in ("one", "two")]


def test_a_text_has_files_of_its_own_and_the_main_one_those_of_the_results_folder():
    run = plan.Run(default())
    assert run.of(run.logits, ["a"]) == ["results/logits/a.parquet"]
    for folder, text in run.texts.items():
        assert text.folder == folder
        assert run.of(run.hidden, ["a", "b"], folder) == [f"results/{folder}hidden/{name}.parquet" for name in "ab"]
    assert run.texts[""].windows == "results/windows.parquet"


def test_a_truth_is_not_held_against_itself_unless_the_text_asks_for_it():
    run = plan.Run(default(truths=TWO))
    assert run.truths_of("two") == {"one": "results/logits/one.parquet"}
    assert list(run.truths_of("bn4-s1337")) == ["one", "two"]


def test_byte_views_have_no_file_of_tbat():
    view = {"name": "view", "hub": "owner/tokens", "layout": "tokens"}
    run = plan.Run(default(family=[{"rank": 4}, view]))
    metrics = ["tbat", "tto"]
    assert run.scores(metrics, ["bn4-s1337", "view"], "showcase/") == [
        f"results/showcase/scores/{metric}/{name}.parquet"
        for metric, name in (("tbat", "bn4-s1337"), ("tto", "bn4-s1337"), ("tto", "view"))
    ]


def test_each_table_has_a_rule_of_its_own_and_a_step_that_is_there():
    tables = plan.tables.all_tables(plan.Run(default()))
    rules = [table.rule for table in tables]
    assert len(rules) == len({*rules}) > 10
    made = [path for table in tables for path in table.made("results")]
    assert len(made) == len({*made})
    folder = plan.studies.FOLDER.parent
    for table in tables:
        home = folder if table.step.startswith("studies/") else folder.parent / "scripts"
        assert (home / table.step).is_file(), table.step


def test_a_table_names_a_file_of_each_thing_that_it_shows():
    shown = plan.tables.Shown("a", "1 Chapter", "A")
    figures = {"both": [plan.tables.Shown(name, "1 Chapter", name) for name in "bc"]}
    table = plan.tables.Table("a_table", "a.py", table=shown, figure=shown, figures=figures)
    assert table.made("r") == ["r/tables/a.csv", "r/figures/a.png", "r/figures/b.png", "r/figures/c.png"]
