"""Loops and choices as ops of a program: their bodies, derivatives and batches."""
