"""The templates of pages are read at the start."""

import pytest

from api.docs.pages import _TEMPLATES
from api.preload import preload


def test_no_request_opens_a_template(monkeypatch: pytest.MonkeyPatch) -> None:
    names = _TEMPLATES.list_templates()
    assert {"audit.html", "case.html", "statement.html", "text.html"} < set(names)
    assert _TEMPLATES.cache is not None
    _TEMPLATES.cache.clear()
    preload()
    monkeypatch.setattr(_TEMPLATES.loader, "get_source", None)
    for name in names:
        assert _TEMPLATES.get_template(name).name == name
