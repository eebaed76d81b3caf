"""A club's journal as files for accounting programs."""

from collections.abc import Callable

from projections.exports import beancount, plaintext, sie, tables
from projections.journal import Journal
from referee.value import Value


class Export(Value):
    """A file format and the function that writes it."""

    media_type: str
    suffix: str
    write: Callable[[Journal], bytes]
    one_currency: bool = False
    """True if the journal must have one currency (:func:`~projections.journal.in_currency`)."""


EXPORTS = {
    "hledger": Export(media_type="text/plain; charset=utf-8", suffix=".journal", write=plaintext.write),
    "beancount": Export(media_type="text/plain; charset=utf-8", suffix=".beancount", write=beancount.write),
    "sie": Export(media_type="text/plain; charset=ibm437", suffix=".si", write=sie.write, one_currency=True),
    "csv": Export(media_type="text/csv; charset=utf-8", suffix=".csv", write=tables.csv),
    "json": Export(media_type="application/json", suffix=".json", write=tables.json),
}
"""Exports, by the name in the request."""
