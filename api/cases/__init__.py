"""Calls about what the officials hear: the docket, cases, their files, and what was tried."""
