"""Requests, answers and errors of all calls."""
