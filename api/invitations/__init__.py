"""Operations that show and redeem invitations: one-time codes for a seat of a match, or for a key of a club."""
