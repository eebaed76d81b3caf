"""Checks dockets: the sealed tokens with which the service finds all matches of one official."""

from api.maintenance.raw_store import StoreReader
from api.maintenance.replay_check import History
from referee.store.match import Match
from referee.tokens import encrypt_or_decrypt, hash_in_match


class DocketCheck:
    def __init__(self, stored: StoreReader) -> None:
        self._secret = stored.secret

    def compare(self, history: History) -> None:
        """Report each official whose docket does not contain the token with the recorded hash."""
        match = history.aggregate
        if not isinstance(match, Match) or not match.opened.dockets:
            return
        attending = match.opened.official, *match.opened.officials
        tokens = encrypt_or_decrypt(self._secret or b"", match.id, match.opened.dockets)
        known = tuple(hash_in_match(match.id, token) for token in tokens)
        if len(known) != len(attending):
            history.report(1, f"the match has {len(known)} dockets for {len(attending)} officials")
        for place, (actual, expected) in enumerate(zip(known, attending, strict=False), 1):
            if actual != expected:
                why = "it was sealed with a different secret" if self._secret else "the store has no secret"
                history.report(1, f"the docket of official {place} does not contain its token: {why}")
