"""The commands of ``knacka`` that change the store or make keys, with their arguments."""
