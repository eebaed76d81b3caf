"""Operations on clubs: found, act, and read the members, keys, evenings and standings."""
