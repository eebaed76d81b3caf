"""Officials: cases, rulings, corrections and take-backs, in a layer above the games."""
