"""What every call does with requests, answers and errors."""
