"""Write the table of the settings into the guide for operators: ``python -m tests.support.settings_table``."""

from api.settings import all_settings
from tests.support.paths import ROOT

PAGE = ROOT / "openapi" / "guides" / "operating.md"
HEAD = "| setting | default | meaning |\n|---|---|---|\n"


def table() -> str:
    """Return the rows of the table."""
    return "".join(
        f"| `{one.variable}` | {f'`{one.default}`' if one.default else ''} | {one.meaning} |\n"
        for one in all_settings()
    )


def with_table(page: str) -> str:
    """Return the page with the present settings below the head of the table. Raises ValueError without a head."""
    before, head, rest = page.partition(HEAD)
    if not head:
        raise ValueError(f"{PAGE.name} has no table of the settings")
    after = rest[rest.index("\n\n") + 1 :] if not rest.startswith("\n") else rest
    return f"{before}{head}{table()}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text("utf-8")), "utf-8")
