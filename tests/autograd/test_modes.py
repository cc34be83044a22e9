"""Recording switched off and on: for a block, a function, a thread, a task."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

import arraygrad as ag
from arraygrad.autograd import is_inference_mode_enabled


@pytest.fixture(autouse=True)
def modes_stay_as_they_were() -> Iterator[None]:
    assert state() == (True, False)
    yield
    assert state() == (True, False)


def state() -> tuple[bool, bool]:
    return ag.is_grad_enabled(), is_inference_mode_enabled()


def records() -> bool:
    return bool((ag.tensor(1.0, requires_grad=True) * 2).requires_grad)


# --- blocks --------------------------------------------------------------------------------------


def test_no_grad(x: ag.Tensor) -> None:
    with ag.no_grad():
        y = x * 2
        assert not ag.is_grad_enabled()
    assert not y.requires_grad
    assert y.is_leaf
    assert y.grad_fn is None
    assert (x * 2).requires_grad


def test_nesting() -> None:
    with ag.no_grad():
        with ag.enable_grad():
            assert records()
            with ag.no_grad():
                assert not records()
            assert records()
        assert not records()
        with ag.no_grad():
            assert not records()
        assert not records()
    assert records()


def test_one_object_may_be_entered_again_and_within_itself() -> None:
    off = ag.no_grad()
    for _ in range(2):
        with off, ag.enable_grad(), off:
            assert not records()
        assert records()


def test_blocks_left_in_the_wrong_order_end_where_they_began() -> None:
    a, b = ag.no_grad(), ag.no_grad()
    a.__enter__()
    b.__enter__()
    a.__exit__(None, None, None)
    b.__exit__(None, None, None)
    assert records()


@pytest.mark.parametrize(
    "mode",
    [ag.no_grad, ag.enable_grad, ag.inference_mode, lambda: ag.set_grad_enabled(False)],
)
def test_an_exception_restores_the_mode(mode: Callable[[], Any]) -> None:
    with pytest.raises(KeyError), mode():
        raise KeyError
    assert state() == (True, False)


def test_differentiating_under_no_grad(x: ag.Tensor) -> None:
    y = (x**2).sum()
    with ag.no_grad():
        assert ag.grad(y, x).tolist() == [2, 4, 6]


def test_create_graph_under_no_grad_records(x: ag.Tensor) -> None:
    y = (x**3).sum()
    with ag.no_grad():
        g = ag.grad(y, x, create_graph=True)
        assert not ag.is_grad_enabled()
        again = ag.grad(y, iter([x, x]), create_graph=True)
    assert g.tolist() == [3, 12, 27]
    assert ag.grad(g.sum(), x).tolist() == [6, 12, 18]
    assert ag.grad(again[1].sum(), x).tolist() == [6, 12, 18]


def test_a_graph_made_by_enable_grad_inside_no_grad(x: ag.Tensor) -> None:
    with ag.no_grad():
        with ag.enable_grad():
            y = (x**2).sum()
        assert ag.grad(y, x).tolist() == [2, 4, 6]


def test_new_leaves_may_require_gradients_under_no_grad() -> None:
    with ag.no_grad():
        x = ag.tensor(1.0, requires_grad=True)
        assert x.requires_grad
        assert ag.tensor(1.0).requires_grad_().requires_grad
    assert (x * 2).requires_grad


def test_set_grad_enabled_as_a_function() -> None:
    ag.set_grad_enabled(False)
    try:
        assert not records()
        with ag.enable_grad():
            assert records()
        assert not records()
    finally:
        ag.set_grad_enabled(True)
    assert records()


@pytest.mark.parametrize("mode", [True, False])
def test_set_grad_enabled_as_a_block(mode: bool) -> None:
    with ag.set_grad_enabled(mode):
        assert records() is mode
    assert records()
    with ag.no_grad():
        with ag.set_grad_enabled(mode):
            assert records() is mode
        assert not records()


# --- decorators ----------------------------------------------------------------------------------


def test_decorated_functions() -> None:
    @ag.no_grad()
    def called(a: int, *, b: int) -> tuple[int, bool]:
        """What it does."""
        return a + b, records()

    @ag.no_grad
    def bare() -> bool:
        return records()

    @ag.enable_grad()
    def on() -> bool:
        return records()

    @ag.set_grad_enabled(False)
    def off() -> bool:
        return records()

    @ag.inference_mode
    def inference() -> tuple[bool, bool]:
        return state()

    @ag.inference_mode()
    def inference_called() -> tuple[bool, bool]:
        return state()

    assert records()  # decorating has changed nothing
    assert called(1, b=2) == (3, False)
    assert called.__name__ == "called"
    assert called.__doc__ == "What it does."
    assert bare() is False
    assert off() is False
    assert inference() == inference_called() == (False, True)
    with ag.no_grad():
        assert on() is True
        assert not records()


def test_a_decorated_function_may_call_itself() -> None:
    @ag.no_grad()
    def down(n: int) -> list[bool]:
        with ag.enable_grad():
            inner = records()
        return [inner, records(), *(down(n - 1) if n else [])]

    assert down(3) == [True, False] * 4


def test_a_decorated_function_that_raises() -> None:
    @ag.no_grad()
    def fail() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        fail()


def test_decorated_methods() -> None:
    class Model:
        @ag.no_grad
        def predict(self) -> bool:
            return records()

        @staticmethod
        @ag.no_grad()
        def static() -> bool:
            return records()

    assert not Model().predict()
    assert not Model.static()


@pytest.mark.parametrize(
    "decorator", [ag.no_grad, ag.inference_mode, ag.no_grad(), ag.enable_grad()]
)
def test_classes_and_values_cannot_be_decorated(decorator: Any) -> None:
    with pytest.raises(TypeError, match="decorates functions"):

        @decorator
        class Model:
            pass


def test_what_is_no_function_cannot_be_decorated() -> None:
    for decorator in (ag.no_grad, ag.no_grad()):
        with pytest.raises(TypeError, match="no_grad decorates functions, not int"):
            decorator(1)


# --- generators ----------------------------------------------------------------------------------


def test_a_generator_has_its_mode_and_the_caller_another() -> None:
    @ag.no_grad()
    def steps() -> Iterator[bool]:
        yield records()
        yield records()

    seen = []
    for inside in steps():
        seen += [inside, records()]
    assert seen == [False, True, False, True]


def test_a_block_around_a_yield_stays_in_the_generator() -> None:
    @ag.no_grad()
    def steps() -> Iterator[bool]:
        with ag.enable_grad():
            yield records()
            yield records()
        yield records()

    seen = []
    for inside in steps():
        seen += [inside, records()]
    assert seen == [True, True, True, True, False, True]

    @ag.enable_grad()
    def other() -> Iterator[bool]:
        with ag.no_grad():
            yield records()

    generator = other()
    assert next(generator) is False
    assert records()
    generator.close()  # type: ignore[attr-defined]


def test_sending_throwing_and_returning() -> None:
    log: list[Any] = []

    @ag.no_grad()
    def steps() -> Any:
        sent = "nothing"
        while sent != "stop":
            try:
                sent = yield records()
                log.append((sent, records()))
            except ValueError as error:
                log.append((str(error), records()))
        return "returned"

    generator = steps()
    assert next(generator) is False
    assert generator.send("a") is False
    assert generator.throw(ValueError("thrown")) is False
    assert records()
    with pytest.raises(StopIteration) as stop:
        generator.send("stop")
    assert stop.value.value == "returned"
    assert log == [("a", False), ("thrown", False), ("stop", False)]


def test_an_exception_out_of_a_generator() -> None:
    @ag.no_grad()
    def steps() -> Iterator[int]:
        yield 1
        raise KeyError("inside")

    generator = steps()
    next(generator)
    with pytest.raises(KeyError, match="inside"):
        next(generator)
    generator = steps()
    next(generator)
    with pytest.raises(LookupError, match="outside"):
        generator.throw(LookupError("outside"))  # type: ignore[attr-defined]


def test_closing_a_generator_runs_its_cleanup_in_its_mode() -> None:
    seen: list[bool] = []

    @ag.no_grad()
    def steps() -> Iterator[int]:
        try:
            yield 1
        finally:
            seen.append(records())

    generator = steps()
    next(generator)
    generator.close()  # type: ignore[attr-defined]
    assert seen == [False]
    generator = steps()
    next(generator)
    del generator
    gc.collect()
    assert seen == [False, False]
    steps().close()  # type: ignore[attr-defined]  # never started
    assert seen == [False, False]


def test_interleaved_generators() -> None:
    @ag.no_grad()
    def off() -> Iterator[bool]:
        for _ in range(3):
            yield records()

    @ag.enable_grad()
    def on() -> Iterator[bool]:
        for _ in range(3):
            yield records()

    assert list(zip(off(), on(), strict=True)) == [(False, True)] * 3


def test_yield_from_a_decorated_generator() -> None:
    @ag.no_grad
    def inner() -> Any:
        got = yield records()
        return got, records()

    def outer() -> Any:
        result = yield from inner()
        yield result, records()

    generator = outer()
    assert next(generator) is False
    assert generator.send("x") == (("x", False), True)


# --- asynchronous code ---------------------------------------------------------------------------


def test_coroutines_and_tasks_have_their_own_modes() -> None:
    @ag.no_grad()
    async def off(log: list[bool]) -> bool:
        for _ in range(3):
            log.append(records())
            await asyncio.sleep(0)
        return records()

    @ag.enable_grad
    async def on(log: list[bool]) -> None:
        for _ in range(3):
            log.append(records())
            await asyncio.sleep(0)

    async def main() -> None:
        offs: list[bool] = []
        ons: list[bool] = []
        here: list[bool] = []

        async def neither() -> None:
            for _ in range(3):
                here.append(records())
                await asyncio.sleep(0)

        results = await asyncio.gather(off(offs), on(ons), neither())
        assert results[0] is False
        assert offs == [False] * 3
        assert ons == [True] * 3
        assert here == [True] * 3
        assert records()
        assert await off([]) is False
        assert records()

    asyncio.run(main())


def test_a_task_begins_with_the_mode_it_was_made_in() -> None:
    async def look() -> bool:
        await asyncio.sleep(0)
        return records()

    async def main() -> None:
        with ag.no_grad():
            task = asyncio.create_task(look())
        assert records()
        assert await task is False

    asyncio.run(main())


def test_a_coroutine_that_raises_or_is_cancelled() -> None:
    @ag.no_grad()
    async def fail() -> None:
        await asyncio.sleep(0)
        raise KeyError

    @ag.no_grad()
    async def forever() -> None:
        await asyncio.sleep(1000)

    async def main() -> None:
        with pytest.raises(KeyError):
            await fail()
        assert records()
        task = asyncio.create_task(forever())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert records()

    asyncio.run(main())


def test_asynchronous_generators() -> None:
    log: list[Any] = []

    @ag.no_grad()
    async def steps() -> AsyncIterator[Any]:
        try:
            while True:
                await asyncio.sleep(0)
                try:
                    sent = yield records()
                    log.append((sent, records()))
                    if sent == "stop":
                        return
                except ValueError:
                    log.append(("thrown", records()))
        finally:
            log.append(("done", records()))

    async def main() -> None:
        generator: Any = steps()
        assert await generator.__anext__() is False
        assert records()
        assert await generator.asend("a") is False
        assert await generator.athrow(ValueError()) is False
        assert records()
        with pytest.raises(StopAsyncIteration):
            await generator.asend("stop")
        assert log == [("a", False), ("thrown", False), ("stop", False), ("done", False)]
        log.clear()
        generator = steps()
        async for inside in generator:
            assert inside is False
            assert records()
            break
        await generator.aclose()
        assert log == [("done", False)]
        assert records()

    asyncio.run(main())


def test_leaving_a_block_in_a_task_that_never_entered_it() -> None:
    block = ag.no_grad()
    contextvars.copy_context().run(block.__enter__)
    block.__exit__(None, None, None)
    assert records()


# --- threads -------------------------------------------------------------------------------------


def test_each_thread_has_its_own_mode() -> None:
    seen: dict[str, bool] = {}
    entered, looked = threading.Event(), threading.Event()

    def other() -> None:
        seen["fresh"] = records()
        with ag.no_grad():
            entered.set()
            looked.wait(10)
            seen["inside"] = records()

    with ag.no_grad():
        thread = threading.Thread(target=other)
        thread.start()
        entered.wait(10)
        seen["here"] = records()
        looked.set()
        thread.join()
    assert seen == {"fresh": True, "inside": False, "here": False}


# --- inference mode ------------------------------------------------------------------------------


def test_inference_mode_records_nothing_whatever_is_inside(x: ag.Tensor) -> None:
    with ag.inference_mode():
        assert state() == (False, True)
        assert not (x * 2).requires_grad
        with ag.enable_grad():
            assert state() == (True, True)
            y = x * 2
            assert not y.requires_grad
            assert y.is_inference
        with ag.inference_mode(False):
            assert (x * 2).requires_grad


def test_inference_mode_false_changes_nothing(x: ag.Tensor) -> None:
    with ag.inference_mode(mode=False):
        y = x * 2
    assert y.requires_grad
    assert not y.is_inference


@pytest.fixture
def inferred() -> ag.Tensor:
    with ag.inference_mode():
        return ag.tensor([1.0, 2.0, 3.0]) * 2


def test_inference_tensors_cannot_be_saved_for_a_gradient(
    x: ag.Tensor, inferred: ag.Tensor
) -> None:
    for make in (lambda: x * inferred, lambda: inferred * x, lambda: inferred @ x):
        with pytest.raises(RuntimeError, match=r"Inference tensor.*clone\(\)"):
            make()
    y = x + inferred  # saves nothing
    assert ag.grad(y.sum(), x).tolist() == [1, 1, 1]
    assert ag.grad((x * inferred.clone()).sum(), x).tolist() == [2, 4, 6]


def test_inference_tensors_cannot_require_gradients(inferred: ag.Tensor) -> None:
    with pytest.raises(RuntimeError, match=r"inference tensor.*clone\(\)"):
        inferred.requires_grad_()
    assert not inferred.requires_grad
    assert inferred.clone().requires_grad_().requires_grad


def test_ops_outside_make_ordinary_tensors_of_inference_tensors(inferred: ag.Tensor) -> None:
    assert inferred.is_inference
    assert not (inferred * 2).is_inference
    assert not ag.exp(inferred).is_inference


def test_what_is_created_in_inference_mode_is_marked() -> None:
    with ag.inference_mode():
        made = [ag.tensor(1.0), ag.asarray([1.0]), ag.zeros(2), ag.ones_like(ag.tensor(1.0))]
    assert all(t.is_inference for t in made)


def test_a_leaf_asked_for_in_inference_mode_is_an_ordinary_one() -> None:
    with ag.inference_mode():
        x = ag.tensor(2.0, requires_grad=True)
        assert not (x * x).requires_grad
    assert ag.grad(x * x, x).item() == 4


def test_differentiating_an_outer_graph_in_inference_mode(x: ag.Tensor) -> None:
    y = (x**2).sum()
    with ag.inference_mode():
        assert ag.grad(y, x, retain_graph=True).tolist() == [2, 4, 6]
        y.backward(retain_graph=True)
    assert x.grad is not None
    assert x.grad.tolist() == [2, 4, 6]
    x.grad = None
    y.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2, 4, 6]


def test_create_graph_is_refused_in_inference_mode(x: ag.Tensor) -> None:
    y = (x**2).sum()
    with ag.inference_mode():
        with pytest.raises(RuntimeError, match=r"create_graph=True.*inference_mode"):
            ag.grad(y, x, create_graph=True)
        with pytest.raises(RuntimeError, match=r"create_graph=True.*inference_mode"):
            y.backward(create_graph=True)
    assert x.grad is None
    assert ag.grad(y, x).tolist() == [2, 4, 6]
