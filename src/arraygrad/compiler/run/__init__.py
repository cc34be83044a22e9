"""Programs that run: steps, memory, threads, native entry points and native loops."""
