"""Payments for a bank's app: the payload of a QR code, and the code as a picture.

SEK is paid by Swish (QR code specification, C2B), EUR by SEPA credit transfer (EPC069-12, version 002). Amounts are
minor units. Texts are cut to fit. Functions raise ``ValueError`` for a wrong number, amount or name.
"""

import re
from io import BytesIO
from typing import Literal
from urllib.parse import quote

import segno

from projections.journal import decimal
from projections.transliterate import single_line, transliterated

SEPARATORS = re.compile(r"[\s\-\u2010-\u2015\u2212./()]")
"""Signs that people write between digits."""
SWISH_TEXT_MAX = 50
SWISH_AMOUNT_MAX = 10**14 - 1
SWISH_NUMBER = re.compile(r"123[0-9]{7}|07[0-9]{8}")
SWISH_SIGNS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZÅÄÖabcdefghijklmnopqrstuvwxyzåäö0123456789!?(),.-:; ")

ERROR_CORRECTION: Literal["M"] = "M"
"""Level of error correction that EPC069-12 requires."""
QUIET_ZONE = 4
"""Width in modules of the light border around a code."""

EPC_NAME_MAX = 70
EPC_TEXT_MAX = 140
EPC_AMOUNT_MAX = 99_999_999_999
EPC_BYTES_MAX = 331
IBAN_LENGTH = {
    country: length
    for length, countries in {
        15: "NO",
        16: "BE",
        18: "DK FI NL",
        19: "MK SI",
        20: "AT EE LT LU",
        21: "CH HR LI LV",
        22: "BG DE GB GI IE ME RS VA",
        24: "AD CZ ES MD RO SE SK",
        25: "PT",
        26: "IS",
        27: "FR GR IT MC SM",
        28: "AL CY HU PL",
        31: "MT",
    }.items()
    for country in countries.split()
}
"""Number of characters of an IBAN, by SEPA country."""


class WrongCheckDigits(ValueError):
    """The check digits of an IBAN do not fit its other characters."""


def swish_number(text: str) -> str:
    """Return a Swish number as ten digits: ``0701234567`` for ``+46 (0)70-123 45 67``."""
    number = SEPARATORS.sub("", text)
    number = re.sub(r"^(\+|00)?460?(?=7)", "0", number)
    if not SWISH_NUMBER.fullmatch(number):
        raise ValueError("a Swish number is 123 and seven figures, or a mobile number: 0701234567")
    return number


def iban(text: str) -> str:
    """Return an IBAN in capitals without separators.

    Raises WrongCheckDigits for wrong check digits, another ValueError for a wrong form, country or length.
    """
    number = SEPARATORS.sub("", text).upper()
    if not re.fullmatch(r"[A-Z]{2}[0-9]{2}[0-9A-Z]+", number):
        raise ValueError("an IBAN is two letters for the country, two check digits, and letters and digits")
    country = number[:2]
    if country not in IBAN_LENGTH:
        raise ValueError(f"no account in {country} can be reached by SEPA")
    if len(number) != IBAN_LENGTH[country]:
        raise ValueError(f"an IBAN of {country} has {IBAN_LENGTH[country]} characters, and this has {len(number)}")
    remainder = int("".join(str(int(sign, 36)) for sign in number[4:] + number[:4])) % 97
    if remainder != 1 or not 2 <= int(number[2:4]) <= 98:  # 00, 01 and 99 are invalid, though their remainder fits
        raise WrongCheckDigits("the check digits of this IBAN are wrong: a character was mistaken or misplaced")
    return number


def swish(number: str, amount: int, text: str) -> str:
    """Return the payload of a payment in SEK that the payer cannot change."""
    _check_amount(amount, SWISH_AMOUNT_MAX, "SEK")
    message = _cut(transliterated(text, SWISH_SIGNS.__contains__, " "), SWISH_TEXT_MAX)
    return f"C{swish_number(number)};{decimal(amount).replace('.', ',')};{quote(message, safe='')};0"


def epc(name: str, account: str, amount: int, text: str) -> str:
    """Return the payload of a payment in EUR to an IBAN. If it is too long, first the text is cut, then the name."""
    _check_amount(amount, EPC_AMOUNT_MAX, "EUR")
    owner = _cut(single_line(name), EPC_NAME_MAX)
    if not owner:
        raise ValueError("the owner of the account has to be named")
    message = _cut(single_line(text), EPC_TEXT_MAX)
    lines = ["BCD", "002", "1", "SCT", "", owner, iban(account), f"EUR{decimal(amount)}", "", ""]
    while len("\n".join([*lines, message]).encode()) > EPC_BYTES_MAX:
        if message:
            message = message[:-1].rstrip()
        else:
            lines[5] = lines[5][:-1].rstrip()
    return "\n".join([*lines, message]).rstrip("\n")


def svg(payload: str, title: str) -> str:
    """Return the QR code of a payload as an SVG picture."""
    file = BytesIO()
    code = segno.make_qr(payload, error=ERROR_CORRECTION, boost_error=False, encoding="utf-8", eci=False)
    code.save(
        file, kind="svg", scale=4, border=QUIET_ZONE, light="white", title=single_line(title), xmldecl=False, nl=False
    )
    return file.getvalue().decode()


def _check_amount(amount: int, maximum: int, currency: str) -> None:
    if not 1 <= amount <= maximum:
        raise ValueError(f"one payment is from 0.01 to {decimal(maximum)} {currency}")


def _cut(text: str, maximum: int) -> str:
    return text[:maximum].rstrip()
