"""Verifies, diagnoses, backs up and restores a store, for operators."""
