"""The match of the demo as a score sheet, with a line for each step at the table.

hand    player, cards                       as dealt
dealer  player                              cuts, deals, knocks for cards; all take up their cards
bids    player bid player bid …
refused player bid rule                     a bid that this rule forbids
trick   leader, cards in order, winner
lead    player card                         the first card of a trick, if a step follows before the second card
ask     player answer player answer …       the declarer's question and the answers
out     player                              "Knack för min utgång!"
knock   player accused offence verdict      verdict: the rule, of upheld, or "-"
score   points by seat                      after the deal is written into the protocol
winner  player rule
say     anything

At a club table, with closed hands and officials:

closed  player                              deals; the cards stay unknown
case    player accused offence note         a knock that the events cannot decide
states  player agrees|denies text           what a player says about it
rules   official verdict standard rule why  verdict: dismissed or upheld
appeals player text
"""

from typing import Any

PLAYERS = ("Astrid", "Börje", "Cilla", "Dagny")
"""The players by seat, clockwise."""

OPENING = {
    "ruleset": "rodskagg-kortoxen",
    "players": [{"name": name} for name in PLAYERS],
    "first_dealer": PLAYERS.index("Dagny"),
    "dealing": "table",
    "enforcement": "penalise",
    "options": {"deal_ritual": True, "false_knock_penalty": 5},
    "stakes": {"currency": "SEK", "unit": 50},
}

DISPUTED = 1
"""The case that is replayed."""

OFFICIALS = ("Maja", "Nils")

CLUB = OPENING | {
    "options": {"deal_ritual": False},
    "adjudication": {"officials": [{"name": name} for name in OFFICIALS]},
}
"""The opening of a match of these players with officials."""

DEALS = {
    "An ordinary deal": """
        hand    Astrid  SA S2 H2 D6 C5 C3
        hand    Börje   SK H8 D5 D2 C8 C4
        hand    Cilla   ST HT H4 DT CT C7
        hand    Dagny   S8 S7 S3 DJ D8 D7
        dealer  Dagny
        bids    Astrid 1  Börje 2  Cilla 3  Dagny pass
        trick   Cilla   CT S3 C3 C4  Cilla
        trick   Cilla   ST S7 SA SK  Astrid
        trick   Astrid  H2 H8 HT D7  Cilla
        trick   Cilla   H4 S8 S2 D2  Cilla
        ask     Dagny play  Börje play
        trick   Cilla   C7 D8 C5 C8  Börje
        trick   Börje   D5 DT DJ D6  Dagny
        score   11 11 9 11
    """,
    "A bid refused, a question folded": """
        hand    Astrid  SA SK HA HQ D4 C6
        hand    Börje   HK D8 D6 D5 D2 CA
        hand    Cilla   H8 H6 H3 DT CT C4
        hand    Dagny   S7 HJ HT H4 CK C5
        dealer  Astrid
        bids    Börje 2  Cilla 3
        refused Dagny 3 B34
        bids    Dagny pass  Astrid 4
        trick   Astrid  SK D2 H3 S7  Astrid
        trick   Astrid  SA D5 C4 H4  Astrid
        trick   Astrid  D4 D6 DT C5  Cilla
        trick   Cilla   H6 HT HA HK  Astrid
        ask     Börje fold  Dagny play
        trick   Astrid  C6 CT CK     Dagny
        trick   Dagny   HJ HQ H8     Astrid
        score   7 11 8 10
    """,
    "The question forgotten": """
        hand    Astrid  S9 S8 HT DT D5 CT
        hand    Börje   H9 H8 H4 H3 D4 C8
        hand    Cilla   SA S7 HJ DJ D9 C6
        hand    Dagny   SK SQ S6 H5 DA D7
        dealer  Börje
        bids    Cilla 2  Dagny 3  Astrid pass  Börje pass
        trick   Dagny   SK S8 H3 SA  Cilla
        trick   Cilla   DJ DA D5 D4  Dagny
        trick   Dagny   D7 DT H4 D9  Astrid
        trick   Astrid  S9 C8 S7 SQ  Dagny
        say     Dagny is to ask whether the others go along, but she leads at once.
        lead    Dagny S6
        knock   Börje Dagny fold_question B54
        trick   Dagny   S6 CT H8 C6  Dagny
        trick   Dagny   H5 HT H9 HJ  Cilla
        say     Börje took no trick, but Dagny did not ask, so Börje goes along free (B55).
        score   6 11 6 12
    """,
    "A knock for nothing": """
        hand    Astrid  SK H5 DQ D6 CK CT
        hand    Börje   S7 S6 S5 H4 D3 C7
        hand    Cilla   HJ H7 H3 DA D4 C4
        hand    Dagny   SA H2 DK C8 C3 C2
        dealer  Cilla
        bids    Dagny 2  Astrid 4  Börje pass  Cilla pass
        trick   Astrid  CT C7 C4 C2  Astrid
        trick   Astrid  DQ D3 DA DK  Cilla
        trick   Cilla   H3 H2 H5 H4  Astrid
        trick   Astrid  SK S5 D4 SA  Dagny
        say     Dagny cannot believe that Cilla has no spade.
        knock   Dagny Cilla revoke -
        ask     Börje play
        trick   Dagny   C3 CK S6 H7  Astrid
        trick   Astrid  D6 S7 HJ C8  Astrid
        score   2 16 5 16
    """,
    "Out too early: the bounce": """
        hand    Astrid  S9 HA H8 DK D2 C5
        hand    Börje   S7 D9 CA CQ C9 C6
        hand    Cilla   HJ H7 D7 D4 C8 C2
        hand    Dagny   S3 H3 DJ D8 C7 C4
        dealer  Dagny
        bids    Astrid 2  Börje pass  Cilla pass  Dagny pass
        trick   Astrid  DK D9 D4 D8  Astrid
        trick   Astrid  H8 C6 HJ H3  Cilla
        trick   Cilla   C8 C4 C5 CA  Börje
        trick   Börje   S7 C2 S3 S9  Astrid
        out     Astrid
        ask     Dagny fold
        trick   Astrid  D2 C9 D7     Cilla
        say     Cilla leads a heart, and Astrid holds nothing but the ace of it.
        trick   Cilla   H7 HA CQ     Astrid
        say     Three tricks on two points: she bounces to one plus point, and her knock is worth nothing.
        score   1 15 3 16
    """,
    "Exactly zero": """
        hand    Astrid  SJ S8 H7 H6 C9 C2
        hand    Börje   S3 H3 DK DT D7 C3
        hand    Cilla   HJ H2 DA D5 D4 CA
        hand    Dagny   SQ H9 H4 D9 C8 C6
        dealer  Astrid
        bids    Börje 1  Cilla 3  Dagny pass  Astrid pass
        trick   Cilla   DA D9 C2 D7  Cilla
        trick   Cilla   HJ H4 H6 H3  Cilla
        trick   Cilla   D4 C6 H7 DT  Börje
        trick   Börje   S3 H2 SQ S8  Dagny
        ask     Astrid play
        say     Astrid's nine of clubs would bring her home, if Cilla did not hold the ace.
        trick   Dagny   C8 C9 C3 CA  Cilla
        out     Cilla
        trick   Cilla   D5 H9 SJ DK  Börje
        score   6 13 0 15
        winner  Cilla B70
    """,
}

HEARD = """
    closed  Dagny
    bids    Astrid 1  Börje 3  Cilla pass  Dagny pass
    trick   Börje   CA C4 D9 C8  Börje
    case    Börje Dagny revoke She threw a diamond on my ace, and I saw a club in her hand.
    states  Dagny denies I had no club.
    states  Börje agrees It was the six of clubs.
    rules   Maja dismissed undetermined J4 I have one word against another.
    trick   Börje   SK S3 S7 SA  Astrid
    trick   Astrid  D4 DQ DT D2  Börje
    trick   Börje   HQ HK H3 H7  Cilla
    ask     Dagny fold
    say     Dagny throws in her last two cards, face down: no event will ever show them.
    appeals Börje Cilla was not heard, and she picked up what Dagny threw in.
    trick   Cilla   H9 HJ CT     Astrid
    trick   Astrid  C9 CJ S8     Börje
    score   10 9 11 12
    rules   Nils upheld balance_of_probabilities B42 Cilla found the six of clubs among them.
"""
"""A deal with a case. The appeal is ruled on after the deal is scored."""

CASE = 1
"""The number of that case."""

CORRECTED = (10, 9, 11, 17)
"""The points by seat after the ruling on the appeal."""

SEASON = "2026/27"
NUMBERS = ("0701740605", "0701740606", "0701740607", "0701740608")
"""The Swish numbers by seat. Sweden reserves these numbers for plays and films."""

EVENING: dict[str, dict[str, Any]] = {
    "Rödskägg (Kortoxen 1949), 50 öre a point": {
        "opening": {
            "ruleset": "rodskagg-kortoxen",
            "first_dealer": 3,
            "stakes": {"currency": "SEK", "unit": 50},
            "opening": {"points": [4, 3, 5, 2]},
        },
        "deals": [
            {
                "act": "result",
                "bids": [
                    {"seat": 0, "bid": "2"},
                    {"seat": 1, "bid": "pass"},
                    {"seat": 2, "bid": "3"},
                    {"seat": 3, "bid": "pass"},
                ],
                "tricks": [2, 2, 0, 2, 1, 0],
                "answers": [{"seat": 3, "answer": "fold"}, {"seat": 1, "answer": "play"}],
            },
            {
                "act": "result",
                "bids": [
                    {"seat": 1, "bid": "pass"},
                    {"seat": 2, "bid": "pass"},
                    {"seat": 3, "bid": "pass"},
                    {"seat": 0, "bid": "2"},
                ],
                "tricks": [0, 0, 1, 3, 1, 3],
                "answers": [{"seat": 2, "answer": "fold"}],
                "exits": [{"seat": 0, "after": 2}],
            },
        ],
        "amounts": [100, 0, -100, 0],
    },
    "English Rams, 25 öre a unit": {
        "opening": {"ruleset": "rams-english", "first_dealer": 0, "stakes": {"currency": "SEK", "unit": 25}},
        "deals": [
            {
                "act": "result",
                "bids": [
                    {"seat": 1, "bid": "join"},
                    {"seat": 2, "bid": "join"},
                    {"seat": 3, "bid": "join"},
                    {"seat": 0, "bid": "join"},
                ],
                "tricks": [1, 2, 1, 3, 3],
            },
            {
                "act": "result",
                "bids": [
                    {"seat": 2, "bid": "join"},
                    {"seat": 3, "bid": "lie_down"},
                    {"seat": 0, "bid": "join"},
                    {"seat": 1, "bid": "join"},
                ],
                "tricks": [0, 0, 2, 0, 0],
            },
            {
                "act": "result",
                "bids": [
                    {"seat": 3, "bid": "join"},
                    {"seat": 0, "bid": "lie_down"},
                    {"seat": 1, "bid": "lie_down"},
                    {"seat": 2, "bid": "join"},
                ],
                "tricks": [3, 3, 3, 2, 3],
            },
            {"act": "close"},
        ],
        "amounts": [-50, -200, 0, 250],
    },
    "Kalabrias, the difference at 10 öre": {
        "opening": {
            "ruleset": "kalabrias",
            "first_dealer": 3,
            "options": {"money": "difference"},
            "stakes": {"currency": "SEK", "unit": 10},
            "opening": {"points": [412, 431, 412, 431]},
        },
        "deals": [
            {
                "act": "result",
                "declarer": 2,
                "trumps": "S",
                "card_points": [60, 40, 62, 0],
                "taken": [3, 2, 3, 0],
            },
        ],
        "amounts": [630, -630, 630, -630],
    },
}
"""Three matches of the club's evening, played as tallies, with the amounts by seat in öre. The first and the third
continue earlier matches."""

TAMPERED = [100, 0, -100, 0], [900, 0, -900, 0]
"""The amounts of the first match, and forged ones."""
