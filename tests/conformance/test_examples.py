"""The examples of the description are what goes over HTTP."""

from tests.conformance.examples import TARGET, examples


def test_they_are_up_to_date() -> None:
    """And made again they are the same, so that a change of them is one of the interface: ``make examples``."""
    assert examples() == TARGET.read_text("utf-8")
