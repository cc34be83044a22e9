"""Programs of ops: traced arrays, nodes, and what is known of a program without running it."""
