"""A key or token shows the officials' view of a match only when none of the members behind it still plays in it."""

from datetime import timedelta
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from api.access.keys import make_key_text
from api.access.tokens import hash_of
from api.runtime.service import Service
from referee.acts import Abandon, Deal
from referee.clubs.commands import Confirm, Invite, IssueKey, RedeemKey, RotateKey
from referee.clubs.facts import Scope
from referee.store.clock import utc_now
from tests.api.http.test_problems import problem
from tests.support.match_client import HANDS
from tests.support.service_in_memory import Client, client_of
from tests.support.stored_clubs import Club, Placed

FOUNDER, PLAYER, OTHER, GUEST, HELPER = 1, 2, 5, 6, 7
"""Member numbers: the player plays in the match, the others do not."""
HIDDEN = {card for hand in HANDS for card in hand}
RULING = {"verdict": "dismissed", "standard": "undetermined", "rule": "J4", "reason": "Nobody saw it"}
VIEW = ("", "/events", "/replay?at=4", "/knocks")


class Hall:
    """A club, and a match of its members 2 to 4 with hidden hands and a pending case."""

    def __init__(self, client: Client) -> None:
        app: Any = client.app
        service: Service = app.state.service
        self.client, self.desk = client, service.desk
        self.club = Club(service.desk, members=8)
        self.match = self.placed()

    def placed(self, **opened: Any) -> Placed:
        match = Placed(self.desk, replace(self.club.opened("club", players=3), **opened))
        match.act(Deal(seat=0, hands=tuple(map(tuple, HANDS))))
        knock = {"seat": 0, "accused": 1, "offence": "exposed_card", "note": "seen by Anna"}
        answer = self.client.post(f"{match.path}/knocks", json=knock, headers=bearer(match.tokens[0]))
        assert answer.status_code == 201, answer.text
        return match

    def given(self, by: str, *scopes: Scope, member: int | None = None, confirmed: str | None = None) -> str:
        """Issue a key with the key ``by``, for its own member or a program, or by invitation for another member."""
        actor, state = f"key:{name_of(by)}", self.state
        name = f"k{len(state.keys) + 1}"
        key, until = make_key_text(self.club.id, name), utc_now() + timedelta(days=300)
        giver = state.key(name_of(by)).member
        if member in (None, giver):
            app = "Board" if member is None else None
            asked = IssueKey(scopes=scopes, expires_at=until, hash=hash_of(key), member=member, app=app)
            self.club.do(asked, actor)
            return key
        invite = Invite(scopes=scopes, expires_at=until, hash=hash_of("a code"), member=member)
        outcome = self.club.do(invite, actor)
        if confirmed is not None:
            (made,) = outcome.events
            confirm = Confirm(proposal=made.event.proposal, complete=invite)
            self.club.do(confirm, f"key:{name_of(confirmed)}")
        self.club.do(RedeemKey(key=name, hash=hash_of(key)), f"key:{name}")
        return key

    @property
    def state(self) -> Any:
        return self.desk.get(self.club.id).state

    def get(self, path: str, shown: str) -> httpx.Response:
        answer: httpx.Response = self.client.get(self.match.path + path, headers=bearer(shown))
        return answer

    def sees_hands(self, shown: str) -> bool:
        """Return whether a credential sees the hands of the others. Assert that all views agree."""
        spectator = self.club.key("read")
        same = [self.get(path, shown).content == self.get(path, spectator).content for path in VIEW]
        events = self.get("/events", shown).text
        found = any(f'"{card}"' in events for card in HIDDEN)
        assert same == [not found] * len(same), same
        return found


def name_of(key: str) -> str:
    return key[26:].partition("_")[0]


def bearer(shown: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {shown}"}


@pytest.fixture
def hall(client: Client) -> Hall:
    return Hall(client)


class TestBehind:
    """Members behind a key."""

    def test_an_official_sees_the_hands(self, hall: Hall) -> None:
        official = hall.club.key("officiate", member=OTHER)
        assert hall.sees_hands(official)
        assert hall.sees_hands(hall.given(hall.club.key("keys", "officiate", member=OTHER), "officiate"))
        assert hall.sees_hands(hall.match.tokens["official"])

    def test_not_by_a_key_that_a_player_issued_for_a_program(self, hall: Hall) -> None:
        player = hall.club.key("keys", "officiate", "play", member=PLAYER)
        assert not hall.sees_hands(hall.given(player, "officiate"))

    def test_not_by_a_key_of_a_program_that_a_player_gave_its_key(self, hall: Hall) -> None:
        program = hall.given(hall.club.key("keys", "officiate", member=PLAYER), "keys", "officiate")
        assert not hall.sees_hands(hall.given(program, "officiate"))

    def test_not_by_a_key_that_a_player_invited_another_member_to(self, hall: Hall) -> None:
        founder = hall.club.founder
        player = hall.club.key("keys", "officiate", member=PLAYER)
        assert not hall.sees_hands(hall.given(player, "officiate", member=OTHER, confirmed=founder))

    def test_not_by_a_key_that_a_player_confirmed(self, hall: Hall) -> None:
        """The confirming member sees the code."""
        founder, player = hall.club.founder, hall.club.key("keys", member=PLAYER)
        assert not hall.sees_hands(hall.given(founder, "officiate", member=OTHER, confirmed=player))

    def test_not_by_a_key_that_a_member_issues_with_a_key_that_a_player_gave(self, hall: Hall) -> None:
        """An invented member could have the keys that the player wants."""
        player = hall.club.key("keys", "officiate", member=PLAYER)
        made_up = hall.given(player, "keys", "officiate", member=GUEST, confirmed=hall.club.founder)
        assert not hall.sees_hands(hall.given(made_up, "officiate", member=GUEST))
        assert not hall.sees_hands(hall.given(made_up, "officiate"))

    def test_not_by_the_key_of_a_program_that_a_player_has_rotated(self, hall: Hall) -> None:
        key = hall.given(hall.club.key("keys", "officiate", member=OTHER), "officiate")
        assert hall.sees_hands(key)
        player = hall.club.key("keys", "officiate", member=PLAYER)
        new = make_key_text(hall.club.id, name_of(key))
        hall.club.do(RotateKey(key=name_of(key), overlap_seconds=0, hash=hash_of(new)), f"key:{name_of(player)}")
        assert not hall.sees_hands(new)

    def test_two_members_who_do_not_play_make_an_official(self, hall: Hall) -> None:
        """A player gave one of them the key that invites."""
        player = hall.club.key("keys", "officiate", member=PLAYER)
        other = hall.given(player, "keys", "officiate", member=OTHER, confirmed=hall.club.founder)
        assert hall.sees_hands(hall.given(other, "officiate", member=HELPER, confirmed=hall.club.founder))

    def test_a_player_of_another_match_is_none_of_this_one(self, hall: Hall) -> None:
        player = hall.club.key("keys", "officiate", member=PLAYER)
        key = hall.given(player, "officiate")
        hall.match = hall.placed(members=(3, 4, 5), players=("M3", "M4", "M5"))
        assert hall.sees_hands(key)


class TestView:
    """Hidden parts of the view, and the time for which they are hidden."""

    @pytest.fixture
    def held_back(self, hall: Hall) -> str:
        return hall.given(hall.club.key("keys", "officiate", "audit", member=PLAYER), "officiate", "audit")

    def test_a_key_that_plays_is_refused_the_pages_of_officials(self, hall: Hall, held_back: str) -> None:
        problem(hall.get("/attempts", held_back), 403, "plays-in-match")
        problem(hall.get("/knocks/1/file", held_back), 403, "plays-in-match")
        preview = f"{hall.match.path}/knocks/1/ruling?preview=true"
        problem(hall.client.post(preview, json=RULING, headers=bearer(held_back)), 403, "plays-in-match")
        problem(hall.get("/legal-acts?seat=0", held_back), 403, "for-seats")

    def test_its_acts_are_done_and_show_no_more(self, hall: Hall, held_back: str) -> None:
        ruled = hall.client.post(f"{hall.match.path}/knocks/1/ruling", json=RULING, headers=bearer(held_back))
        assert ruled.status_code == 201, ruled.text
        assert "seen by Anna" not in ruled.text

    def test_it_gets_no_token_of_another_seat(self, hall: Hall, held_back: str) -> None:
        """The seat's token would show the cards that the server deals."""
        dealt_by_server = Placed(hall.desk, replace(hall.club.opened("club", players=3), dealing="house"))
        for call, body, refusal in (
            ("/invitations", {"role": "seat", "seat": 1}, (403, "plays-in-match")),
            ("/tokens", {"seat": 1}, (409, "seats-are-invited")),
        ):
            problem(hall.client.post(dealt_by_server.path + call, json=body, headers=bearer(held_back)), *refusal)
        other = hall.club.key("officiate", member=OTHER)
        invited = hall.client.post(dealt_by_server.path + "/invitations", json={"seat": 1}, headers=bearer(other))
        assert invited.status_code == 201, invited.text

    def test_its_list_of_cases_has_none_of_the_match(self, hall: Hall, held_back: str) -> None:
        def listed(shown: str) -> list[str]:
            answer = hall.client.get("/v1/cases?fresh=true", headers=bearer(shown))
            return [one["match"] for one in answer.json()["items"]]

        official = hall.club.key("officiate", member=OTHER)
        assert listed(official) == [str(hall.match.id)]
        assert listed(held_back) == []
        hall.match.act(Abandon(reason="It was late"))
        assert listed(held_back) == [str(hall.match.id)]

    def test_all_is_shown_when_the_match_is_over(self, hall: Hall, held_back: str) -> None:
        hall.match.act(Abandon(reason="It was late"))
        official = hall.club.key("officiate", member=OTHER)
        for path in ("", "/events", "/replay?at=4", "/knocks", "/knocks/1/file"):
            assert hall.get(path, held_back).status_code == 200
        assert hall.get("", held_back).json()["viewer"] == "official"
        assert hall.get("/events", held_back).content == hall.get("/events", official).content

    def test_an_auditor_is_held_back_as_well(self, hall: Hall) -> None:
        auditor = hall.given(hall.club.key("keys", "audit", member=PLAYER), "audit")
        problem(hall.get("/bundle", auditor), 403, "for-the-match")
        problem(hall.get("/bundle", hall.club.key("audit", member=PLAYER)), 403, "for-the-match")
        other = hall.club.key("audit", member=OTHER)
        assert hall.get("/bundle", other).status_code != 403

    def test_each_try_is_listed(self, hall: Hall, held_back: str) -> None:
        for path in ("", "/attempts", "/knocks/1/file"):
            hall.get(path, held_back)
        official = hall.club.key("officiate", member=OTHER)
        found = [one for one in hall.get("/attempts", official).json()["items"] if one["act"] == "officials_view"]
        assert {(one["actor"], one["problem"]) for one in found} == {
            (f"key:{name_of(held_back)}", "/problems/plays-in-match")
        }
        assert found[-1]["count"] == 3

    def test_the_audit_lists_them(self, hall: Hall, held_back: str) -> None:
        for _ in range(2):
            hall.get("", held_back)
        auditor = hall.club.key("audit", member=OTHER)
        hall.get("/attempts", hall.club.key("officiate", member=OTHER))  # waits until the attempts are written
        answer = hall.client.get(f"/v1/clubs/{hall.club.id}/audit", headers=bearer(auditor))
        assert answer.status_code == 200, answer.text
        (one,) = answer.json()["attempts"]
        assert (one["match"], one["count"]) == (str(hall.match.id), 2)
        assert one["by"]["actor"] == f"key:{name_of(held_back)}"
        page = hall.client.get(f"/v1/clubs/{hall.club.id}/audit", headers=bearer(auditor) | {"Accept": "text/html"})
        assert str(hall.match.id) in page.text


class TestTokens:
    """The tokens of a match's own officials."""

    def test_the_member_who_opens_a_match_sees_the_tokens_of_its_officials(self, hall: Hall) -> None:
        hall.match = hall.placed(given_by=(PLAYER,))
        assert not hall.sees_hands(hall.match.tokens["official"])
        assert not hall.sees_hands(hall.match.tokens["official:2"])
        answer = hall.client.get("/v1/cases?fresh=true", headers=bearer(hall.match.tokens["official"]))
        assert answer.json()["items"] == []
        hall.match.act(Abandon(reason="It was late"))
        assert hall.get("", hall.match.tokens["official"]).json()["viewer"] == "official"
        answer = hall.client.get("/v1/cases?fresh=true", headers=bearer(hall.match.tokens["official"]))
        assert len(answer.json()["items"]) == 1

    def test_it_is_on_record_who_opened_it(self, hall: Hall) -> None:
        """The key of a member who plays opens the match over HTTP."""
        evening = {"act": "open_evening", "on": "2026-11-22", "season": "2026/27"}
        done = hall.client.post(f"/v1/clubs/{hall.club.id}/acts", json=evening, headers=bearer(hall.club.founder))
        assert done.status_code == 201, done.text
        body = {
            "ruleset": "rodskagg-kortoxen",
            "players": [{"member": member} for member in (2, 3, 4)],
            "dealing": "table",
            "options": {"deal_ritual": False},
            "first_dealer": 0,
            "club": str(hall.club.id),
            "evening": 1,
        }
        for opener, viewer in ((PLAYER, "spectator"), (OTHER, "official")):
            key = hall.club.key("open", member=opener)
            opened = hall.client.post("/v1/matches", json=body, headers=bearer(key)).json()
            path = f"/v1/matches/{opened['id']}"
            shown = hall.client.get(path, headers=bearer(opened["official_token"]))
            assert shown.json()["viewer"] == viewer
            assert "given_by" not in hall.client.get(f"{path}/events", headers=bearer(opened["official_token"])).text

    def test_the_member_who_invites_an_official_sees_the_code(self, hall: Hall) -> None:
        def invited(by: str) -> str:
            wanted = {"role": "official", "official": 1}
            made = hall.client.post(f"{hall.match.path}/invitations", json=wanted, headers=bearer(by))
            assert made.status_code == 201, made.text
            taken = hall.client.post(f"/v1/invitations/{made.json()['code']}")
            token: str = taken.json()["token"]
            return token

        held_back = hall.given(hall.club.key("keys", "officiate", member=PLAYER), "officiate")
        assert not hall.sees_hands(invited(held_back))
        assert hall.sees_hands(invited(hall.club.key("officiate", member=OTHER)))
        assert hall.sees_hands(hall.match.tokens["official:2"]), "no other member gave this token"


def test_after_a_restart(store_url: str) -> None:
    """Runs on either store: the rows name the members who gave a key."""
    with client_of(store_url) as client:
        hall = Hall(client)
        key = hall.given(hall.club.key("keys", "officiate", member=PLAYER), "officiate")
        match = hall.match
    with client_of(store_url) as client:
        answer = client.get(match.path, headers=bearer(key))
        assert (answer.status_code, answer.json()["viewer"]) == (200, "spectator")
