"""Writes and reads the files of backups: zip archives with the rows of each table, and a manifest.

Files such as ``events.jsonl`` have one row per line, as a JSON array. Bytes are ``[text]``, or
``["base64", encoded]`` if they are not UTF-8. The archive's comment, the seal, is the SHA-256 of
all bytes before it.
"""

import binascii
import os
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Literal, Self
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import msgspec

from api.maintenance.tables import Cell
from referee.value import Value

FORMAT = 1
MANIFEST = "manifest.json"
SEAL_LENGTH = 64
SUFFIX = ".jsonl"
BLOCK_BYTES = 1 << 20
BASE64_MARK = "base64"


class Damaged(Exception):
    """The file is not a backup of this format, or was changed after it was written."""


class PartInfo(Value):
    """Counts are before compression."""

    name: str
    columns: tuple[str, ...]
    rows: int
    bytes: int
    sha256: str


class Manifest(Value):
    """``knacka``: the release. ``head``: the position of the last event. ``keys``: the keys of the projections."""

    format: int
    knacka: str
    taken_at: datetime
    store: Literal["sqlite", "postgresql"]
    head: int
    matches: int
    clubs: int
    keys: tuple[str, ...]
    parts: tuple[PartInfo, ...]

    def part(self, name: str) -> PartInfo | None:
        return next((one for one in self.parts if one.name == name), None)


class Writer:
    """Writes a backup. Call :meth:`end` last."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._zip = file, ZipFile(file, "w", ZIP_DEFLATED, compresslevel=3)
        self.parts: list[PartInfo] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def write_part(self, name: str, columns: tuple[str, ...], rows: Iterable[Sequence[Cell]]) -> None:
        digest, count, size = sha256(), 0, 0
        with self._zip.open(name + SUFFIX, "w", force_zip64=True) as part:
            block = bytearray()
            for row in rows:
                block += msgspec.json.encode([_cell_to_json(cell) for cell in row]) + b"\n"
                count += 1
                if len(block) >= BLOCK_BYTES:
                    digest.update(block)
                    size += part.write(block)
                    block.clear()
            digest.update(block)
            size += part.write(block)
        self.parts.append(PartInfo(name=name, columns=columns, rows=count, bytes=size, sha256=digest.hexdigest()))

    def end(self, manifest: Manifest) -> None:
        """Write the manifest and the seal, and flush the file to disk."""
        self._zip.writestr(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
        self._zip.comment = b"0" * SEAL_LENGTH
        self._zip.close()
        self._file.flush()
        seal = _seal_of(self._file)
        self._file.seek(-SEAL_LENGTH, os.SEEK_END)
        self._file.write(seal)
        self._file.flush()
        os.fsync(self._file.fileno())


class Archive:
    """Reads a backup. Opening raises :class:`Damaged` for a wrong seal, manifest or format."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        try:
            self._zip, self.manifest = self._open(path)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()
        self._file.close()

    def _open(self, path: Path) -> tuple[ZipFile, Manifest]:
        seal = _seal_of(self._file)
        if self._file.read(SEAL_LENGTH) != seal:
            raise Damaged(
                f"{path} is not a backup of Knacka, or was changed after it was written: use a different backup"
            )
        try:
            zip_file = ZipFile(self._file)
            manifest = msgspec.json.decode(zip_file.read(MANIFEST), type=Manifest)
        except (BadZipFile, KeyError, ValueError, msgspec.MsgspecError) as error:
            raise Damaged(f"{path} is not a backup of Knacka: {error}") from None
        if manifest.format != FORMAT:
            made = f"by Knacka {manifest.knacka}, in format {manifest.format}"
            raise Damaged(f"{path} was made {made}: restore it with that release")
        return zip_file, manifest

    def rows(self, part: PartInfo) -> Iterator[list[Any]]:
        """Yield a part's rows. Raises :class:`Damaged` for a bad row, or at the end for a wrong hash or count."""
        digest, count = sha256(), 0
        try:
            with self._zip.open(part.name + SUFFIX) as lines:
                for line in lines:
                    digest.update(line)
                    count += 1
                    yield [_cell_from_json(cell) for cell in msgspec.json.decode(line)]
        except (BadZipFile, KeyError, TypeError, ValueError, binascii.Error) as error:
            raise Damaged(f"its part {part.name} cannot be read: {error}") from None
        if digest.hexdigest() != part.sha256 or count != part.rows:
            raise Damaged(f"its part {part.name} does not match its manifest")


def _seal_of(file: IO[bytes]) -> bytes:
    """Return the seal that a file should have. Leave the file positioned at its seal."""
    left = max(0, file.seek(0, os.SEEK_END) - SEAL_LENGTH)
    file.seek(0)
    digest = sha256()
    while left and (block := file.read(min(left, BLOCK_BYTES))):
        digest.update(block)
        left -= len(block)
    return digest.hexdigest().encode()


def _cell_to_json(cell: Cell) -> Any:
    if not isinstance(cell, bytes):
        return cell
    try:
        return [cell.decode()]
    except UnicodeDecodeError:
        return [BASE64_MARK, b64encode(cell).decode()]


def _cell_from_json(cell: Any) -> Any:
    if not isinstance(cell, list):
        return cell
    return cell[0].encode() if len(cell) == 1 else b64decode(cell[1], validate=True)
