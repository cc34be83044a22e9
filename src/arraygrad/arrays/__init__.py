"""The array types: `Tensor`, and one type for each other transform. Their ops are in `ops`."""
