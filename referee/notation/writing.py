"""Write the text of a deal."""

from collections.abc import Iterator
from itertools import groupby

from referee import actors
from referee.acts import Deal as DealAct
from referee.acts import Knock, Play, Trick
from referee.notation.deals import Correction, Deal, Done, Header, Result
from referee.notation.words import LINE_WORD_WIDTH, WORDS, to_json
from referee.requests import act_name

ITEMS_PER_LINE = 8


def _line(word: str, rest: str) -> str:
    return f"{word:<{LINE_WORD_WIDTH}}{rest}".rstrip(" ")


def _number(points: int, halves: bool) -> str:
    if not halves or points % 2 == 0:
        return str(points // 2 if halves else points)
    return f"{'-' if points < 0 else ''}{abs(points) // 2}½"


def _scores(points: tuple[int, ...], halves: bool) -> str:
    text = "  ".join(f"P{seat + 1} {_number(number, halves)}" for seat, number in enumerate(points))
    return f"{text}  in halves" if halves else text


def _seats(seats: tuple[int, ...]) -> str:
    return " ".join(f"P{seat + 1}" for seat in seats)


def _actor_note(done: Done) -> str:
    """Return a note that names the actor; empty for the usual actor of the act."""
    return "" if done.actor == actors.actor_of(done.act) else f" ({actors.written(done.actor)})"


def _header_lines(header: Header) -> Iterator[str]:
    yield _line("game", header.ruleset)
    if header.source:
        yield _line("source", header.source)
    if header.number != 1:
        yield _line("number", str(header.number))
    for name, value in sorted(header.options.items()):
        yield _line("option", f"{name} {to_json(value)}")
    yield _line("errors", header.enforcement)
    yield _line("dealing", header.dealing)
    if header.stakes is not None:
        yield _line("stakes", f"{header.stakes.unit} {header.stakes.currency}")
    yield _line("players", " ".join(map(to_json, header.players)))
    if header.out:
        yield _line("out", _seats(header.out))
    if header.among:
        yield _line("duel", _seats(header.among))
    yield _line("dealer", f"P{header.dealer + 1}")
    yield _line("before", _scores(header.points, header.halves))
    if header.pot is not None:
        yield _line("pot", str(header.pot))
    for name, value in sorted(header.carried.items()):
        yield _line("carried", f"{name} {to_json(value)}")


def _deal_lines(done: Done) -> Iterator[str]:
    act = done.act
    assert isinstance(act, DealAct)
    yield _line("deal", f"P{act.seat + 1}{_actor_note(done)}")
    for seat, hand in enumerate(act.hands or ()):
        yield _line(f"  P{seat + 1}", " ".join(hand) or "-")
    if act.counts is not None:
        yield _line("  counts", " ".join(map(str, act.counts)) or "-")
    if act.stock is not None:
        yield _line("  stock", " ".join(act.stock) or "-")
    if act.widow is not None:
        yield _line("  widow", " ".join(act.widow) or "-")
    if act.turn_up is not None:
        yield _line("  turn-up", act.turn_up)


def _knock_line(done: Done) -> str:
    knock, ruling = done.act, done.ruling
    assert isinstance(knock, Knock)
    text = f"P{knock.seat + 1} on P{knock.accused + 1}"
    if knock.offence is not None:
        text += f" {knock.offence}"
    text += _actor_note(done)
    if ruling is not None:
        text += f": {ruling.verdict} by {ruling.rule}"
        if ruling.payer is not None:
            text += f", P{ruling.payer + 1} up {ruling.points}"
    if knock.note:
        text += f" {to_json(knock.note)}"
    return _line("knock", text)


def _act_text(done: Done) -> str:
    seat = getattr(done.act, "seat", None)
    player = "" if seat is None else f"P{seat + 1}"
    return " ".join(filter(None, (player, WORDS[act_name(done.act)].write(done.act)))) + _actor_note(done)


def _labelled_acts(acts: tuple[Done, ...]) -> Iterator[tuple[tuple[int, str], Done]]:
    """Yield each act after the number and label of its line: ``trick 3`` for the third trick.

    Each change of label begins a line. Some acts never share a line.
    """
    line_number, last, trick, played = 0, "", 0, set[int]()
    for done in acts:
        if isinstance(done.act, DealAct):
            trick, played = 0, set()
        if isinstance(done.act, Play):
            if trick == 0 or done.act.seat in played:
                trick, played = trick + 1, set()
            played.add(done.act.seat)
            label = f"trick {trick}"
        elif isinstance(done.act, Trick):
            trick += 1
            label = f"trick {trick}"
        else:
            name = act_name(done.act)
            label = WORDS[name].line if name in WORDS else name
        has_own_line = label in ("deal", "knock", "sheet", "void", "close", "abandon")
        line_number += has_own_line or label != last
        last = label
        yield (line_number, label), done


def _act_lines(acts: tuple[Done, ...]) -> Iterator[str]:
    for (_, label), group in groupby(_labelled_acts(acts), key=lambda pair: pair[0]):
        dones = [done for _, done in group]
        if label == "deal":
            yield from _deal_lines(dones[0])
        elif label == "knock":
            yield _knock_line(dones[0])
        else:
            items = [_act_text(done) for done in dones]
            for first in range(0, len(items), ITEMS_PER_LINE):
                yield _line(label, "  ".join(items[first : first + ITEMS_PER_LINE]))


def _result_lines(word: str, result: Result) -> Iterator[str]:
    text = result.kind
    if result.declarer is not None:
        text += f" by P{result.declarer + 1}"
    if result.contract is not None:
        text += f" {result.contract}"
    yield _line(word, text)
    if result.before is not None:
        yield _line("before", _scores(result.before, result.halves))
    if result.pot_before is not None:
        yield _line("pot from", str(result.pot_before))
    yield _line("tricks", _scores(result.tricks, False))
    yield _line("after", _scores(result.points, result.halves))
    if result.pot is not None:
        yield _line("pot", str(result.pot))
    if result.out:
        yield _line("out", _seats(result.out))
    if result.by:
        yield _line("won", f"{_seats(result.won)} by {result.by}".strip())
    if result.settlement is not None:
        yield _line("settled", _scores(result.settlement, False))


def _correction_line(word: str, by: Correction) -> str:
    case = "" if by.case is None else f" in case {by.case}"
    reason = f" {to_json(by.reason)}" if by.reason else ""
    return _line(word, f"by {by.rule}{case}, event {by.event}{reason}")


def _outcome_lines(deal: Deal) -> Iterator[str]:
    if deal.struck is not None:
        yield _correction_line("struck", deal.struck)
    yield from _result_lines("result", deal.result)
    for former in deal.was:
        yield ""
        yield from _result_lines("was", former.result)
        yield _correction_line("ruled", former.by)


def write(deal: Deal) -> str:
    lines = (*_header_lines(deal.header), "", *_act_lines(deal.acts), "", *_outcome_lines(deal))
    return "\n".join(lines) + "\n"


DEAL_SEPARATOR = "-----"


def write_all(deals: tuple[Deal, ...]) -> str:
    return f"{DEAL_SEPARATOR}\n".join(map(write, deals))
