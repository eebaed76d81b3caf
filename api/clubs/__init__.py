"""The calls to found a club, to send its acts, and to read its members, keys, evenings and standings."""
