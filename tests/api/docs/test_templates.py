"""The templates of pages are read at the start."""

import pytest

from api.docs import pages
from api.docs.pages import _TEMPLATES, _template
from api.preload import preload
from tests.support.paths import ROOT


def test_no_request_opens_a_template(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [file.name for file in (ROOT / "api/docs/templates").iterdir()]
    assert {"audit.html", "case.html", "statement.html", "text.html"} < set(names)
    assert _TEMPLATES.cache is not None
    _TEMPLATES.cache.clear()
    _template.cache_clear()
    preload()
    monkeypatch.setattr(pages, "files", None)
    for name in names:
        assert _TEMPLATES.get_template(name).name == name
