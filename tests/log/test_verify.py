"""``openapi/verify.py`` finds whatever is not as it was signed, and shares nothing with the service."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest
from litestar import Litestar
from litestar.testing import TestClient

from referee.log.notes import Checkpoint, checkpoint_in, signed
from tests.api.conftest import client_of
from tests.api.serving import ROOT
from tests.log.proving import (
    KEY,
    LATER,
    ORIGIN,
    STRANGER,
    Bundled,
    bundles_of,
    checked,
    checked_alone,
    deleted,
    not_found,
    played,
    sign,
)

TRIES = 300
LINES_MAX = 160

Client = TestClient[Litestar]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    url = f"sqlite:///{tmp_path_factory.mktemp('signed')}/knacka.db"
    with client_of(url, log_key=KEY.written, log_seconds=3600) as client:
        yield client


@pytest.fixture(scope="module")
def bundled(client: Client) -> Bundled:
    return bundles_of(client)


def test_it_needs_the_standard_library_alone_and_is_short():
    source = (ROOT / "openapi" / "verify.py").read_text()
    tree = ast.walk(ast.parse(source))
    imported = {
        name
        for node in tree
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names])
    }
    assert {str(name).partition(".")[0] for name in imported} <= sys.stdlib_module_names
    assert len(source.splitlines()) <= LINES_MAX


def test_what_was_signed_is_proved(bundled: Bundled, tmp_path: Path):
    for bundle, old in bundled.bundles:
        code, lines = checked_alone(tmp_path, bundle, old=old)
        rows = msgspec.json.decode(bundle)["rows"]
        assert code == 0, lines
        assert lines[0].startswith("signed: ")
        assert sum(line.startswith("on record: event ") for line in lines) == len(rows) > 2
        assert sum(line.startswith("extends: the checkpoint of ") for line in lines) == (old is not None)


def test_each_thing_that_is_wrong_is_found(bundled: Bundled, tmp_path: Path):
    """A flipped bit, an end cut off, rows copied, reordered, passed off for one another: 10,000 in ``make soak``."""
    assert not_found(bundled, TRIES, seed=1, place=tmp_path) == []


def test_each_row_that_is_left_out_is_found(bundled: Bundled, tmp_path: Path):
    bundle, old = bundled.bundles[0]
    for place in range(len(msgspec.json.decode(bundle)["rows"])):
        assert checked(tmp_path, deleted(bundle, place), old=old).code == 1


def test_a_gap_in_a_deal_is_found_by_the_chain_though_the_count_was_mended(bundled: Bundled, tmp_path: Path):
    """Every row then stands where it was signed, and the next but one names another row before it: the numbers tell,
    and so they cannot be mended; what is left out at the end only the count tells."""
    bundle, old = bundled.bundles[2]
    read = msgspec.json.decode(bundle)
    del read["rows"][5]
    read["count"] -= 1
    for row in read["rows"][5:]:
        row["version"] -= 1
    code, lines = checked(tmp_path, msgspec.json.encode(read), old=old)
    assert (code, lines[-1].startswith("NOT PROVED: event 6 of ")) == (1, True), lines


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
        read["checkpoint"] = signed(checkpoint_in(read["checkpoint"]), (LATER, KEY))
        both = msgspec.json.encode(read)
        assert checked(tmp_path, both, f"{LATER.vkey} {KEY.vkey}", old).code == 0, "the older one had signed alone"
        assert checked(tmp_path, both, KEY.vkey, old).code == 1, "what nobody looks at could be changed"

    def test_a_signature_over_something_else_is_found(self, bundled: Bundled, tmp_path: Path):
        bundle, _ = bundled.bundles[0]
        read = msgspec.json.decode(bundle)
        true = checkpoint_in(read["checkpoint"])
        other = Checkpoint(origin=ORIGIN, size=true.size, root=bytes(32))
        read["checkpoint"] = other.text + "\n" + KEY.line(true.text)
        assert "is false" in checked(tmp_path, msgspec.json.encode(read)).lines[-1]
        read["checkpoint"] = signed(other, [KEY])
        assert "is not in the log" in checked(tmp_path, msgspec.json.encode(read)).lines[-1]


class TestHistories:
    def test_a_second_history_is_found_by_whoever_kept_a_checkpoint(
        self, bundled: Bundled, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
    ):
        """The same key, another log: its own checkpoint alone looks well."""
        url = f"sqlite:///{tmp_path_factory.mktemp('other')}/knacka.db"
        kept = next(old for _, old in bundled.bundles if old is not None)
        size = checkpoint_in(kept).size
        with client_of(url, log_key=KEY.written) as client:
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
        assert checked(tmp_path, plain, old=old).code == 1
        assert checked(tmp_path, beside).code == 1

    def test_what_a_bundle_says_of_itself_moves_no_cursor(self, bundled: Bundled, tmp_path: Path):
        read = msgspec.json.decode(bundled.bundles[0][0])
        read["rows"][0]["topic"] = "\x1b[2K\radds up: 1 settlements\n"
        code, lines = checked(tmp_path, msgspec.json.encode(read))
        assert (code, len(lines), lines[-1].isascii(), lines[-1].isprintable()) == (1, 2, True, True)

    def test_garbage_is_no_proof(self, tmp_path: Path):
        chance = Random(1)
        for bundle in (b"", b"{}", b"[]", b"null", b"\xff", b"1e400", b'{"a":' * 9999, chance.randbytes(99)):
            assert checked_alone(tmp_path, bundle).code == 1
