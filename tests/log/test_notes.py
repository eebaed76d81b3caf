"""Checkpoints and keys in the formats of C2SP, and texts that are neither."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from api.cli import main
from api.settings import Settings, SettingsError, from_environment, signing_keys
from referee.log.notes import Checkpoint, SigningKey, bytes_of, checkpoint_in, key_of, signed_note

ORIGIN = "cards.example/log"
SEED = bytes(range(32))
WRITTEN = "PRIVATE+KEY+cards.example/log+e7d62613+AQABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
VKEY = "cards.example/log+e7d62613+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4"


def pem_of(private: object) -> str:
    pem: bytes = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return pem.decode()


class TestKeys:
    def test_a_key_is_written_and_read(self) -> None:
        key = SigningKey(ORIGIN, SEED)
        assert (key.private_text, key.vkey) == (WRITTEN, VKEY)
        for text, origin in ((WRITTEN, ""), (f"  {WRITTEN}\n", ORIGIN)):
            assert key_of(text, origin).vkey == VKEY

    def test_a_key_in_pem_is_named_by_the_origin(self) -> None:
        assert key_of(pem_of(Ed25519PrivateKey.from_private_bytes(SEED)), ORIGIN).vkey == VKEY

    @pytest.mark.parametrize(
        ("text", "origin", "said"),
        [
            ("", ORIGIN, "begins with PRIVATE"),
            ("secret", ORIGIN, "begins with PRIVATE"),
            ("PRIVATE+KEY+name", "", "a name, eight digits and base64"),
            (WRITTEN, "other.example", "that of cards.example/log"),
            (WRITTEN.replace("e7d6", "e7d7"), "", "do not match its name"),
            (WRITTEN.replace("cards", "curds"), "", "do not match its name"),
            (WRITTEN[:-4], "", "32 bytes"),
            (WRITTEN.replace("+AQAB", "+AgAB"), "", "not one for Ed25519"),
            (WRITTEN + "!", "", "no base64"),
            (pem_of(Ed25519PrivateKey.generate()), "", "set the origin of the log"),
            (pem_of(Ed25519PrivateKey.generate()), "two words", "no blanks"),
            (pem_of(generate_private_key(SECP256R1())), ORIGIN, "not one for Ed25519"),
            ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", ORIGIN, "no private key"),
        ],
    )
    def test_an_invalid_key_is_reported_without_its_text(self, text: str, origin: str, said: str) -> None:
        with pytest.raises(ValueError, match=said) as raised:
            key_of(text, origin)
        assert len(text) < 20 or text[20:] not in str(raised.value)

    def test_knacka_makes_one(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["log", "key", ORIGIN]) == 0
        said = capsys.readouterr()
        key = key_of(said.out, "")
        assert said.err == f"its checkpoints are verified by {key.vkey}\n"
        assert main(["log", "key", "two words"]) == 2
        assert main(["log", "key", ORIGIN]) == 0
        assert capsys.readouterr().out != said.out


class TestSettings:
    def test_both_keys_sign_while_they_change(self) -> None:
        later, before = SigningKey(ORIGIN, b"a" * 32), SigningKey(ORIGIN, b"b" * 32)
        settings = Settings(log_key=later.private_text, log_key_old=before.private_text)
        assert [key.vkey for key in signing_keys(settings)] == [later.vkey, before.vkey]
        assert signing_keys(Settings()) == ()

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"LOG_KEY": "secret"}, "KNACKA_LOG_KEY: a key begins with"),
            ({"LOG_KEY": WRITTEN, "LOG_KEY_OLD": WRITTEN}, "KNACKA_LOG_KEY_OLD: this key is also KNACKA_LOG_KEY"),
            ({"LOG_KEY_OLD": WRITTEN}, "KNACKA_LOG_KEY_OLD: the previous key needs the present one beside it"),
            ({"LOG_KEY": WRITTEN, "LOG_ORIGIN": "other"}, "KNACKA_LOG_KEY: the key is that of cards.example/log"),
            ({"LOG_SECONDS": "0"}, "KNACKA_LOG_SECONDS"),
        ],
    )
    def test_settings_that_cannot_sign_stop_the_start(self, given: dict[str, str], said: str) -> None:
        with pytest.raises(SettingsError, match=said):
            from_environment({f"KNACKA_{name}": value for name, value in given.items()})


class TestCheckpoints:
    def test_a_checkpoint_is_read_as_it_was_signed(self) -> None:
        checkpoint = Checkpoint(origin=ORIGIN, size=4711, root=SEED)
        note = signed_note(checkpoint, [SigningKey(ORIGIN, SEED), SigningKey(ORIGIN, b"a" * 32)])
        assert checkpoint_in(note) == checkpoint
        text, _, lines = note.partition("\n\n")
        assert f"{text}\n" == checkpoint.text
        assert [line.split(" ")[:2] for line in lines.splitlines()] == [["—", ORIGIN]] * 2

    def test_its_signature_is_ed25519_over_the_text(self) -> None:
        checkpoint = Checkpoint(origin=ORIGIN, size=1, root=SEED)
        line = SigningKey(ORIGIN, SEED).signature_line(checkpoint.text)
        data = bytes_of(line.split(" ")[2].strip())
        assert data[:4].hex() == "e7d62613"
        public = Ed25519PrivateKey.from_private_bytes(SEED).public_key()
        public.verify(data[4:], checkpoint.text.encode())

    @pytest.mark.parametrize(
        "note",
        [
            "",
            "cards.example/log\n1",
            "two words\n1\n" + "A" * 43 + "=\n\n",
            "a\n01\n" + "A" * 43 + "=\n\n",
            "a\n-1\n" + "A" * 43 + "=\n\n",
            "a\n1\nAAAA\n\n",
            "a\n1\n" + "A" * 42 + "B=\n\n",
            "a\n1\n!\n\n",
        ],
    )
    def test_an_invalid_checkpoint_is_refused(self, note: str) -> None:
        with pytest.raises(ValueError, match=r"checkpoint|base64"):
            checkpoint_in(note)
