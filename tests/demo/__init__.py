"""``python -m tests.demo``: a scripted match over HTTP, its protocol, and the replay of a disputed moment.

Standard library only, and nothing of the service itself: what any client could do. Every answer is held against the
sheet, and the first that differs ends the demo with exit code 1.
"""
