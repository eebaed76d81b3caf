"""LibreOffice opens a file that we wrote."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

from tests.support import external_programs

FORMULA = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}formula"
QUOTE, UTF_8, FIRST_LINE = 34, 76, 1
"""Options of LibreOffice's filter, as numbers."""


def formulas(tables: Sequence[str], separator: str) -> list[str]:
    """Return the formulas that LibreOffice finds in these tables, opened with this separator."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for number, table in enumerate(tables):
            (folder / f"{number}.csv").write_text(table, encoding="utf-8", newline="")
        options = f"{ord(separator)},{QUOTE},{UTF_8},{FIRST_LINE}"
        done = external_programs.run(
            "soffice",
            f"-env:UserInstallation={(folder / 'profile').as_uri()}",
            "--headless",
            f"--infilter=Text - txt - csv (StarCalc):{options}",
            *("--convert-to", "fods", "--outdir", name),
            *map(str, sorted(folder.glob("*.csv"))),
            given=b"",
        )
        written = sorted(folder.glob("*.fods"))
        assert len(written) == len(tables), done.stderr
        cells = (cell for file in written for cell in ElementTree.parse(file).iter())
        return [formula.removeprefix("of:") for cell in cells if (formula := cell.get(FORMULA))]
