"""Visibility of matches and cases in lists."""

from uuid import UUID

from referee.value import Value


class Sight(Value):
    """The matches and cases that a caller sees in lists, in addition to public matches."""

    club: UUID | None = None
    """Club of the caller's key. Its matches are listed, except private ones."""
    whole_club: bool = False
    """True if all the club's private matches are listed too."""
    member: int | None = None
    """Member whose own private matches are listed too."""
    officiates: bool = False
    """True if the club's cases are listed too, except of matches in which ``sits`` plays."""
    sits: int | None = None
    """Member who owns the key; ``None``: a program owns it."""
    behind: tuple[int, ...] = ()
    """Other members who gave the key. Cases of matches in which they play are hidden until the match ends."""
    credential_sha256: str | None = None
    """SHA-256 of the caller's credential, which may be an official's token."""

    @property
    def official(self) -> str | None:
        """Text under which the cases that the caller officiates are stored, if any."""
        if self.club is not None:
            return club_officials_text(self.club) if self.officiates else None
        return self.credential_sha256


UNAUTHENTICATED = Sight()


def club_officials_text(club: UUID) -> str:
    """Return the text under which a club's cases are stored."""
    return f"club {club}"


def member_text(club: UUID, member: int) -> str:
    """Return the text under which a member is stored as a player."""
    return f"{club} M{member}"
