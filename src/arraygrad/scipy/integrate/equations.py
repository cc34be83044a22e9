"""Initial value problems: `solve_ivp` and `odeint`."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ... import ops
from ...core.array import AnyFunction, Array
from ...errors import NotASolutionError
from ..checking import verified
from ..formula import as_array
from ..names import scipy_module
from ..progress import Progress
from ..solving import solver
from ..values import Runs, attach, on_values
from .long_times import as_formula, long_solution
from .path import Path, Solution
from .steps import Log, Steps, recording

__all__ = ["odeint", "solve_ivp"]

SCIPY = scipy_module("scipy.integrate")


@verified("scipy.integrate.solve_ivp")
def solve_ivp(
    fun: AnyFunction,
    t_span: Any,
    y0: Any,
    method: Any = "RK45",
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    vectorized: bool = False,
    args: Any = None,
    **options: Any,
) -> Any:
    """`scipy.integrate.solve_ivp`; `y`, `t`, `sol`, `t_events` and `y_events` have derivatives.

    They are functions of `y0`, both ends of `t_span`, `t_eval`, `args`, and of the arrays that
    `fun` and the events close over. The steps that SciPy chose are constants. For the methods RK23,
    RK45 and DOP853, the derivatives are those of these steps, exactly. For Radau, BDF and LSODA,
    they are those of Radau's method on the same steps or shorter ones, and right up to the error of
    the solution itself.

    If the stages of all steps would take more than some megabytes, they are computed again from
    states at a few times. This needs `t_eval`, and neither events nor a continuous solution; a
    function of real states without decisions (`if`); and no `vmap`. Otherwise all stages are kept.

    Under `vmap`, each member takes its own steps. So pass `t_eval`, for results of one shape.

    ``progress=True`` shows how far the solver has come: as a bar, if tqdm is installed; else by
    lines on the standard error stream.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> def end(rate):
    ...     found = ag.scipy.integrate.solve_ivp(lambda t, y: -rate * y, (0, 1), [2.0], rtol=1e-8)
    ...     return found.y[0, -1]
    >>> print(round(float(ag.func.grad(end)(0.5)), 4))  # -2 exp(-0.5)
    -1.2131
    """

    def run(fun: Any, t_span: Any, y0: Any, t_eval: Any, events: Any, args: Any, opts: Any) -> Any:
        bar = _Bar(t_span) if progress else None
        log = Log(may_forget, bar)
        named = getattr(SCIPY, method, method) if isinstance(method, str) else method
        solver, tableau = method, None
        if isinstance(named, type) and issubclass(named, SCIPY.OdeSolver):
            solver, tableau = recording(named, log)
        found = SCIPY.solve_ivp(
            fun,
            t_span,
            y0,
            method=solver,
            t_eval=t_eval,
            dense_output=dense_output,
            events=events,
            vectorized=vectorized,
            args=args,
            **opts,
        )
        if bar is not None:
            bar.close(found.message)
        return found, tableau, log

    progress = options.pop("progress", False)
    may_forget = t_eval is not None and events is None and not dense_output
    runs = on_values(run, fun, t_span, y0, t_eval, events, args, options)
    results = [copy.copy(found) for found, _, _ in runs.results]
    result = runs.join([found for found, _, _ in runs.results])
    if not runs.has_derivatives:
        result.y, result.t = runs.as_given(result.y), runs.as_given(result.t)
        if dense_output and not runs.is_single:
            result.sol = Solution(None, result.sol)
        return result
    if not all(found.success for found in results):
        message = next(found.message for found in results if not found.success)
        raise NotASolutionError(
            f"solve_ivp: the solver failed, so the solution has no derivatives: {message}"
        )
    if runs.is_single and not len(result.t):
        return result  # there are no times in t_eval
    _check_shapes(result)
    more = () if args is None else tuple(args)

    def slope(t: Any, y: Any) -> Any:
        if vectorized:
            return ops.ravel(as_array(fun(t, y[:, None], *more)))
        return fun(t, y, *more)

    start, end = (as_array(t) for t in t_span)
    state = _state(y0, results[0].y.dtype)
    steps = [log.steps(tableau) for _, tableau, log in runs.results]
    if any(s.stages is None for s in steps):
        formula = as_formula(runs, slope, steps[0].times[0], state)
        if formula is not None:
            given = formula, steps[0], start, end, state, as_array(t_eval)
            result.t, result.y = long_solution(runs, result, *given)
            return result
        may_forget = False
        again = on_values(run, fun, t_span, y0, t_eval, events, args, options)
        steps = [log.steps(tableau) for _, tableau, log in again.results]
    path = Path(runs, slope, steps, start, end, state)
    _set_states(path, runs, results, result, t_eval)
    if events is not None:
        functions = [events] if callable(events) else list(events)
        _set_events(path, runs, results, result, functions, more)
    if dense_output:
        result.sol = Solution(path, result.sol)
    return result


class _Bar(Progress):
    """How far a solver has come in time. It is called with the time after each step."""

    def __init__(self, t_span: Any) -> None:
        self._start, self._end = map(float, t_span)
        super().__init__("solve_ivp", "time", abs(self._end - self._start))

    def __call__(self, t: float) -> None:
        self.show(abs(t - self._start), f"t = {t:.6g} of {self._end:.6g}", t == self._end)


def _state(y0: Any, dtype: Any) -> Any:
    y0 = as_array(y0)
    return ops.astype(y0, dtype) if np.dtype(y0.dtype).kind in "biu" else y0


def _check_shapes(result: Any) -> None:
    if isinstance(result.y, list):
        raise ValueError(
            "solve_ivp: the members of the batch take different numbers of steps: pass t_eval to "
            "have results of one shape"
        )


def _set_states(path: Path, runs: Runs, results: list[Any], result: Any, t_eval: Any) -> None:
    """Give the times and states of a result their derivatives."""
    if t_eval is None:
        nodes = runs.join([path.nodes(found.t, i) for i, found in enumerate(results)])
        times: Any = ops.take(path.times, nodes, axis=0)
        states = ops.take(path.states, nodes, axis=0)
    else:
        times = as_array(t_eval)[: result.t.shape[0]]
        places = [path.places(found.t, i) for i, found in enumerate(results)]
        states = path.at(times, runs.join(places))
    if isinstance(times, Array):
        result.t = attach(result.t, times)
    result.y = attach(result.y, ops.matrix_transpose(path.as_given(states)))


def _set_events(
    path: Path, runs: Runs, results: list[Any], result: Any, events: list[Any], more: Any
) -> None:
    """Give the times and states of events their derivatives."""
    times, states = [], []
    for e, event in enumerate(events):
        t, y = (
            runs.join([found[name][e] for found in results]) for name in ("t_events", "y_events")
        )
        if isinstance(t, list):
            raise ValueError(
                "solve_ivp: the members of the batch have different numbers of events, so their "
                "times are not one array: use a loop"
            )
        if t.shape[0]:
            places = runs.join([path.places(f.t_events[e], i) for i, f in enumerate(results)])
            at, state = path.event(lambda t, y, event=event: event(t, y, *more), t, places)
            t, y = at, attach(y, path.as_given(state))
        times.append(t)
        states.append(y)
    result.t_events, result.y_events = times, states
    if results[0].status == 1:
        ended = [max(range(len(events)), key=lambda e: _latest(f.t_events[e], f)) for f in results]
        if len(set(ended)) > 1 or any(found.status != 1 for found in results):
            raise ValueError("solve_ivp: different events end the members of the batch: use a loop")
        last, state = times[ended[0]][-1:], states[ended[0]][-1:]
        if len(results[0].t) and results[0].t[-1] == results[0].t_events[ended[0]][-1]:
            result.t = attach(result.t, ops.concat([result.t[:-1], last]))
            columns = [result.y[:, :-1], ops.matrix_transpose(state)]
            value = runs.join([found.y for found in results])
            result.y = attach(value, ops.concat(columns, axis=1))


def _latest(times: Any, found: Any) -> float:
    """How late an event came, in the direction of time."""
    if not len(times):
        return -np.inf
    forward = found.t[-1] >= found.t[0] if len(found.t) else True
    return float(times[-1] if forward else -times[-1])


@solver(SCIPY.odeint)
def odeint(
    runs: Any,
    result: Any,
    func: Any,
    y0: Any,
    t: Any,
    args: Any,
    full_output: Any,
    rtol: Any,
    atol: Any,
    tfirst: bool,
) -> Any:
    """`scipy.integrate.odeint`; the states have derivatives by `y0`, `t`, `args` and closures.

    The derivatives are those of Radau's method, on the steps that LSODA takes with the same
    tolerances.
    """
    value = result[0] if full_output else result
    value = _attached(value, func, y0, as_array(t), args, tfirst, rtol, atol)
    return (value, *result[1:]) if full_output else value


def _attached(
    value: Any, func: AnyFunction, y0: Any, t: Any, args: Any, tfirst: bool, rtol: Any, atol: Any
) -> Any:
    extra = args if isinstance(args, tuple) else (args,)
    tolerance = 1.49012e-8  # what odeint takes if none is given

    def slope(t: Any, y: Any) -> Any:
        return func(t, y, *extra) if tfirst else func(y, t, *extra)

    def run(slope: Any, t: Any, y0: Any) -> Steps:
        log = Log()
        solver, tableau = recording(SCIPY.LSODA, log)
        tolerances = {"rtol": tolerance if rtol is None else rtol}
        tolerances["atol"] = tolerance if atol is None else atol
        times, state = np.asarray(t, float), np.atleast_1d(np.asarray(y0, float))
        found = SCIPY.solve_ivp(slope, (times[0], times[-1]), state, method=solver, **tolerances)
        if not found.success:
            raise NotASolutionError(
                f"odeint: the solver failed, so the solution has no derivatives: {found.message}"
            )
        return log.steps(tableau)

    runs = on_values(run, slope, t, y0)
    state = ops.reshape(_state(as_array(y0), np.float64), (-1,))
    path = Path(runs, slope, runs.results, t[0], t[-1], state)
    plain = on_values(lambda t: np.asarray(t, float), t).results
    times = plain * len(runs.results) if len(plain) == 1 else plain
    places = runs.join([path.places(at, i) for i, at in enumerate(times)])
    return attach(value, path.at(t, places))
