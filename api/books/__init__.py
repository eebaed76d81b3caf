"""Operations that return the protocol, pot, settlement and deals of a match."""
