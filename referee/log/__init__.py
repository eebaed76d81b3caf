"""The proof of what is on record: a Merkle tree over all rows, and the notes that sign it. Pure, but for no clock."""
