"""What is on record of the officials' proceedings, by part: facts that games know nothing of."""
