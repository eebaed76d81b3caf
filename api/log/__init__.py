"""The calls for the signed log: checkpoints, proofs and bundles."""
