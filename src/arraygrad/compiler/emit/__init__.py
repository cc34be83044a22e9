"""From instructions to LLVM's text: nests of loops, lines, tiles of matrix products."""
