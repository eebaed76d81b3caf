"""``python -m tests.demo``: a scripted match over HTTP, its protocol, and the replay of a disputed moment.

Uses only the standard library and HTTP, as any client could. Every answer is compared with the sheet; the first
difference ends the demo with exit code 1.
"""
