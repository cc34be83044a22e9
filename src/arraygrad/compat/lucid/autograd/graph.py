"""`lucid.autograd.graph`: what is kept for the gradient, and where."""

from ....autograd.graph import allow_mutation_on_saved_tensors, save_on_cpu, saved_tensors_hooks

__all__ = ["allow_mutation_on_saved_tensors", "save_on_cpu", "saved_tensors_hooks"]
