"""A payment as a bank's app reads it off a screen: the payload that a QR code holds, and the code as a picture.

SEK goes by Swish (its QR code specification, C2B), EUR by a SEPA credit transfer (EPC069-12, version 002). Texts are
made to fit; a number that cannot be right, or an amount that cannot be sent, is a ``ValueError`` that says so.
"""

import re
from io import BytesIO
from urllib.parse import quote

import segno

from projections.journal import decimal
from projections.transliterate import in_line, spelled

SEPARATORS = re.compile(r"[\s\-\u2010-\u2015\u2212./()]")
"""What people write between the figures of a number: blanks, hyphens and dashes, dots, slashes, brackets."""
SWISH_TEXT_MAX = 50
SWISH_MAX = 10**14 - 1
"""Minor units: 999999999999.99."""
SWISH_NUMBER = re.compile(r"123[0-9]{7}|07[0-9]{8}")
"""Of an association or a company; of a person."""
SWISH_SIGNS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZÅÄÖabcdefghijklmnopqrstuvwxyzåäö0123456789!?(),.-:; ")

EPC_NAME_MAX = 70
EPC_TEXT_MAX = 140
EPC_MAX = 99_999_999_999
"""Minor units: 999999999.99."""
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
"""Characters of an account's number, by country of SEPA."""


class WrongCheckDigits(ValueError):
    """An IBAN in which a character is mistaken or misplaced."""


def swish_number(text: str) -> str:
    """The Swish number that is meant, as its ten figures: +46 (0)70-123 45 67 is 0701234567."""
    number = SEPARATORS.sub("", text)
    number = re.sub(r"^(\+|00)?460?(?=7)", "0", number)
    if not SWISH_NUMBER.fullmatch(number):
        raise ValueError("a Swish number is 123 and seven figures, or a mobile number: 0701234567")
    return number


def iban(text: str) -> str:
    """The account that is meant, as SEPA writes it: in capitals with nothing between, its check digits right."""
    number = SEPARATORS.sub("", text).upper()
    if not re.fullmatch(r"[A-Z]{2}[0-9]{2}[0-9A-Z]+", number):
        raise ValueError("an IBAN is two letters for the country, two check digits, and letters and digits")
    country = number[:2]
    if country not in IBAN_LENGTH:
        raise ValueError(f"no account in {country} can be reached by SEPA")
    if len(number) != IBAN_LENGTH[country]:
        raise ValueError(f"an IBAN of {country} has {IBAN_LENGTH[country]} characters, and this has {len(number)}")
    remainder = int("".join(str(int(figure, 36)) for figure in number[4:] + number[:4])) % 97
    if remainder != 1 or not 2 <= int(number[2:4]) <= 98:  # 00, 01 and 99 leave what 97, 98 and 02 leave
        raise WrongCheckDigits("the check digits of this IBAN are wrong: a character was mistaken or misplaced")
    return number


def swish(number: str, amount: int, text: str) -> str:
    """A payment in SEK to a Swish number; the payer can change nothing in it."""
    _between(amount, SWISH_MAX, "SEK")
    said = _cut(spelled(text, SWISH_SIGNS.__contains__, " "), SWISH_TEXT_MAX)
    return f"C{swish_number(number)};{decimal(amount).replace('.', ',')};{quote(said, safe='')};0"


def epc(name: str, account: str, amount: int, text: str) -> str:
    """A payment in EUR to an account of that name. Text and then name are cut to what the code may hold."""
    _between(amount, EPC_MAX, "EUR")
    owner = _cut(in_line(name), EPC_NAME_MAX)
    if not owner:
        raise ValueError("the owner of the account has to be named")
    said = _cut(in_line(text), EPC_TEXT_MAX)
    lines = ["BCD", "002", "1", "SCT", "", owner, iban(account), f"EUR{decimal(amount)}", "", ""]
    while len("\n".join([*lines, said]).encode()) > EPC_BYTES_MAX:
        if said:
            said = said[:-1].rstrip()
        else:
            lines[5] = lines[5][:-1].rstrip()
    return "\n".join([*lines, said]).rstrip("\n")


def svg(payload: str, title: str) -> str:
    """The payload as a QR code in black on white, with error correction M and the quiet zone that readers want."""
    file = BytesIO()
    code = segno.make_qr(payload, error="m", boost_error=False, encoding="utf-8", eci=False)
    code.save(file, kind="svg", scale=4, border=4, light="white", title=in_line(title), xmldecl=False, nl=False)
    return file.getvalue().decode()


def _between(amount: int, most: int, currency: str) -> None:
    if not 1 <= amount <= most:
        raise ValueError(f"one payment is from 0.01 to {decimal(most)} {currency}")


def _cut(text: str, most: int) -> str:
    return text[:most].rstrip()
