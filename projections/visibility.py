"""The matches and cases that a caller sees in lists."""

from uuid import UUID

from referee.value import Value


class Sight(Value):
    """The matches in a caller's lists: public ones, a club's for its members or all of its club, and those they
    officiate."""

    club: UUID | None = None
    """The club of the caller's key, whose matches are listed, except private ones; ``None``: no club's matches are
    listed."""
    whole_club: bool = False
    """Private matches of the club are listed too."""
    member: int | None = None
    """The member whose private matches are listed too."""
    officiates: bool = False
    """The caller officiates for the club and sees its cases, except in matches in which ``sits`` plays."""
    sits: int | None = None
    """The member who owns the key; ``None``: a program's key."""
    behind: tuple[int, ...] = ()
    """Other members behind the key. The cases of a match in which one of them plays are hidden until its end."""
    held: str | None = None
    """The SHA-256 of the caller's credential, perhaps an official's token."""

    @property
    def official(self) -> str | None:
        """The key under which the caller's matches as an official are found; ``None`` if none can exist."""
        if self.club is not None:
            return of_club(self.club) if self.officiates else None
        return self.held


UNAUTHENTICATED = Sight()
"""The view of a caller without a credential."""


def of_club(club: UUID) -> str:
    """Return the key for all who officiate for a club by its keys."""
    return f"club {club}"


def member_of(club: UUID, member: int) -> str:
    """Return the key for a member among the names of players."""
    return f"{club} M{member}"
