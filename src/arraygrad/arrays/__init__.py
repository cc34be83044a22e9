"""The array types that carry a transform other than recording: batched, dual and others."""
