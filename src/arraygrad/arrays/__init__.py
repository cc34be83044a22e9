"""The array types that carry a transform other than recording: batched and dual arrays."""
