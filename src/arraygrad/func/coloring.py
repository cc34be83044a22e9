"""Colours for the rows and columns of a sparse matrix, so that few products give all its entries.

Columns of one colour have no row in common, so one product with their sum gives all their entries.
A symmetric matrix needs fewer colours: an entry that one product adds to others may stand alone in
another product, in the transposed place. In other matrices, a few full rows can be computed by
themselves, so that the columns of the rest need fewer colours.

The algorithms are greedy, and start with the rows or columns that have most entries. A set of
colours is a Python integer with one bit for each colour, so that a thousand colours cost no more
than three. `func.sparse` computes the products.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def color_columns(pattern: Any) -> Any:
    """A colour for each column of a sparse matrix. No row has two entries of one colour.

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

    Rows i and j are neighbours if the matrix has an entry (i, j) off the diagonal. Neighbours have
    different colours, and no path over four rows has only two colours. So either (i, j) is the only
    entry of row i whose column has the colour of j, or (j, i) is the only entry of row j whose
    column has the colour of i.

    Parameters
    ----------
    pattern : sparse array
        Its pattern must be symmetric.

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
    near = [0] * size  # for each row, the colours of its neighbours
    # For each row, the colours of those neighbours that lie between it and another row of its own
    # colour. One more neighbour of such a colour would make a path of four in two colours.
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
            taken |= near[w]  # `v` lies between two rows of one colour
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


def color_both(pattern: Any) -> tuple[Any, Any, Any]:
    """Colours for the fullest rows of a sparse matrix, and for the columns of the other rows.

    Or for the fullest columns, and for the rows of the other columns, if that needs fewer colours.

    Parameters
    ----------
    pattern : sparse array

    Returns
    -------
    rows, columns : ndarray of int
        The colours of rows and of columns; -1 for those that need no product.
    by_row : ndarray of bool
        Which entries, in the order of rows, are read from a product with their row.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> arrow = np.eye(6)
    >>> arrow[0] = arrow[:, 0] = 1
    >>> rows, columns, by_row = color_both(scipy.sparse.csr_array(arrow))
    >>> rows.tolist(), columns.tolist()
    ([0, -1, -1, -1, -1, -1], [0, 1, 1, 1, 1, 1])
    """
    entries = pattern.tocsr().tocoo()
    rows, columns, full = _without_the_fullest(pattern.tocsr())
    others, instead, fullest = _without_the_fullest(pattern.T.tocsr())
    if others.max(initial=-1) + instead.max(initial=-1) < rows.max(initial=-1) + columns.max(
        initial=-1
    ):
        return instead, others, ~fullest[entries.col]
    return rows, columns, full[entries.row]


def _without_the_fullest(pattern: Any) -> tuple[Any, Any, Any]:
    """Colours for the fullest rows, and for the columns of the others; and which are fullest."""
    counts = np.diff(pattern.indptr)
    full = np.zeros(counts.size, bool)
    full[_most_first(counts)[: fewest_products(counts)[1]]] = True
    rows = np.full(counts.size, -1, np.intp)
    rows[full] = color_columns(pattern[full].T)
    return rows, color_columns(pattern[~full]), full


def fewest_products(counts: Any) -> tuple[int, int]:
    """A lower bound of the products, if the fullest rows get one each, and how many rows get one.

    `counts` has the number of entries of each row. A row with n entries needs n colours for its
    columns.
    """
    falling = np.append(-np.sort(-counts), 0)
    products = falling + np.arange(falling.size)
    return int(products.min()), int(products.argmin())


def _most_first(counts: Any) -> list[int]:
    order: list[int] = np.argsort(-counts, kind="stable").tolist()
    return order


def _lowest_free(taken: int) -> int:
    """The lowest bit that is not set."""
    return ~taken & (taken + 1)
