"""The operators' commands of ``knacka`` that change what is stored, and what they take on the command line."""
