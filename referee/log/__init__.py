"""The log: a Merkle tree over all rows, and the signed notes over its root. Pure, and without a clock."""
