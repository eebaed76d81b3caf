"""The calls about clubs: founding one, what is done in it, its members, keys and evenings."""
