"""python verify.py BUNDLE VKEY [OLD_CHECKPOINT]: is what a bundle holds on record, as it was signed?

BUNDLE: what GET …/bundle answered. VKEY: from GET /v1/log, as you noted it once; two with a blank between where both
sign. OLD_CHECKPOINT: a file with one that you kept, whose size is the bundle's from=. Needs openssl 3."""

import json
import subprocess
import sys
import tempfile
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path

written = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode  # in which 1 is not 1.0


def demand(holds, what):
    if not holds:
        raise ValueError(what)


def unpacked(text, length=None):  # one text for the same bytes
    data = b64decode(text.encode(), validate=True)
    demand(b64encode(data).decode() == text and length in (None, len(data)), f"{text[:44]!a} is not such base64")
    return data


def checkpoint(note, vkeys, every):  # size and root, if one of the keys has signed, or every one; and no other
    text, _, below = note.partition("\n\n")
    command = "openssl pkeyutl -verify -pubin -keyform DER -inkey key -rawin -in text -sigfile signature"
    (origin, size, root), lines, known = text.split("\n"), below.split("\n"), {}
    for name, digits, key in (vkey.split("+", 2) for vkey in vkeys.split()):
        own = sha256(f"{name}\n".encode() + (public := unpacked(key, 33))).digest()[:4]
        demand((b"\1", origin, own.hex()) == (public[:1], name, digits), f"{name}+{digits} is no key of {origin!a}")
        known[own] = bytes.fromhex("302a300506032b6570032100") + public[1:]
    demand(str(int(size)) == size and lines.pop() == "" and lines, "that is no signed checkpoint")
    demand(len(lines) == len(known) or not every, f"{len(lines)} have signed, and not {len(known)}")
    for dash, name, packed in (line.split(" ") for line in lines):
        own, signature = unpacked(packed, 68)[:4], unpacked(packed)[4:]
        demand((dash, name) == ("\u2014", origin) and own in known, f"{name!a}+{own.hex()} is none of the keys")
        with tempfile.TemporaryDirectory() as place:
            for file, data in ("key", known.pop(own)), ("text", f"{text}\n".encode()), ("signature", signature):
                Path(place, file).write_bytes(data)
            failed = subprocess.run(command.split(), capture_output=True, cwd=place).returncode
        demand(not failed, f"the signature of {name}+{own.hex()} is false")
    return int(size), unpacked(root, 32)


def roots(at, last, first, path):  # of the older tree that ends there, and of all: RFC 9162, 2.1.3.2 and 2.1.4.2
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


def money(facts):  # what rows say: what each match came to by seat, and what is entered; debit is above zero
    openings = {whose: event for whose, _, topic, event in facts if topic == "match/opened" and event.get("stakes")}
    settled, entries, agreed, entered = {}, {}, {}, {}
    for whose, version, topic, event in facts:
        made, opened, before = [], openings.get(whose), settled.get(whose, {"event": 0, "amounts": []})
        undone = topic == "act/taken-back" and event["first"] <= before["event"] <= event["last"]
        end = event if "settlement" in event else event.get("won") or {}
        agreed.setdefault(whose, set()).update(event["seats"] if topic == "stakes/agreed" else ())
        if topic == "money/posted":
            made = [(event["kind"], event["currency"], {one["account"]: one["amount"] for one in event["postings"]})]
        elif topic == "stakes/declined":
            openings[whose] = {**opened, "members": []}  # nothing of it is ever entered
        elif opened and (undone or topic == "protocol/corrected" or "settlement" in event):
            amounts, stakes = end.get("settlement") or [], opened["stakes"]
            paid, point = [0] * len(amounts), stakes["unit"] // (2 if event.get("halves") else 1)
            for one in end.get("payments", []):
                paid[one["payer"]] -= one["points"] * point
                paid[one["payee"]] += one["points"] * point
            demand(paid == amounts or not end.get("payments"), f"the payments of {whose} are not its settlement")
            settled[whose] = {"match": whose, "event": version, **stakes, "pot": -sum(amounts), "amounts": amounts}
        members = opened.get("members", []) if opened else []
        if members and topic != "stakes/declined" and agreed[whose] >= {*range(len(members))}:
            was, now, limit = entered.get(whose, []), settled.get(whose, before)["amounts"], opened.get("stake_limit")
            won = sum(one for one in now if one > 0)
            now = [] if limit is not None and limit < max(won, won - sum(now)) else now
            for kind, some in (("reverse", [-one for one in was]), ("match", now)) if now != was else ():
                sums = {f"member:{members[seat]}": -amount for seat, amount in enumerate(some)}
                made.append((kind, opened["stakes"]["currency"], {**sums, "pot": sum(some)}))
            entered[whose] = now
        for kind, currency, sums in made:
            parts = [{"account": account, "amount": sums[account]} for account in sorted(sums) if sums[account]]
            entry = {"number": None, "date": None, "kind": kind, "currency": currency, "cause": f"{whose}/{version}"}
            entries.update({(entry["cause"], kind): {**entry, "postings": parts}} if parts else {})
    return [one for one in settled.values() if one["amounts"]], entries


def closed(before, this, entries, made):  # that entries are what rows say, and have the digest of the closing
    text, last = f"{before['digest']}\n", before["through"]
    for last, one in enumerate(entries, before["through"] + 1):
        said = {**made.pop((one["cause"], one["kind"]), {}), "number": last, "date": one["date"]}
        same = written(one) == written(said) and not sum(part["amount"] for part in one["postings"])
        demand(same, f"no row says entry {last}")
        postings = ",".join(f"{part['account']}:{part['amount']}" for part in one["postings"])
        text += f"{last}|{one['date']}|{one['kind']}|{one['currency']}|{one['cause']}|{postings}\n"
    demand((before["closing"] + 1, last) == (this["closing"], this["through"]), "there are more entries, or fewer")
    demand(sha256(text.encode()).hexdigest() == this["digest"], "the entries do not have the digest of the closing")


def verify(file, vkeys, old_file=None):
    bundle = json.loads(data := Path(file).read_bytes())
    demand(written(bundle).encode() == data, "keep it byte for byte")
    demand(" ".join(bundle) == "checkpoint consistency count rows settlements entries", "it has other parts")
    note, proof, count, rows, settlements, entries = bundle.values()
    size, root = checkpoint(note, vkeys, True)
    yield f"signed: {size} rows of {vkeys.partition('+')[0]}"
    demand((proof is None) == (old_file is None), "an old checkpoint and the proof of it go together")
    if proof is not None:
        older, old_root = checkpoint(Path(old_file).read_bytes().decode(), vkeys, False)
        demand(list(proof) == ["from", "proof"] and proof["from"] == older > 0, f"the old one is of {older} rows")
        high = older if older == size else older & -older  # the older tree ends with a whole one of so many
        path = [old_root, *(unpacked(part, 32) for part in proof["proof"])][high < older :]
        both = roots(older // high - 1, (size - 1) // high, path[0], path[1:])
        demand(both == (old_root, root), f"the log does not extend the checkpoint of {older} rows")
        yield f"extends: the checkpoint of {older} rows"
    demand(type(count) is int and len(rows) == count > 0, f"there are {len(rows)} rows, and not {count}")
    before, facts, place = {}, [], -1
    for row in rows:
        demand(list(row) == ["index", "id", "version", "topic", "state", "proof"], "a row has other parts")
        index, whose, version, topic, state, proof = row.values()
        what, state = ascii(f"event {version} of {whose} ({topic})")[1:-1], unpacked(state)
        leaf = sha256(f"\0{whose}\n{version}\n{topic}\n".encode() + state).digest()
        path, there = [unpacked(part, 32) for part in proof], type(index) is int and 0 <= index < size
        demand(there and roots(index, size - 1, leaf, path)[1] == root, f"{what} is not in the log at {index}")
        (last, chain), told = before.get(whose, (0, "0" * 64)), json.loads(state)
        demand(version > last and index > place, f"{what} stands behind event {last} or row {place}")
        demand(version != last + 1 or told["prev"] == chain, f"{what} does not follow on event {last}")
        before[whose], place = (version, leaf.hex()), index
        facts.append((whose, version, topic, told["event"]))
        yield f"on record: {what}, row {index}, {told['at']}"
    settled, made = money(facts)
    closings = [event for *_, topic, event in facts if topic == "books/closed"]
    demand(written(settlements) in (written(settled), closings or "null"), "settlements are not what rows say")
    if closings:
        demand({facts[-1][0], *(one["cause"][:36] for one in entries)} == before.keys(), "there are rows of others")
        closed(*[{"closing": 0, "through": 0, "digest": "0" * 64}, *closings][-2:], entries, made)
    elif entries is not None:
        demand(written(entries) == written(list(made.values())), "no row says an entry")
    yield f"adds up: {len(settlements or ())} settlements, {len(entries or ())} entries"


if __name__ == "__main__":
    try:
        demand(len(sys.argv) in (3, 4), __doc__)
        sys.stdout.writelines(f"{line}\n" for line in verify(*sys.argv[1:]))
    except (AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        print(f"NOT PROVED: {error if isinstance(error, ValueError) else repr(error)}")
        sys.exit(1)
