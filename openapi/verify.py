"""Is what a bundle holds on record, as it was signed?  python verify.py BUNDLE VKEY [OLD_CHECKPOINT]

BUNDLE: the answer of GET /v1/matches/{match}/bundle, byte for byte. VKEY: what the log's checkpoints are verified by,
from GET /v1/log, as you noted it once; two of them, with a blank between, where both must have signed. OLD_CHECKPOINT:
a file with an older checkpoint that you kept; ask for the bundle with ?from= and its second line.

Says what it found, a line each. Exit code 0: all that the bundle holds is proved. 1: something is not.
Needs Python 3.9 and the program openssl, 3.0 or later. Shares nothing with the service (guides/log.md).
"""

import json
import subprocess
import sys
import tempfile
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path


class Wrong(Exception):
    pass


def demand(holds, what):
    if not holds:
        raise Wrong(what)


def unpacked(text, length=None):
    """Strict base64: one text for the same bytes."""
    data = b64decode(text.encode(), validate=True)
    demand(
        b64encode(data).decode() == text and length in (None, len(data)), f"{text[:44]} is no base64 as it should be"
    )
    return data


def node(left, right):
    return sha256(b"\1" + left + right).digest()


def ed25519(public, text, signature):
    with tempfile.TemporaryDirectory() as place:
        key, message, signed = (Path(place, name) for name in ("key", "message", "signature"))
        key.write_bytes(bytes.fromhex("302a300506032b6570032100") + public)
        message.write_bytes(text)
        signed.write_bytes(signature)
        command = [
            "openssl",
            "pkeyutl",
            "-verify",
            "-pubin",
            "-keyform",
            "DER",
            "-inkey",
            key,
            "-rawin",
            "-in",
            message,
        ]
        return subprocess.run([*command, "-sigfile", signed], capture_output=True).returncode == 0


def checkpoint(note, vkeys, every):
    """Size and root, if nobody but these keys has signed them, and at least one has, or every one."""
    text, _, below = note.partition("\n\n")
    origin, size, root = text.split("\n")
    lines, known = below.split("\n"), {}
    for vkey in vkeys:
        name, digits, key = vkey.split("+", 2)
        public = unpacked(key, 33)
        own = sha256(f"{name}\n".encode() + public).digest()[:4]
        demand(public[:1] == b"\1" and own.hex() == digits, f"{vkey} is no key for Ed25519")
        demand(name == origin, f"the checkpoint is of the log {origin}, and the key of {name}")
        known[own] = public[1:]
    demand(str(int(size)) == size and lines.pop() == "" and lines, "that is no signed checkpoint")
    demand(len(lines) == len(known) or not every, f"{len(lines)} have signed, and not these {len(known)} keys")
    for line in lines:
        dash, name, signature = line.split(" ")
        data = unpacked(signature, 68)
        demand(
            (dash, name) == ("\u2014", origin) and data[:4] in known, f"{name}+{data[:4].hex()} is none of the keys"
        )
        public = known.pop(data[:4])
        demand(ed25519(public, f"{text}\n".encode(), data[4:]), f"the signature of {name}+{data[:4].hex()} is false")
    return int(size), unpacked(root, 32)


def root_by_inclusion(leaf, index, size, proof):
    """RFC 9162, 2.1.3.2."""
    demand(type(index) is int and 0 <= index < size, f"there is no leaf {index} of {size}")
    at, last, root = index, size - 1, leaf
    for part in proof:
        demand(last > 0, "the proof is too long")
        if at & 1 or at == last:
            root = node(part, root)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            root = node(root, part)
        at, last = at >> 1, last >> 1
    demand(last == 0, "the proof is too short")
    return root


def roots_by_consistency(older, size, old_root, proof):
    """RFC 9162, 2.1.4.2: the roots of both trees."""
    demand(0 < older <= size, f"{size} rows do not extend {older}")
    if older == size:
        demand(not proof, "the proof is too long")
        return old_root, old_root
    path = [old_root, *proof] if older & (older - 1) == 0 else list(proof)
    at, last = older - 1, size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    demand(path, "the proof is too short")
    old = new = path[0]
    for part in path[1:]:
        demand(last > 0, "the proof is too long")
        if at & 1 or at == last:
            old, new = node(part, old), node(part, new)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            new = node(new, part)
        at, last = at >> 1, last >> 1
    demand(last == 0, "the proof is too short")
    return old, new


def verify(written, vkeys, old_note=None):
    bundle = json.loads(written)
    again = json.dumps(bundle, ensure_ascii=False, separators=(",", ":")).encode()
    demand(again == written, "the bundle is not as the service writes it: keep it byte for byte")
    demand(
        list(bundle) == ["checkpoint", "consistency", "count", "rows"], "there is more, or less, than can be proved"
    )
    size, root = checkpoint(bundle["checkpoint"], vkeys, True)
    yield f"signed: {size} rows of {vkeys[0].split('+')[0]}"
    proof, rows, count = bundle["consistency"], bundle["rows"], bundle["count"]
    demand((proof is None) == (old_note is None), "an old checkpoint and the proof that it is extended go together")
    if proof is not None:
        demand(list(proof) == ["from", "proof"], "there is more, or less, than can be proved")
        older, old_root = checkpoint(old_note, vkeys, False)
        demand(type(proof["from"]) is int and older == proof["from"], f"the old checkpoint is of {older} rows")
        roots = roots_by_consistency(older, size, old_root, [unpacked(part, 32) for part in proof["proof"]])
        demand(roots == (old_root, root), f"the log does not extend the checkpoint of {older} rows")
        yield f"extends: the checkpoint of {older} rows"
    demand(type(count) is int and len(rows) == count > 0, f"there are {len(rows)} rows, and not {count}")
    before, deals = {}, {}
    for row in rows:
        demand(list(row) == ["index", "id", "version", "topic", "state", "proof"], "a row has other parts")
        match, version, index, state = row["id"], row["version"], row["index"], unpacked(row["state"])
        what = f"event {version} of {match} ({row['topic']})"
        leaf = sha256(f"\0{match}\n{version}\n{row['topic']}\n".encode() + state).digest()
        proved = root_by_inclusion(leaf, index, size, [unpacked(part, 32) for part in row["proof"]])
        demand(proved == root, f"{what} is not in the log at {index}")
        last, place, chain = before.get(match, (0, -1, "0" * 64))
        demand(version > last and index > place, f"{what} stands behind event {last}")
        told = json.loads(state)
        demand(version != last + 1 or told["prev"] == chain, f"{what} does not follow on event {last}")
        if row["topic"] == "deal/scored":
            deal, scored = told["event"]["deal"], deals.get(match)
            demand(scored is None or deal <= scored + 1, f"deal {deal} stands behind deal {scored}")
            deals[match] = deal
        before[match] = version, index, leaf.hex()
        yield f"on record: {what}, row {index}, {told['at']}"


def main(bundle, vkey, old=None):
    try:
        for line in verify(Path(bundle).read_bytes(), vkey.split(), old and Path(old).read_bytes().decode()):
            print(line)
        return 0
    except (
        Wrong,
        ArithmeticError,
        AttributeError,
        LookupError,
        OSError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        print(f"NOT PROVED: {error if isinstance(error, Wrong) else repr(error)}")
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) in (3, 4) else __doc__)
