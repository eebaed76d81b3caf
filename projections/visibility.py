"""What somebody is told of in lists: which matches, and of which the cases."""

from uuid import UUID

from referee.value import Value


class Sight(Value):
    """Which matches somebody is told of in a list: those that are for everybody to see, and of a club those that are
    for its members, or all; and in which he is an official."""

    club: UUID | None = None
    """Whose key he holds: he is told of its matches but of the private ones; ``None``: of no club's."""
    whole_club: bool = False
    """Of the private ones, too."""
    member: int | None = None
    """Of the private ones those in which this member sits."""
    officiates: bool = False
    """Whether he has the cases of the club as an official: but of matches in which ``sits``."""
    sits: int | None = None
    """Whose key it is; ``None``: a program's."""
    held: str | None = None
    """The SHA-256 of what he shows: perhaps a token of matches that he officiates in."""

    @property
    def official(self) -> str | None:
        """By what the matches are found in which he is an official; ``None``: there are none."""
        if self.club is not None:
            return of_club(self.club) if self.officiates else None
        return self.held


NOBODY = Sight()
"""Who shows nothing."""


def of_club(club: UUID) -> str:
    """What stands for all who officiate for a club by its keys."""
    return f"club {club}"


def member_of(club: UUID, member: int) -> str:
    """What stands for a member among the names of players."""
    return f"{club} M{member}"
