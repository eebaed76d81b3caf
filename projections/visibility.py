"""The matches and cases that a caller sees in lists."""

from uuid import UUID

from referee.value import Value


class Sight(Value):
    """The matches and cases in a caller's lists, beside the public matches."""

    club: UUID | None = None
    """The club of the caller's key, whose matches are listed except private ones."""
    whole_club: bool = False
    """The club's private matches are listed too."""
    member: int | None = None
    """The member whose private matches are listed too."""
    officiates: bool = False
    """The club's cases are listed too, except of matches in which ``sits`` plays."""
    sits: int | None = None
    """The member who owns the key; ``None``: a program owns it."""
    behind: tuple[int, ...] = ()
    """Other members behind the key. The cases of a match in which one of them plays are hidden until its end."""
    held: str | None = None
    """The SHA-256 of the caller's credential, perhaps an official's token."""

    @property
    def official(self) -> str | None:
        """The key of the caller's cases as an official; ``None`` for other callers."""
        if self.club is not None:
            return of_club(self.club) if self.officiates else None
        return self.held


UNAUTHENTICATED = Sight()


def of_club(club: UUID) -> str:
    """Return the key of the cases for the officials of a club."""
    return f"club {club}"


def member_of(club: UUID, member: int) -> str:
    """Return a member's name among the names of players."""
    return f"{club} M{member}"
