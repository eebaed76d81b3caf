"""The matches and cases that a caller sees in lists."""

from uuid import UUID

from referee.value import Value


class Sight(Value):
    """The matches and cases that a caller sees in lists, in addition to public matches."""

    club: UUID | None = None
    """Club of the caller's key, whose matches are listed except private ones."""
    whole_club: bool = False
    """True if all private matches of the club are listed too."""
    member: int | None = None
    """The member whose own private matches are listed too."""
    officiates: bool = False
    """True if the club's cases are listed too, except cases of matches in which ``sits`` plays."""
    sits: int | None = None
    """Member who owns the key; ``None``: a program owns it."""
    behind: tuple[int, ...] = ()
    """Other members who gave the key. The cases of a match in which one of them plays are hidden until its end."""
    held: str | None = None
    """SHA-256 of the caller's credential, which may be an official's token."""

    @property
    def official(self) -> str | None:
        """The text under which the caller's cases are stored; ``None`` for other callers."""
        if self.club is not None:
            return of_club(self.club) if self.officiates else None
        return self.held


UNAUTHENTICATED = Sight()


def of_club(club: UUID) -> str:
    """Return the text under which cases for the officials of a club are stored."""
    return f"club {club}"


def member_of(club: UUID, member: int) -> str:
    """Return the text under which a member is stored as a player."""
    return f"{club} M{member}"
