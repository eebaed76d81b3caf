"""The running service: stores, projections, threads and the signer, shared by all calls."""
