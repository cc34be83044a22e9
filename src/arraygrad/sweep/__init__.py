"""The reverse sweep, from cotangents of outputs to cotangents of inputs. `autograd` calls it."""
