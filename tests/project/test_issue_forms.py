"""Issue forms are forms, and ask nobody for records of people."""

from __future__ import annotations

import pytest

from tests.scenery.paths import TOP

yaml = pytest.importorskip("yaml")
FORMS = sorted((TOP / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


@pytest.mark.parametrize("path", [p for p in FORMS if p.stem != "config"], ids=lambda p: p.stem)
def test_a_form_has_what_it_needs(path: object) -> None:
    form = yaml.safe_load(path.read_text("utf-8"))  # type: ignore[attr-defined]
    assert form["name"] and form["description"] and form["body"]
    fields = [part for part in form["body"] if part["type"] != "markdown"]
    names = [part["id"] for part in fields]
    assert names and len(set(names)) == len(names)
    assert all(part["attributes"]["label"] for part in fields)
    assert any(part.get("validations", {}).get("required") for part in fields)


def test_the_form_for_bugs_asks_for_made_up_records() -> None:
    text = next(path for path in FORMS if path.stem == "bug").read_text("utf-8")
    assert "do not paste values of people's records" in text
