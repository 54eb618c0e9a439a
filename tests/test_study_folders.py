"""Studies as folders: what they need of each other, sections that several of them share, and rules that they change."""

import re

from plan import studies


def test_a_study_is_listed_after_those_that_it_needs(monkeypatch):
    monkeypatch.setattr(studies, "needs", lambda name: {"pairs": ("arms",)}.get(name, ()))
    assert list(studies.mistakes({"studies": ["arms", "pairs"]})) == []
    message = "studies: pairs needs arms; list arms before it, or leave pairs out"
    assert list(studies.mistakes({"studies": ["pairs", "arms"]})) == [message]
    assert list(studies.mistakes({"studies": ["pairs"]})) == [message]


def test_studies_add_keys_to_a_section_of_others():
    section = {"claims": {"required": ["a"], "properties": {"a": {"type": "number"}}}}
    studies.merge(section, {"claims": {"required": ["b"], "properties": {"b": {"type": "integer"}}}, "new": {"x": 1}})
    properties = {"a": {"type": "number"}, "b": {"type": "integer"}}
    assert section == {"claims": {"required": ["a", "b"], "properties": properties}, "new": {"x": 1}}


def test_a_rule_that_a_study_changes_still_has_the_tokens_that_its_script_reads():
    """Inputs of its own take the place of all others."""
    chapters = "\n\n".join(path.read_text() for path in sorted(studies.FOLDER.parent.glob("**/*.smk")))
    rules = re.findall(r"^(?:rule|use rule (\w+) as) (\w+).*?:\n(.*?)(?=\n\n|\Z)", chapters, re.MULTILINE | re.DOTALL)
    own = {name: re.findall(r"^    input:\n((?:        .*\n?)+)", body, re.MULTILINE) for _, name, body in rules}
    of_tokens = {name for name, inputs in own.items() if inputs and "**TOKENS" in inputs[0]}
    changed = {name for base, name, _ in rules if base in of_tokens and own[name]}
    assert "showcase_hub_logits" in changed
    assert changed <= of_tokens
