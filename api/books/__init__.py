"""Operations on the books of a match: protocol, pot, settlement, and the records of deals."""
