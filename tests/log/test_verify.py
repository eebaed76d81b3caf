"""``openapi/verify.py`` finds every difference from the signed rows, and shares no code with the service."""

import ast
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from random import Random

import msgspec
import pytest

from referee.log.notes import Checkpoint, LastRow, checkpoint_in, signed_note
from referee.log.tree import leaf_hash
from tests.log.bundle_checks import (
    KEY,
    LATER,
    ORIGIN,
    STRANGER,
    VERIFIER,
    Bundled,
    Checked,
    bundles_of,
    checked,
    checked_alone,
    is_found,
    not_found,
    played,
    sign,
    without,
)
from tests.support.in_process_programs import run_here
from tests.support.paths import ROOT
from tests.support.service_in_memory import Client, client_of

TRIES = 150
LINES_MAX, FUNCTION_LINES_MAX, COMPLEXITY_MAX = 300, 40, 12


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    url = f"sqlite:///{tmp_path_factory.mktemp('signed')}/knacka.db"
    with client_of(url, log_key=KEY.private_text, log_seconds=3600) as client:
        yield client


@pytest.fixture(scope="module")
def bundled(client: Client) -> Bundled:
    return bundles_of(client)


def test_it_needs_the_standard_library_alone_and_is_short():
    source = (ROOT / "openapi" / "verify.py").read_text()
    tree = list(ast.walk(ast.parse(source)))
    imported = {
        name
        for node in tree
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names])
    }
    assert {str(name).partition(".")[0] for name in imported} <= sys.stdlib_module_names
    assert len(source.splitlines()) <= LINES_MAX
    functions = [node for node in tree if isinstance(node, ast.FunctionDef)]
    assert max((node.end_lineno or 0) - node.lineno + 1 for node in functions) <= FUNCTION_LINES_MAX


def test_none_of_its_functions_is_complex():
    rule = ["--select", "C901", "--config", f"lint.mccabe.max-complexity={COMPLEXITY_MAX}"]
    command = [sys.executable, "-m", "ruff", "check", "--isolated", *rule, "openapi/verify.py", "openapi/shuffle.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_signed_bundles_are_proved(bundled: Bundled, tmp_path: Path):
    for bundle, old in bundled.bundles:
        code, lines = checked_alone(tmp_path, bundle, old=old)
        read = msgspec.json.decode(bundle)
        assert code == 0, lines
        sections = ["checkpoint", "consistency", "aggregates", "rows", "settlements", "entries"]
        assert [line.partition(":")[0] for line in lines] == [one for one in sections if old or one != "consistency"]
        assert f"rows: every row ({len(read['rows'])}) " in "\n".join(lines)


def test_each_thing_that_is_wrong_is_found(bundled: Bundled, tmp_path: Path):
    """Bits flipped, rows copied or reordered, and 20 ways to leave out and to mix: 10,000 in ``make soak``."""
    assert not_found(bundled, TRIES, seed=1, place=tmp_path) == []


def each(bundled: Bundled) -> Iterator[tuple[bytes, str | None, Checked]]:
    """Yield a bundle of each kind: of a match, of a match for money, and of a closing after an earlier closing."""
    for place in (0, -1, -3):
        yield (*bundled.bundles[place], Checked(0, []))


def test_each_row_that_is_left_out_is_found(bundled: Bundled, tmp_path: Path):
    """The ranges are adapted to it, or not."""
    for bundle, old, honest in each(bundled):
        many = len(msgspec.json.decode(bundle)["rows"])
        for place in range(many):
            assert is_found(honest, checked(tmp_path, without(bundle, place), old=old)), place
            read = msgspec.json.decode(bundle)
            del read["rows"][place]
            assert checked(tmp_path, msgspec.json.encode(read), old=old).code == 1


def test_each_end_that_is_cut_off_is_found(bundled: Bundled, tmp_path: Path):
    for bundle, old, honest in each(bundled):
        many = len(msgspec.json.decode(bundle)["rows"])
        for place in range(1, many):
            said = checked(tmp_path, without(bundle, *range(place, many)), old=old)
            assert is_found(honest, said), place


def test_each_exchange_between_two_bundles_is_found(bundled: Bundled, tmp_path: Path):
    exchanged = 0
    some = [bundled.bundles[place] for place in (0, 4, -1, -3, -5)]
    for (one, old), (other, _) in permutations(some, 2):
        for name in msgspec.json.decode(one):
            read, more = msgspec.json.decode(one), msgspec.json.decode(other)
            if read[name] != more[name]:
                read[name] = more[name]
                assert checked(tmp_path, msgspec.json.encode(read), old=old).code == 1, name
                exchanged += 1
    assert exchanged > 70


def test_no_section_may_be_null_or_missing(bundled: Bundled, tmp_path: Path):
    for bundle, old in bundled.bundles:
        read = msgspec.json.decode(bundle)
        for name in read:
            assert checked(tmp_path, msgspec.json.encode({**read, name: None}), old=old).code == (
                0 if read[name] is None else 1
            )
            left = {other: value for other, value in read.items() if other != name}
            assert checked(tmp_path, msgspec.json.encode(left), old=old).code == 1


class TestTheLastRow:
    """The signature over the last row of a match or club."""

    def test_without_it_later_rows_are_not_excluded(self, bundled: Bundled, tmp_path: Path):
        read = msgspec.json.decode(bundled.bundles[0][0])
        (one,) = read["aggregates"]
        one["statement"] = None
        code, lines = checked(tmp_path, msgspec.json.encode(read))
        last = len(read["rows"])
        gap = f"NOT SHOWN: the bundle shows the rows of {one['id']} up to {last}; later rows are not excluded"
        assert (code, lines[-1]) == (3, gap)

    def test_a_service_without_its_key_signs_none(self, sqlite_url: str, tmp_path: Path):
        with client_of(sqlite_url, log_key=KEY.private_text) as client:
            table = played(client, 1)
            sign(client)
        with client_of(sqlite_url) as client:
            bearer = {"Authorization": f"Bearer {table.tokens[0]}"}
            bundle = client.get(f"{table.path}/bundle", headers=bearer).content
        assert checked(tmp_path, bundle).code == 3

    def test_a_false_checkpoint_is_evidence_against_its_signer(self, bundled: Bundled, tmp_path: Path):
        """The service leaves out the last row, and signs the row before as the last."""
        honest = bundled.bundles[0][0]
        cut = msgspec.json.decode(without(honest, len(msgspec.json.decode(honest)["rows"]) - 1))
        row, (one,) = cut["rows"][-1], cut["aggregates"]
        leaf = leaf_hash(row["id"], row["version"], row["topic"], b64decode(row["state"]))
        size = checkpoint_in(cut["checkpoint"]).size
        false = LastRow(origin=ORIGIN, aggregate=row["id"], number=row["version"], leaf=leaf, size=size)
        one["statement"] = signed_note(false, [KEY])
        file, later = tmp_path / "false.json", tmp_path / "later.json"
        file.write_bytes(msgspec.json.encode(cut))
        later.write_bytes(honest)
        assert checked(tmp_path, file.read_bytes()).code == 0, "alone it looks well"
        code, said = run_here(VERIFIER, ["--contradicts", str(file), KEY.vkey, str(later)])
        assert (code, said.startswith(f"CONTRADICTED: row {row['version'] + 1} of {row['id']} is in the log at")) == (
            0,
            True,
        )
        for pair in ((later, later), (file, file), (later, file)):
            code, said = run_here(VERIFIER, ["--contradicts", str(pair[0]), KEY.vkey, str(pair[1])])
            assert (code, said) == (1, "no row contradicts the signed statements\n")

    def test_another_key_cannot_sign_it(self, bundled: Bundled, tmp_path: Path):
        read = msgspec.json.decode(bundled.bundles[0][0])
        (one,) = read["aggregates"]
        text = one["statement"].partition("\n\n")[0] + "\n"
        one["statement"] = f"{text}\n{STRANGER.signature_line(text)}"
        assert checked(tmp_path, msgspec.json.encode(read)).code == 1


class TestKeys:
    def test_another_key_is_found(self, bundled: Bundled, tmp_path: Path):
        bundle, _ = bundled.bundles[0]
        assert checked(tmp_path, bundle, STRANGER.vkey).code == 1
        assert checked(tmp_path, bundle, f"{KEY.vkey} {STRANGER.vkey}").code == 1
        for wrong in ("", "x", KEY.vkey[:-4], KEY.vkey.replace(ORIGIN, "other.example"), KEY.vkey.swapcase()):
            assert checked(tmp_path, bundle, wrong).code == 1, wrong

    def test_while_keys_change_both_have_signed(self, bundled: Bundled, tmp_path: Path):
        bundle, old = bundled.bundles[1]
        read = msgspec.json.decode(bundle)
        read["checkpoint"] = signed_note(checkpoint_in(read["checkpoint"]), (LATER, KEY))
        for one in read["aggregates"]:
            text = one["statement"].partition("\n\n")[0] + "\n"
            one["statement"] = f"{text}\n{LATER.signature_line(text)}{KEY.signature_line(text)}"
        both = msgspec.json.encode(read)
        assert checked(tmp_path, both, f"{LATER.vkey} {KEY.vkey}", old).code == 0, "the older one had signed alone"
        assert checked(tmp_path, both, KEY.vkey, old).code == 1, "a part that is not checked could be changed"

    def test_a_signature_over_something_else_is_found(self, bundled: Bundled, tmp_path: Path):
        bundle, _ = bundled.bundles[0]
        read = msgspec.json.decode(bundle)
        true = checkpoint_in(read["checkpoint"])
        other = Checkpoint(origin=ORIGIN, size=true.size, root=bytes(32))
        read["checkpoint"] = other.text + "\n" + KEY.signature_line(true.text)
        assert "is false" in checked(tmp_path, msgspec.json.encode(read)).lines[-1]
        read["checkpoint"] = signed_note(other, [KEY])
        assert "is not in the log" in checked(tmp_path, msgspec.json.encode(read)).lines[-1]


class TestHistories:
    def test_an_earlier_checkpoint_reveals_a_second_history(
        self, bundled: Bundled, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
    ):
        """A checkpoint of a different log with the same key is valid alone, but not for this bundle."""
        url = f"sqlite:///{tmp_path_factory.mktemp('other')}/knacka.db"
        kept = next(old for _, old in bundled.bundles if old is not None)
        size = checkpoint_in(kept).size
        with client_of(url, log_key=KEY.private_text) as client:
            tables = [played(client) for _ in range(3)]
            assert checkpoint_in(sign(client)).size > size
            alone = tables[0].get("/bundle", 0).content
            beside = tables[0].get(f"/bundle?from={size}", 0).content
        assert checked(tmp_path, alone).code == 0
        said = checked(tmp_path, beside, old=kept)
        assert (said.code, said.lines[-1]) == (
            1,
            f"NOT PROVED: the log does not extend the checkpoint of {size} rows",
        )

    def test_an_old_checkpoint_and_its_proof_go_together(self, bundled: Bundled, tmp_path: Path):
        (plain, _), (beside, old) = bundled.bundles[:2]
        assert old is not None
        code, lines = checked(tmp_path, plain, old=old)
        assert (code, lines[-1]) == (1, f"ask for the bundle with ?from={checkpoint_in(old).size}")
        assert checked(tmp_path, beside).code == 1

    def test_control_characters_of_a_bundle_are_not_printed(self, bundled: Bundled, tmp_path: Path):
        read = msgspec.json.decode(bundled.bundles[0][0])
        read["rows"][0]["topic"] = "\x1b[2K\radds up: 1 settlements\n"
        code, lines = checked(tmp_path, msgspec.json.encode(read))
        assert (code, len(lines), lines[-1].isascii(), lines[-1].isprintable()) == (1, 2, True, True)

    def test_garbage_is_no_proof(self, tmp_path: Path):
        chance = Random(1)
        for bundle in (b"", b"{}", b"[]", b"null", b"\xff", b"1e400", b'{"a":' * 9999, chance.randbytes(99)):
            assert checked_alone(tmp_path, bundle).code == 1
