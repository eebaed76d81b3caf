"""The books of a club: what money acts are decided on, and what the treasurer, the auditor and members read."""
