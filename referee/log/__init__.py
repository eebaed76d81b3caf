"""The log: a Merkle tree over all rows, and signed notes of its root."""
