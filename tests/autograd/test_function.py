"""`Function`: derivatives of one's own, in torch's vocabulary. Rows are of torch_semantics."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.autograd import Function
from arraygrad.autograd.function import once_differentiable
from arraygrad.autograd.graph import saved_tensors_hooks
from arraygrad.errors import AnomalyError, GraphFreedError, RuleError, UnusedInputError
from arraygrad.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vmap

A = np.array([1.0, 2.0, 3.0])
M = np.arange(6.0).reshape(2, 3) + 1


def close(found: Any, expected: Any) -> None:
    found = found.detach() if isinstance(found, ag.Tensor) else found
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.fixture
def x() -> ag.Tensor:
    return ag.tensor(A, requires_grad=True)


def made(forward: Any, backward: Any, **others: Any) -> Any:
    """A Function by its static methods."""
    methods = {"forward": forward, "backward": backward, **others}
    return type("Made", (Function,), {k: staticmethod(v) for k, v in methods.items()})


class Cube(Function):
    """With the context in `forward`."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 3 * x**2


class CubeApart(Function):
    """With `setup_context`, and the output saved, too."""

    @staticmethod
    def forward(x: Any) -> Any:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0], output)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, y = ctx.saved_tensors
        return g * 3 * y / x


class CubeByVjp(Function):
    """With `vjp` as the name of `backward`, and a forward rule and a batching rule."""

    @staticmethod
    def forward(x: Any) -> Any:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def vjp(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 3 * x**2

    @staticmethod
    def jvp(ctx: Any, t: Any) -> Any:
        (x,) = ctx.saved_tensors
        return t * 3 * x**2

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        assert info.batch_size == x.shape[in_dims[0]]
        return CubeByVjp.apply(x), in_dims[0]


class Product(Function):
    """Two inputs, two outputs, and an argument that is no tensor."""

    @staticmethod
    def forward(x: Any, y: Any, power: int) -> Any:
        return x * y**power, x + y

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x, y, ctx.power = inputs
        ctx.save_for_backward(x, y)

    @staticmethod
    def backward(ctx: Any, g: Any, h: Any) -> Any:
        (x, y), n = ctx.saved_tensors, ctx.power
        return g * y**n + h, g * x * n * y ** (n - 1) + h, None


# --- values and gradients ------------------------------------------------------------------------


@pytest.mark.parametrize("cube", [Cube, CubeApart, CubeByVjp])
def test_both_forms(x: ag.Tensor, cube: Any) -> None:
    y = cube.apply(x)
    close(y, A**3)
    assert y.requires_grad
    assert y.grad_fn.name() == f"{cube.__name__}Backward"
    assert y.grad_fn.next_functions[0][0].variable is x
    close(ag.grad(y.sum(), x), 3 * A**2)
    cube.apply(x).sum().backward()
    close(x.grad, 3 * A**2)
    assert not cube.apply(ag.tensor(A)).requires_grad
    assert isinstance(cube.apply(A), np.ndarray)
    with ag.no_grad():
        assert not cube.apply(x).requires_grad


@pytest.mark.parametrize("cube", [Cube, CubeApart, CubeByVjp])
def test_higher_derivatives(x: ag.Tensor, cube: Any) -> None:
    first = ag.grad(cube.apply(x).sum(), x, create_graph=True)
    second = ag.grad(first.sum(), x, create_graph=True)
    close(second, 6 * A)
    close(ag.grad(second.sum(), x), [6, 6, 6])


@pytest.mark.parametrize("cube", [Cube, CubeApart, CubeByVjp])
def test_batched_gradients(x: ag.Tensor, cube: Any) -> None:
    found = ag.grad(cube.apply(x), x, np.eye(3), is_grads_batched=True, create_graph=True)
    close(found, np.diag(3 * A**2))
    close(ag.grad(found.sum(), x), 6 * A)


def test_several_inputs_and_outputs(x: ag.Tensor) -> None:
    y = ag.tensor(2 * A, requires_grad=True)
    product, total = Product.apply(x, y, 2)
    assert product.grad_fn is total.grad_fn
    assert (product.output_nr, total.output_nr) == (0, 1)
    a, b = ag.grad(product.sum(), [x, y], retain_graph=True)
    close(a, 4 * A**2)
    close(b, 4 * A**2)
    a, b = ag.grad([product, total], [x, y], [np.ones(3), A])
    close(a, 4 * A**2 + A)
    close(b, 4 * A**2 + A)


def test_arguments_and_results_that_are_no_tensors(x: ag.Tensor) -> None:
    function = made(lambda ctx, x, k, m: (x * k, m, None), lambda ctx, *gs: (gs[0] * 2, None, None))
    y, text, nothing = function.apply(x, 2, "text")
    assert (text, nothing) == ("text", None)
    close(ag.grad(y.sum(), x), [2, 2, 2])
    assert function.apply(3, 2, "text")[0] == 6


def test_keywords(x: ag.Tensor) -> None:  # row 374
    def forward(ctx: Any, x: Any, scale: float = 1.0) -> Any:
        ctx.scale = scale
        return x * scale

    function = made(forward, lambda ctx, g: (g * ctx.scale, None))
    close(ag.grad(function.apply(x, scale=3.0).sum(), x), [3, 3, 3])
    with pytest.raises(TypeError, match="keyword-only parameters \\['k'\\]"):
        made(lambda ctx, x, *, k: x, lambda ctx, g: g).apply(x, k=1)


def test_a_list_of_outputs_and_arrays_from_forward(x: ag.Tensor) -> None:
    function = made(lambda ctx, x: [x.detach().numpy() * 2], lambda ctx, g: [g * 2])
    (y,) = function.apply(x)
    assert isinstance(y, ag.Tensor)
    close(ag.grad(y.sum(), x), [2, 2, 2])


# --- what backward returns -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("backward", "expected"),
    [
        (lambda ctx, g: (g * 2, None, None), [2, 2, 2]),  # row 346
        (lambda ctx, g: [g * 2], [2, 2, 2]),
        (lambda ctx, g: ag.stack([g, g]), [2, 2, 2]),  # row 348
        (lambda ctx, g: g.sum().reshape(1, 1) * np.ones((2, 3)), [6, 6, 6]),
        (lambda ctx, g: np.ones(3), [1, 1, 1]),
        (lambda ctx, g: ag.tensor([1, 2, 3]), [1, 2, 3]),
        (lambda ctx, g: g * (2 + 5j), [2, 2, 2]),
    ],
)
def test_what_is_accepted(x: ag.Tensor, backward: Any, expected: Any) -> None:
    gradient = ag.grad(made(lambda ctx, x: x * 2, backward).apply(x).sum(), x)
    close(gradient, expected)
    assert gradient.dtype == np.float64


def test_gradients_are_cast() -> None:  # row 349
    x = ag.tensor(A.astype(np.float32), requires_grad=True)
    function = made(lambda ctx, x: x * 2, lambda ctx, g: ag.tensor(np.ones(3)))
    assert ag.grad(function.apply(x).sum(), x).dtype == np.float32


@pytest.mark.parametrize(
    ("backward", "message"),
    [
        (lambda ctx, g: g, "MadeBackward returned 1 gradients for 2 arguments"),  # row 345
        (lambda ctx, g: (g, None, g), "returned 3 gradients for 2 arguments"),
        (lambda ctx, g: (g[:2], None), r"shape \(2,\) for an input of shape \(3,\)"),  # row 347
        (lambda ctx, g: (1.0, None), "gave float where an array was expected"),
        (lambda ctx, g: ("text", None), "gave str where an array was expected"),
        (lambda ctx, g: (g, "text"), "returned str as gradient 1"),
    ],
)
def test_what_is_refused(x: ag.Tensor, backward: Any, message: str) -> None:
    y = made(lambda ctx, x, k: x * k, backward).apply(x, 2)
    with pytest.raises(RuleError, match=message):
        ag.grad(y.sum(), x)


def test_none_for_an_input_that_was_asked_for(x: ag.Tensor) -> None:
    function = made(lambda ctx, x: x * 2, lambda ctx, g: None)
    with pytest.raises(UnusedInputError):
        ag.grad(function.apply(x).sum(), x)
    assert ag.grad(function.apply(x).sum(), x, allow_unused=True) is None


def test_no_backward(x: ag.Tensor) -> None:  # row 351
    function = type("Forward", (Function,), {"forward": staticmethod(lambda ctx, x: x * 2)})
    with pytest.raises(NotImplementedError, match="must define backward"):
        ag.grad(function.apply(x).sum(), x)  # type: ignore[attr-defined]


@pytest.mark.parametrize("args", [(), (1,)])
def test_instances_are_refused(args: Any) -> None:  # row 352
    with pytest.raises(TypeError, match="Cube is not instantiated"):
        Cube(*args)


# --- the context ---------------------------------------------------------------------------------


def test_saved_tensors_are_in_their_places(x: ag.Tensor) -> None:
    y = CubeApart.apply(x)
    saved_x, saved_y = y.grad_fn.saved_tensors
    assert saved_x.requires_grad
    assert saved_x.is_leaf
    assert saved_y.grad_fn is y.grad_fn
    close(saved_y, A**3)


def test_saving_other_things(x: ag.Tensor) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x.detach() * 2, None)
        assert ctx.saved_tensors[1] is None
        ctx.note = {"any": "thing"}
        return x * 2

    def backward(ctx: Any, g: Any) -> Any:
        factor, nothing = ctx.saved_tensors
        assert nothing is None
        assert ctx.note == {"any": "thing"}
        return g * factor

    close(ag.grad(made(forward, backward).apply(x).sum(), x), 2 * A)


def test_only_tensors_can_be_saved(x: ag.Tensor) -> None:  # row 350
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x, 3)
        return x

    with pytest.raises(TypeError, match="argument 1 is of type int"):
        made(forward, lambda ctx, g: g).apply(x)


def test_saved_tensors_after_freeing(x: ag.Tensor) -> None:
    y = Cube.apply(x)
    node = y.grad_fn
    ag.grad(y.sum(), x, retain_graph=True)
    ag.grad(y.sum(), x)
    for again in (lambda: ag.grad(y.sum(), x), lambda: node.saved_tensors):
        with pytest.raises(GraphFreedError, match="retain_graph=True"):
            again()


def test_mark_non_differentiable(x: ag.Tensor) -> None:  # row 353
    seen: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        order = ag.argsort(x)
        rounded = ag.round(x)
        ctx.mark_non_differentiable(rounded)
        return x * 2, order, rounded

    def backward(ctx: Any, *gs: Any) -> Any:
        seen.extend(gs)
        return gs[0] * 2

    outputs = made(forward, backward).apply(x)
    assert [o.requires_grad for o in outputs] == [True, False, False]
    close(ag.grad(outputs[0].sum(), x), [2, 2, 2])
    assert [g.tolist() for g in seen] == [[1, 1, 1], [0, 0, 0], [0, 0, 0]]


def test_materialized_gradients(x: ag.Tensor) -> None:  # rows 356, 357
    seen: list[Any] = []

    def forward(ctx: Any, x: Any, materialize: bool) -> Any:
        ctx.set_materialize_grads(materialize)
        return x * 2, x[:2] * 3

    def backward(ctx: Any, g: Any, h: Any) -> Any:
        seen.append(h)
        return g * 2, None

    function = made(forward, backward)
    ag.grad(function.apply(x, False)[0].sum(), x)
    ag.grad(function.apply(x, True)[0].sum(), x)
    assert seen[0] is None
    assert seen[1].tolist() == [0, 0]


def test_needs_input_grad_is_what_was_asked_for(x: ag.Tensor) -> None:  # row 358
    y, z = ag.tensor(A, requires_grad=True), ag.tensor(A)
    seen: list[Any] = []

    def forward(ctx: Any, *args: Any) -> Any:
        seen.append(ctx.needs_input_grad)
        return args[0] * args[1] * args[2]

    def backward(ctx: Any, g: Any) -> Any:
        seen.append(ctx.needs_input_grad)
        return g, g, None, None

    function = made(forward, backward)
    ag.grad(function.apply(x, y, z, 5).sum(), x)
    ag.grad(function.apply(x, y, z, 5).sum(), [x, y])
    function.apply(x, y, z, 5).sum().backward()
    both = (True, True, False, False)
    assert seen == [both, (True, False, False, False), both, both, both, both]


# --- in place ------------------------------------------------------------------------------------


def double_(ctx: Any, x: Any) -> Any:
    x.array[...] *= 2
    ctx.mark_dirty(x)
    return x


def test_mark_dirty(x: ag.Tensor) -> None:
    function = made(double_, lambda ctx, g: g * 2)
    y = x * 1
    z = function.apply(y)
    assert z is y
    close(z, 2 * A)
    close(ag.grad((z * z).sum(), x), 8 * A)
    plain = ag.tensor(A)
    assert function.apply(plain) is plain


def test_mark_dirty_on_a_leaf(x: ag.Tensor) -> None:  # row 354
    with pytest.raises(RuntimeError, match=r"leaf .* clone\(\)"):
        made(double_, lambda ctx, g: g * 2).apply(x)


def test_what_is_dirty_must_be_returned(x: ag.Tensor) -> None:
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        ctx.mark_dirty(y)
        return x * 2

    with pytest.raises(RuntimeError, match="dirty that forward did not return"):
        made(forward, lambda ctx, g: (g, None)).apply(x, x * 1)


def test_returning_an_input_as_it_is(x: ag.Tensor) -> None:  # row 355
    y = made(lambda ctx, x: x, lambda ctx, g: g * 5).apply(x)
    assert y is not x
    close(ag.grad(y.sum(), x), [5, 5, 5])


# --- once_differentiable -------------------------------------------------------------------------


class Once(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        assert not ag.is_grad_enabled()
        (x,) = ctx.saved_tensors
        return g * 2 * x


def test_once_differentiable(x: ag.Tensor) -> None:  # rows 373, 382
    close(ag.grad(Once.apply(x).sum(), x), 2 * A)
    first = ag.grad(Once.apply(x).sum(), x, create_graph=True)
    close(first, 2 * A)
    assert first.requires_grad
    with pytest.raises(RuntimeError, match="@once_differentiable"):
        ag.grad(first.sum(), x)
    with pytest.raises(RuntimeError, match="@once_differentiable"):
        ag.grad(Once.apply(x).sum(), x, create_graph=True).sum().backward()


# --- hooks and anomaly detection -----------------------------------------------------------------


def test_saved_tensors_hooks(x: ag.Tensor) -> None:
    calls: list[str] = []

    def pack(t: Any) -> Any:
        calls.append("pack")
        return t.detach().numpy() * 10

    def unpack(stored: Any) -> Any:
        calls.append("unpack")
        return ag.tensor(stored / 10)

    with saved_tensors_hooks(pack, unpack):
        y = CubeApart.apply(x)
    assert calls == ["pack", "pack"]
    close(ag.grad(y.sum(), x, retain_graph=True), 3 * A**2)
    assert calls == ["pack", "pack", "unpack", "unpack"]
    first = ag.grad(y.sum(), x, create_graph=True)
    close(ag.grad(first.sum(), x), 6 * A)


def test_anomaly_detection(x: ag.Tensor) -> None:
    def fails(ctx: Any, g: Any) -> Any:
        raise ZeroDivisionError("in backward")

    with ag.autograd.detect_anomaly():
        y = made(lambda ctx, x: x * 2, fails).apply(x)
        with pytest.raises(ZeroDivisionError) as caught:
            ag.grad(y.sum(), x)
        assert "test_function.py" in caught.value.__notes__[0]
        assert "MadeBackward was recorded here" in caught.value.__notes__[0]
        y = made(lambda ctx, x: x * 2, lambda ctx, g: g * np.nan).apply(x)
        with pytest.raises(AnomalyError, match=r"MadeBackward returned NaN .* input 0"):
            ag.grad(y.sum(), x)


def test_hooks_on_the_node(x: ag.Tensor) -> None:
    y = Cube.apply(x)
    y.grad_fn.register_prehook(lambda gs: (gs[0] * 2,))
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 5,))
    close(ag.grad(y.sum(), x), 30 * A**2)


# --- memory, length and depth --------------------------------------------------------------------


@pytest.mark.parametrize("cube", [Cube, CubeApart, CubeByVjp])
def test_no_reference_cycles(cube: Any) -> None:
    gc.collect()
    gc.disable()
    try:
        x = ag.tensor(A, requires_grad=True)
        y = cube.apply(x)
        ag.grad(y.sum(), x, create_graph=True)
        gone = [weakref.ref(o) for o in (x, y, y.grad_fn)]
        del x, y
        assert [ref() for ref in gone] == [None, None, None]
    finally:
        gc.enable()


def test_attributes_make_no_cycle(x: ag.Tensor) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.x, ctx.y = x, x * 2
        return ctx.y, x * 3

    gc.collect()
    gc.disable()
    try:
        outputs = made(forward, lambda ctx, g, h: g).apply(x)
        gone = weakref.ref(outputs[0].grad_fn)
        del outputs
        assert gone() is None
    finally:
        gc.enable()


def test_a_long_chain() -> None:  # row 391
    same = made(lambda ctx, x: x * 1, lambda ctx, g: g)
    x = ag.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = same.apply(y)
    assert ag.grad(y, x).item() == 1
    del y  # without recursion


class Reentrant(Function):
    """Its backward differentiates another one of it, so many deep."""

    @staticmethod
    def forward(ctx: Any, x: Any, depth: int) -> Any:
        ctx.depth = depth
        ctx.save_for_backward(x)
        return x * 1

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        if ctx.depth == 0:
            return g, None
        (x,) = ctx.saved_tensors
        with ag.enable_grad():
            leaf = x.detach().requires_grad_()
            return ag.grad(Reentrant.apply(leaf, ctx.depth - 1), leaf) * g * 0.99, None


@pytest.mark.parametrize("depth", [0, 1, 200])
def test_grad_inside_backward(depth: int) -> None:  # row 392
    x = ag.tensor(1.0, requires_grad=True)
    assert ag.grad(Reentrant.apply(x, depth), x).item() == pytest.approx(0.99**depth)
    assert ag.is_grad_enabled()


def test_an_error_deep_inside_leaves_the_modes_as_they_were(x: ag.Tensor) -> None:
    def endless(ctx: Any, g: Any) -> Any:
        def again() -> Any:
            with ag.enable_grad(), ag.no_grad():
                return again()

        return again()

    with pytest.raises(RecursionError):
        ag.grad(made(lambda ctx, x: x * 2, endless).apply(x).sum(), x)
    assert ag.is_grad_enabled()
    close(ag.grad((x * x).sum(), x), 2 * A)


# --- in transforms -------------------------------------------------------------------------------


@pytest.mark.parametrize("cube", [CubeApart, CubeByVjp])
def test_in_transforms(cube: Any) -> None:
    f = cube.apply

    def total(x: Any) -> Any:
        return f(x).sum()

    close(grad(total)(A), 3 * A**2)
    close(grad(lambda x: grad(total)(x).sum())(A), 6 * A)
    close(grad(grad(grad(f)))(2.0), 6)
    close(jvp(f, (A,), (A,))[1], 3 * A**3)
    close(jvp(lambda x: jvp(f, (x,), (A,))[1], (A,), (A,))[1], 6 * A**3)
    close(linearize(f, A)[1](A), 3 * A**3)
    close(vmap(f, in_axes=1, out_axes=1)(M), M**3)
    close(vmap(vmap(f))(M), M**3)
    close(vmap(grad(total))(M), 3 * M**2)
    close(grad(lambda m: vmap(f)(m).sum())(M), 3 * M**2)
    close(hessian(total)(A), np.diag(6 * A))
    close(vmap(hessian(total))(M), [np.diag(6 * row) for row in M])
    close(jvp(vmap(f), (M,), (M,))[1], 3 * M**3)
    close(vmap(lambda x: jvp(f, (x,), (x,))[1])(M), 3 * M**3)
    for outer in (jacrev, jacfwd):
        for inner in (jacrev, jacfwd):
            found = outer(inner(f))(A)
            close(np.einsum("iii->i", found), 6 * A)


def test_several_inputs_in_transforms() -> None:
    def f(x: Any, y: Any) -> Any:
        product, total = Product.apply(x, y, 3)
        return product * total

    def expected(x: Any, y: Any) -> Any:
        return (x * y**3) * (x + y)

    x, y = A / 3, A / 2
    for both in ((0, 1), (1,), (0,)):
        for jac in (jacrev, jacfwd):
            for a, b in zip(jac(f, both)(x, y), jac(expected, both)(x, y), strict=True):
                close(a, b)
    close(vmap(f, (0, None))(M, y), np.stack([expected(row, y) for row in M]))
    mixed = vmap(grad(lambda y, x: f(x, y).sum()), (None, 0))(y, M)
    close(mixed, vmap(grad(lambda y, x: expected(x, y).sum()), (None, 0))(y, M))
    shared = grad(lambda y: vmap(lambda row: f(row, y))(M).sum())(y)
    close(shared, grad(lambda y: vmap(lambda row: expected(row, y))(M).sum())(y))
    _, tangent = jvp(lambda y: f(x, y), (y,), (A,))  # a tangent for one of two
    close(tangent, jvp(lambda y: expected(x, y), (y,), (A,))[1])


def test_the_context_in_forward_does_not_nest(x: ag.Tensor) -> None:  # row 375
    close(grad(lambda x: Cube.apply(x).sum())(A), 3 * A**2)  # one level is fine
    for call in (
        lambda: grad(grad(Cube.apply))(2.0),
        lambda: vmap(Cube.apply)(M),
        lambda: jvp(lambda x: jvp(Cube.apply, (x,), (x,))[1], (A,), (A,)),
    ):
        with pytest.raises(RuntimeError, match="setup_context"):
            call()


def test_the_context_in_forward_has_a_forward_rule() -> None:
    class Scaled(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float) -> Any:
            ctx.save_for_backward(x)
            ctx.save_for_forward(x, x * x)
            ctx.factor = factor
            whole = ag.round(x)
            ctx.mark_non_differentiable(whole)
            return factor * x * x, whole

        @staticmethod
        def backward(ctx: Any, g: Any, _: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * ctx.factor * g * x, None

        @staticmethod
        def jvp(ctx: Any, t: Any, _: Any) -> Any:
            x, square = ctx.saved_tensors
            return 2 * ctx.factor * t * x + 0 * square, None

    _, (tangent, constant) = jvp(lambda x: Scaled.apply(x, 3.0), (A,), (np.ones(3),))
    close(tangent, 6 * A)
    close(constant, 0 * A)
    x = ag.tensor(A, requires_grad=True)  # the tangent can be differentiated
    with ag.autograd.forward_ad.dual_level():
        dual = ag.autograd.forward_ad.make_dual(x, ag.tensor(np.ones(3)))
        pushed = ag.autograd.forward_ad.unpack_dual(Scaled.apply(dual, 3.0)[0]).tangent
    close(ag.grad(pushed.sum(), x), 6 * np.ones(3))
    close(jvp(Cube.apply, (A,), (np.ones(3),))[1], 3 * A**2)  # by transposing backward


def test_saved_tensors_that_are_cleared_when_they_are_read(x: ag.Tensor) -> None:
    class Once(Cube):
        clear_saved_tensors_on_access = True

    y = Once.apply(x).sum()
    close(ag.grad(y, x, retain_graph=True), 3 * A**2)
    with pytest.raises(ag.errors.GraphFreedError):
        ag.grad(y, x)


def test_gradients_in_a_box(x: ag.Tensor) -> None:
    class Boxed(Function):
        boxed_grads_call = True

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return 2 * x, 3 * x

        @staticmethod
        def backward(ctx: Any, grads: Any) -> Any:
            assert type(grads) is list
            first, second = 2 * grads.pop(0), 3 * grads.pop()
            assert grads == []
            return first + second

    a, b = Boxed.apply(x)
    close(ag.grad((a + b).sum(), x), 5 * np.ones(3))


def test_forward_rules_and_constants() -> None:
    class Rounded(Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x**2, ag.round(x)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.mark_non_differentiable(output[1])
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return 2 * g * ctx.saved_tensors[0]

    _, (tangent, constant) = jvp(Rounded.apply, (A,), (A,))
    close(tangent, 2 * A**2)
    close(constant, 0 * A)
    close(hessian(lambda x: Rounded.apply(x)[0].sum())(A), 2 * np.eye(3))
    close(vmap(grad(lambda x: Rounded.apply(x)[0].sum()))(M), 2 * M)


def test_batching_rules_with_other_axes() -> None:
    class Outer(Function):
        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x[:, None] * y

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y = ctx.saved_tensors
            return g @ y, x @ g

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any, y: Any) -> Any:
            seen.append((info.batch_size, in_dims))
            assert in_dims[1] is None
            return ag.einsum("bi,j->ijb", ag.moveaxis(x, in_dims[0], 0), y), 2

    seen: list[Any] = []
    expected = np.einsum("bi,j->bij", M, A)
    # As in PyTorch: arguments have the axis where it was given, results of ops have it in front.
    for axis, dim in ((1, 1), (-1, 1)):
        close(vmap(Outer.apply, (axis, None))(M.T, A), expected)
        assert seen.pop() == (2, (dim, None))
    close(vmap(Outer.apply, (0, None))(M, A), expected)
    close(vmap(lambda x, y: Outer.apply(x * 1, y), (1, None))(M.T, A), expected)
    close(vmap(lambda x, y: Outer.apply(x * 1, y), (1, None), chunk_size=1)(M.T, A), expected)
    assert seen == [(2, (0, None)), (2, (0, None)), (1, (0, None)), (1, (0, None))]
    seen.clear()
    by_sum = jacrev(lambda x: vmap(Outer.apply, (1, None))(x, A).sum())(M.T)
    close(by_sum, np.full(M.T.shape, A.sum()))
    assert {dims for _, dims in seen} == {(1, None)}


def test_custom_and_functional_tensors_mix(x: ag.Tensor) -> None:
    w = ag.tensor(2 * A, requires_grad=True)
    found = grad(lambda x: CubeApart.apply(x * w).sum())(A)
    close(found, 3 * (A * 2 * A) ** 2 * 2 * A)
    # 3 x^2 w^3 in w
    close(ag.grad(found.sum(), w), 9 * A**2 * (2 * A) ** 2)


class Careful(Function):
    """Computes only what `needs_input_grad` says; has `vjp` and no `backward`."""

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return x * y, "text"

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def vjp(ctx: Any, g: Any, _: Any) -> Any:
        x, y = ctx.saved_tensors
        first, second = ctx.needs_input_grad
        return g * y if first else None, g * x if second else None


def test_needs_input_grad_in_transforms() -> None:
    def f(x: Any, y: Any) -> Any:
        product, text = Careful.apply(x, y)
        assert text == "text"
        return product

    close(jvp(f, (A, 2 * A), (A, A))[1], 3 * A * A)
    close(jvp(lambda y: f(A, y), (A,), (A,))[1], A * A)
    close(vmap(grad(lambda x, y: f(x, y).sum(), 1), (0, None))(M, A), M)
    close(grad(lambda y: vmap(lambda row: f(row, y))(M).sum())(A), M.sum(0))
    close(jvp(lambda m: vmap(lambda row: f(row, A))(m), (M,), (M,))[1], M * A)
    close(hessian(lambda x: (f(x, x) * x).sum())(A), np.diag(6 * A))


class OnlyForward(Function):
    """A forward rule, and no reverse one."""

    @staticmethod
    def forward(x: Any, k: float) -> Any:
        return x**3 * k

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_forward(inputs[0])
        ctx.k = inputs[1]

    @staticmethod
    def jvp(ctx: Any, t: Any, _: Any) -> Any:
        return 3 * ctx.saved_tensors[0] ** 2 * t * ctx.k


def test_a_forward_rule_alone() -> None:
    def f(x: Any) -> Any:
        return OnlyForward.apply(x, 2.0)

    close(jvp(f, (A,), (A,))[1], 6 * A**3)
    close(jacfwd(jacfwd(f))(A).sum(axis=(1, 2)), 12 * A)
    close(vmap(jacfwd(f))(M), [np.diag(6 * row**2) for row in M])
    close(jvp(vmap(f), (M,), (M,))[1], 6 * M**3)
    with pytest.raises(NotImplementedError, match="must define backward"):
        grad(lambda x: f(x).sum())(A)


@pytest.mark.parametrize(
    ("tangent", "message"),
    [
        (lambda ctx, t: (t, t), "Made.jvp returned 2 tangents for 1 outputs"),
        (lambda ctx, t: t[:2], r"returned one of shape \(2,\) as the tangent of output 0"),
        (lambda ctx, t: 1.0, "returned float as the tangent of output 0"),
    ],
)
def test_wrong_tangents_are_refused(tangent: Any, message: str) -> None:
    function = made(
        lambda x: x * 2, lambda ctx, g: g, setup_context=lambda ctx, i, o: None, jvp=tangent
    )
    with pytest.raises(RuleError, match=message):
        jvp(function.apply, (A,), (A,))


class Scaled(Function):
    """Saves nothing, and has a default."""

    @staticmethod
    def forward(x: Any, factor: float = 3.0) -> Any:
        return x * factor

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _, ctx.factor = inputs

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.factor, None


def test_defaults_are_inputs() -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    assert ag.grad(Scaled.apply(x).sum(), x).tolist() == [3.0, 3.0]
    assert ag.grad(Scaled.apply(x, 2.0).sum(), x).tolist() == [2.0, 2.0]
    assert ag.grad(Scaled.apply(x, factor=4.0).sum(), x).tolist() == [4.0, 4.0]
    assert ag.func.vmap(ag.func.grad(Scaled.apply))(np.ones(2)).tolist() == [3.0, 3.0]


def test_what_saved_nothing_can_be_swept_twice() -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = Scaled.apply(x)
    for _ in range(2):
        y.backward(ag.ones_like(y))
    assert x.grad is not None
    assert x.grad.tolist() == [6.0, 6.0]


def test_an_input_that_is_returned_can_be_reshaped() -> None:
    class Same(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 2 * g

    x = ag.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = Same.apply(x).reshape(-1)
    close(ag.grad(y[1], x, retain_graph=True), [[0.0, 2.0], [0.0, 0.0]])
    close(ag.grad(Same.apply(x).mT.reshape(-1)[1], x), [[0.0, 0.0], [2.0, 0.0]])
