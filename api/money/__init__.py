"""The calls for a club's books, and the values of the books that decide money acts."""
