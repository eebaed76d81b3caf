"""Events, phases and functions that the three Rödskägg games share."""
