"""The sweep: from cotangents of outputs to cotangents of whatever was asked for."""
