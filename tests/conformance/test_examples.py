"""The examples of the description are real requests and answers."""

from tests.conformance.examples import TARGET, examples


def test_they_are_up_to_date() -> None:
    """Examples that are made again are the same. A change of an example is a change of the API: ``make describe``."""
    assert examples() == TARGET.read_text("utf-8")
