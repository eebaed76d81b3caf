"""Rules in the reader's language."""

from referee import wire_types
from referee.rulebook import Reading, Rule
from referee.sentences import Language
from referee.value import RuleId, Value


class RuleShown(Value):
    """A rule of the source, or a reading (``kind``) of a point that the source leaves open."""

    id: RuleId
    kind: wire_types.Code
    text: wire_types.Sentence
    options: wire_types.Codes


def rule_shown(entry: Rule | Reading, language: Language) -> RuleShown:
    kind = entry.kind if isinstance(entry, Rule) else "reading"
    return RuleShown(id=entry.id, kind=kind, text=getattr(entry, language), options=entry.options)
