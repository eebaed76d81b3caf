"""The parts that the three games of Rödskägg share: facts, phases, and functions over the fields that they need."""
