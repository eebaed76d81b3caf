"""Operations on matches: open, list, read, act, and read the events."""
