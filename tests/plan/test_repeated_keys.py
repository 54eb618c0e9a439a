"""A key that is given twice in a config file is refused with its lines, wherever it is."""

import pytest

from checks.repeated_keys import check_keys
from plan import ConfigError


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("training:\n  batch: 1\nseeds: [1]\ntraining: {batch: 2}\n", "training is given twice, in lines 1 and 4"),
        ("model:\n  width: 1\n  heads: 1\n  width: 2\n", "width is given twice, in lines 2 and 4"),
        ("family:\n  - {rank: 4}\n  - {rank: 4, rank: 8}\n", "rank is given twice, in lines 3 and 3"),
        ('{"a": {"b": 1,\n"b": 2}}', "b is given twice, in lines 1 and 2"),
        ("a: 1\n'a': 2\n", "a is given twice, in lines 1 and 2"),
    ],
)
def test_a_repeated_key_is_named_with_both_lines(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        check_keys([path])
    assert f"{path}: {message}" in str(error.value)


def test_a_target_that_was_read_as_a_config_is_named(tmp_path):
    path = tmp_path / "manifest.json"
    path.write_text('{"splits": {}, "seal": "1a"}')
    with pytest.raises(ConfigError, match=r"manifest\.json: a result, not a config; .*: write `--` before targets"):
        check_keys([path])


def test_equal_keys_of_different_mappings_and_aliases_repeat_nothing(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("a: &a {x: 1, y: [1]}\nb: *a\nc: {<<: *a, x: 2}\nd: [{x: 1}, {x: 2}]\n")
    (tmp_path / "empty.yaml").touch()
    check_keys([path, tmp_path / "empty.yaml"])
