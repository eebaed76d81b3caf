# Was a match dealt as committed to? python shuffle.py MATCH [DEAL] < EVENTS exits with 1 if not (guides/shuffle.md).
import json
import sys
from hashlib import sha256

past, ok, held, pack, deal, dealer, game, fair = [], False, {"": []}, [], "", 0, "", {}
for event, told in ((one, one["event"]) for page in map(json.loads, sys.stdin) for one in page.get("events", [page])):
    past, ok, held, pack = ([event], held != {}, {}, []) if "commitment" in told else ([*past, event], ok, held, pack)
    deal, dealer, game = str(told.get("deal", deal)), told.get("dealer", dealer), told.get("ruleset", game)
    if ":" in told.get("seed", ""):  # cards were shuffled
        n = max(e["number"] for e in past if (e["at"], e["actor"]) != (event["at"], event["actor"]))
        added = {e["event"]["seat"]: e["event"]["hex"] for e in past if "hex" in e["event"]}
        said = ["knacka shuffle 2", sys.argv[1], str(n), past[0]["event"]["seed"]]
        said += [added.get(seat, "") for seat in range(len(told["hands"]))]
        key, deck = sha256("\n".join(said).encode()).hexdigest(), [s + r for s in "SHDC" for r in "23456789TJQKA"]
        stream = (byte for block in range(99) for byte in sha256(f"{key}\n{block}".encode()).digest())
        for left in range(52, 1, -1):
            place = next(byte for byte in stream if byte < 256 - 256 % left) % left
            deck[left - 1], deck[place] = deck[place], deck[left - 1]
        ok = ok and sha256(said[3].encode()).hexdigest() == past[0]["event"]["commitment"]
        lie = pack + [card for seat, hand in held.items() if seat not in told.get("seats", ()) for card in hand]
        pack += [card for card in deck if card not in lie and ("rodskagg" in game or card[1] > "6")]
    if "hands" in told or event["topic"] == "deal/card-given":
        hands = [*told.get("hands", [[told.get("card")], *[[]] * 7]), told.get("widow", [])]
        turn = told.get("seats", [*range(dealer + 1, len(hands) - 1), *range(dealer), -1, dealer])
        came = [c for k in (0, 3) for at in turn for c in hands[at][k : k + 3]] + told.get("turn_up", "").split()
        fair[deal], pack = fair.get(deal, True) and ok and came == pack[: len(came)] != [], pack[len(came) :]
        held |= {seat: hand for seat, hand in enumerate(hands) if hand}
print(*(f"deal {deal}: {'fair' if fair.get(deal) else 'not shown fair'}" for deal in sys.argv[2:] or fair), sep="\n")
sys.exit(not fair or not all(map(fair.get, sys.argv[2:] or fair)))
