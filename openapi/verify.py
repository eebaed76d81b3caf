"""Is what a bundle holds on record, as it was signed, and is anything left out?

python verify.py BUNDLE VKEY [OLD_CHECKPOINT]
python verify.py --contradicts BUNDLE VKEY LATER_BUNDLE

BUNDLE: what GET …/bundle answered, byte for byte. VKEY: from GET /v1/log, as you noted it once; two with a blank
between where both sign. OLD_CHECKPOINT: a file with one that you kept, whose size is the bundle's from=.
Exits with 0 if all is proved, with 1 if something is false or missing, and with 3 if what is there holds, but rows
are not shown or later rows are not excluded. With --contradicts: with 0 if a row of LATER_BUNDLE contradicts what
BUNDLE has signed about the last row of the same match or club: the service has signed something false; else with 1.
It needs Python 3.11 and openssl 3, and shares nothing with the service."""

import json
import subprocess
import sys
import tempfile
from base64 import b64decode, b64encode
from collections import namedtuple
from hashlib import sha256
from pathlib import Path

written = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode  # in which 1 is not 1.0
SECTIONS = "about checkpoint consistency aggregates rows settlements entries"
OPENSSL = "openssl pkeyutl -verify -pubin -keyform DER -inkey key -rawin -in text -sigfile signature"
Row = namedtuple("Row", "index whose number topic leaf event prev")


def demand(holds, what):
    """Raise ValueError unless it holds."""
    if not holds:
        raise ValueError(what)


def unpacked(text, length=None):
    """Return the bytes of a base64 text. Only one text has the same bytes."""
    data = b64decode(text.encode(), validate=True)
    demand(b64encode(data).decode() == text and length in (None, len(data)), f"{text[:44]!a} is not such base64")
    return data


def fields(value, names, what):
    """Return the values of an object that has exactly these names, in order."""
    demand(isinstance(value, dict) and " ".join(value) == names, f"{what} has other parts than {names}")
    return value.values()


def lines_signed(note, vkeys, every=True):
    """Return the lines of a signed note, if one of the keys has signed it, or every one; and no other key."""
    text, _, below = note.partition("\n\n")
    lines, signatures, known = text.split("\n"), below.split("\n"), {}
    for name, digits, key in (vkey.split("+", 2) for vkey in vkeys.split()):
        own = sha256(f"{name}\n".encode() + (public := unpacked(key, 33))).digest()[:4]
        same = (b"\1", lines[0], own.hex()) == (public[:1], name, digits)
        demand(same, f"{name}+{digits} is no key of {lines[0]!a}")
        known[own] = bytes.fromhex("302a300506032b6570032100") + public[1:]
    demand(signatures.pop() == "" and signatures, "that is no signed note")
    demand(len(signatures) == len(known) or not every, f"{len(signatures)} have signed, and not {len(known)}")
    for dash, name, packed in (line.split(" ") for line in signatures):
        own, signature = unpacked(packed, 68)[:4], unpacked(packed)[4:]
        demand((dash, name) == ("\u2014", lines[0]) and own in known, f"{name!a}+{own.hex()} is none of the keys")
        with tempfile.TemporaryDirectory() as place:
            for file, data in ("key", known.pop(own)), ("text", f"{text}\n".encode()), ("signature", signature):
                Path(place, file).write_bytes(data)
            failed = subprocess.run(OPENSSL.split(), capture_output=True, cwd=place).returncode
        demand(not failed, f"the signature of {name}+{own.hex()} is false")
    return lines[1:]


def checkpoint(note, vkeys, every=True):
    """Return the size and the root that are signed."""
    size, root = lines_signed(note, vkeys, every)
    return int(size), unpacked(root, 32)


def last_row(note, vkeys):
    """Return what is signed of a last row: of which match or club, its number, its leaf, and the size of the log."""
    kind, whose, number, leaf, size = lines_signed(note, vkeys)
    demand(kind == "last row", "that is no statement of a last row")
    return whose, int(number), unpacked(leaf, 32), int(size)


def roots(at, last, first, path):
    """Return the roots of the older tree that ends there, and of all: RFC 9162, 2.1.3.2 and 2.1.4.2."""
    old = new = first
    for part in path:
        demand(last > 0, "the proof is too long")
        left = at & 1 or at == last
        old = sha256(b"\1" + part + old).digest() if left else old
        new = sha256(b"\1" + (part + new if left else new + part)).digest()
        levels = (at & -at).bit_length() if 0 < at == last else 1
        at, last = at >> levels, last >> levels
    demand(last == 0, "the proof is too short")
    return old, new


def extends(proof, size, root, old_note, vkeys):
    """Demand that the log extends a checkpoint that was kept; return the sentence that says so."""
    older, old_root = checkpoint(old_note, vkeys, every=False)
    start, parts = fields(proof, "from proof", "the consistency")
    demand(start == older > 0, f"the old checkpoint is of {older} rows")
    high = older if older == size else older & -older  # the older tree ends with a whole one of so many
    path = [old_root, *(unpacked(part, 32) for part in parts)][high < older :]
    both = roots(older // high - 1, (size - 1) // high, path[0], path[1:])
    demand(both == (old_root, root), f"the log does not extend the checkpoint of {older} rows")
    return f"consistency: the log extends the checkpoint of {older} rows"


def rows_in(told, size, root):
    """Return the rows by whose they are: each is in the log, in order, and names the row before it."""
    found, place = {}, -1
    for one in told:
        index, whose, version, topic, state, proof = fields(one, "index id version topic state proof", "a row")
        what, state = ascii(f"event {version} of {whose} ({topic})")[1:-1], unpacked(state)
        leaf = sha256(f"\0{whose}\n{version}\n{topic}\n".encode() + state).digest()
        demand(type(index) is int and place < index < size, f"{what} is not behind row {place}")
        path = [unpacked(part, 32) for part in proof]
        demand(roots(index, size - 1, leaf, path)[1] == root, f"{what} is not in the log at {index}")
        read, own, place = json.loads(state), found.setdefault(whose, []), index
        row = Row(index, whose, version, topic, leaf, read["event"], read["prev"])
        demand(type(version) is int and version > (own[-1].number if own else 0), f"{what} stands behind a later one")
        follows = own and version == own[-1].number + 1
        demand(not follows or row.prev == own[-1].leaf.hex(), f"{what} does not follow on the row before it")
        own.append(row)
    return found


def complete(aggregate, rows, size, vkeys):
    """Demand that the rows are those of the ranges. Return these, and what is not shown."""
    whose, told, statement = fields(aggregate, "id ranges statement", "an aggregate")
    ranges, behind, own = [tuple(fields(one, "first last", "a range")) for one in told], -1, rows.get(whose, [])
    for first, last in ranges:
        demand(type(first) is type(last) is int and behind + 1 < first <= last, f"the ranges of {whose!a} are wrong")
        behind = last
    same = sum(last - first + 1 for first, last in ranges) == len(own) > 0
    wanted = (one for first, last in ranges for one in range(first, last + 1))
    demand(
        same and all(row.number == next(wanted) for row in own),
        f"rows of {whose!a} are missing, or there are too many",
    )
    demand(len(ranges) < 3, f"rows of {whose!a} are missing")
    shown = f"{whose} is complete up to row {behind}; "
    less = [f"rows {ranges[0][1] + 1} to {ranges[1][0] - 1} of {whose}, how it was played"] if ranges[1:] else []
    if statement is None:
        return ranges, [*less, f"{shown}later rows are not excluded"]
    of, number, leaf, at = last_row(statement, vkeys)
    demand((of, at) == (whose, size), f"what is signed is not of the last row of {whose!a} in {size} rows")
    demand(number >= behind and own[-1].index < size, f"{whose!a} has more rows than were signed")
    demand(number > behind or leaf == own[-1].leaf, f"another last row of {whose!a} was signed")
    return ranges, less + [f"{shown}{number - behind} later rows are in the log"][: number - behind]


def money(facts):
    """Return what the rows say: what each match came to by seat, and what is entered; debit is above zero."""
    openings = {row.whose: row.event for row in facts if row.topic == "match/opened" and row.event.get("stakes")}
    settled, entries, agreed, entered = {}, {}, {}, {}
    for row in facts:
        opened, before, made = openings.get(row.whose), settled.get(row.whose, {"event": 0, "amounts": []}), []
        undone = row.topic == "act/taken-back" and row.event["first"] <= before["event"] <= row.event["last"]
        agreed.setdefault(row.whose, set()).update(row.event["seats"] if row.topic == "stakes/agreed" else ())
        if row.topic == "money/posted":
            sums = {one["account"]: one["amount"] for one in row.event["postings"]}
            made = [(row.event["kind"], row.event["currency"], sums)]
        elif row.topic == "stakes/declined":
            openings[row.whose] = opened and {**opened, "members": []}  # nothing of it is ever entered
        elif opened and (undone or row.topic == "protocol/corrected" or "settlement" in row.event):
            amounts = amounts_by(row, opened["stakes"])
            settled[row.whose] = {"match": row.whose, "event": row.number, **opened["stakes"]}
            settled[row.whose] |= {"pot": -sum(amounts), "amounts": amounts}
        members = (openings.get(row.whose) or {}).get("members", [])
        if members and agreed[row.whose] >= {*range(len(members))}:
            was, now = (
                entered.get(row.whose, []),
                counted(settled.get(row.whose, before)["amounts"], opened.get("stake_limit")),
            )
            for kind, some in (("reverse", [-one for one in was]), ("match", now)) if now != was else ():
                sums = {f"member:{members[seat]}": -amount for seat, amount in enumerate(some)}
                made.append((kind, opened["stakes"]["currency"], {**sums, "pot": sum(some)}))
            entered[row.whose] = now
        for kind, currency, sums in made:
            parts = [{"account": account, "amount": sums[account]} for account in sorted(sums) if sums[account]]
            entry = {"kind": kind, "currency": currency, "cause": f"{row.whose}/{row.number}", "postings": parts}
            entries |= {(entry["cause"], kind): entry} if parts else {}
    return [one for one in settled.values() if one["amounts"]], entries


def counted(amounts, limit):
    """Return what is entered of what a match came to: nothing where it moves more than its limit."""
    moved = max(sum(one for one in amounts if one > 0), -sum(one for one in amounts if one < 0))
    return amounts if limit is None or moved <= limit else []


def amounts_by(row, stakes):
    """Return by seat what a match comes to by this row; the payments that it names have to come to the same."""
    end = row.event if "settlement" in row.event else row.event.get("won") or {}
    amounts, point = end.get("settlement") or [], stakes["unit"] // (2 if row.event.get("halves") else 1)
    paid = [0] * len(amounts)
    for one in end.get("payments", []):
        paid[one["payer"]] -= one["points"] * point
        paid[one["payee"]] += one["points"] * point
    demand(paid == amounts or not end.get("payments"), f"the payments of {row.whose} are not its settlement")
    return amounts


def check_closing(club, closing, found, ranges, entries, made):
    """Demand that the rows are those of one closing of this club, and the entries what they say."""
    own = found[club]  # all rows of the club
    before, this = own[0].event if own[1:] and own[0].topic == "books/closed" else None, own[-1].event
    demand(own[-1].topic == "books/closed" and this["closing"] == closing, f"the last row is not closing {closing}")
    demand(len(ranges[club]) == 1 and (before or own[0].number == 1), "rows of the club are missing before it")
    demand("books/closed" not in [row.topic for row in own[1:-1]], "it has more than one closing")
    for match, rows in found.items():
        if match != club:
            head = (rows[0].number, rows[0].topic, rows[0].event.get("club"))
            demand(head == (1, "match/opened", club), f"{match!a} is no match of the club")
            later = [row for row in rows if row.number > ranges[match][0][1]]
            early = [row.event for row in rows if row.topic == "stakes/agreed" and row not in later]
            agreed = {seat for event in early for seat in event["seats"]}
            whole = not later or ("settlement" in later[0].event and len(agreed) == len(rows[0].event["members"]))
            demand(whole, f"rows of {match!a} to the last agreement, or from its end on, are missing")
    demand({club, *(one["cause"][:36] for one in entries)} == found.keys() | {club}, "there are rows of others")
    before = before or {"closing": 0, "through": 0, "digest": "0" * 64}
    text, last = f"{before['digest']}\n", before["through"]
    for last, one in enumerate(entries, before["through"] + 1):
        said = {"number": last, "date": one["date"], **made.pop((one["cause"], one["kind"]), {})}
        total = sum(part["amount"] for part in one["postings"])
        demand(written(one) == written(said) and total == 0, f"no row says entry {last}")
        postings = ",".join(f"{part['account']}:{part['amount']}" for part in one["postings"])
        text += f"{last}|{one['date']}|{one['kind']}|{one['currency']}|{one['cause']}|{postings}\n"
    demand((before["closing"] + 1, last) == (this["closing"], this["through"]), "there are more entries, or fewer")
    demand(sha256(text.encode()).hexdigest() == this["digest"], "the entries do not have the digest of the closing")


def opened(file):
    """Return the sections of a bundle."""
    bundle = json.loads(data := Path(file).read_bytes())
    demand(written(bundle).encode() == data, "keep it byte for byte")
    sections = list(fields(bundle, SECTIONS, "the bundle"))
    demand(all(isinstance(one, list) for one in sections[3:]) and sections[3] and sections[4], "a section is missing")
    return sections


def verify(file, vkeys, old_file=None):
    """Yield a sentence for each section. A sentence that begins with a capital word names what is not shown."""
    about, note, proof, aggregates, told, settlements, entries = opened(file)
    kind, whose, closing = fields(about, "kind id closing", "what it is about")
    size, root = checkpoint(note, vkeys)
    yield f"checkpoint: {size} rows of {vkeys.partition('+')[0]} are signed"
    demand((proof is None) == (old_file is None), "an old checkpoint and the proof of it go together")
    if proof is not None:
        yield extends(proof, size, root, Path(old_file).read_bytes().decode(), vkeys)
    found, ranges, open_ends = rows_in(told, size, root), {}, []
    demand(kind in ("match", "closing") and whose in found, "nothing is in it of what it is about")
    until = size if kind == "match" else found[whose][-1].index + 1
    demand([one["id"] for one in aggregates] == list(found), "not those are listed of whom there are rows")
    for one in aggregates:
        ranges[one["id"]], less = complete(one, found, until, vkeys)
        open_ends += less[1:] if kind == "closing" and len(ranges[one["id"]]) > 1 else less
    yield f"aggregates: of {len(ranges)} matches and clubs all rows are here that the bundle names"
    yield f"rows: {len(told)} rows are in the log as they are here, each behind the one before it"
    settled, made = money(sorted(row for own in found.values() for row in own if row.index < until))
    demand(written(settlements) == written(settled), "settlements are not what rows say")
    if kind == "closing":
        check_closing(whose, closing, found, ranges, entries, made)
    else:
        demand([*found, entries, closing, found[whose][0].number] == [whose, [], None, 1], "there are other rows")
    yield f"settlements: {len(settlements)} add up and are what the rows say"
    yield f"entries: {len(entries)} add up and are what the rows say" + (" and what was closed" if closing else "")
    demand(kind == "match" or "in the log" not in str(open_ends), "rows before the closing are missing")
    yield from (f"NOT SHOWN: {one}" for one in open_ends)


def contradicts(file, vkeys, later_file):
    """Yield each contradiction between what is signed of last rows in a bundle and the rows of another."""
    _, note, _, _, told, _, _ = opened(later_file)
    found = rows_in(told, *checkpoint(note, vkeys))
    for statement in (one["statement"] for one in opened(file)[3] if one["statement"]):
        whose, number, leaf, size = last_row(statement, vkeys)
        for row in found.get(whose, ()):
            if (row.number > number and row.index < size) or (row.number == number and row.leaf != leaf):
                there = f"CONTRADICTED: row {row.number} of {whose} is in the log at {row.index}"
                yield f"{there}, and another row {number} was signed as its last of {size} rows"


def main(arguments):
    try:
        if arguments[:1] == ["--contradicts"]:
            said = list(contradicts(*arguments[1:]))
            print(*(said or ["nothing here contradicts what was signed"]), sep="\n")
            return 0 if said else 1
        demand(len(arguments) in (2, 3), __doc__)
        for line in verify(*arguments):
            print(line)
        return 3 if line.startswith("NOT SHOWN") else 0
    except (AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        print(f"NOT PROVED: {error if isinstance(error, ValueError) else repr(error)}")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
