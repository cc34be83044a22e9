"""PyTorch's functions on tensors, one family a file."""
