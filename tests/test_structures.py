"""Structures of tensors: taken apart in order, and put together as what they were."""

from __future__ import annotations

from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import optree
import pytest

import arraygrad as ag
from arraygrad.autograd.structures import flatten, place

# The name that optree's documentation uses; optree does not export it.
GLOBAL_NAMESPACE = vars(optree.registry)["__GLOBAL_NAMESPACE"]

A, B, C = (ag.tensor(float(i)) for i in range(3))


class Pair(NamedTuple):
    first: Any
    second: Any


class MyDict(dict[str, Any]):
    label = "mine"


class Frozen(Mapping[str, Any]):
    def __init__(self, **items: Any) -> None:
        self._items = items

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


def numbered(tree: Any) -> Any:
    """The structure with its leaves replaced by their numbers."""
    leaves, rebuild = flatten(tree)
    return rebuild(list(range(len(leaves))))


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (A, 0),
        ([A], (0,)),
        ((A, B), (0, 1)),
        ([], ()),
        (iter([A, B]), (0, 1)),
        (deque([A, B]), (0, 1)),
        (UserList([A, B]), (0, 1)),
        ({"a": A, "b": B}.values(), (0, 1)),
        ({"b": A, "a": B}, {"b": 0, "a": 1}),
        ({1: A, "x": {(): B}}, {1: 0, "x": {(): 1}}),
        (OrderedDict(b=A, a=B), OrderedDict(b=0, a=1)),
        (MyDict(a=A), MyDict(a=0)),
        (UserDict({"a": A}), UserDict({"a": 0})),
        (MappingProxyType({"a": A, "b": [B]}), {"a": 0, "b": (1,)}),
        (Frozen(a=A), {"a": 0}),
        (Pair(A, B), Pair(0, 1)),
        (Pair([A], {"k": B}), Pair((0,), {"k": 1})),
        ([[A, (B,)], {"c": [C]}], ((0, (1,)), {"c": (2,)})),
        ([A, A], (0, 1)),
    ],
)
def test_structures_come_back_as_what_they_were(tree: Any, expected: Any) -> None:
    made = numbered(tree)
    assert made == expected
    if not isinstance(tree, MappingProxyType | Frozen):
        assert type(made) is type(expected)


def test_special_mappings_keep_what_makes_them_special() -> None:
    original = defaultdict(list, a=A)
    made = numbered(original)
    assert type(made) is defaultdict
    assert made.default_factory is list
    assert type(numbered(MappingProxyType({"a": A}))) is MappingProxyType
    assert numbered(Counter(a=A)) == Counter(a=0)
    assert type(numbered(Counter(a=A))) is Counter
    chained = ChainMap({"a": A}, {"b": B})
    assert dict(numbered(chained)) == dict.fromkeys(chained) | dict(
        zip(chained, range(2), strict=True)
    )
    assert chained.maps == [{"a": A}, {"b": B}]
    assert original == {"a": A}


def test_leaves_come_in_order() -> None:
    leaves, _ = flatten({"z": A, "a": [B, {"x": C}]})
    assert [id(leaf) for leaf in leaves] == [id(A), id(B), id(C)]


@pytest.mark.parametrize("leaf", [None, 1.0, "text", b"bytes", np.ones(2), {1, 2}, object()])
def test_everything_else_is_a_leaf(leaf: Any) -> None:
    leaves, rebuild = flatten(leaf)
    assert len(leaves) == 1
    assert leaves[0] is leaf
    assert rebuild([7]) == 7
    leaves, _ = flatten([leaf, A])
    assert leaves[0] is leaf


def test_grad_of_a_registered_structure() -> None:
    class Layer:
        def __init__(self, w: Any, b: Any) -> None:
            self.w, self.b = w, b

    optree.register_pytree_node(
        Layer,
        lambda layer: ((layer.w, [layer.b]), None),
        lambda _, children: Layer(children[0], children[1][0]),
        namespace=GLOBAL_NAMESPACE,
    )
    w, b = ag.tensor(2.0, requires_grad=True), ag.tensor(3.0, requires_grad=True)
    gradient = ag.grad(w**2 * b, Layer(w, b))
    assert isinstance(gradient, Layer)
    assert (gradient.w.item(), gradient.b.item()) == (12, 4)


@dataclass(frozen=True)
class Model:
    weights: Any
    shift: Any
    name: str = field(default="line", metadata={"static": True})

    def __call__(self, x: Any) -> Any:
        return (self.weights * x).sum() + self.shift


def test_dataclasses_are_structures() -> None:
    model = Model(np.array([1.0, 2.0]), 3.0, "mine")
    x = np.array([5.0, 7.0])
    for gradient in (
        ag.func.grad(Model.__call__)(model, x),
        ag.compile(ag.func.grad(Model.__call__))(model, x),
        ag.func.jacrev(Model.__call__)(model, x),
    ):
        assert isinstance(gradient, Model)
        assert gradient.name == "mine"
        assert gradient.weights.tolist() == [5, 7]
        assert gradient.shift == 1
    batch = Model(np.ones((4, 2)), np.arange(4.0))
    assert ag.func.vmap(Model.__call__, (0, None))(batch, x).tolist() == [12, 13, 14, 15]
    leaf = Model(ag.tensor([1.0, 2.0], requires_grad=True), ag.tensor(1.0, requires_grad=True))
    assert ag.grad(leaf(x), leaf).weights.tolist() == [5, 7]
    nested = Model(leaf, [leaf.shift])
    assert ag.grad(leaf(x), nested).weights.weights.tolist() == [5, 7]
    assert ag.func.grad(lambda m: m.weights(x))(Model(model, 1.0)).weights.shift == 1
    with pytest.raises(ValueError, match="structure"):
        ag.func.jvp(lambda m: m(x), (model,), (Model(x, 1.0, "other"),))


@pytest.mark.parametrize(
    ("tree", "places"),
    [
        (A, ["[0]"]),
        ([A, B], ["[0]", "[1]"]),
        ({"a": A, "b": [B, {0: C}]}, ["['a']", "['b'][0]", "['b'][1][0]"]),
        ((Pair(A, (B,)), C), ["[0].first", "[0].second[0]", "[1]"]),
    ],
)
def test_places_are_written_as_one_would_index(tree: Any, places: list[str]) -> None:
    leaves, rebuild = flatten(tree)
    assert [place(rebuild, len(leaves), i) for i in range(len(leaves))] == places


def test_a_generator_is_read_once() -> None:
    leaves, rebuild = flatten(t for t in [A, B])
    assert len(leaves) == 2
    assert rebuild([0, 1]) == rebuild([0, 1]) == (0, 1)
