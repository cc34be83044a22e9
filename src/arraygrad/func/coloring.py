"""Colouring the rows and columns of a sparse matrix, so that few products give all its entries.

Columns of one colour have no row in common, so one product with their sum gives the entries of all
of them. A symmetric matrix needs fewer colours: what one product mixes up, another may show in the
transposed place.

All are greedy, those with most entries first. Sets of colours are the bits of Python's integers,
which makes a step as cheap for a thousand colours as for three.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def color_columns(pattern: Any) -> Any:
    """A colour for each column of a sparse matrix, none twice in a row of it.

    Columns without entries get colour -1: they need no product.

    Parameters
    ----------
    pattern : sparse array

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> import scipy.sparse
    >>> color_columns(scipy.sparse.eye_array(4) + scipy.sparse.eye_array(4, k=1)).tolist()
    [1, 0, 1, 0]
    """
    columns = pattern.tocsc()
    starts, rows = columns.indptr.tolist(), columns.indices.tolist()
    colors = [-1] * columns.shape[1]
    used = [0] * columns.shape[0]  # for each row, the colours in it
    counts = np.diff(columns.indptr)
    for column in _most_first(counts):
        if starts[column] == starts[column + 1]:
            break
        members = rows[starts[column] : starts[column + 1]]
        taken = 0
        for row in members:
            taken |= used[row]
        free = _lowest_free(taken)
        colors[column] = free.bit_length() - 1
        for row in members:
            used[row] |= free
    return np.array(colors, np.intp)


def color_symmetric(pattern: Any) -> Any:
    """A star colouring: a colour for each row and column of a symmetric sparse matrix.

    Neighbours (entries off the diagonal) differ in colour, and no path of four has only two
    colours; so for every entry, its row or its column shows it by itself among those of one colour.

    Parameters
    ----------
    pattern : sparse array
        With a symmetric pattern.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> arrow = np.eye(6)
    >>> arrow[0] = arrow[:, 0] = 1
    >>> color_symmetric(scipy.sparse.csr_array(arrow)).tolist()
    [0, 1, 1, 1, 1, 1]
    """
    graph = pattern.tocoo()
    off = graph.row != graph.col
    order = np.argsort(graph.row[off], kind="stable")
    counts = np.bincount(graph.row[off], minlength=graph.shape[0])
    starts = np.concatenate([[0], np.cumsum(counts)]).tolist()
    neighbours = graph.col[off][order].tolist()

    size = graph.shape[0]
    colors = [-1] * size
    near = [0] * size  # the colours of the neighbours of each
    # The colours of those neighbours that have another neighbour coloured like this one: with such
    # a colour, one more neighbour would make a path of four in two colours.
    between = [0] * size
    first: list[dict[int, int]] = [{} for _ in range(size)]  # a neighbour of each colour
    for v in _most_first(counts):
        around = neighbours[starts[v] : starts[v + 1]]
        seen = first[v]
        twice = set()
        taken = 0
        for w in around:
            color = colors[w]
            if color < 0:
                continue
            taken |= (1 << color) | between[w]
            if color not in seen:
                seen[color] = w
                continue
            taken |= near[w]  # `v` would lie between two of one colour
            if color not in twice:
                twice.add(color)
                taken |= near[seen[color]]
        free = _lowest_free(taken)
        mine = colors[v] = free.bit_length() - 1
        for w in around:
            color, known = colors[w], near[w] & free
            near[w] |= free
            if color < 0:
                continue
            if color in twice:
                between[w] |= free
            if known:  # `w` lies between `v` and another neighbour of the same colour
                between[v] |= 1 << color
                between[first[w][mine]] |= 1 << color
            else:
                first[w][mine] = v
    return np.array(colors, np.intp)


def _most_first(counts: Any) -> list[int]:
    order: list[int] = np.argsort(-counts, kind="stable").tolist()
    return order


def _lowest_free(taken: int) -> int:
    """The lowest bit that is not set."""
    return ~taken & (taken + 1)
