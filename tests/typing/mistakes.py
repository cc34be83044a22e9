"""Mistakes that mypy and pyright must both find, at the lines that say so and nowhere else."""

from __future__ import annotations

import arraygrad as ag

x = ag.tensor([1.0, 2.0], requires_grad=True)
y = (x * x).sum()


def scaled(t: ag.Tensor, *, scale: float = 1.0) -> ag.Tensor:
    return scale * t


ag.sinn(x)  # mistake: sin
ag.linalg.inverse(x)  # mistake: inv, in a part that is loaded when it is used
ag.func.gradient(scaled)  # mistake: grad
ag.sum(x, dims=0)  # mistake: axis
ag.sum(x, axis="rows")  # mistake: a number
ag.sin(x, out=x)  # mistake: no such keyword
ag.sin("x")  # mistake: an array
ag.zeros((2, 2), requires_grad=True)  # mistake: requires_grad_()
ag.grad(y, x, retain=True)  # mistake: retain_graph
ag.grad(y, x, retain_graph="yes")  # mistake: a bool
ag.grad(y)  # mistake: with respect to what?
x.summ()  # mistake: sum
x.sum(dims=0)  # mistake: axis
x.add_(1, 2)  # mistake: one operand
x + "one"  # mistake: a number or an array
x.shape = (2, 1)  # mistake: reshape()
x.grad.sum()  # mistake: it may be None
y.backward(retain=True)  # mistake: retain_graph
ag.func.grad(scaled)(x, scal=2.0)  # mistake: scale
ag.func.vmap(scaled)(x, scal=2.0)  # mistake: scale
ag.func.vmap(scaled, axes=0)  # mistake: in_axes
ag.func.jacobian(scaled, chunks=2)  # mistake: chunk_size
ag.testing.gradcheck(scaled, x, epsilon=1e-6)  # mistake: eps
ag.special.softmax(x, dim=0)  # mistake: axis
ag.fft.fft(x, norm="none")  # mistake: "backward", "ortho" or "forward"
ag.optimize.minimize(scaled, x).succes  # mistake: success
ag.compat.torch.autograd.gradients(y, x)  # mistake: grad
with ag.no_grads():  # mistake: no_grad
    pass
