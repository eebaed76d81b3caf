"""Operations on clubs, their members, keys, evenings and standings."""
