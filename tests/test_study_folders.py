"""Studies as folders: what they need of each other, and sections that several of them share."""

from plan import studies


def test_a_study_is_listed_after_those_that_it_needs(monkeypatch):
    monkeypatch.setattr(studies, "needs", lambda name: {"pairs": ("arms",)}.get(name, ()))
    monkeypatch.setattr(studies, "after", lambda name: ())
    assert list(studies.mistakes({"studies": ["arms", "pairs"]})) == []
    message = "studies: pairs needs arms; list arms before it, or leave pairs out"
    assert list(studies.mistakes({"studies": ["pairs", "arms"]})) == [message]
    assert list(studies.mistakes({"studies": ["pairs"]})) == [message]


def test_a_study_is_listed_after_those_that_it_uses_where_they_are_listed(monkeypatch):
    monkeypatch.setattr(studies, "needs", lambda name: ())
    monkeypatch.setattr(studies, "after", lambda name: {"leak": ("samples",)}.get(name, ()))
    assert list(studies.mistakes({"studies": ["samples", "leak"]})) == []
    assert list(studies.mistakes({"studies": ["leak"]})) == []
    message = "studies: leak uses samples; list samples before it"
    assert list(studies.mistakes({"studies": ["leak", "samples"]})) == [message]


def test_studies_add_keys_to_a_section_of_others():
    section = {"claims": {"required": ["a"], "properties": {"a": {"type": "number"}}}}
    studies.merge(section, {"claims": {"required": ["b"], "properties": {"b": {"type": "integer"}}}, "new": {"x": 1}})
    properties = {"a": {"type": "number"}, "b": {"type": "integer"}}
    assert section == {"claims": {"required": ["a", "b"], "properties": properties}, "new": {"x": 1}}
