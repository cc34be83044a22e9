"""What the search for doctests leaves out: programs for type checkers."""

collect_ignore = ["mistakes.py", "program.py"]
