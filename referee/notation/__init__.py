"""Write and read a deal as plain text: the table, the acts in order, and the result.

The format is the same for all games; ``openapi/notation.md`` describes it.
"""

from referee.notation.deals import Deal, Done, Header, Result, Ruling
from referee.notation.histories import deal_of_history
from referee.notation.reading import Unreadable, parse, parse_all
from referee.notation.words import to_json
from referee.notation.writing import write, write_all

__all__ = [
    "Deal",
    "Done",
    "Header",
    "Result",
    "Ruling",
    "Unreadable",
    "deal_of_history",
    "parse",
    "parse_all",
    "to_json",
    "write",
    "write_all",
]
