"""What the sister games of Rödskägg share: facts, and plain functions of plain values.

Not a game and no base class: each sister still reads whole in its own package, and cites its own rules. A function
here that refuses is told the rule to cite.
"""
