# Indices: x[1, ], x[2:N], x[.., 1], x[newaxis], x[x > 0], x[c(1, 3), ].

N <- -1L
newaxis <- NULL
.. <- structure(list(), class = "torch_rest")

slc <- function(start, end, step = 1) {
  structure(list(start = start, end = end, step = step), class = "torch_slice")
}

`[.torch_tensor` <- function(x, ..., drop = TRUE) {
  parts <- index_parts(as.list(substitute(list(...)))[-1], parent.frame(), function(i) ...elt(i))
  call_python("indexing.read", x, parts, drop)
}

`[<-.torch_tensor` <- function(x, ..., value) {
  parts <- index_parts(as.list(substitute(list(...)))[-1], parent.frame(), function(i) ...elt(i))
  call_python("indexing.write", x, parts, as_operand(value, x))
  x
}

# Each part of an index, in the form that Python takes. An expression a:b is read before it is
# computed, because 2:-1 means: from the second to the last.
index_parts <- function(expressions, frame, value_of) {
  lapply(seq_along(expressions), function(i) {
    if (identical(expressions[[i]], quote(expr = ))) {
      list("all")
    } else if (is_range(expressions[[i]])) {
      range_part(expressions[[i]], frame)
    } else {
      value_part(value_of(i))
    }
  })
}

is_range <- function(expression) {
  is.call(expression) && identical(expression[[1]], quote(`:`))
}

range_part <- function(expression, frame) {
  step <- NULL
  if (is_range(expression[[2]])) {
    step <- eval(expression[[3]], frame)
    expression <- expression[[2]]
  }
  list("range", eval(expression[[2]], frame), eval(expression[[3]], frame), step)
}

value_part <- function(value) {
  if (is.null(value)) {
    list("new")
  } else if (inherits(value, "torch_rest")) {
    list("rest")
  } else if (inherits(value, "torch_slice")) {
    list("range", value$start, if (is.finite(value$end)) value$end, value$step)
  } else if (is_torch_tensor(value)) {
    list("places", value)
  } else if (is.numeric(value) && length(value) == 1) {
    list("at", value)
  } else if (is.numeric(value) || is.logical(value)) {
    list("places", torch_tensor(value))
  } else {
    refuse("an index must be numbers, logicals or a tensor, not ", class(value)[1])
  }
}
