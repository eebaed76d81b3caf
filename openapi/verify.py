"""Verify that the rows of a bundle are in the signed log, unchanged, and that no row is left out.

python verify.py BUNDLE VKEY [OLD_CHECKPOINT]
python verify.py --contradicts BUNDLE VKEY LATER_BUNDLE

BUNDLE is a file with an answer of GET …/bundle, byte for byte. VKEY is the verifier key of GET /v1/log, as you noted
it before; while two keys sign, give both, separated by a space. OLD_CHECKPOINT is a file with a checkpoint that you
kept; its size is the parameter from= of the bundle. Exits with 0 if everything is proved, with 1 if something is
false or missing, and with 3 if the rows are correct, but others exist or may exist. --contradicts exits with 0 if a
row of LATER_BUNDLE contradicts a signed last row in BUNDLE, else with 1. Needs Python 3.11 and openssl 3."""

import json
import subprocess
import sys
import tempfile
from base64 import b64decode, b64encode
from collections import namedtuple
from hashlib import sha256
from pathlib import Path

written = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode  # unlike ==, it distinguishes 1 from 1.0
SECTIONS = "about checkpoint consistency aggregates rows settlements entries"
OPENSSL = "openssl pkeyutl -verify -pubin -keyform DER -inkey key -rawin -in text -sigfile signature"
Row = namedtuple("Row", "index owner number topic leaf event prev")  # owner: the id of the match or club


def demand(holds, message):
    """Raise ValueError with the message unless the condition holds."""
    if not holds:
        raise ValueError(message)


def unpacked(text, length=None):
    """Return the bytes of a base64 text. Demand the canonical form, and ``length`` bytes."""
    data = b64decode(text.encode(), validate=True)
    demand(b64encode(data).decode() == text and length in (None, len(data)), f"{text[:44]!a} is no valid base64 here")
    return data


def fields(value, names, what):
    """Return the values of an object. Demand exactly these fields in this order."""
    demand(isinstance(value, dict) and " ".join(value) == names, f"{what} must have exactly the fields {names}")
    return value.values()


def signed_lines(note, vkeys, every=True):
    """Return the lines of a note but the first. Demand a signature of each key (``every``) or one, and no other."""
    text, _, below = note.partition("\n\n")
    lines, signatures, known = text.split("\n"), below.split("\n"), {}
    for name, digits, key in (vkey.split("+", 2) for vkey in vkeys.split()):
        key_id = sha256(f"{name}\n".encode() + (public := unpacked(key, 33))).digest()[:4]
        same = (b"\1", lines[0], key_id.hex()) == (public[:1], name, digits)
        demand(same, f"{name}+{digits} is not a key of the log {lines[0]!a}")
        known[key_id] = bytes.fromhex("302a300506032b6570032100") + public[1:]
    demand(signatures.pop() == "" and signatures, "the note is not signed")
    demand(len(signatures) == len(known) or not every, f"the note must have {len(known)} signatures")
    for dash, name, packed in (line.split(" ") for line in signatures):
        key_id, signature = unpacked(packed, 68)[:4], unpacked(packed)[4:]
        good = (dash, name) == ("\u2014", lines[0]) and key_id in known
        demand(good, f"{name!a}+{key_id.hex()} has signed, but is not one of the given keys")
        with tempfile.TemporaryDirectory() as place:
            for file, data in ("key", known.pop(key_id)), ("text", f"{text}\n".encode()), ("signature", signature):
                Path(place, file).write_bytes(data)
            failed = subprocess.run(OPENSSL.split(), capture_output=True, cwd=place).returncode
        demand(not failed, f"the signature of {name}+{key_id.hex()} is false")
    return lines[1:]


def checkpoint(note, vkeys, every=True):
    """Return the size and the root hash of a signed checkpoint."""
    size, root = signed_lines(note, vkeys, every)
    return int(size), unpacked(root, 32)


def last_row(note, vkeys):
    """Return the owner, number and leaf of a signed last row, and the size of the log."""
    kind, owner, number, leaf, size = signed_lines(note, vkeys)
    demand(kind == "last row", "the note is not a statement of a last row")
    return owner, int(number), unpacked(leaf, 32), int(size)


def roots(at, last, first, path):
    """RFC 9162, 2.1.3.2, 2.1.4.2: Return the roots of the older tree, with leaf ``at`` last, and of the whole."""
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
    """Return a sentence about the old checkpoint. Demand that the log extends it."""
    older, old_root = checkpoint(old_note, vkeys, every=False)
    demand(older == 0 or proof is not None, f"ask for the bundle with ?from={older}")
    start, parts = fields(proof, "from proof", "the section consistency")
    demand(start == older > 0, f"the old checkpoint has {older} rows, but the proof begins at {start!a}")
    high = older if older == size else older & -older  # size of the last full subtree of the older tree
    path = [old_root, *(unpacked(part, 32) for part in parts)][high < older :]
    both = roots(older // high - 1, (size - 1) // high, path[0], path[1:])
    demand(both == (old_root, root), f"the log does not extend the checkpoint of {older} rows")
    return f"consistency: the log extends the checkpoint of {older} rows"


def rows_in(listed, size, root):
    """Return the rows by owner. Demand that each is in the log, in order, and has the hash of the row before it."""
    found, place = {}, -1
    for one in listed:
        index, owner, version, topic, state, proof = fields(one, "index id version topic state proof", "a row")
        what, state = ascii(f"event {version} of {owner} ({topic})")[1:-1], unpacked(state)
        leaf = sha256(f"\0{owner}\n{version}\n{topic}\n".encode() + state).digest()
        demand(type(index) is int and place < index < size, f"{what} must be after row {place} of the log")
        path = [unpacked(part, 32) for part in proof]
        demand(roots(index, size - 1, leaf, path)[1] == root, f"{what} is not in the log at {index}")
        read, own, place = json.loads(state), found.setdefault(owner, []), index
        row = Row(index, owner, version, topic, leaf, read["event"], read["prev"])
        demand(type(version) is int and version > (own[-1].number if own else 0), f"{what} is after a later event")
        follows = own and version == own[-1].number + 1
        demand(not follows or row.prev == own[-1].leaf.hex(), f"{what} does not name the hash of the row before it")
        own.append(row)
    return found


def complete(aggregate, rows, size, vkeys):
    """Return the ranges of a match or club, and sentences about gaps. Demand that its rows fill the ranges."""
    owner, listed, statement = fields(aggregate, "id ranges statement", "an aggregate")
    ranges, behind, own = [tuple(fields(one, "first last", "a range")) for one in listed], -1, rows.get(owner, [])
    for first, last in ranges:
        demand(type(first) is type(last) is int and behind + 1 < first <= last, f"the ranges of {owner!a} are wrong")
        behind = last
    wanted = (one for first, last in ranges for one in range(first, last + 1))
    same = sum(last - first + 1 for first, last in ranges) == len(own) > 0
    same = same and all(row.number == next(wanted) for row in own)
    demand(same, f"the rows of {owner!a} are not those of its ranges")
    demand(len(ranges) < 3, f"rows of {owner!a} are missing")
    shown = f"the bundle shows the rows of {owner} up to {behind}; "
    gaps = [f"rows {ranges[0][1] + 1} to {ranges[1][0] - 1} of {owner}, the play, are not here"] if ranges[1:] else []
    if statement is None:
        return ranges, [*gaps, f"{shown}later rows are not excluded"]
    of, number, leaf, at = last_row(statement, vkeys)
    demand((of, at) == (owner, size), f"the signed statement is not about {owner!a} in a log of {size} rows")
    demand(number >= behind and own[-1].index < size, f"{owner!a} has rows after its signed last row")
    demand(number > behind or leaf == own[-1].leaf, f"the signed last row of {owner!a} is not the last row here")
    return ranges, gaps + [f"{shown}the log has {number - behind} more"][: number - behind]


def money(rows):
    """Return the settlements, and the entries by cause and kind, that follow from the rows. Debits are above zero."""
    openings = {row.owner: row.event for row in rows if row.topic == "match/opened" and row.event.get("stakes")}
    settled, entries, agreed, entered = {}, {}, {}, {}
    for row in rows:
        opened, before, made = openings.get(row.owner), settled.get(row.owner, {"event": 0, "amounts": []}), []
        undone = row.topic == "act/taken-back" and row.event["first"] <= before["event"] <= row.event["last"]
        agreed.setdefault(row.owner, set()).update(row.event["seats"] if row.topic == "stakes/agreed" else ())
        if row.topic == "money/posted":
            sums = {one["account"]: one["amount"] for one in row.event["postings"]}
            made = [(row.event["kind"], row.event["currency"], sums)]
        elif row.topic == "stakes/declined":
            openings[row.owner] = opened and {**opened, "members": []}  # the books never count a declined match
        elif opened and (undone or row.topic == "protocol/corrected" or "settlement" in row.event):
            amounts = amounts_of(row, opened["stakes"])
            settled[row.owner] = {"match": row.owner, "event": row.number, **opened["stakes"]}
            settled[row.owner] |= {"pot": -sum(amounts), "amounts": amounts}
        members = (openings.get(row.owner) or {}).get("members", [])
        if members and agreed[row.owner] >= {*range(len(members))}:
            was, amounts = entered.get(row.owner, []), settled.get(row.owner, before)["amounts"]
            now = counted(amounts, opened.get("stake_limit"))
            for kind, some in (("reverse", [-one for one in was]), ("match", now)) if now != was else ():
                sums = {f"member:{members[seat]}": -amount for seat, amount in enumerate(some)}
                made.append((kind, opened["stakes"]["currency"], {**sums, "pot": sum(some)}))
            entered[row.owner] = now
        for kind, currency, sums in made:
            parts = [{"account": account, "amount": sums[account]} for account in sorted(sums) if sums[account]]
            entry = {"kind": kind, "currency": currency, "cause": f"{row.owner}/{row.number}", "postings": parts}
            entries |= {(entry["cause"], kind): entry} if parts else {}
    return [one for one in settled.values() if one["amounts"]], entries


def counted(amounts, limit):
    """Return the amounts that the books count; empty if they move more than the limit of the match."""
    moved = max(sum(one for one in amounts if one > 0), -sum(one for one in amounts if one < 0))
    return amounts if limit is None or moved <= limit else []


def amounts_of(row, stakes):
    """Return the amounts by seat of an end or correction of a match. Demand that its payments add up to them."""
    end = row.event if "settlement" in row.event else row.event.get("won") or {}
    amounts, point = end.get("settlement") or [], stakes["unit"] // (2 if row.event.get("halves") else 1)
    paid = [0] * len(amounts)
    for one in end.get("payments", []):
        paid[one["payer"]] -= one["points"] * point
        paid[one["payee"]] += one["points"] * point
    demand(paid == amounts or not end.get("payments"), f"the payments of {row.owner} do not add up to its settlement")
    return amounts


def check_closing(club, closing, found, ranges, entries, made):
    """Demand that the bundle has all rows of one closing of this club, and that they agree with the entries."""
    own = found[club]
    before, this = own[0].event if own[1:] and own[0].topic == "books/closed" else None, own[-1].event
    demand(own[-1].topic == "books/closed" and this["closing"] == closing, f"the last row is not closing {closing}")
    demand(len(ranges[club]) == 1 and (before or own[0].number == 1), "rows of the club are missing")
    demand("books/closed" not in [row.topic for row in own[1:-1]], "the bundle has more than one closing")
    for match, rows in found.items():
        if match != club:
            head = (rows[0].number, rows[0].topic, rows[0].event.get("club"))
            demand(head == (1, "match/opened", club), f"{match!a} is not a match of the club")
            later = [row for row in rows if row.number > ranges[match][0][1]]
            early = [row.event for row in rows if row.topic == "stakes/agreed" and row not in later]
            agreed = {seat for event in early for seat in event["seats"]}
            whole = not later or ("settlement" in later[0].event and len(agreed) == len(rows[0].event["members"]))
            demand(whole, f"rows of {match!a} up to the last agreement or from its end on are missing")
    named = {club, *(one["cause"][:36] for one in entries)}
    demand(named == found.keys() | {club}, "the entries and the rows name different matches")
    before = before or {"closing": 0, "through": 0, "digest": "0" * 64}
    text, last = f"{before['digest']}\n", before["through"]
    for last, one in enumerate(entries, before["through"] + 1):
        expected = {"number": last, "date": one["date"], **made.pop((one["cause"], one["kind"]), {})}
        total = sum(part["amount"] for part in one["postings"])
        demand(written(one) == written(expected) and total == 0, f"entry {last} does not agree with any row")
        postings = ",".join(f"{part['account']}:{part['amount']}" for part in one["postings"])
        text += f"{last}|{one['date']}|{one['kind']}|{one['currency']}|{one['cause']}|{postings}\n"
    demand((before["closing"] + 1, last) == (this["closing"], this["through"]), "the number of entries is wrong")
    demand(sha256(text.encode()).hexdigest() == this["digest"], "the entries do not have the digest of the closing")


def sections_of(file):
    bundle = json.loads(data := Path(file).read_bytes())
    demand(written(bundle).encode() == data, "the file is not the service's answer byte for byte")
    sections = list(fields(bundle, SECTIONS, "the bundle"))
    demand(all(isinstance(one, list) for one in sections[3:]) and sections[3] and sections[4], "a section is missing")
    return sections


def verify(file, vkeys, old_file=None):
    """Yield a sentence for each proved section, then one for each gap, which begins with NOT SHOWN."""
    about, note, proof, aggregates, listed, settlements, entries = sections_of(file)
    kind, owner, closing = fields(about, "kind id closing", "the section about")
    size, root = checkpoint(note, vkeys)
    yield f"checkpoint: the log {vkeys.partition('+')[0]} has {size} signed rows"
    demand(proof is None or old_file is not None, "the bundle has a proof, but its old checkpoint is not given")
    if old_file is not None:
        yield extends(proof, size, root, Path(old_file).read_bytes().decode(), vkeys)
    found, ranges, gaps = rows_in(listed, size, root), {}, []
    demand(kind in ("match", "closing") and owner in found, "the bundle has no rows of its match or club")
    until = size if kind == "match" else found[owner][-1].index + 1
    demand([one["id"] for one in aggregates] == list(found), "the aggregates are not those of the rows")
    for one in aggregates:
        ranges[one["id"]], less = complete(one, found, until, vkeys)
        gaps += less[1:] if kind == "closing" and len(ranges[one["id"]]) > 1 else less
    yield f"aggregates: the bundle has every row that it names of each match and club ({len(ranges)})"
    yield f"rows: every row ({len(listed)}) is in the log unchanged, and linked to the row before it"
    settled, made = money(sorted(row for own in found.values() for row in own if row.index < until))
    demand(written(settlements) == written(settled), "the settlements do not agree with the rows")
    if kind == "closing":
        check_closing(owner, closing, found, ranges, entries, made)
    else:
        alone = [*found, entries, closing, found[owner][0].number] == [owner, [], None, 1]
        demand(alone, "the bundle has rows that do not belong to its match")
    yield f"settlements: every settlement ({len(settlements)}) agrees with the rows"
    closed = " and the closing" if closing else ""
    yield f"entries: every entry ({len(entries)}) adds up and agrees with the rows{closed}"
    demand(kind == "match" or "the log has" not in str(gaps), "rows before the closing are missing")
    yield from (f"NOT SHOWN: {one}" for one in gaps)


def contradicts(file, vkeys, later_file):
    """Yield a sentence for each row of the later bundle that contradicts a signed last row in the first."""
    _, note, _, _, listed, _, _ = sections_of(later_file)
    found = rows_in(listed, *checkpoint(note, vkeys))
    for statement in (one["statement"] for one in sections_of(file)[3] if one["statement"]):
        owner, number, leaf, size = last_row(statement, vkeys)
        for row in found.get(owner, ()):
            if (row.number > number and row.index < size) or (row.number == number and row.leaf != leaf):
                there = f"CONTRADICTED: row {row.number} of {owner} is in the log at {row.index}"
                yield f"{there}, but the service signed a different row {number} as its last of {size} rows"


def main(arguments):
    try:
        if arguments[:1] == ["--contradicts"]:
            found = list(contradicts(*arguments[1:]))
            print(*(found or ["no row contradicts the signed statements"]), sep="\n")
            return 0 if found else 1
        demand(len(arguments) in (2, 3), __doc__)
        for line in verify(*arguments):
            print(line)
        return 3 if line.startswith("NOT SHOWN") else 0
    except (AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        text = str(error) if isinstance(error, ValueError) else repr(error)
        print(text if text.startswith("ask for the bundle with ?from=") else f"NOT PROVED: {text}")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
