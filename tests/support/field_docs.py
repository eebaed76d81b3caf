"""The descriptions of the fields of structs: the docstrings below them in the source, and ``api/http/words.toml``.

``python -m tests.support.field_docs > api/http/field_docs.json`` writes the descriptions that the service reads.
"""

import ast
import json
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, is_typeddict

from msgspec import Struct

from api.http.schemas import WORDS, plain_text, schema_name

ROOT = Path(__file__).parents[2]
PACKAGES = ("api", "projections", "referee")


@cache
def _classes_in(module: str) -> dict[str, ast.ClassDef]:
    path = ROOT / module.replace(".", "/")
    source = (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text("utf-8")
    return {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}


def _below(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, text in zip(node.body, node.body[1:], strict=False):
        match field, text:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(description))):
                yield name, plain_text(description)


@cache
def _docs(cls: Any) -> dict[str, str]:
    """Return the descriptions of the fields of a class and of its bases, by field."""
    node, names = _classes_in(cls.__module__)[cls.__name__], vars(import_module(cls.__module__))
    docs: dict[str, str] = {}
    for base in node.bases:
        inherited = names.get(ast.unparse(base))
        if getattr(inherited, "__module__", "").partition(".")[0] in PACKAGES:
            docs |= _docs(inherited)
    return docs | dict(_below(node)) | WORDS.of.get(schema_name(cls), {})


def field_docs() -> str:
    """Return the descriptions of the fields of all structs as JSON, by class and field."""
    found: dict[str, dict[str, str]] = {}
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for name in _classes_in(module):
            cls = getattr(import_module(module), name)
            if is_typeddict(cls) or issubclass(cls, Struct):
                found[f"{module}.{name}"] = _docs(cls)
    described = {name: docs for name, docs in found.items() if docs}
    return json.dumps(described, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(field_docs())
