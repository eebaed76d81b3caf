"""The audit of a club's books: all that they say, reckoned anew from the rows of the log and held against them.

Nothing that a book says is taken for true. The rows are read in their order (:mod:`projections.audit.reading`) and
entered into books of the audit's own; then what the club's books say is compared (:mod:`projections.audit.books`,
:mod:`projections.audit.tree`). What each match comes to the referee reckons again from its protocol
(:mod:`projections.audit.settled`).
"""
