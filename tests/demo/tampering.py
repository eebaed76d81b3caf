"""Forges nine kronor for a player, in a bundle and in the store itself."""

import json
import sqlite3
from base64 import b64decode, b64encode
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.demo.client import expect
from tests.demo.sheet import TAMPERED

FROM, TO = (f'"settlement":{json.dumps(amounts, separators=(",", ":"))}' for amounts in TAMPERED)


def bundle_changed(bundle: str) -> str:
    """Return the bundle with the forged amounts in one row."""
    whole: dict[str, Any] = json.loads(bundle)
    rows = [row for row in whole["rows"] if FROM in b64decode(row["state"]).decode()]
    expect("how many rows of the bundle have the amounts", len(rows), 1)
    rows[0]["state"] = b64encode(b64decode(rows[0]["state"]).decode().replace(FROM, TO).encode()).decode()
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))


def row_changed(store: Path) -> None:
    """Forge the amounts in the row of a store."""
    with closing(sqlite3.connect(store)) as database, database:
        done = database.execute(
            "UPDATE stored_events SET state = CAST(replace(CAST(state AS TEXT), ?1, ?2) AS BLOB) "
            "WHERE instr(CAST(state AS TEXT), ?1)",
            (FROM, TO),
        )
    expect("how many rows were changed", done.rowcount, 1)
