"""The rows with the names and texts of members, as an auditor of the database sees them."""

import re

from sqlalchemy import select

from api.personal_data.names import TABLE, Names, is_intact


def is_ref(text: str) -> bool:
    """Return whether a text has the form of a ref."""
    return re.fullmatch("hmac:[0-9a-f]{64}", text) is not None


def changed_refs(names: Names) -> list[str]:
    """Return the refs whose texts were changed or moved."""
    with names.reader.connect() as connection:
        return [row.ref for row in connection.execute(select(TABLE).order_by(TABLE.c.ref)) if not is_intact(row)]
