"""Which values of the core program are computed together, and the instructions of each kernel."""
