"""Documentation for client developers."""
