"""Operations on knocks and cases: the officials' list, single cases, their files, and refused attempts."""
