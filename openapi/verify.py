"""Is what a bundle holds on record, as it was signed?  python verify.py BUNDLE VKEY [OLD_CHECKPOINT]

BUNDLE: the answer of GET /v1/matches/{match}/bundle, byte for byte. VKEY: what checkpoints are verified by, from
GET /v1/log, as you noted it once; two with a blank between where both sign. OLD_CHECKPOINT: a file with a checkpoint
that you kept: ask for the bundle with ?from= and its second line. Says what it found, a line each. Exits with 0: all
is proved; 1: something is not. Needs Python 3.9 and openssl 3. Shares nothing with the service (guides/log.md).
"""

import json
import subprocess
import sys
import tempfile
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path


def demand(holds, what):
    if not holds:
        raise ValueError(what)


def unpacked(text, length=None):  # one text for the same bytes
    data = b64decode(text.encode(), validate=True)
    demand(b64encode(data).decode() == text and length in (None, len(data)), f"{text[:44]} is not such base64")
    return data


def node(left, right):
    return sha256(b"\1" + left + right).digest()


def ed25519(public, text, signature):
    with tempfile.TemporaryDirectory() as place:
        key, message, signed = (Path(place, name) for name in ("key", "message", "signature"))
        key.write_bytes(bytes.fromhex("302a300506032b6570032100") + public)
        message.write_bytes(text)
        signed.write_bytes(signature)
        command = ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", key, "-rawin"]
        return not subprocess.run([*command, "-in", message, "-sigfile", signed], capture_output=True).returncode


def checkpoint(note, vkeys, every):  # size and root, if one of the keys has signed, or every one; and no other
    text, _, below = note.partition("\n\n")
    origin, size, root = text.split("\n")
    lines, known = below.split("\n"), {}
    for vkey in vkeys:
        name, digits, key = vkey.split("+", 2)
        own = sha256(f"{name}\n".encode() + (public := unpacked(key, 33))).digest()[:4]
        demand(public[:1] == b"\1" and own.hex() == digits, f"{vkey} is no key for Ed25519")
        demand(name == origin, f"the checkpoint is of the log {origin}, and the key of {name}")
        known[own] = public[1:]
    demand(str(int(size)) == size and lines.pop() == "" and lines, "that is no signed checkpoint")
    demand(len(lines) == len(known) or not every, f"{len(lines)} have signed, and not {len(known)}")
    for line in lines:
        dash, name, signature = line.split(" ")
        own, signature = unpacked(signature, 68)[:4], unpacked(signature)[4:]
        demand((dash, name) == ("\u2014", origin) and own in known, f"{name}+{own.hex()} is none of the keys")
        demand(
            ed25519(known.pop(own), f"{text}\n".encode(), signature), f"the signature of {name}+{own.hex()} is false"
        )
    return int(size), unpacked(root, 32)


def inclusion(leaf, index, size, proof):  # the root by RFC 9162, 2.1.3.2
    demand(type(index) is int and 0 <= index < size, f"there is no leaf {index} of {size}")
    at, last, root = index, size - 1, leaf
    for part in proof:
        demand(last > 0, "the proof is too long")
        root = node(part, root) if at & 1 or at == last else node(root, part)
        while not at & 1 and 0 < at == last:
            at, last = at >> 1, last >> 1
        at, last = at >> 1, last >> 1
    demand(last == 0, "the proof is too short")
    return root


def consistency(older, size, old_root, proof):  # both roots by RFC 9162, 2.1.4.2
    demand(0 < older <= size, f"{size} rows do not extend {older}")
    if older == size:
        return old_root, b"" if proof else old_root
    path = proof if older & (older - 1) else [old_root, *proof]
    at, last = older - 1, size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    old = new = path[0]
    for part in path[1:]:
        demand(last > 0, "the proof is too long")
        if at & 1 or at == last:
            old, new = node(part, old), node(part, new)
        else:
            new = node(new, part)
        while not at & 1 and 0 < at == last:
            at, last = at >> 1, last >> 1
        at, last = at >> 1, last >> 1
    demand(last == 0, "the proof is too short")
    return old, new


def verify(written, vkeys, old_note=None):
    bundle = json.loads(written)
    again = json.dumps(bundle, ensure_ascii=False, separators=(",", ":")).encode()
    demand(again == written, "the bundle is not as the service writes it: keep it byte for byte")
    demand(list(bundle) == ["checkpoint", "consistency", "count", "rows"], "there is more than can be proved")
    note, proof, count, rows = bundle.values()
    size, root = checkpoint(note, vkeys, True)
    yield f"signed: {size} rows of {vkeys[0].split('+')[0]}"
    demand((proof is None) == (old_note is None), "an old checkpoint and the proof of it go together")
    if proof is not None:
        demand(list(proof) == ["from", "proof"], "there is more than can be proved")
        older, old_root = checkpoint(old_note, vkeys, False)
        demand(type(proof["from"]) is int and older == proof["from"], f"the old checkpoint is of {older} rows")
        roots = consistency(older, size, old_root, [unpacked(part, 32) for part in proof["proof"]])
        demand(roots == (old_root, root), f"the log does not extend the checkpoint of {older} rows")
        yield f"extends: the checkpoint of {older} rows"
    demand(type(count) is int and len(rows) == count > 0, f"there are {len(rows)} rows, and not {count}")
    before, deals = {}, {}
    for row in rows:
        demand(list(row) == ["index", "id", "version", "topic", "state", "proof"], "a row has other parts")
        index, match, version, topic, state, proof = row.values()
        what, state = f"event {version} of {match} ({topic})", unpacked(state)
        leaf = sha256(f"\0{match}\n{version}\n{topic}\n".encode() + state).digest()
        proved = inclusion(leaf, index, size, [unpacked(part, 32) for part in proof])
        demand(proved == root, f"{what} is not in the log at {index}")
        last, place, chain = before.get(match, (0, -1, "0" * 64))
        demand(version > last and index > place, f"{what} stands behind event {last}")
        told = json.loads(state)
        demand(version != last + 1 or told["prev"] == chain, f"{what} does not follow on event {last}")
        if topic == "deal/scored":
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
    except (AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        print(f"NOT PROVED: {error if isinstance(error, ValueError) else repr(error)}")
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) in (3, 4) else __doc__)
