"""Operations on knocks, cases, files of cases, and refused attempts."""
