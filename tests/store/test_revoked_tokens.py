"""The token is checked again when the act is decided, on the present state of the match."""

from hashlib import sha256
from uuid import UUID

import pytest
from msgspec.structs import replace

from referee.acts import Bid, Deal
from referee.admission import IssueToken
from referee.store.command import Command, TokenNotValid
from referee.store.desk import Desk
from referee.store.store import construct
from referee.tokens import hash_in_match
from tests.support.random_matches import opening

MATCH = UUID(int=7)
OLD, NEW = (sha256(text).hexdigest() for text in (b"old", b"new"))


def test_another_process_refuses_what_has_ended(store_url: str) -> None:
    """The other desk has a cached match and no news of the change; this covers repeated acts too."""
    first, second = construct(store_url), construct(store_url)
    here, there = Desk(first), Desk(second)
    try:
        opened = replace(opening(deal_ritual=False), tokens=(hash_in_match(MATCH, OLD),) * 3)
        here.submit(Command(id=MATCH, actor="official", request=opened)).result(20)
        deal = Command(id=MATCH, actor="seat:0", request=Deal(seat=0), key="k", token=OLD)
        there.submit(deal).result(20)
        here.get(MATCH, min_version=2)
        for seat in 0, 1:
            given = IssueToken(seat=seat, hash=hash_in_match(MATCH, NEW))
            here.submit(Command(id=MATCH, actor="official", request=given)).result(20)
        bid = Command(id=MATCH, actor="seat:1", request=Bid(seat=1, bid="pass"), token=OLD)
        for late in bid, deal, bid:
            with pytest.raises(TokenNotValid):
                there.submit(late).result(20)
        assert there.submit(replace(deal, token=NEW)).result(20).repeated
        assert not there.submit(replace(bid, token=NEW)).result(20).repeated
    finally:
        here.close()
        there.close()
        first.close()
        second.close()
