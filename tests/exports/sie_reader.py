"""A strict reader of SIE 4I, after the standard's edition 4B: any deviation raises :class:`NotSie`.

The standard lets a program skip unknown records and unused fields; this reader accepts neither.
"""

import re
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal

FIELD = re.compile(r'"((?:[^"\\]|\\")*)"|(\{[^{}]*\})|([^\s"{}\\]+)')
"""A field: in quotation marks, of which only the mark itself is escaped; a list of objects; or bare."""
HEAD = ("#FLAGGA", "#PROGRAM", "#FORMAT", "#GEN", "#SIETYP", "#FNAMN", "#VALUTA")
"""The first records, once each, in this order."""


class NotSie(ValueError):
    """The file is not as the standard wants it."""


@dataclass
class Row:
    account: str
    member: str | None
    amount: Decimal


@dataclass
class Voucher:
    series: str
    number: int
    date: date
    text: str
    rows: list[Row] = field(default_factory=list)


@dataclass
class File:
    head: dict[str, list[str]] = field(default_factory=dict)
    accounts: dict[str, str] = field(default_factory=dict)
    dimensions: dict[str, str] = field(default_factory=dict)
    objects: dict[tuple[str, str], str] = field(default_factory=dict)
    vouchers: list[Voucher] = field(default_factory=list)


def read(data: bytes) -> File:
    """Read a file. Raises if a part is unknown, a voucher is uneven, or an account or object is used before its
    declaration."""
    text = data.decode("cp437")
    if not text.endswith("\r\n") or re.search(r"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n", text):
        raise NotSie("lines end in CR LF, and there are no other control characters")
    file, open_one = File(), None
    for line in text.removesuffix("\r\n").split("\r\n"):
        if line == "{" and file.vouchers and open_one is None and not file.vouchers[-1].rows:
            open_one = file.vouchers[-1]
        elif line == "}" and open_one is not None:
            _need(sum(row.amount for row in open_one.rows) == 0, "a voucher is even", line)
            open_one = None
        else:
            label, *fields = fields_of(line)
            _need((label == "#TRANS") == (open_one is not None), "rows stand in a voucher, and nothing else", line)
            _take(file, label, fields, line)
    _need(open_one is None, "the last voucher is closed", "")
    _need(tuple(file.head) == HEAD, "the head is whole", "")
    return file


def fields_of(line: str) -> list[str]:
    """Return the fields of a line, which are separated by one blank. A list of objects keeps its braces."""
    found, place = [], 0
    while place <= len(line):
        match = FIELD.match(line, place)
        _need(match is not None and line[match.end() : match.end() + 1] in ("", " "), "fields", line)
        assert match is not None
        quoted, objects, bare = match.groups()
        found.append(quoted.replace('\\"', '"') if quoted is not None else objects or bare)
        place = match.end() + 1
    return found


def _take(file: File, label: str, fields: list[str], line: str) -> None:
    match label, fields:
        case (_, _) if label in HEAD:
            _need(len(file.head) < len(HEAD) and label == HEAD[len(file.head)], "the head is in order", line)
            _head(label, fields, line)
            file.head[label] = fields
        case "#KONTO", [number, name]:
            _need(re.fullmatch("[1-9][0-9]{3}", number) and number not in file.accounts and name, "an account", line)
            file.accounts[number] = name
        case "#DIM", [number, name]:
            _need(int(number) >= 20 and number not in file.dimensions and name, "a dimension left free", line)
            file.dimensions[number] = name
        case "#OBJEKT", [dimension, number, name]:
            _need(dimension in file.dimensions and (dimension, number) not in file.objects and name, "one", line)
            file.objects[dimension, number] = name
        case "#VER", [series, number, day, text]:
            last = file.vouchers[-1] if file.vouchers else None
            voucher = Voucher(series, int(number), _day(day), text)
            _need(last is None or (last.number < voucher.number and last.date <= voucher.date), "in order", line)
            _need(last is None or last.rows, "a voucher has rows", line)
            file.vouchers.append(voucher)
        case "#TRANS", [account, objects, amount]:
            inside = fields_of(objects[1:-1]) if objects != "{}" else []
            _need(account in file.accounts and objects.startswith("{"), "the account is declared", line)
            _need(inside == [] or tuple(inside) in file.objects, "the object is declared", line)
            _need(re.fullmatch(r"-?(0|[1-9][0-9]*)\.[0-9]{2}", amount), "an amount", line)
            file.vouchers[-1].rows.append(Row(account, inside[1] if inside else None, Decimal(amount)))
        case _:
            raise NotSie(f"no record of SIE 4I: {line!r}")


def _head(label: str, fields: list[str], line: str) -> None:
    fixed = {"#FLAGGA": ["0"], "#FORMAT": ["PC8"], "#SIETYP": ["4"]}
    _need(fields == fixed.get(label, fields) and fields, "what the standard says", line)
    if label == "#GEN":
        _day(fields[0])
    if label == "#VALUTA":
        _need(re.fullmatch("[A-Z]{3}", fields[0]), "ISO 4217", line)


def _day(text: str) -> date:
    _need(re.fullmatch("[0-9]{8}", text), "a date is eight figures", text)
    try:
        return datetime.strptime(text, "%Y%m%d").date()
    except ValueError as wrong:
        raise NotSie(f"no such day: {text}") from wrong


def _need(held: object, what: str, line: str) -> None:
    if not held:
        raise NotSie(f"{what}: {line!r}")
