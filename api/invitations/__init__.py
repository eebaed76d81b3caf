"""Operations that show and redeem invitations."""
