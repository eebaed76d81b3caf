"""Events of the officials, by procedure. Games do not use them."""
