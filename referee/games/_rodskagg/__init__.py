"""The parts that the three games of Rödskägg share: events, phases, and functions."""
