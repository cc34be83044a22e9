"""What everything else stands on: the array base type, levels, nodes, modes, memory."""
