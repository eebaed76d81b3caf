"""Plan few payments that bring all balances to 0.

Members with a balance and the club are nodes. A group is a set of nodes whose balances add up to 0. It needs one
payment less than it has nodes, so more groups need fewer payments.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from heapq import heapify, heappop, heappush
from itertools import combinations
from math import inf

from referee import wire_types
from referee.value import Value

Node = wire_types.MemberNumber | None
"""Member, or ``None`` for the club."""
EXACT_MAX = 16
"""Maximum nodes for which the best grouping is searched, in about 2^n steps."""
TRIPLES_MAX = 400
"""Maximum nodes among which groups of three are searched, in about n^2 steps."""


class Payment(Value):
    """A planned payment, in minor units."""

    id: wire_types.Digest
    """Id, calculated from the other fields and the purpose of the plan."""
    payer: Node
    """Null: the club."""
    payee: Node
    """Null: the club."""
    amount: wire_types.Money


class Plan(Value):
    """Payments that settle all balances, by payer and payee, the club last."""

    payments: tuple[Payment, ...]
    minimal: bool
    """True: no plan has fewer payments. False: unknown, because too many members have balances."""
    groups: wire_types.Tally
    """Number of groups whose members settle among themselves: nodes less payments."""


Owed = tuple[Node, int]
"""Node and the amount it owes; negative: the amount due to it."""


def plan(balances: Mapping[int, int], purpose: str) -> Plan:
    """Return the payments that settle the balances, by member. A debt is above zero. The club pays or gets the rest.

    The payments' ids depend on ``purpose`` (club, evening, currency).
    """
    nodes: dict[Node, int] = {member: balances[member] for member in sorted(balances) if balances[member]}
    if rest := -sum(nodes.values()):
        nodes[None] = rest
    groups, left = _opposites(list(nodes.items()))
    minimal = len(left) <= EXACT_MAX
    if not minimal:
        triples, left = _triples(left)
        groups += triples
    groups += _most_groups(left) if len(left) <= EXACT_MAX else [left]
    found = [payment for group in groups for payment in _payments_in(group)]
    payments = [
        Payment(id=_payment_id(purpose, payer, payee, amount), payer=payer, payee=payee, amount=amount)
        for payer, payee, amount in sorted(found, key=lambda one: (_sort_key(one[0]), _sort_key(one[1])))
    ]
    return Plan(payments=tuple(payments), minimal=minimal, groups=len(nodes) - len(payments))


def _opposites(nodes: Sequence[Owed]) -> tuple[list[list[Owed]], list[Owed]]:
    """Return pairs of nodes with opposite amounts, and the remaining nodes.

    This loses no group, because if a pair is split over two groups, their other nodes add up to 0.
    """
    waiting: dict[int, list[Owed]] = {}
    pairs = []
    for node in nodes:
        if others := waiting.get(-node[1]):
            pairs.append([others.pop(0), node])
        else:
            waiting.setdefault(node[1], []).append(node)
    paired = {node for pair in pairs for node, _ in pair}
    return pairs, [node for node in nodes if node[0] not in paired]


def _triples(nodes: list[Owed]) -> tuple[list[list[Owed]], list[Owed]]:
    """Return groups of three nodes, and the remaining nodes. No two ``nodes`` may have opposite amounts."""
    triples: list[list[Owed]] = []
    left = dict(nodes)
    if len(nodes) > TRIPLES_MAX:
        return triples, nodes
    by_amount: dict[int, list[Node]] = {}
    for node, amount in nodes:
        by_amount.setdefault(amount, []).append(node)
    for (one, first), (two, second) in combinations(nodes, 2):
        if one in left and two in left:
            thirds = [node for node in by_amount.get(-first - second, ()) if node in left.keys() - {one, two}]
            if thirds:
                triples.append([(node, left.pop(node)) for node in (one, two, thirds[0])])
    return triples, list(left.items())


def _most_groups(nodes: list[Owed]) -> list[list[Owed]]:
    """Return as many groups as possible. ``best[S]`` is their number in a subset: the maximum of ``best[S - i]``, 1
    more if ``S`` adds up to 0."""
    sums, best = [0], [0]
    for _, amount in nodes:
        sums += [amount + before for before in sums]
    bits = [1 << place for place in range(len(nodes))]
    for chosen in range(1, len(sums)):
        most = max([best[chosen ^ bit] for bit in bits if chosen & bit])
        best.append(most + (not sums[chosen]))
    groups: list[list[Owed]] = []
    chosen = len(sums) - 1
    while chosen:
        if not sums[chosen]:
            groups.append([])
        wanted = best[chosen] - (not sums[chosen])
        place = next(place for place, bit in enumerate(bits) if chosen & bit and best[chosen ^ bit] == wanted)
        groups[-1].append(nodes[place])
        chosen ^= bits[place]
    return groups


def _payments_in(group: list[Owed]) -> list[tuple[Node, Node, int]]:
    """Return payers, payees and amounts. The largest debtor pays the largest creditor; of equal ones the lowest
    member number comes first, the club last."""
    debtors = [(-amount, _sort_key(node), node) for node, amount in group if amount > 0]
    creditors = [(amount, _sort_key(node), node) for node, amount in group if amount < 0]
    heapify(debtors)
    heapify(creditors)
    payments = []
    while debtors:
        (owes, payer_place, payer), (gets, payee_place, payee) = heappop(debtors), heappop(creditors)
        amount = min(-owes, -gets)
        payments.append((payer, payee, amount))
        if amount < -owes:
            heappush(debtors, (owes + amount, payer_place, payer))
        if amount < -gets:
            heappush(creditors, (gets + amount, payee_place, payee))
    return payments


def _sort_key(node: Node) -> float:
    return inf if node is None else float(node)


def _payment_id(purpose: str, payer: Node, payee: Node, amount: int) -> str:
    return sha256(f"{purpose}\n{payer}\n{payee}\n{amount}".encode()).hexdigest()[:16]
